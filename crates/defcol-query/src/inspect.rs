//! Facts and defects of meshes.

use defcol::math::Vector3;
use defcol::mesh::{DefectKind, Inspection, Place, RawMesh};
use defcol_io::Model;
use defcol_scenes::regular;
use serde::Serialize;

use crate::NamedMesh;

/// Facts and defects of several meshes.
#[derive(Debug, Clone, Serialize)]
pub struct InspectReport {
    /// `defcol.inspect/1`.
    pub schema: &'static str,
    /// One report per mesh.
    pub meshes: Vec<MeshReport>,
}

impl InspectReport {
    /// Collects the reports of several meshes.
    pub fn new(meshes: Vec<MeshReport>) -> Self {
        Self { schema: "defcol.inspect/1", meshes }
    }
}

/// Facts and defects of a mesh.
#[derive(Debug, Clone, Serialize)]
pub struct MeshReport {
    /// Name of the mesh.
    pub file: String,
    /// Number of vertices.
    pub vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Number of tetrahedra.
    pub tetrahedra: usize,
    /// Whether every edge of the surface has a triangle on both sides.
    pub closed: bool,
    /// Whether neighboring triangles agree in orientation.
    pub oriented: bool,
    /// Enclosed volume; `None` unless the surface is closed and oriented.
    pub volume: Option<f64>,
    /// Area of the surface.
    pub area: f64,
    /// Smallest and largest coordinates; `None` without vertices.
    pub bounds: Option<[[f64; 3]; 2]>,
    /// Number of connected components.
    pub components: u32,
    /// Number of named groups of triangles.
    pub parts: usize,
    /// Number of morph targets.
    pub morph_targets: usize,
    /// Number of joints of the skeleton.
    pub joints: usize,
    /// Kinds of defect that occur.
    pub defects: Vec<DefectReport>,
    /// What the reader ignored or changed.
    pub notes: Vec<String>,
}

/// A kind of defect.
#[derive(Debug, Clone, Serialize)]
pub struct DefectReport {
    /// Name of the defect.
    pub kind: &'static str,
    /// Number of occurrences.
    pub count: usize,
    /// Where the first one is.
    pub example: serde_json::Value,
    /// Where the first one is, for messages.
    #[serde(skip)]
    pub location: Place,
    /// How to repair it, or what it means.
    #[serde(skip)]
    pub remedy: &'static str,
}

/// Collects facts and defects of a mesh.
pub fn inspect(mesh: &NamedMesh) -> MeshReport {
    let NamedMesh { name, model } = mesh;
    let Inspection {
        vertices,
        triangles,
        tetrahedra,
        closed,
        oriented,
        volume,
        area,
        bounds,
        components,
        defects,
    } = defcol::mesh::inspect(&model.mesh);
    MeshReport {
        file: name.clone(),
        vertices,
        triangles,
        tetrahedra,
        closed,
        oriented,
        volume,
        area,
        bounds: bounds.map(|bounds| [bounds.min.into(), bounds.max.into()]),
        components,
        parts: model.parts.len(),
        morph_targets: model.morph_targets.len(),
        joints: model.skeleton.as_ref().map_or(0, |skeleton| skeleton.joints.len()),
        defects: defects
            .iter()
            .map(|defect| DefectReport {
                kind: defect.kind.name(),
                count: defect.count,
                example: location_json(defect.example),
                location: defect.example,
                remedy: remedy(defect.kind),
            })
            .collect(),
        notes: model.notes.clone(),
    }
}

fn location_json(location: Place) -> serde_json::Value {
    match location {
        Place::Vertex(vertex) => serde_json::json!({ "vertex": vertex }),
        Place::Edge(edge) => serde_json::json!({ "edge": edge }),
        Place::Face(face) => serde_json::json!({ "face": face }),
        Place::Triangle(triangle) => serde_json::json!({ "triangle": triangle }),
        Place::Tetrahedron(tetrahedron) => serde_json::json!({ "tetrahedron": tetrahedron }),
        Place::ComponentOf(vertex) => serde_json::json!({ "component_of_vertex": vertex }),
    }
}

/// How to repair a defect, or what it means.
fn remedy(kind: DefectKind) -> &'static str {
    match kind {
        DefectKind::NonFiniteCoordinate | DefectKind::IndexOutOfRange => "the mesh cannot be used",
        DefectKind::OutOfRangeCoordinate => "choose a larger unit of length",
        DefectKind::DegenerateTriangle => {
            "convert --repair degenerate drops those that name a vertex twice"
        }
        DefectKind::DuplicateTriangle | DefectKind::DuplicateTetrahedron => {
            "convert --repair degenerate drops exact copies"
        }
        DefectKind::FlatTetrahedron => "it never collides, and cannot be simulated",
        DefectKind::InvertedTetrahedron => "convert --repair inverted turns them",
        DefectKind::NonManifoldFace => "more than two tetrahedra share it",
        DefectKind::OpenEdge => "the surface has a hole or border there",
        DefectKind::NonManifoldEdge => "more than two triangles share it",
        DefectKind::NonManifoldVertex => "surfaces touch in it",
        DefectKind::InconsistentOrientation | DefectKind::InsideOutComponent => {
            "convert --repair orientation turns triangles outwards"
        }
        DefectKind::UnreferencedVertex => "harmless",
        DefectKind::CoincidentVertex => "convert --repair weld merges them",
    }
}

/// Six valid and defective meshes that demonstrate [`inspect`].
pub fn example_meshes() -> Vec<NamedMesh> {
    let mut open = regular::icosphere(1.0, 3);
    open.triangles
        .retain(|triangle| triangle.iter().any(|&vertex| open.positions[vertex as usize].z < 0.5));
    let mut inverted = regular::icosphere(1.0, 3);
    inverted.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    // Two cubes that share the edge from (1, 1, 0) to (1, 1, 1).
    let mut touching = regular::box_grid([2, 2, 1], 1.0);
    let inside = |tetrahedron: &[u32; 4]| {
        let sum: Vector3<f64> = tetrahedron.iter().map(|&v| touching.positions[v as usize]).sum();
        (sum.x > 4.0) == (sum.y > 4.0)
    };
    let tetrahedra = touching.tetrahedra.iter().copied().filter(inside).collect();
    touching.tetrahedra = tetrahedra;
    let meshes = [
        ("ball", regular::ball(1.0)),
        ("rod", regular::box_grid([100, 2, 2], 0.1)),
        ("torus", regular::torus(2.0, 0.5, 96, 48)),
        ("open bowl", open),
        ("inside-out sphere", inverted),
        ("cubes that share an edge", touching),
    ];
    let named = |(name, mesh): (&str, RawMesh<f64>)| NamedMesh::new(name, Model::from_mesh(mesh));
    meshes.into_iter().map(named).collect()
}
