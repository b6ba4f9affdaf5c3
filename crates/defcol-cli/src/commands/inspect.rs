//! `defcol inspect`: facts and defects of meshes.

use defcol::math::Vector3;
use defcol::mesh::{DefectKind, Inspection, Place, RawMesh, inspect};
use defcol_io::Model;
use defcol_scenes::regular;
use serde::Serialize;

use super::load;
use crate::arguments::{Common, InspectOptions, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_bar;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    meshes: Vec<MeshReport>,
}

#[derive(Serialize)]
struct MeshReport {
    file: String,
    vertices: usize,
    triangles: usize,
    tetrahedra: usize,
    closed: bool,
    oriented: bool,
    /// Null unless the surface is closed and oriented.
    volume: Option<f64>,
    area: f64,
    bounds: Option<[[f64; 3]; 2]>,
    components: u32,
    parts: usize,
    morph_targets: usize,
    joints: usize,
    defects: Vec<DefectReport>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct DefectReport {
    kind: &'static str,
    count: usize,
    example: serde_json::Value,
    #[serde(skip)]
    place: Place,
    #[serde(skip)]
    way_out: &'static str,
}

pub fn run(options: &InspectOptions, common: &Common) -> Result<(), Failure> {
    let mut meshes = Vec::new();
    let mut failed = false;
    if options.example {
        for (name, mesh) in examples() {
            meshes.push(look(name.to_owned(), &Model::from_mesh(mesh)));
        }
    }
    for path in &options.meshes {
        let name = path.display().to_string();
        match load(path, options.from.as_deref(), common.quiet) {
            Ok(model) => {
                let label = format!("inspecting {name}");
                meshes.push(with_bar(common.quiet, &label, || look(name, &model)));
            }
            // One bad file does not hide the others.
            Err(failure @ Failure::Input(_)) => {
                failure.report();
                failed = true;
            }
            Err(failure) => return Err(failure),
        }
    }
    if common.format == OutputFormat::Json {
        print::json(&Report { schema: "defcol.inspect/1", meshes })?;
    } else if !meshes.is_empty() {
        show(&meshes, common.quiet)?;
    }
    if failed { Err(Failure::InputReported) } else { Ok(()) }
}

fn look(file: String, model: &Model) -> MeshReport {
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
    } = inspect(&model.mesh);
    MeshReport {
        file,
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
                example: place_json(defect.example),
                place: defect.example,
                way_out: way_out(defect.kind),
            })
            .collect(),
        notes: model.notes.clone(),
    }
}

fn place_json(place: Place) -> serde_json::Value {
    match place {
        Place::Vertex(vertex) => serde_json::json!({ "vertex": vertex }),
        Place::Edge(edge) => serde_json::json!({ "edge": edge }),
        Place::Face(face) => serde_json::json!({ "face": face }),
        Place::Triangle(triangle) => serde_json::json!({ "triangle": triangle }),
        Place::Tetrahedron(tetrahedron) => serde_json::json!({ "tetrahedron": tetrahedron }),
        Place::ComponentOf(vertex) => serde_json::json!({ "component_of_vertex": vertex }),
    }
}

/// What to do about a defect, or what it means.
fn way_out(kind: DefectKind) -> &'static str {
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

fn show(meshes: &[MeshReport], quiet: bool) -> std::io::Result<()> {
    let mut table = print::table(&[
        "mesh",
        "vertices",
        "triangles",
        "tetrahedra",
        "components",
        "closed",
        "oriented",
        "volume",
        "area",
        "size",
    ]);
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    for mesh in meshes {
        let size = mesh.bounds.map_or_else(String::new, |[min, max]| {
            [0, 1, 2].map(|axis| print::short(max[axis] - min[axis])).join(" × ")
        });
        table.add_row([
            mesh.file.clone(),
            mesh.vertices.to_string(),
            mesh.triangles.to_string(),
            mesh.tetrahedra.to_string(),
            mesh.components.to_string(),
            yes(mesh.closed),
            yes(mesh.oriented),
            mesh.volume.map_or_else(|| "-".to_owned(), print::short),
            print::short(mesh.area),
            size,
        ]);
    }
    for column in 1..5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
    }
    print::text(table)?;
    show_defects(meshes)?;
    if !quiet {
        for mesh in meshes {
            for note in &mesh.notes {
                print::note(format!("{}: {note}", mesh.file));
            }
        }
    }
    Ok(())
}

fn show_defects(meshes: &[MeshReport]) -> std::io::Result<()> {
    if meshes.iter().all(|mesh| mesh.defects.is_empty()) {
        return print::text("no defects");
    }
    let mut table = print::table(&["mesh", "defect", "count", "first", "what to do"]);
    for mesh in meshes {
        for defect in &mesh.defects {
            table.add_row([
                mesh.file.clone(),
                defect.kind.replace('_', " "),
                defect.count.to_string(),
                defect.place.to_string(),
                defect.way_out.to_owned(),
            ]);
        }
    }
    if let Some(column) = table.column_mut(2) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    print::text(table)
}

/// Sound and broken meshes that show what the command tells apart.
fn examples() -> Vec<(&'static str, RawMesh<f64>)> {
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
    vec![
        ("ball", regular::ball(1.0)),
        ("rod", regular::box_grid([100, 2, 2], 0.1)),
        ("torus", regular::torus(2.0, 0.5, 96, 48)),
        ("open bowl", open),
        ("inside-out sphere", inverted),
        ("cubes that share an edge", touching),
    ]
}
