//! `defcol depth`: penetration depths of two bodies.

use defcol_io::write_text;
use defcol_query::{DepthOptions as Query, DepthReport};

use super::{check_ending, load_named, write_coloured};
use crate::arguments::{Common, DepthMethod, DepthOptions, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_query;

pub fn run(options: &DepthOptions, common: &Common) -> Result<(), Failure> {
    let query = Query {
        method: options.method.into(),
        smooth: options.smooth,
        way_out: options.way_out,
        edges: options.edges,
        self_collision: options.with_itself,
    };
    if options.method == DepthMethod::Nearest {
        let wrong = [
            (
                options.with_itself,
                "--self",
                "the nearest surface of a body to its own vertices is where they are",
            ),
            (options.smooth, "--smooth", "the nearest surface has no normals to blend"),
            (options.way_out, "--way-out", "the nearest surface is always known"),
        ];
        if let Some((_, option, why)) = wrong.into_iter().find(|(given, ..)| *given) {
            return Err(Failure::usage(format!(
                "{option} goes with --method consistent only: {why}"
            )));
        }
    }
    if let Some(path) = &options.out {
        check_ending(path, &["csv", "ply"])?;
    }
    let first = load_named(&options.first, None, common.quiet)?;
    let second = load_named(&options.second, None, common.quiet)?;
    let found = with_query(common.quiet, "looking for depths", |_| {
        defcol_query::depth(&first, &second, &query)
    })?;
    if !found.open_surfaces.is_empty() && !common.quiet {
        let names = found.open_surfaces.join(" and ");
        print::note(format!("{names}: an open surface, so nothing can be in it"));
    }
    if let Some(path) = &options.out {
        if check_ending(path, &["ply"]).is_ok() {
            write_coloured(path, &found.scene.coloured(&found.vertex_depths()), "depth", common)?;
        } else {
            write_text(path, &found.csv())?;
        }
    }
    if common.format == OutputFormat::Json {
        return Ok(print::json(&found.report)?);
    }
    show(&found.report, options, common)
}

fn show(report: &DepthReport, options: &DepthOptions, common: &Common) -> Result<(), Failure> {
    if report.pairs.is_empty() {
        return Ok(print::text("no point of either is in the other")?);
    }
    let mut table =
        print::table(&["points of", "in", "points", "deepest", "mean", "confidence", "enclosed"]);
    let text = |value: Option<f64>| value.map_or("-".to_owned(), print::short);
    for pair in &report.pairs {
        let within = if pair.self_collision { "itself" } else { &pair.within };
        table.add_row([
            pair.of.clone(),
            within.to_owned(),
            pair.points.to_string(),
            text(pair.max_depth),
            text(pair.mean_depth),
            text(pair.mean_confidence),
            pair.enclosed.to_string(),
        ]);
    }
    print::text(table)?;
    if common.quiet {
        return Ok(());
    }
    for pair in report.pairs.iter().filter(|pair| pair.enclosed > 0) {
        let all = if pair.whole { "all of" } else { "a part of" };
        if pair.self_collision {
            print::note(format!(
                "{all} {} is enclosed by itself: no depth is known there",
                pair.of
            ));
        } else if !options.way_out {
            print::note(format!(
                "{all} {} is enclosed by {}: from where it came is not known; --way-out gives the nearest way out",
                pair.of, pair.within
            ));
        }
    }
    if let Some(edges) = report.edges {
        print::note(format!("{edges} contacts of edges without an end in the other"));
    }
    print::note(format!("found in {} ms", print::short(1e3 * report.seconds)));
    Ok(())
}
