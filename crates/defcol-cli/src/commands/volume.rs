//! `defcol volume`: the volume that two bodies have in common.

use defcol_io::write_text;
use defcol_query::{VolumeOptions as Query, VolumeReport};

use super::{check_ending, load_named, write_coloured, write_overlap};
use crate::arguments::{Common, OpenChoice, OutputFormat, VolumeOptions};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_query;

pub fn run(options: &VolumeOptions, common: &Common) -> Result<(), Failure> {
    let wants_gradient = options.gradient.is_some() || options.pressure.is_some();
    if wants_gradient && options.open != OpenChoice::Refuse {
        return Err(Failure::usage("the gradient needs closed surfaces: leave out --open"));
    }
    let files = [(&options.gradient, "csv"), (&options.pressure, "ply"), (&options.out, "ply")];
    for (path, ending) in files {
        path.as_ref().map_or(Ok(()), |path| check_ending(path, &[ending]))?;
    }
    let first = load_named(&options.first, None, common.quiet)?;
    let second = load_named(&options.second, None, common.quiet)?;
    let default = Query::default();
    let query = Query {
        resolution: options.resolution,
        tolerance: options.tolerance.unwrap_or(default.tolerance),
        open: options.open.into(),
        gradient: wants_gradient.then_some(options.stiffness),
        overlap_mesh: options.out.is_some(),
    };
    let measured = with_query(common.quiet, "measuring the overlap", |_| {
        defcol_query::volume(&first, &second, &query)
    })?;
    if let (Some(path), Some(overlap)) = (&options.out, &measured.overlap_mesh) {
        write_overlap(path, overlap, common)?;
    }
    if let (Some(path), Some(gradient)) = (&options.gradient, &measured.gradient) {
        write_text(path, &gradient.csv())?;
    }
    if let (Some(path), Some(gradient)) = (&options.pressure, &measured.gradient) {
        let coloured = gradient.scene.coloured(&gradient.pressures);
        write_coloured(path, &coloured, "pressure", common)?;
    }
    let report = measured.report;
    let too_coarse = report.error > query.tolerance * report.volume && report.volume > 0.0;
    if options.resolution.is_none() && too_coarse && !common.quiet {
        print::note(format!(
            "the error is still {:.2} % of the volume at the finest raster",
            100.0 * report.error / report.volume
        ));
    }
    show(&report, common)
}

fn show(report: &VolumeReport, common: &Common) -> Result<(), Failure> {
    if common.format == OutputFormat::Json {
        return Ok(print::json(report)?);
    }
    let mut table = print::table(&["volume", "error", "resolution", "push the first along"]);
    let direction = report
        .net_force_direction
        .map_or("-".to_owned(), |way| way.map(|x| format!("{x:.3}")).join(" "));
    table.add_row([
        print::short(report.volume),
        format!("± {}", print::short(report.error)),
        report.resolution.to_string(),
        direction,
    ]);
    print::text(table)?;
    if let Some(patches) = &report.patches {
        let mut table =
            print::table(&["patch", "volume", "area", "centre", "push the first along"]);
        let place = |v: [f64; 3]| v.map(print::short).join(" ");
        let way = |v: [f64; 3]| v.map(|x| format!("{x:.3}")).join(" ");
        for (number, patch) in patches.iter().enumerate() {
            table.add_row([
                number.to_string(),
                print::short(patch.volume),
                print::short(patch.area),
                place(patch.centroid),
                way(patch.normal),
            ]);
        }
        print::text(table)?;
    }
    if report.unbalanced_rays > 0 {
        print::note(format!(
            "{} rays were left out: a surface is open along them",
            report.unbalanced_rays
        ));
    }
    if !common.quiet {
        print::note(format!("measured in {} ms", print::short(1e3 * report.seconds)));
    }
    Ok(())
}
