//! `defcol inspect`: facts and defects of meshes.

use defcol_query::{InspectReport, MeshReport, example_meshes};

use super::load_named;
use crate::arguments::{Common, InspectOptions, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_bar;

pub fn run(options: &InspectOptions, common: &Common) -> Result<(), Failure> {
    let mut meshes = Vec::new();
    let mut failed = false;
    if options.example {
        meshes.extend(example_meshes().iter().map(defcol_query::inspect));
    }
    for path in &options.meshes {
        match load_named(path, options.from.as_deref(), common.quiet) {
            Ok(mesh) => {
                let label = format!("inspecting {}", mesh.name);
                meshes.push(with_bar(common.quiet, &label, || defcol_query::inspect(&mesh)));
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
        print::json(&InspectReport::new(meshes))?;
    } else if !meshes.is_empty() {
        show(&meshes, common.quiet)?;
    }
    if failed { Err(Failure::InputReported) } else { Ok(()) }
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
                defect.location.to_string(),
                defect.remedy.to_owned(),
            ]);
        }
    }
    if let Some(column) = table.column_mut(2) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    print::text(table)
}
