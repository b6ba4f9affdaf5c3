//! `defcol collide`: which bodies collide, and how many of their primitives.

use std::collections::BTreeMap;
use std::time::Instant;

use defcol::detect::brute::BruteForce;
use defcol::detect::hash::SpatialHash;
use defcol::detect::{Detector, Hits, Questions};
use defcol::mesh::{TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use serde::Serialize;

use super::load;
use crate::arguments::{CollideOptions, Common, Method, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_spinner;

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
    /// tetrahedra.
    primitives: usize,
    points_inside: Option<usize>,
    volume: Option<f64>,
    max_depth: Option<f64>,
}

pub fn run(options: &CollideOptions, common: &Common) -> Result<i32, Failure> {
    let (mut bodies, mut positions, mut names) = (Bodies::default(), Vec::new(), Vec::new());
    let collides = Collides { with_itself: options.with_itself, ..Collides::default() };
    if options.meshes.len() == 1 && !options.with_itself {
        return Err(Failure::usage(
            "one mesh collides with nothing: give another, or --self for collisions with itself",
        ));
    }
    if options.meshes.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::usage("standard input can be read once; save it to a file first"));
    }
    for path in &options.meshes {
        let model = load(path, options.from.as_deref(), common.quiet)?;
        let name = path.display().to_string();
        let problem = |error| Failure::Input(format!("{name}: {error}"));
        positions.extend_from_slice(&model.mesh.positions);
        if model.mesh.tetrahedra.is_empty() {
            bodies.add_surface(&TriangleMesh::new(model.mesh).map_err(problem)?, collides);
        } else {
            bodies.add_solid(&TetMesh::new(model.mesh).map_err(problem)?, collides);
        }
        names.push(name);
    }
    let solid = |body: usize| !bodies.list()[body].tetrahedra.is_empty();
    // Edges matter only between surfaces; where a body has tetrahedra, vertices are counted.
    let surfaces = (0..bodies.len()).filter(|&body| !solid(body)).count();
    let questions = Questions {
        points_in_tetrahedra: surfaces < bodies.len(),
        edges_through_triangles: surfaces > 1 || (surfaces == 1 && options.with_itself),
    };
    let mut hits = Hits::default();
    let start = Instant::now();
    with_spinner(common.quiet, "looking for collisions", |_| match options.method {
        Method::Hash => SpatialHash::default().detect(&bodies, &positions, questions, &mut hits),
        Method::Brute => BruteForce.detect(&bodies, &positions, questions, &mut hits),
    })
    .map_err(|error| Failure::Input(error.to_string()))?;
    let seconds = start.elapsed().as_secs_f64();
    let pairs = count(&bodies, &hits, &names);
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
        primitives,
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
    let mut table = print::table(&["body", "with", "primitive pairs", "points inside"]);
    for pair in &report.pairs {
        let other = if pair.itself { "itself" } else { &pair.b };
        let points = pair.points_inside.map_or("-".to_owned(), |count| count.to_string());
        table.add_row([&pair.a, other, &pair.primitives.to_string(), &points]);
    }
    print::text(table)?;
    if !common.quiet {
        print::note(format!("found in {} ms", print::short(1e3 * report.seconds)));
    }
    Ok(())
}
