//! `defcol suite`: the papers' experiments, with our figures beside the published ones.

use defcol_experiments::suite;

use crate::arguments::{Common, OutputFormat, SuiteOptions};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_query;

pub fn run(options: &SuiteOptions, common: &Common) -> Result<(), Failure> {
    let chosen = suite::SuiteOptions {
        names: options.names.clone(),
        out: options.out.clone(),
        quick: options.quick,
    };
    let report = with_query(common.quiet, "measuring", |on_step| suite::run(&chosen, on_step))?;
    if common.format == OutputFormat::Json {
        return Ok(print::json(&report)?);
    }
    let mut table = print::table(&["experiment", "finding", "published", "measured", "ratio"]);
    let number = |value: Option<f64>| value.map_or("-".to_owned(), print::short);
    for experiment in &report.experiments {
        for finding in &experiment.findings {
            table.add_row([
                experiment.name,
                &finding.what,
                &number(finding.published),
                &print::short(finding.measured),
                &number(finding.ratio),
            ]);
        }
    }
    print::text(table)?;
    if !common.quiet {
        print::note(format!("curves in {}", options.out.join("report.html").display()));
    }
    Ok(())
}
