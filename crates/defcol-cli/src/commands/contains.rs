//! `defcol contains`: which points are inside a body.

use std::fmt::Write;
use std::time::Instant;

use defcol::detect::ldi::{
    ExactPoints, Generator, Ldi, SampledPoints, Shell, Software, Start, View,
};
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol_io::{read_points, write_text};
use serde::Serialize;

use super::{Surface, load};
use crate::arguments::{Common, ContainsMethod, ContainsOptions, OpenChoice, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, with_bar, with_spinner};

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    method: ContainsMethod,
    points: usize,
    inside: usize,
    /// Points nearer to the surface than the sampling can tell.
    uncertain: usize,
    /// Pixels along a side of the raster; null for the exact method.
    resolution: Option<u32>,
    seconds: f64,
}

pub fn run(options: &ContainsOptions, common: &Common) -> Result<(), Failure> {
    let surface = Surface::load(&options.mesh, None, common.quiet)?;
    let shell = surface.shell(OpenChoice::Refuse)?;
    let points = if options.points.to_string_lossy().starts_with("model:") {
        load(&options.points, None, common.quiet)?.mesh.positions
    } else {
        let label = format!("reading {}", options.points.display());
        with_bar(common.quiet, &label, || read_points(&options.points, &PROGRESS))?
    };
    let mut inside = Vec::new();
    let start = Instant::now();
    let sampled = options.method == ContainsMethod::Ldi;
    let uncertain = with_spinner(common.quiet, "looking for points inside", |_| {
        if sampled {
            sample(&shell, &points, options.resolution, &mut inside)
        } else {
            ExactPoints::default().contains(&shell, &points, &mut inside).map(|()| 0)
        }
    })
    .map_err(Failure::computation)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(path) = &options.out {
        let mut text = String::from("x,y,z,inside\n");
        for (p, inside) in points.iter().zip(&inside) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{},{},{},{}", p.x, p.y, p.z, u8::from(*inside));
        }
        write_text(path, &text)?;
    }
    let report = Report {
        schema: "defcol.contains/1",
        method: options.method,
        points: points.len(),
        inside: inside.iter().filter(|&&inside| inside).count(),
        uncertain,
        resolution: sampled.then_some(options.resolution),
        seconds,
    };
    if common.format == OutputFormat::Json {
        return Ok(print::json(&report)?);
    }
    let mut table = print::table(&["points", "inside", "uncertain"]);
    table.add_row([report.points, report.inside, report.uncertain].map(|n| n.to_string()));
    print::text(table)?;
    if !common.quiet {
        print::note(format!("found in {} ms", print::short(1e3 * seconds)));
    }
    Ok(())
}

/// Asks an image; returns how many points it cannot tell for sure.
fn sample(
    shell: &Shell<f64>,
    points: &[Vector3<f64>],
    resolution: u32,
    inside: &mut Vec<bool>,
) -> Result<usize, DetectError> {
    let axis = shell.bounds().extent().imin();
    let view = View::new(shell.bounds(), axis, resolution)?;
    let mut ldi = Ldi::default();
    Software::default().generate(&[*shell], &view, Start::Near, &mut ldi)?;
    SampledPoints::default().contains(&ldi, points, inside);
    let mut uncertain = Vec::new();
    ExactPoints::default().uncertain(shell, &view, points, &mut uncertain);
    Ok(uncertain.iter().filter(|&&point| point).count())
}
