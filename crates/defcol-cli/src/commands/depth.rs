//! `defcol depth`: how deep the points of two bodies are in each other.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use defcol::contact::depth::{
    ConsistentDepth, EdgeDepth, NearestDepth, Normals, Parameters, WayOut,
};
use defcol::contact::{CollidingPoints, Contact, Contacts, Source};
use defcol::detect::hash::SpatialHash;
use defcol::detect::{Detector, Hits, Questions};
use defcol::error::DetectError;
use defcol_io::write_text;
use serde::Serialize;

use super::{Assembly, check_ending};
use crate::arguments::{Common, DepthMethod, DepthOptions, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_spinner;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    method: DepthMethod,
    /// Points of either body in the other.
    points: usize,
    /// Those of them with a neighbour outside; null for the nearest surface.
    border_points: Option<usize>,
    /// Null if no point has a depth.
    max_depth: Option<f64>,
    mean_depth: Option<f64>,
    /// Points that have no consistent depth because all around them is inside.
    enclosed: usize,
    /// Edges that go through the other body without an end in it; null if not asked for.
    edges: Option<usize>,
    /// The same for each of the two ways, where there are points.
    pairs: Vec<Pair>,
    seconds: f64,
}

/// The points of a body in another.
#[derive(Serialize)]
struct Pair {
    of: String,
    within: String,
    /// Whether both are the same body, and not only of the same name.
    #[serde(rename = "self")]
    with_itself: bool,
    points: usize,
    max_depth: Option<f64>,
    mean_depth: Option<f64>,
    mean_confidence: Option<f64>,
    enclosed: usize,
    /// Whether all of the body is in the other.
    whole: bool,
    /// Edges through the other body without an end in it; null if not asked for.
    edges: Option<usize>,
}

pub fn run(options: &DepthOptions, common: &Common) -> Result<(), Failure> {
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
    let paths = [options.first.clone(), options.second.clone()];
    let scene = Assembly::load(&paths, None, options.with_itself, common.quiet)?;
    scene.check_insides(common)?;
    let start = Instant::now();
    let found = with_spinner(common.quiet, "looking for depths", |_| find(options, &scene));
    let found = found.map_err(Failure::computation)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(path) = &options.out {
        write(path, &scene, &found.contacts, common)?;
    }
    let report = report(options, &scene, &found, seconds);
    if common.format == OutputFormat::Json {
        return Ok(print::json(&report)?);
    }
    show(&report, options, common)
}

struct Found {
    points: CollidingPoints<f64>,
    consistent: Option<ConsistentDepth<f64>>,
    contacts: Contacts<f64>,
    edges: Option<usize>,
}

fn find(options: &DepthOptions, scene: &Assembly) -> Result<Found, DetectError> {
    let (bodies, positions) = (&scene.bodies, &scene.positions[..]);
    let (mut hits, mut points) = (Hits::default(), CollidingPoints::default());
    let questions =
        Questions { points_in_tetrahedra: true, edges_through_triangles: options.edges };
    SpatialHash::default().detect(bodies, positions, questions, &mut hits)?;
    points.of_all(bodies, positions, &hits)?;
    let (mut contacts, mut consistent) = (Contacts::default(), None);
    match options.method {
        DepthMethod::Nearest => {
            NearestDepth::default().find(bodies, positions, &points, &mut contacts)?;
        }
        DepthMethod::Consistent => {
            let normals = if options.smooth { Normals::Interpolated } else { Normals::Flat };
            let mut depth = ConsistentDepth::with(Parameters { normals, ..Parameters::default() });
            depth.find(bodies, positions, &points, &mut contacts)?;
            if options.way_out {
                let mut out = Contacts::default();
                WayOut::default().find(bodies, positions, &depth, &mut out)?;
                contacts.merge(&out);
            }
            consistent = Some(depth);
        }
    }
    let mut edges = None;
    if options.edges {
        let mut found = Contacts::default();
        EdgeDepth::default().find(bodies, positions, &hits, &points, &mut found)?;
        edges = Some(found.len());
        contacts.merge(&found);
    }
    Ok(Found { points, consistent, contacts, edges })
}

fn report(options: &DepthOptions, scene: &Assembly, found: &Found, seconds: f64) -> Report {
    let mut pairs = Vec::new();
    let count = scene.bodies.len() as u32;
    for [of, within] in (0..count).flat_map(|a| (0..count).map(move |b| [a, b])) {
        let points = found.points.list().iter().filter(|point| {
            [scene.bodies.body_of(point.vertex) as u32, point.body] == [of, within]
        });
        let points = points.count();
        let is_point = |c: &Contact<f64>| !matches!(c.source, Source::Edges | Source::Through);
        let all = found.contacts.iter().filter(|c| c.bodies == [of, within]);
        let own: Vec<_> = all.clone().filter(is_point).collect();
        let edges = found.edges.map(|_| all.clone().count() - own.len());
        let enclosed = found.consistent.as_ref().and_then(|consistent| {
            consistent.enclosed().iter().find(|group| group.bodies == [of, within])
        });
        if points == 0 && all.count() == 0 {
            continue;
        }
        let mean = |value: fn(&Contact<f64>) -> f64| {
            (!own.is_empty()).then(|| own.iter().map(value).sum::<f64>() / own.len() as f64)
        };
        pairs.push(Pair {
            of: scene.names[of as usize].clone(),
            within: scene.names[within as usize].clone(),
            with_itself: of == within,
            points,
            max_depth: own.iter().map(|c| c.depth).reduce(f64::max),
            mean_depth: mean(|c| c.depth),
            mean_confidence: mean(|c| c.confidence),
            enclosed: enclosed.map_or(0, |group| group.points.len()),
            edges,
            whole: enclosed.is_some_and(|group| group.whole),
        });
    }
    let depths: Vec<f64> = found
        .contacts
        .iter()
        .filter(|c| !matches!(c.source, Source::Edges | Source::Through))
        .map(|c| c.depth)
        .collect();
    let statistics = found.consistent.as_ref().map(|consistent| *consistent.statistics());
    Report {
        schema: "defcol.depth/1",
        method: options.method,
        points: found.points.list().len(),
        border_points: statistics.map(|statistics| statistics.border_points),
        max_depth: depths.iter().copied().reduce(f64::max),
        mean_depth: (!depths.is_empty()).then(|| depths.iter().sum::<f64>() / depths.len() as f64),
        enclosed: statistics.map_or(0, |statistics| statistics.enclosed),
        edges: found.edges,
        pairs,
        seconds,
    }
}

fn show(report: &Report, options: &DepthOptions, common: &Common) -> Result<(), Failure> {
    if report.pairs.is_empty() {
        return Ok(print::text("no point of either is in the other")?);
    }
    let mut table =
        print::table(&["points of", "in", "points", "deepest", "mean", "confidence", "enclosed"]);
    let text = |value: Option<f64>| value.map_or("-".to_owned(), print::short);
    for pair in &report.pairs {
        let within = if pair.with_itself { "itself" } else { &pair.within };
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
        if pair.with_itself {
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

/// Writes all contacts as a table, or the surfaces coloured by depth.
fn write(
    path: &Path,
    scene: &Assembly,
    contacts: &Contacts<f64>,
    common: &Common,
) -> Result<(), Failure> {
    if check_ending(path, &["ply"]).is_ok() {
        let mut depths = vec![0.0f64; scene.positions.len()];
        for contact in contacts.iter() {
            for (vertex, _) in contact.first.parts() {
                let deepest = &mut depths[vertex as usize];
                *deepest = deepest.max(contact.depth);
            }
        }
        return scene.write_coloured(path, &depths, "depth", common);
    }
    let mut text = String::from("body,vertex,in,x,y,z,depth,dx,dy,dz,confidence,source\n");
    for contact in contacts.iter() {
        let [of, within] = contact.bodies;
        let vertex =
            contact.first.vertices[0] as usize - scene.bodies.list()[of as usize].vertices.start;
        let (p, d) = (contact.position, contact.direction);
        let source = match contact.source {
            Source::Border => "border",
            Source::Propagated => "propagated",
            Source::Nearest => "nearest",
            Source::WayOut => "way-out",
            Source::Edges => "edges",
            Source::Through => "through",
            Source::Volume => "volume",
            Source::Near => "near",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{of},{vertex},{within},{},{},{},{},{},{},{},{},{source}",
            p.x, p.y, p.z, contact.depth, d.x, d.y, d.z, contact.confidence
        );
    }
    Ok(write_text(path, &text)?)
}
