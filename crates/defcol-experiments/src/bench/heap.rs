//! Whole frames of falling heaps and the quality of their final state, with the same bodies, conditions and measures as for
//! rapier3d's soft bodies.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use defcol::detect::hash::SpatialHash;
use defcol::detect::primitive::squared_distance_to_triangle;
use defcol::detect::{Detector, Hits, Questions};
use defcol::math::Vector3;
use defcol::state::Bodies;
use defcol::world::World;
use defcol_query::Simulation;
use defcol_recording::Precision;
use defcol_scenes::catalogue::SceneError;
use defcol_scenes::dropped;
use serde_json::{Value, json};

use defcol::stats::TimeSummary;
use defcol_query::{OnStep, QueryError, with_steps};

/// Names of the heaps.
pub use defcol_scenes::dropped::NAMES;

/// Frames of 1/60 s.
const FRAMES: u32 = 300;

/// Simulates a heap (`NAME` or `NAME:SEED`) for 300 frames. `state_file` receives the final state, six numbers per vertex.
/// Returns the report `defcol.bench.heap/1`.
///
/// # Errors
/// If the heap is unknown, diverges or its state cannot be written.
pub fn run(heap: &str, state_file: Option<&Path>, on_step: OnStep) -> Result<Value, QueryError> {
    let (name, seed) = heap.split_once(':').unwrap_or((heap, "0"));
    let seed = seed.parse().map_err(|_| {
        QueryError::request(format!("`{seed}` is no seed; give a whole number, as in {name}:3"))
    })?;
    let heap = dropped::named(name).ok_or_else(|| {
        QueryError::request(format!(
            "there is no heap {name}; known: {}",
            dropped::NAMES.join(", ")
        ))
    })?;
    let mut simulation =
        Simulation::build(name, seed, Precision::F32).map_err(|error| match error {
            SceneError::Unknown(_) => QueryError::request(error),
            other => QueryError::computation(other),
        })?;
    let rest_positions = world_of(&simulation)?.motion().positions.clone();
    let mut times = vec![];
    let mut fastest = 0.0f32;
    with_steps(on_step, FRAMES, name, |bar| {
        for _ in 0..FRAMES {
            let start = Instant::now();
            simulation.step()?;
            times.push(1e3 * start.elapsed().as_secs_f64());
            let world = world_of(&simulation)?;
            let speeds = world.motion().velocities.iter().map(|velocity| velocity.norm());
            fastest = speeds.fold(fastest, f32::max);
            bar.advance();
        }
        Ok::<(), QueryError>(())
    })?;
    let world = world_of(&simulation)?;
    if let Some(file) = state_file {
        write_state(world, file)?;
    }
    let TimeSummary { mean, p50, p99 } = TimeSummary::of(&times);
    let mean_of = |times: &[f64]| round(TimeSummary::of(times).mean);
    let each_ten: Vec<f64> = times.chunks(10).map(mean_of).collect();
    let mut report = json!({
        "schema": "defcol.bench.heap/1",
        "scene": name,
        "threads": rayon::current_num_threads(),
        "frames": FRAMES,
        "ms_per_frame": { "mean": round(mean), "p50": round(p50), "p99": round(p99) },
        "mean_of_each_10": each_ten,
        "mean_of_last_100": mean_of(&times[times.len() - 100..]),
        "max_speed_of_all_frames": round(f64::from(fastest)),
        "state_hash": format!("{:016x}", simulation.hash()),
    });
    let measured = measure(world, &rest_positions, heap.half_width)?;
    if let (Some(report), Value::Object(measured)) = (report.as_object_mut(), measured) {
        report.extend(measured);
    }
    Ok(report)
}

fn world_of(simulation: &Simulation) -> Result<&World<f32>, QueryError> {
    simulation.world_f32().ok_or_else(|| QueryError::computation("heaps are in single precision"))
}

/// Six numbers a vertex, as other programs measure them.
fn write_state(world: &World<f32>, file: &Path) -> Result<(), QueryError> {
    let motion = world.motion();
    let lines = motion
        .positions
        .iter()
        .zip(&motion.velocities)
        .map(|(p, v)| format!("{} {} {} {} {} {}\n", p.x, p.y, p.z, v.x, v.y, v.z));
    std::fs::write(file, lines.collect::<String>())
        .map_err(|error| QueryError::computation(format!("{}: {error}", file.display())))
}

fn measure(
    world: &World<f32>,
    rest: &[Vector3<f32>],
    half_width: f64,
) -> Result<Value, QueryError> {
    let bodies = world.bodies();
    let wide = |places: &[Vector3<f32>]| -> Vec<Vector3<f64>> {
        places.iter().map(|place| place.map(f64::from)).collect()
    };
    let (places, rest) = (wide(&world.motion().positions), wide(rest));
    let mut hits = Hits::default();
    let mut check = Bodies::clone(bodies);
    // Whatever was simulated, everything is measured with itself too.
    for body in 0..check.len() {
        check.set_collides(body, defcol::state::Collides::with_all_and_itself());
    }
    SpatialHash::default()
        .detect(&check, &places, Questions::default(), &mut hits)
        .map_err(QueryError::computation)?;
    let inside: BTreeSet<(u32, usize)> = hits
        .points
        .iter()
        .map(|hit| (hit.vertex, bodies.body_of(bodies.tetrahedra()[hit.tetrahedron as usize][0])))
        .collect();
    let in_itself = hits.points.iter().filter(|hit| {
        let around = bodies.tetrahedra()[hit.tetrahedron as usize];
        bodies.body_of(hit.vertex) == bodies.body_of(around[0])
    });
    let in_itself = in_itself.count();
    let depths: Vec<f64> =
        inside.iter().map(|&(vertex, body)| depth(bodies, &places, vertex, body)).collect();
    let [mut others, mut own] = [0, 0];
    for hit in &hits.edges {
        let edge = bodies.edges()[hit.edge as usize];
        let triangle = bodies.triangles()[hit.triangle as usize];
        let same = bodies.body_of(edge[0]) == bodies.body_of(triangle[0]);
        *(if same { &mut own } else { &mut others }) += 1;
    }
    let motion = world.motion();
    let masses = motion.masses.iter().map(|&mass| f64::from(mass));
    let squares = motion.velocities.iter().map(|v| v.map(f64::from).norm_squared());
    let total: f64 = masses.clone().sum();
    let energy: f64 = masses.zip(squares.clone()).map(|(mass, square)| mass * square / 2.0).sum();
    let volume = |places: &[Vector3<f64>], corners: &[u32; 4]| {
        let [a, b, c, d] = corners.map(|corner| places[corner as usize]);
        (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
    };
    let (mut now, mut before, mut worst, mut inverted) = (0.0, 0.0, f64::INFINITY, 0);
    for body in bodies.list() {
        let own = &bodies.tetrahedra()[body.tetrahedra.clone()];
        let here: f64 = own.iter().map(|corners| volume(&places, corners)).sum();
        let there: f64 = own.iter().map(|corners| volume(&rest, corners)).sum();
        inverted += own.iter().filter(|corners| volume(&places, corners) <= 0.0).count();
        (now, before, worst) = (now + here, before + there, worst.min(here / there));
    }
    let stretch = stretches(bodies, &places, &rest);
    let stretched = |share: f64| {
        let place = (stretch.len().max(1) - 1) as f64 * share;
        stretch.get(place as usize).map(|ratio| round(*ratio))
    };
    let broken = places.iter().filter(|place| place.iter().any(|x| !x.is_finite())).count();
    let outside = bodies.list().iter().flat_map(|body| {
        let own = &bodies.tetrahedra()[body.tetrahedra.clone()];
        let size = own.iter().map(|corners| volume(&rest, corners)).sum::<f64>().cbrt();
        places[body.vertices.clone()].iter().map(move |place| (place, 0.01 * size))
    });
    let below = outside.clone().filter(|(place, slack)| place.y < -slack).count();
    let beyond = outside
        .filter(|(place, slack)| place.x.abs().max(place.z.abs()) > half_width + slack)
        .count();
    let heights = places.iter().map(|place| place.y);
    Ok(json!({
        "pairs_other": hits.points.len() - in_itself,
        "pairs_self": in_itself,
        "vertices_inside": inside.len(),
        "max_depth_mm": round(1e3 * depths.iter().copied().fold(0.0, f64::max)),
        "mean_depth_mm": round(1e3 * depths.iter().sum::<f64>() / depths.len().max(1) as f64),
        "edges_through_triangles_other": others,
        "edges_through_triangles_self": own,
        "kinetic_energy_j": round(energy),
        "kinetic_energy_j_per_kg": round(energy / total),
        "max_speed": round(squares.fold(0.0, f64::max).sqrt()),
        "volume_ratio": round(now / before),
        "worst_body_volume_ratio": round(worst),
        "inverted_tets": inverted,
        "edge_ratio_p01": stretched(0.01),
        "edge_ratio_p50": stretched(0.5),
        "edge_ratio_p99": stretched(0.99),
        "edge_ratio_max": stretched(1.0),
        "non_finite_vertices": broken,
        "vertices_below_ground": below,
        "vertices_beyond_walls": beyond,
        "lowest_mm": round(1e3 * heights.clone().fold(f64::INFINITY, f64::min)),
        "highest_mm": round(1e3 * heights.fold(f64::NEG_INFINITY, f64::max)),
    }))
}

/// The length of each edge of a tetrahedron as a share of that at rest, ascending.
fn stretches(bodies: &Bodies, places: &[Vector3<f64>], rest: &[Vector3<f64>]) -> Vec<f64> {
    let all = bodies.tetrahedra().iter().flat_map(|&[a, b, c, d]| {
        [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]].map(|[p, q]| [p.min(q), p.max(q)])
    });
    let edges: BTreeSet<[u32; 2]> = all.collect();
    let length = |places: &[Vector3<f64>], [p, q]: [u32; 2]| {
        (places[p as usize] - places[q as usize]).norm()
    };
    let mut ratios: Vec<f64> =
        edges.into_iter().map(|edge| length(places, edge) / length(rest, edge)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios
}

/// How far a vertex is from the surface of a body; of its own only what is not around it counts.
fn depth(bodies: &Bodies, places: &[Vector3<f64>], vertex: u32, body: usize) -> f64 {
    let own = &bodies.list()[body];
    let mut around = BTreeSet::from([vertex]);
    for corners in &bodies.tetrahedra()[own.tetrahedra.clone()] {
        if corners.contains(&vertex) {
            around.extend(corners);
        }
    }
    let far = |corners: &&[u32; 3]| !corners.iter().any(|corner| around.contains(corner));
    bodies.triangles()[own.triangles.clone()]
        .iter()
        .filter(far)
        .map(|corners| {
            let corners = corners.map(|corner| places[corner as usize]);
            squared_distance_to_triangle(places[vertex as usize], corners)
        })
        .fold(f64::INFINITY, f64::min)
        .sqrt()
}

/// Four digits are enough for a table.
fn round(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(f64::NAN)
}
