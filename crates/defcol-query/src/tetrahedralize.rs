//! Tetrahedral meshes of closed surfaces.

use defcol::mesh::{RawMesh, TetMesh, TriangleMesh};
use defcol_meshing::embedding::Embedding;
use defcol_meshing::{Shape, Target, dihedral_range};
use serde::Serialize;

use crate::{NamedMesh, OnStep, QueryError, Steps};

/// Settings of [`tetrahedralize`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TetrahedralizeOptions {
    /// Number of tetrahedra, met within 10 %.
    pub cells: usize,
    /// Tetrahedra of one size instead of larger ones inside.
    pub uniform: bool,
    /// Also attach the surface to the tetrahedra.
    pub embed: bool,
}

/// Facts about the tetrahedra.
#[derive(Debug, Clone, Serialize)]
pub struct TetrahedralizeReport {
    /// `defcol.tetrahedralize/1`.
    pub schema: &'static str,
    /// Number of vertices.
    pub vertices: usize,
    /// Number of tetrahedra.
    pub tetrahedra: usize,
    /// Volume of all tetrahedra.
    pub volume: f64,
    /// Volume enclosed by the surface.
    pub surface_volume: f64,
    /// Smallest dihedral angle, in degrees.
    pub min_dihedral_deg: f64,
    /// Largest dihedral angle, in degrees.
    pub max_dihedral_deg: f64,
}

/// Result of [`tetrahedralize`].
#[derive(Debug, Clone)]
pub struct Tetrahedralization {
    /// Counts, volumes and angles.
    pub report: TetrahedralizeReport,
    /// The tetrahedra.
    pub mesh: RawMesh<f64>,
    /// For each vertex of the surface a tetrahedron and barycentric weights, if asked for.
    pub embedding: Option<Embedding<f64>>,
}

impl Tetrahedralization {
    /// The embedding, one line per vertex of the surface: tetrahedron and four weights.
    pub fn embedding_csv(&self) -> Option<String> {
        let embedding = self.embedding.as_ref()?;
        let mut text = String::from("tetrahedron,w0,w1,w2,w3\n");
        for (tetrahedron, [a, b, c, d]) in embedding.tetrahedra.iter().zip(&embedding.weights) {
            text.push_str(&format!("{tetrahedron},{a},{b},{c},{d}\n"));
        }
        Some(text)
    }
}

/// Fills a closed surface with tetrahedra.
///
/// # Errors
/// If the surface is not closed and oriented.
pub fn tetrahedralize(
    mesh: &NamedMesh,
    options: &TetrahedralizeOptions,
    on_step: OnStep,
) -> Result<Tetrahedralization, QueryError> {
    let raw = &mesh.model.mesh;
    let shape = Shape::from_surface(raw).map_err(|error| QueryError::input(&mesh.name, error))?;
    let target = Target {
        grading: if options.uniform { 0 } else { 3 },
        ..Target::tetrahedra(options.cells)
    };
    let steps = Steps::begin(on_step, Target::ATTEMPTS, "filling");
    let solid = target.fill(&shape, |error| {
        steps.advance_as(&format!("filling: {error:.1} % off the wanted number"));
    });
    let solid = solid.map_err(QueryError::computation)?;
    let checked = TetMesh::new(solid.clone()).map_err(QueryError::computation)?;
    let surface = TriangleMesh::new(raw.clone());
    let surface = surface.map_err(|error| QueryError::input(&mesh.name, error))?;
    let [min_dihedral_deg, max_dihedral_deg] = dihedral_range(&solid);
    let report = TetrahedralizeReport {
        schema: "defcol.tetrahedralize/1",
        vertices: solid.positions.len(),
        tetrahedra: solid.tetrahedra.len(),
        volume: checked.volume(),
        surface_volume: surface.mass_properties().volume,
        min_dihedral_deg,
        max_dihedral_deg,
    };
    let embedding = options.embed.then(|| Embedding::attach(&checked, surface.positions()));
    Ok(Tetrahedralization { report, mesh: solid, embedding })
}
