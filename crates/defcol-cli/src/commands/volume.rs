//! `defcol volume`: how much two bodies have in common.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use defcol::contact::volume::{Patch, VolumeContact};
use defcol::detect::ldi::{
    Interval, OverlapMeter, Shell, Software, View, Volume, connected_regions, interval_boxes,
};
use defcol::mesh::RawMesh;
use defcol_io::picture::COLOURS;
use defcol_io::{write_coloured_ply, write_text};
use serde::Serialize;

use super::{Assembly, Surface, check_ending};
use crate::arguments::{Common, OpenChoice, OutputFormat, VolumeOptions};
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, with_spinner, writing};

/// The finest raster that is drawn into a file.
const FINEST_DRAWN: u32 = 128;

/// The share of the volume that may be wrong if nothing else is asked for.
const TOLERANCE: f64 = 0.01;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    volume: f64,
    error: f64,
    resolution: u32,
    /// The volume for rays along x, y and z; null where none ran.
    along: [Option<f64>; 3],
    /// Where the first body has to go so that the volume shrinks fastest.
    net_force_direction: Option<[f64; 3]>,
    /// Connected regions, if the gradient was asked for: the largest volume first.
    patches: Option<Vec<PatchReport>>,
    /// Rays left out because a surface is open along them.
    unbalanced_rays: usize,
    seconds: f64,
}

/// A connected region of the overlap.
#[derive(Serialize)]
struct PatchReport {
    volume: f64,
    area: f64,
    centroid: [f64; 3],
    /// Where the first body is pushed.
    normal: [f64; 3],
    pressure: f64,
    /// The force on the first body.
    force: [f64; 3],
}

pub fn run(options: &VolumeOptions, common: &Common) -> Result<(), Failure> {
    if (options.gradient.is_some() || options.pressure.is_some())
        && options.open != OpenChoice::Refuse
    {
        return Err(Failure::usage("the gradient needs closed surfaces: leave out --open"));
    }
    let files = [(&options.gradient, "csv"), (&options.pressure, "ply"), (&options.out, "ply")];
    for (path, ending) in files {
        path.as_ref().map_or(Ok(()), |path| check_ending(path, &[ending]))?;
    }
    let [first, second] = [&options.first, &options.second];
    let (first, second) =
        (Surface::load(first, None, common.quiet)?, Surface::load(second, None, common.quiet)?);
    let (a, b) = (first.shell(options.open)?, second.shell(options.open)?);
    let mut meter = OverlapMeter::<Software>::default();
    let tolerance = options.tolerance.unwrap_or(TOLERANCE);
    let start = Instant::now();
    let overlap =
        with_spinner(common.quiet, "measuring the overlap", |_| match options.resolution {
            Some(resolution) => meter.thrice(&a, &b, resolution),
            None => meter.within(&a, &b, tolerance),
        })
        .map_err(Failure::computation)?;
    let seconds = start.elapsed().as_secs_f64();
    let Volume { value, error, resolution, along } = overlap.volume;
    if let Some(path) = &options.out {
        write_overlap(path, [&a, &b], resolution.min(FINEST_DRAWN), common)?;
    }
    let patches = (options.gradient.is_some() || options.pressure.is_some())
        .then(|| write_gradient(options, resolution, common))
        .transpose()?;
    let report = Report {
        schema: "defcol.volume/1",
        patches,
        volume: value,
        error,
        resolution,
        along,
        net_force_direction: overlap.direction.map(Into::into),
        unbalanced_rays: overlap.unbalanced,
        seconds,
    };
    if options.resolution.is_none() && error > tolerance * value && value > 0.0 && !common.quiet {
        print::note(format!(
            "the error is still {:.2} % of the volume at the finest raster",
            100.0 * error / value
        ));
    }
    show(&report, common)
}

fn show(report: &Report, common: &Common) -> Result<(), Failure> {
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

/// Measures the gradient and writes it; returns the connected regions.
fn write_gradient(
    options: &VolumeOptions,
    resolution: u32,
    common: &Common,
) -> Result<Vec<PatchReport>, Failure> {
    let paths = [options.first.clone(), options.second.clone()];
    let scene = Assembly::load(&paths, None, false, common.quiet)?;
    let mut contact = VolumeContact::<Software>::default();
    contact
        .pair(&scene.bodies, &scene.positions, [0, 1], resolution)
        .map_err(Failure::computation)?;
    let mut pressures = Vec::new();
    let triangles = scene.bodies.triangles();
    contact.pressures(triangles, &scene.positions, options.stiffness, &mut pressures);
    if let Some(path) = &options.gradient {
        let mut text = String::from("body,vertex,x,y,z,gx,gy,gz,volume,pressure\n");
        for share in contact.vertices() {
            let body = scene.bodies.body_of(share.vertex);
            let vertex = share.vertex as usize - scene.bodies.list()[body].vertices.start;
            let (p, g) = (scene.positions[share.vertex as usize], share.gradient);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{body},{vertex},{},{},{},{},{},{},{},{}",
                p.x, p.y, p.z, g.x, g.y, g.z, share.volume, pressures[share.vertex as usize]
            );
        }
        write_text(path, &text)?;
    }
    if let Some(path) = &options.pressure {
        scene.write_coloured(path, &pressures, "pressure", common)?;
    }
    let mut patches = contact.patches(options.stiffness);
    patches.sort_by(|a, b| b.volume.total_cmp(&a.volume));
    let patch = |patch: Patch| PatchReport {
        volume: patch.volume,
        area: patch.area,
        centroid: patch.centroid.into(),
        normal: patch.normal.into(),
        pressure: patch.pressure,
        force: patch.force.into(),
    };
    Ok(patches.into_iter().map(patch).collect())
}

fn write_overlap(
    path: &Path,
    [a, b]: [&Shell<f64>; 2],
    resolution: u32,
    common: &Common,
) -> Result<(), Failure> {
    let mut drawing = Drawing::default();
    let mut meter = OverlapMeter::<Software>::default();
    let overlap = meter.once(a, b, resolution).map_err(Failure::computation)?;
    if overlap.volume.value > 0.0 {
        let view = *meter.images()[0].view();
        drawing.add_regions(&view, meter.combination().intervals());
    }
    drawing.write(path, common)
}

/// Overlaps to look at.
#[derive(Default)]
pub struct Drawing {
    mesh: RawMesh<f64>,
    colours: Vec<[u8; 3]>,
    regions: usize,
}

impl Drawing {
    /// Adds pieces of rays, each connected region in its own colour.
    pub fn add_regions(&mut self, view: &View, intervals: &[Interval]) {
        let (labels, regions) = connected_regions(view, intervals);
        let boxes = interval_boxes(view, intervals);
        let first = self.mesh.positions.len() as u32;
        self.mesh.positions.extend(&boxes.positions);
        self.mesh.triangles.extend(boxes.triangles.iter().map(|t| t.map(|corner| corner + first)));
        for label in labels {
            let colour = COLOURS[(self.regions + label as usize) % COLOURS.len()];
            self.colours.extend([colour; 8]);
        }
        self.regions += regions.len();
    }

    /// Writes a PLY file.
    pub fn write(&self, path: &Path, common: &Common) -> Result<(), Failure> {
        check_ending(path, &["ply"])?;
        writing(common.quiet, "writing the overlap", || {
            write_coloured_ply(path, &self.mesh, &self.colours, &PROGRESS)
        })?;
        if !common.quiet {
            print::note(format!("{}: {} connected regions", path.display(), self.regions));
        }
        Ok(())
    }
}
