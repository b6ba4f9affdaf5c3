use std::sync::OnceLock;

use super::raw::{check_positions, check_primitives};
use super::{
    Components, Edges, MassProperties, RawMesh, Rows, area, mass_properties, vertex_normals,
};
use crate::error::MeshError;
use crate::math::{Bounds, Real, Vector3};

/// A triangle surface, open or closed: immutable topology with rest positions.
///
/// Every coordinate is finite and in range, every index exists, no triangle names a vertex twice.
/// Tables beyond that (edges, adjacency) are made when first asked for and then kept.
#[derive(Debug, Clone)]
pub struct TriangleMesh<R: Real> {
    positions: Vec<Vector3<R>>,
    triangles: Vec<[u32; 3]>,
    edges: OnceLock<Edges>,
    vertex_triangles: OnceLock<Rows>,
    vertex_neighbours: OnceLock<Rows>,
}

impl<R: Real> TriangleMesh<R> {
    /// Checks and takes the positions and triangles; tetrahedra are ignored.
    pub fn new(raw: RawMesh<R>) -> Result<Self, MeshError> {
        check_positions(&raw.positions)?;
        check_primitives(raw.positions.len(), &raw.triangles)?;
        Ok(Self::trusted(raw.positions, raw.triangles))
    }

    pub(super) fn trusted(positions: Vec<Vector3<R>>, triangles: Vec<[u32; 3]>) -> Self {
        Self {
            positions,
            triangles,
            edges: OnceLock::new(),
            vertex_triangles: OnceLock::new(),
            vertex_neighbours: OnceLock::new(),
        }
    }

    /// Positions at rest.
    pub fn positions(&self) -> &[Vector3<R>] {
        &self.positions
    }

    /// The triangles, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Each edge once.
    pub fn edges(&self) -> &Edges {
        self.edges.get_or_init(|| Edges::of_triangles(self.positions.len(), &self.triangles))
    }

    /// For each vertex the triangles that use it, ascending.
    pub fn vertex_triangles(&self) -> &Rows {
        self.vertex_triangles
            .get_or_init(|| primitives_of_vertices(self.positions.len(), &self.triangles))
    }

    /// For each vertex the vertices it shares an edge with, ascending.
    pub fn vertex_neighbours(&self) -> &Rows {
        self.vertex_neighbours.get_or_init(|| self.edges().neighbours(self.positions.len()))
    }

    /// Which vertices hang together.
    pub fn components(&self) -> Components {
        Components::collect(self.positions.len(), &self.triangles)
    }

    /// The box around all vertices at rest.
    pub fn bounds(&self) -> Bounds<R> {
        Bounds::of(self.positions.iter().copied())
    }

    /// Area at rest.
    pub fn area(&self) -> f64 {
        area(&self.positions, &self.triangles)
    }

    /// Enclosed volume, centroid and inertia at rest; meaningful for a closed, oriented surface.
    pub fn mass_properties(&self) -> MassProperties {
        mass_properties(&self.positions, &self.triangles)
    }

    /// Area-weighted unit normals of the vertices in the given positions, zero where undefined.
    pub fn vertex_normals(&self, positions: &[Vector3<R>], normals: &mut Vec<Vector3<R>>) {
        vertex_normals(positions, &self.triangles, self.vertex_triangles(), normals);
    }
}

/// For each vertex the primitives that use it, ascending.
pub(super) fn primitives_of_vertices<const N: usize>(
    vertices: usize,
    primitives: &[[u32; N]],
) -> Rows {
    Rows::collect(vertices, || {
        (0u32..).zip(primitives).flat_map(|(index, corners)| corners.map(|vertex| (vertex, index)))
    })
}
