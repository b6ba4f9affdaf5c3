//! How deep points are in bodies, and how volumes change with every vertex.

use std::time::Duration;

use defcol::contact::volume::VolumeContact;
use defcol::detect::bvh::{NearestSearch, PrimitiveTree};
use defcol::detect::ldi::{OverlapMeter, Shell, Software};
use defcol::detect::primitive::squared_distance_to_triangle;
use defcol::math::Vector3;
use defcol::mesh::TriangleMesh;
use defcol::state::{Bodies, Collides};
use defcol_scenes::heap::{Heap, membranes, rods};
use defcol_scenes::models;

use super::Row;
use crate::timing::{consistent_depth, on_threads, shortest};
use defcol_query::{OnStep, QueryError, with_steps};

const TASK: &str = "depth";
const BUDGET: Duration = Duration::from_secs(1);
/// What a colliding point took on a Pentium 4 with 3.2 GHz (THESIS 6.2.1), in milliseconds.
const PUBLISHED: f64 = 0.032;

pub fn run(quick: bool, on_step: OnStep) -> Result<Vec<Row>, QueryError> {
    type Make = fn(usize) -> Heap;
    let heaps: [(&str, usize, Make); 5] = [
        ("rods", 4, rods),
        ("rods", 16, rods),
        ("rods", 64, rods),
        ("membranes", 10, membranes),
        ("membranes", 100, membranes),
    ];
    let heaps = if quick { &heaps[..1] } else { &heaps[..] };
    let triangles: &[u32] = if quick { &[5_000] } else { &[5_000, 50_000, 500_000] };
    let mut rows = Vec::new();
    with_steps(on_step, (heaps.len() + 2 * triangles.len()) as u32, "depths", |bar| {
        for (name, count, heap) in heaps {
            rows.push(consistent(name, *count, &heap(*count))?);
            bar.advance();
        }
        for &count in triangles {
            rows.push(on_threads(1, || nearest(count))??);
            bar.advance();
        }
        for &count in triangles {
            rows.push(on_threads(1, || gradient(count))??);
            bar.advance();
        }
        Ok::<(), QueryError>(())
    })?;
    Ok(rows)
}

fn row(size: String, ours_ms: f64, peer: String, peer_ms: f64, agree: Option<bool>) -> Row {
    let (threads, ratio) = (1, peer_ms / ours_ms);
    Row { task: TASK, size, threads, ours_ms, peer, peer_ms, ratio, agree }
}

/// Stages two to four of the thesis, for colliding points that are known.
fn consistent(name: &str, count: usize, heap: &Heap) -> Result<Row, QueryError> {
    let (statistics, milliseconds) = consistent_depth(heap, BUDGET)?;
    let all = statistics.points;
    let size = format!(
        "{count} {name}: {all} colliding points, {} edges cut, {} resting",
        statistics.crossings, statistics.resting
    );
    Ok(row(size, milliseconds, "THESIS 6.2.1, 32 µs a point".into(), all as f64 * PUBLISHED, None))
}

/// The nearest point of a surface, against all triangles.
fn nearest(count: u32) -> Result<Row, QueryError> {
    let mesh = models::find("dragon").map_err(QueryError::request)?.rigged(count as usize);
    let mesh = mesh.map_err(QueryError::computation)?.mesh.cast::<f32>();
    let (positions, triangles) = (&mesh.positions, &mesh.triangles);
    let centre = positions.iter().sum::<Vector3<f32>>() / positions.len() as f32;
    let points: Vec<_> = positions.iter().step_by(7).map(|p| centre + (p - centre) * 0.9).collect();
    let mut tree = PrimitiveTree::new(positions, triangles);
    let (mut search, mut found) = (NearestSearch::default(), Vec::new());
    let milliseconds = shortest(BUDGET, || {
        tree.refit(positions);
        search.find(&tree, triangles, positions, &points, &mut found);
    });
    let few = points.len().min(20_000_000 / triangles.len()).max(10);
    let mut exact = Vec::new();
    let all = shortest(Duration::ZERO, || {
        exact.clear();
        exact.extend(points[..few].iter().map(|point| {
            let place = point.map(f64::from);
            let each = triangles.iter().map(|t| {
                let corners = t.map(|corner| positions[corner as usize].map(f64::from));
                squared_distance_to_triangle(place, corners)
            });
            each.fold(f64::INFINITY, f64::min).sqrt()
        }));
    }) * points.len() as f64
        / few as f64;
    let agree = exact
        .iter()
        .zip(&found)
        .all(|(a, b)| (a - f64::from(b.distance)).abs() <= 1e-6 * (1.0 + a));
    let size = format!("{} points, {} triangles, refitted", points.len(), triangles.len());
    Ok(row(size, milliseconds, "everything against everything".into(), all, Some(agree)))
}

/// The volume with its gradient, against central differences of the volume alone.
fn gradient(count: u32) -> Result<Row, QueryError> {
    let resolution = 128;
    let mesh = models::find("knot").map_err(QueryError::request)?.rigged(count as usize);
    let mesh = mesh.map_err(QueryError::computation)?.mesh.cast::<f32>();
    let mesh = TriangleMesh::new(mesh).map_err(QueryError::computation)?;
    let mut bodies = Bodies::default();
    bodies.add_surface(&mesh, Collides::default());
    bodies.add_surface(&mesh, Collides::default());
    let extent = mesh.bounds().extent();
    let moved = mesh.positions().iter().map(|p| p + extent * 0.21);
    let positions: Vec<_> = mesh.positions().iter().copied().chain(moved).collect();
    let mut contact = VolumeContact::<Software>::default();
    let mut failed = None;
    let ours = shortest(BUDGET, || {
        let done = contact.pair(&bodies, &positions, [0, 1], resolution);
        failed = failed.take().or(done.err());
    });
    let mut meter = OverlapMeter::<Software>::default();
    let mut volume = 0.0;
    let once = shortest(BUDGET, || {
        let [a, b] = [0, 1].map(|body| Shell::of_body(&bodies, &positions, body));
        match a.and_then(|a| meter.three_axes(&a, &b?, resolution)) {
            Ok(overlap) => volume = overlap.volume.value,
            Err(error) => failed = Some(error),
        }
    });
    if let Some(error) = failed {
        return Err(QueryError::computation(error));
    }
    let vertices = contact.vertices().len();
    let agree = (contact.volume().value - volume).abs() <= 0.01 * volume;
    let size =
        format!("gradient for {vertices} vertices, {} triangles", 2 * mesh.triangles().len());
    let peer = "two volumes for each coordinate".to_owned();
    Ok(row(size, ours, peer, once * 6.0 * vertices as f64, Some(agree)))
}
