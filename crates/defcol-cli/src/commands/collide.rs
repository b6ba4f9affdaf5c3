//! `defcol collide`: which bodies collide, and how many of their primitives.

mod trees;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use defcol::detect::brute::BruteForce;
use defcol::detect::bvh::{Nearest, NearestSearch, PrimitiveTree, TreeDetector};
use defcol::detect::hash::SpatialHash;
use defcol::detect::ldi::{
    ExactPoints, Generator, Ldi, OverlapMeter, SelfOverlap, Shell, Software, Start, View,
};
use defcol::detect::{Detector, Hits, Questions};
use defcol::error::DetectError;
use defcol::state::Bodies;
use defcol_io::Model;
use serde::Serialize;

use super::volume::Drawing;
use super::{Assembly, Surface, load};
use crate::arguments::{CollideOptions, Common, Method, OpenChoice, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::{with_spinner, with_steps};

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    method: Method,
    pairs: Vec<Pair>,
    colliding: bool,
    seconds: f64,
}

/// Two bodies that collide, or one that collides with itself.
#[derive(Serialize)]
struct Pair {
    a: String,
    b: String,
    #[serde(rename = "self")]
    itself: bool,
    /// Intersecting triangle pairs between surfaces, (vertex, tetrahedron) pairs where a body has
    /// tetrahedra; null if the method does not count them.
    primitives: Option<usize>,
    /// Triangle pairs that share a vertex and meet beyond it, which are not among the primitives; null if the method
    /// does not look for them.
    sharing: Option<usize>,
    points_inside: Option<usize>,
    volume: Option<f64>,
    /// How far the deepest point inside is from the surface; null if the method does not find out.
    max_depth: Option<f64>,
}

pub fn run(options: &CollideOptions, common: &Common) -> Result<i32, Failure> {
    if options.meshes.len() == 1 && !options.with_itself {
        return Err(Failure::usage(
            "one mesh collides with nothing: give another, or --self for collisions with itself",
        ));
    }
    if options.meshes.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::usage("standard input can be read once; save it to a file first"));
    }
    if options.out.is_some() && options.method != Method::Ldi {
        return Err(Failure::usage("only --method ldi finds volumes that --out could write"));
    }
    if options.method != Method::Bvh && (!options.weights.is_empty() || options.posed) {
        return Err(Failure::usage("only --method bvh follows morph targets and joints"));
    }
    let (pairs, seconds) = match options.method {
        Method::Ldi => overlaps(options, common)?,
        Method::Hash | Method::Brute => primitives(load_all(options, common)?, options, common)?,
        Method::Bvh => {
            let models = load_all(options, common)?;
            if models.iter().all(|model| model.mesh.tetrahedra.is_empty()) {
                trees::run(&models, options, common)?
            } else if options.weights.is_empty() && !options.posed {
                primitives(models, options, common)?
            } else {
                return Err(Failure::usage(
                    "--weights and --posed are for surfaces; one of the meshes has tetrahedra",
                ));
            }
        }
    };
    let report = Report {
        schema: "defcol.collide/1",
        method: options.method,
        colliding: !pairs.is_empty(),
        pairs,
        seconds,
    };
    show(&report, common)?;
    Ok(i32::from(report.colliding))
}

/// All meshes.
fn load_all(options: &CollideOptions, common: &Common) -> Result<Vec<Model>, Failure> {
    let load = |path: &PathBuf| load(path, options.from.as_deref(), common.quiet);
    options.meshes.iter().map(load).collect()
}

/// The pairs of bodies whose primitives meet, and how long it took to find them.
fn primitives(
    models: Vec<Model>,
    options: &CollideOptions,
    common: &Common,
) -> Result<(Vec<Pair>, f64), Failure> {
    let Assembly { bodies, positions, names } =
        Assembly::new(&options.meshes, models, options.with_itself)?;
    let solid = |body: usize| !bodies.list()[body].tetrahedra.is_empty();
    // Edges matter only between surfaces; where a body has tetrahedra, vertices are counted.
    let surfaces = (0..bodies.len()).filter(|&body| !solid(body)).count();
    let questions = Questions {
        points_in_tetrahedra: surfaces < bodies.len(),
        edges_through_triangles: surfaces > 1 || (surfaces == 1 && options.with_itself),
    };
    let mut hits = Hits::default();
    let start = Instant::now();
    with_spinner(common.quiet, "looking for collisions", |_| {
        let detector: &mut dyn Detector<f64> = match options.method {
            Method::Brute => &mut BruteForce,
            Method::Bvh => &mut TreeDetector::default(),
            _ => &mut SpatialHash::default(),
        };
        detector.detect(&bodies, &positions, questions, &mut hits)
    })
    .map_err(|error| Failure::Input(error.to_string()))?;
    Ok((count(&bodies, &hits, &names), start.elapsed().as_secs_f64()))
}

/// The pairs of bodies that overlap, and how long it took to measure them.
fn overlaps(options: &CollideOptions, common: &Common) -> Result<(Vec<Pair>, f64), Failure> {
    let surfaces = options
        .meshes
        .iter()
        .map(|path| Surface::load(path, options.from.as_deref(), common.quiet))
        .collect::<Result<Vec<_>, _>>()?;
    let shells = surfaces
        .iter()
        .map(|surface| surface.shell(OpenChoice::Refuse))
        .collect::<Result<Vec<_>, _>>()?;
    let start = Instant::now();
    let mut overlaps = Overlaps::default();
    let mut pairs = Vec::new();
    let count = (shells.len() * (shells.len() + 1) / 2) as u32;
    with_steps(common.quiet, count, "measuring overlaps", |bar| {
        for (b, (second, name)) in shells.iter().zip(&surfaces).enumerate() {
            for (first, other) in shells[..b].iter().zip(&surfaces) {
                let names = [&other.name, &name.name];
                pairs.extend(overlaps.between([first, second], names, options.resolution)?);
                bar.inc(1);
            }
            if options.with_itself {
                pairs.extend(overlaps.within(second, &name.name, options.resolution)?);
            }
            bar.inc(1);
        }
        Ok::<(), DetectError>(())
    })
    .map_err(Failure::computation)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(path) = &options.out {
        overlaps.drawing.write(path, common)?;
    }
    Ok((pairs, seconds))
}

/// Measures overlaps and keeps them to be drawn.
#[derive(Default)]
struct Overlaps {
    meter: OverlapMeter,
    itself: SelfOverlap,
    exact: ExactPoints,
    nearest: NearestSearch<f64>,
    depths: Vec<Nearest<f64>>,
    drawing: Drawing,
}

impl Overlaps {
    /// Two bodies that overlap.
    fn between(
        &mut self,
        [a, b]: [&Shell<f64>; 2],
        names: [&String; 2],
        resolution: u32,
    ) -> Result<Option<Pair>, DetectError> {
        if !a.bounds().overlaps(&b.bounds()) {
            return Ok(None);
        }
        let overlap = self.meter.thrice(a, b, resolution)?;
        let (mut points, mut inside, mut deepest) = (0, Vec::new(), None::<f64>);
        for [body, other] in [[a, b], [b, a]] {
            self.exact.contains(body, other.positions(), &mut inside)?;
            let within = other.positions().iter().zip(&inside).filter(|(_, inside)| **inside);
            let within: Vec<_> = within.map(|(position, _)| *position).collect();
            points += within.len();
            if !within.is_empty() {
                let tree = PrimitiveTree::new(body.positions(), body.triangles());
                self.nearest.find(
                    &tree,
                    body.triangles(),
                    body.positions(),
                    &within,
                    &mut self.depths,
                );
                let depths = self.depths.iter().map(|nearest| nearest.distance);
                deepest = depths.chain(deepest).reduce(f64::max);
            }
        }
        if overlap.volume.value == 0.0 && points == 0 {
            return Ok(None);
        }
        if overlap.volume.value > 0.0 {
            let view = *self.meter.images()[0].view();
            self.drawing.add_regions(&view, self.meter.combination().intervals());
        }
        Ok(Some(Pair {
            a: names[0].clone(),
            b: names[1].clone(),
            itself: false,
            primitives: None,
            sharing: None,
            points_inside: Some(points),
            volume: Some(overlap.volume.value),
            max_depth: deepest,
        }))
    }

    /// A body that overlaps itself.
    fn within(
        &mut self,
        shell: &Shell<f64>,
        name: &str,
        resolution: u32,
    ) -> Result<Option<Pair>, DetectError> {
        let axis = shell.bounds().extent().imin();
        let view = View::new(shell.bounds(), axis, resolution)?;
        let mut ldi = Ldi::default();
        Software::default().generate(&[*shell], &view, Start::Near, &mut ldi)?;
        self.itself.find(&ldi);
        let volume = self.itself.volume(&ldi).value + self.itself.inverted_volume(&ldi).value;
        let points = self.itself.vertices(shell)?.len();
        if volume == 0.0 && points == 0 {
            return Ok(None);
        }
        self.drawing.add_regions(&view, self.itself.overlapping());
        self.drawing.add_regions(&view, self.itself.inverted());
        Ok(Some(Pair {
            a: name.to_owned(),
            b: name.to_owned(),
            itself: true,
            primitives: None,
            sharing: None,
            points_inside: Some(points),
            volume: Some(volume),
            max_depth: None,
        }))
    }
}

/// Sorts the hits by pairs of bodies.
fn count(bodies: &Bodies, hits: &Hits<f64>, names: &[String]) -> Vec<Pair> {
    let solid = |body: usize| !bodies.list()[body].tetrahedra.is_empty();
    let mut inside: BTreeMap<[usize; 2], Vec<[u32; 2]>> = BTreeMap::new();
    for hit in &hits.points {
        let own = bodies.body_of(bodies.tetrahedra()[hit.tetrahedron as usize][0]);
        let other = bodies.body_of(hit.vertex);
        let pair = [own.min(other), own.max(other)];
        inside.entry(pair).or_default().push([hit.vertex, hit.tetrahedron]);
    }
    // Two triangles meet exactly if an edge of one meets the other.
    let mut crossed: BTreeMap<[usize; 2], Vec<[u32; 2]>> = BTreeMap::new();
    let users = edge_users(bodies);
    for hit in &hits.edges {
        let corners = bodies.triangles()[hit.triangle as usize];
        let own = bodies.body_of(corners[0]);
        let other = bodies.body_of(bodies.edges()[hit.edge as usize][0]);
        if solid(own) || solid(other) {
            continue;
        }
        let pair = [own.min(other), own.max(other)];
        let shares = |user: u32| {
            bodies.triangles()[user as usize].iter().any(|corner| corners.contains(corner))
        };
        let found = users[hit.edge as usize]
            .iter()
            .filter(|&&user| !shares(user))
            .map(|&user| [user.min(hit.triangle), user.max(hit.triangle)]);
        crossed.entry(pair).or_default().extend(found);
    }
    let pair = |[a, b]: [usize; 2], primitives: usize, points_inside: Option<usize>| Pair {
        a: names[a].clone(),
        b: names[b].clone(),
        itself: a == b,
        primitives: Some(primitives),
        sharing: None,
        points_inside,
        volume: None,
        max_depth: None,
    };
    let mut pairs = BTreeMap::new();
    for (bodies, mut list) in inside {
        let primitives = list.len();
        list.sort_unstable();
        list.dedup_by_key(|[vertex, _]| *vertex);
        pairs.insert(bodies, pair(bodies, primitives, Some(list.len())));
    }
    for (bodies, mut list) in crossed {
        list.sort_unstable();
        list.dedup();
        if !list.is_empty() {
            pairs.insert(bodies, pair(bodies, list.len(), None));
        }
    }
    pairs.into_values().collect()
}

/// For each edge the triangles that have it.
fn edge_users(bodies: &Bodies) -> Vec<Vec<u32>> {
    let mut users = vec![Vec::new(); bodies.edges().len()];
    for (triangle, &[a, b, c]) in (0u32..).zip(bodies.triangles()) {
        for [p, q] in [[a, b], [b, c], [c, a]] {
            let body = &bodies.list()[bodies.body_of(p)];
            let edges = &bodies.edges()[body.edges.clone()];
            // The edges of a body are in ascending order, the smaller vertex first, and it has all of them.
            let place = edges.partition_point(|edge| *edge < [p.min(q), p.max(q)]);
            users[body.edges.start + place].push(triangle);
        }
    }
    users
}

fn show(report: &Report, common: &Common) -> Result<(), Failure> {
    if common.format == OutputFormat::Json {
        return Ok(print::json(report)?);
    }
    if report.pairs.is_empty() {
        return Ok(print::text("no collisions")?);
    }
    let mut table = print::table(&[
        "body",
        "with",
        "primitive pairs",
        "points inside",
        "common volume",
        "deepest",
    ]);
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    for pair in &report.pairs {
        let other = if pair.itself { "itself" } else { &pair.b };
        table.add_row([
            pair.a.clone(),
            other.to_owned(),
            text(pair.primitives.map(|count| match pair.sharing {
                Some(sharing) if sharing > 0 => format!("{count} + {sharing} that share a vertex"),
                _ => count.to_string(),
            })),
            text(pair.points_inside.map(|count| count.to_string())),
            text(pair.volume.map(print::short)),
            text(pair.max_depth.map(print::short)),
        ]);
    }
    print::text(table)?;
    if !common.quiet {
        print::note(format!("found in {} ms", print::short(1e3 * report.seconds)));
    }
    Ok(())
}
