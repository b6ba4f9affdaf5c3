//! `defcol tetrahedralize`: tetrahedra for a closed surface, with the surface embedded.

use std::fmt::Write;
use std::path::Path;

use defcol::mesh::{TetMesh, TriangleMesh};
use defcol_io::{Model, WriteOptions, write, write_text, written_format};
use defcol_scenes::embedding::Embedding;
use defcol_scenes::implicit::{Shape, Target, dihedral_range};
use serde::Serialize;

use super::load;
use crate::arguments::{Common, OutputFormat, TetrahedralizeOptions};
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, with_steps, writing};

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    vertices: usize,
    tetrahedra: usize,
    volume: f64,
    surface_volume: f64,
    min_dihedral_deg: f64,
    max_dihedral_deg: f64,
}

pub fn run(options: &TetrahedralizeOptions, common: &Common) -> Result<(), Failure> {
    let format = written_format(&options.output)?;
    if !format.holds_tetrahedra() {
        let text = format!("{format} holds no tetrahedra; write .msh, .mesh, .vtu or .node");
        return Err(Failure::usage(text));
    }
    if options.embedding.as_ref() == Some(&options.output) {
        return Err(Failure::usage("--embedding and OUT are the same file"));
    }
    let surface = load(&options.surface, None, common.quiet)?.mesh;
    let bad = |error: &dyn std::fmt::Display| {
        Failure::Input(format!("{}: {error}", options.surface.display()))
    };
    let shape = Shape::from_surface(&surface).map_err(|error| bad(&error))?;
    let target = Target {
        grading: if options.uniform { 0 } else { 3 },
        ..Target::tetrahedra(options.cells as usize)
    };
    let mesh = with_steps(common.quiet, Target::ATTEMPTS, "filling", |bar| {
        target.fill(&shape, |error| {
            bar.inc(1);
            bar.set_message(format!("filling: {error:.1} % off the wanted number"));
        })
    })
    .map_err(Failure::computation)?;
    let solid = TetMesh::new(mesh.clone()).map_err(Failure::computation)?;
    let surface = TriangleMesh::new(surface).map_err(|error| bad(&error))?;
    let [min_dihedral_deg, max_dihedral_deg] = dihedral_range(&mesh);
    let report = Report {
        schema: "defcol.tetrahedralize/1",
        vertices: mesh.positions.len(),
        tetrahedra: mesh.tetrahedra.len(),
        volume: solid.volume(),
        surface_volume: surface.mass_properties().volume,
        min_dihedral_deg,
        max_dihedral_deg,
    };
    let embedding = options
        .embedding
        .as_ref()
        .map(|path| (path, Embedding::attach(&solid, surface.positions())));
    let model = Model::from_mesh(mesh);
    writing(common.quiet, "writing", || {
        write(&options.output, &model, &WriteOptions::default(), &PROGRESS)
    })?;
    if let Some((path, embedding)) = &embedding {
        write_embedding(path, embedding)?;
    }
    if common.format == OutputFormat::Json {
        return Ok(print::json(&report)?);
    }
    let mut table = print::table(&[
        "vertices",
        "tetrahedra",
        "volume",
        "volume of the surface",
        "dihedral angles",
    ]);
    table.add_row([
        report.vertices.to_string(),
        report.tetrahedra.to_string(),
        print::short(report.volume),
        print::short(report.surface_volume),
        format!("{min_dihedral_deg:.1}° to {max_dihedral_deg:.1}°"),
    ]);
    Ok(print::text(table)?)
}

fn write_embedding(path: &Path, embedding: &Embedding<f64>) -> Result<(), Failure> {
    let mut text = String::from("tetrahedron,w0,w1,w2,w3\n");
    for (tetrahedron, [a, b, c, d]) in embedding.tetrahedra.iter().zip(&embedding.weights) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{tetrahedron},{a},{b},{c},{d}");
    }
    Ok(write_text(path, &text)?)
}
