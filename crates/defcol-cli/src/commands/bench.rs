//! `defcol bench`: hot paths against other methods and libraries, in one run.

use std::path::{Path, PathBuf};

use defcol_experiments::bench::{self, BenchReport, HAS_PEERS, heap, peers};
use defcol_query::QueryError;

use crate::arguments::{BenchOptions, Common, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_query;

pub fn run(options: &BenchOptions, common: &Common) -> Result<(), Failure> {
    let words: Vec<&str> = options.tasks.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["peers", rest @ ..] => run_peers(rest),
        ["heap", rest @ ..] => run_heap(rest, common),
        names => run_tasks(names, options.quick, common),
    }
}

fn run_tasks(names: &[&str], quick: bool, common: &Common) -> Result<(), Failure> {
    let report =
        with_query(common.quiet, "measuring", |on_step| bench::run(names, quick, on_step))?;
    show(&report, common)?;
    match report.rows.iter().filter(|row| row.agree == Some(false)).count() {
        0 => Ok(()),
        wrong => Err(Failure::computation(format!("{wrong} answers differ"))),
    }
}

fn run_peers(words: &[&str]) -> Result<(), Failure> {
    let folder = std::env::var_os("PEERS_DATA").map(PathBuf::from);
    let emit = |repetition| {
        // A closed pipe ends the program here, like everywhere else.
        print::text(repetition).map_err(Failure::from).map_err(|failure| match failure {
            Failure::Computation(message) => QueryError::Computation(message),
            _ => QueryError::Cancelled,
        })
    };
    peers::run(words, folder.as_deref(), &emit)?;
    Ok(())
}

fn run_heap(words: &[&str], common: &Common) -> Result<(), Failure> {
    let (name, file) = match words {
        [name] => (name, None),
        [name, file] => (name, Some(Path::new(file))),
        [] => {
            let known = heap::NAMES.join(", ");
            return Err(Failure::usage(format!("name a heap: {known}")));
        }
        _ => {
            let text = "give one heap, and at most one file for its last state";
            return Err(Failure::usage(text));
        }
    };
    let report = with_query(common.quiet, name, |on_step| heap::run(name, file, on_step))?;
    if common.format == OutputFormat::Json {
        return Ok(print::json(&report)?);
    }
    let mut table = print::table(&["measure", "value"]);
    for (name, value) in report.as_object().into_iter().flatten() {
        if name != "mean_of_each_10" && name != "schema" {
            table.add_row([name.clone(), value.to_string()]);
        }
    }
    Ok(print::text(table)?)
}

fn show(report: &BenchReport, common: &Common) -> Result<(), Failure> {
    if common.format == OutputFormat::Json {
        return Ok(print::json(report)?);
    }
    let mut table = print::table(&[
        "task",
        "size",
        "threads",
        "ours ms",
        "against",
        "its ms",
        "times faster",
        "same",
    ]);
    for row in &report.rows {
        table.add_row([
            row.task,
            &row.size,
            &row.threads.to_string(),
            &print::short(row.ours_ms),
            &row.peer,
            &print::short(row.peer_ms),
            &if row.ratio < 2.0 {
                format!("{:.2}", row.ratio)
            } else {
                format!("{:.1}", row.ratio)
            },
            row.agree.map_or("-", |agree| if agree { "yes" } else { "NO" }),
        ]);
    }
    print::text(table)?;
    if !HAS_PEERS && !common.quiet {
        print::note(
            "built without parry3d and manifold; add them with `cargo run --release --features peers -- bench`",
        );
    }
    Ok(())
}
