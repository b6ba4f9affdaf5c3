//! `defcol contains`: which points are inside a body.

use defcol_io::{read_points, write_text};
use defcol_query::ContainsOptions as Query;

use super::{load, load_named};
use crate::arguments::{Common, ContainsOptions, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, with_bar, with_query};

pub fn run(options: &ContainsOptions, common: &Common) -> Result<(), Failure> {
    let mesh = load_named(&options.mesh, None, common.quiet)?;
    let points = if options.points.to_string_lossy().starts_with("model:") {
        load(&options.points, None, common.quiet)?.mesh.positions
    } else {
        let label = format!("reading {}", options.points.display());
        with_bar(common.quiet, &label, || read_points(&options.points, &PROGRESS))?
    };
    let query = Query { method: options.method.into(), resolution: options.resolution };
    let found = with_query(common.quiet, "looking for points inside", |_| {
        defcol_query::contains(&mesh, &points, &query)
    })?;
    if let Some(path) = &options.out {
        write_text(path, &found.csv(&points))?;
    }
    let report = found.report;
    if common.format == OutputFormat::Json {
        return Ok(print::json(&report)?);
    }
    let mut table = print::table(&["points", "inside", "uncertain"]);
    table.add_row([report.points, report.inside, report.uncertain].map(|n| n.to_string()));
    print::text(table)?;
    if !common.quiet {
        print::note(format!("found in {} ms", print::short(1e3 * report.seconds)));
    }
    Ok(())
}
