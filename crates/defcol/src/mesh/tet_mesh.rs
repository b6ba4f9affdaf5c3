use std::sync::OnceLock;

use super::raw::{check_positions, check_primitives};
use super::triangle_mesh::primitives_of_vertices;
use super::{Components, Edges, MassProperties, RawMesh, Rows, Surface};
use crate::error::MeshError;
use crate::math::{Bounds, Real, Vector3};

/// A solid of tetrahedra: immutable topology with rest positions and an outward surface.
///
/// Every coordinate is finite and in range, every index exists, no tetrahedron names a vertex
/// twice. Tables beyond that are made when first asked for and then kept.
#[derive(Debug, Clone)]
pub struct TetMesh<R: Real> {
    positions: Vec<Vector3<R>>,
    tetrahedra: Vec<[u32; 4]>,
    surface: OnceLock<Surface<R>>,
    edges: OnceLock<Edges>,
    vertex_tetrahedra: OnceLock<Rows>,
    vertex_neighbours: OnceLock<Rows>,
}

impl<R: Real> TetMesh<R> {
    /// Checks and takes the positions and tetrahedra; triangles are ignored, the surface is made
    /// from the tetrahedra.
    pub fn new(raw: RawMesh<R>) -> Result<Self, MeshError> {
        check_positions(&raw.positions)?;
        check_primitives(raw.positions.len(), &raw.tetrahedra)?;
        Ok(Self {
            positions: raw.positions,
            tetrahedra: raw.tetrahedra,
            surface: OnceLock::new(),
            edges: OnceLock::new(),
            vertex_tetrahedra: OnceLock::new(),
            vertex_neighbours: OnceLock::new(),
        })
    }

    /// Positions at rest.
    pub fn positions(&self) -> &[Vector3<R>] {
        &self.positions
    }

    /// The tetrahedra.
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// The outward surface.
    pub fn surface(&self) -> &Surface<R> {
        self.surface.get_or_init(|| Surface::of(&self.positions, &self.tetrahedra))
    }

    /// Each edge once, inner ones too.
    pub fn edges(&self) -> &Edges {
        self.edges.get_or_init(|| Edges::of_tetrahedra(self.positions.len(), &self.tetrahedra))
    }

    /// For each vertex the tetrahedra that use it, ascending.
    pub fn vertex_tetrahedra(&self) -> &Rows {
        self.vertex_tetrahedra
            .get_or_init(|| primitives_of_vertices(self.positions.len(), &self.tetrahedra))
    }

    /// For each vertex the vertices it shares an edge with, ascending.
    pub fn vertex_neighbours(&self) -> &Rows {
        self.vertex_neighbours.get_or_init(|| self.edges().neighbours(self.positions.len()))
    }

    /// Which vertices hang together.
    pub fn components(&self) -> Components {
        Components::collect(self.positions.len(), &self.tetrahedra)
    }

    /// The box around all vertices at rest.
    pub fn bounds(&self) -> Bounds<R> {
        Bounds::of(self.positions.iter().copied())
    }

    /// Volume at rest: that enclosed by the surface.
    pub fn volume(&self) -> f64 {
        self.mass_properties().volume
    }

    /// Volume, centroid and inertia at rest.
    pub fn mass_properties(&self) -> MassProperties {
        let surface = self.surface().mesh();
        super::mass_properties(surface.positions(), surface.triangles())
    }
}
