//! `defcol tetrahedralize`: tetrahedra for a closed surface, with the surface embedded.

use defcol_io::{Model, WriteOptions, write, write_text, written_format};
use defcol_query::TetrahedralizeOptions as Query;

use super::load_named;
use crate::arguments::{Common, OutputFormat, TetrahedralizeOptions};
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, with_query, writing};

pub fn run(options: &TetrahedralizeOptions, common: &Common) -> Result<(), Failure> {
    let format = written_format(&options.output)?;
    if !format.holds_tetrahedra() {
        let text = format!("{format} holds no tetrahedra; write .msh, .mesh, .vtu or .node");
        return Err(Failure::usage(text));
    }
    if options.embedding.as_ref() == Some(&options.output) {
        return Err(Failure::usage("--embedding and OUT are the same file"));
    }
    let surface = load_named(&options.surface, None, common.quiet)?;
    let query = Query {
        cells: options.cells as usize,
        uniform: options.uniform,
        embed: options.embedding.is_some(),
    };
    let mut filled = with_query(common.quiet, "filling", |on_step| {
        defcol_query::tetrahedralize(&surface, &query, on_step)
    })?;
    let model = Model::from_mesh(std::mem::take(&mut filled.mesh));
    writing(common.quiet, "writing", || {
        write(&options.output, &model, &WriteOptions::default(), &PROGRESS)
    })?;
    if let (Some(path), Some(text)) = (&options.embedding, filled.embedding_csv()) {
        write_text(path, &text)?;
    }
    let report = filled.report;
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
        format!("{:.1}° to {:.1}°", report.min_dihedral_deg, report.max_dihedral_deg),
    ]);
    Ok(print::text(table)?)
}
