//! `defcol scenes`: the catalogue.

use defcol_query::Simulation;
use defcol_recording::Precision;
use defcol_scenes::catalogue::SCENES;
use serde::Serialize;

use crate::arguments::{Common, OutputFormat};
use crate::failure::Failure;
use crate::print;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    title: &'static str,
    bodies: usize,
    vertices: usize,
    tetrahedra: usize,
    self_collision: bool,
    source: &'static str,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    scenes: Vec<Row>,
}

pub fn run(common: &Common) -> Result<(), Failure> {
    let mut scenes = vec![];
    for entry in SCENES {
        let simulation = Simulation::build(entry.name, 0, Precision::F64);
        let simulation = simulation.map_err(Failure::computation)?;
        let bodies = simulation.bodies();
        scenes.push(Row {
            name: entry.name,
            title: entry.title,
            bodies: bodies.len(),
            vertices: bodies.vertex_count(),
            tetrahedra: bodies.tetrahedra().len(),
            self_collision: bodies.list().iter().any(|body| body.collides.itself()),
            source: entry.source,
        });
    }
    if common.format == OutputFormat::Json {
        return Ok(print::json(&Report { schema: "defcol.scenes/1", scenes })?);
    }
    let mut table =
        print::table(&["name", "", "bodies", "vertices", "tetrahedra", "with itself", "source"]);
    for row in scenes {
        table.add_row([
            row.name.to_owned(),
            row.title.to_owned(),
            row.bodies.to_string(),
            row.vertices.to_string(),
            row.tetrahedra.to_string(),
            if row.self_collision { "yes" } else { "" }.to_owned(),
            row.source.to_owned(),
        ]);
    }
    Ok(print::text(table)?)
}
