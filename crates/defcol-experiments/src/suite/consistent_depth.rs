//! THESIS 6.2.1: two cubes far in each other, and what a colliding point costs.

use std::path::Path;
use std::time::Duration;

use defcol::contact::depth::{ConsistentDepth, NearestDepth};
use defcol::contact::{CollidingPoints, Contact, Contacts};
use defcol::detect::hash::SpatialHash;
use defcol::detect::{Detector, Hits};
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TetMesh};
use defcol::state::{Bodies, Collides};
use defcol_io::Model;
use defcol_render::{PictureOptions, draw, write_png};
use defcol_scenes::heap::{Heap, membranes, rods};
use defcol_scenes::regular::box_grid;

use super::Experiment;
use super::SuiteOptions;
use super::plot::{Plot, Scale};
use crate::timing::{POINTS, consistent_depth};
use defcol_query::{OnStep, QueryError, with_steps};

const PAPER: &str = "THESIS 6.2.1, figure 6.9: two cubes of 625 tetrahedra, squarely in each other. In the picture each \
                     point in the other cube points along its way out, above by the nearest surface, below by the \
                     consistent depth. Times are those of stages two to four, on one thread";

/// What a colliding point took on a Pentium 4 with 3.2 GHz, in microseconds.
const PUBLISHED: f64 = 32.0;

/// How far the cubes in the picture are in each other.
const DRAWN: f64 = 0.5;

pub fn run(options: &SuiteOptions, on_step: OnStep) -> Result<Experiment, QueryError> {
    let depths: Vec<f64> = (1..=9).map(|k| 0.1 * f64::from(k)).collect();
    let counts: &[usize] = if options.quick { &[2, 4] } else { &[2, 4, 8, 16, 32, 64] };
    let total = depths.len() + 2 * counts.len() + 1;
    with_steps(on_step, total as u32, "consistent depth", |bar| {
        let mut all = Experiment::new("consistent-depth", PAPER, PUBLISHED);
        let mut shares: [Vec<[f64; 2]>; 2] = Default::default();
        for &deep in &depths {
            let found = cubes(deep).map_err(QueryError::computation)?;
            for (share, contacts) in shares.iter_mut().zip(&found.contacts) {
                let off = contacts.iter().filter(|contact| angle(contact) > 45.0).count();
                share.push([deep, off as f64 / contacts.len() as f64]);
            }
            bar.advance();
        }
        for (name, share) in ["nearest surface", "consistent"].iter().zip(&shares) {
            let worst = share.iter().map(|point| point[1]).fold(0.0, f64::max);
            all.find(
                &format!("{name}: share of directions beyond 45 degrees, at most"),
                None,
                worst,
            );
        }
        let [nearest, consistent] = shares;
        all.add(Plot {
            title: "directions more than 45 degrees off the impact".into(),
            x: "how far the cubes are in each other",
            scale: Scale::Linear,
            y: "share of the points",
            curves: vec![("nearest surface".into(), nearest), ("consistent".into(), consistent)],
        });
        let mut curves = Vec::new();
        for (name, heap) in [("rods", rods as fn(usize) -> Heap), ("membranes", membranes)] {
            let mut curve = Vec::new();
            for &count in counts {
                let (statistics, milliseconds) =
                    consistent_depth(&heap(count), Duration::from_millis(300))?;
                if statistics.points > 0 {
                    curve.push([statistics.points as f64, milliseconds]);
                    all.measured = 1e3 * milliseconds / statistics.points as f64;
                }
                bar.advance();
            }
            all.find(
                &format!("{name}: microseconds a colliding point"),
                Some(PUBLISHED),
                all.measured,
            );
            curves.push((name.to_owned(), curve));
        }
        all.ratio = Some(all.measured / PUBLISHED);
        all.add(Plot {
            title: "time over the number of colliding points".into(),
            x: "colliding points",
            scale: Scale::Linear,
            y: "ms",
            curves,
        });
        all.pictures.push(draw_cubes(&options.out)?);
        bar.advance();
        Ok(all)
    })
}

/// Two cubes and the ways out of each other.
struct Cubes {
    /// By the nearest surface, and consistent.
    contacts: [Contacts<f64>; 2],
}

fn cubes(deep: f64) -> Result<Cubes, DetectError> {
    let Ok(cube) = TetMesh::new(box_grid([5, 5, 5], 0.2)) else {
        return Ok(Cubes { contacts: Default::default() });
    };
    let mut bodies = Bodies::default();
    bodies.add_solid(&cube, Collides::default());
    bodies.add_solid(&cube, Collides::default());
    let moved = cube.positions().iter().map(|p| p + Vector3::new(1.0 - deep, 0.0, 0.0));
    let positions: Vec<_> = cube.positions().iter().copied().chain(moved).collect();
    let (mut hits, mut points) = (Hits::default(), CollidingPoints::default());
    SpatialHash::default().detect(&bodies, &positions, POINTS, &mut hits)?;
    points.collect_hits(&bodies, &hits);
    let mut contacts: [Contacts<f64>; 2] = Default::default();
    NearestDepth::default().find(&bodies, &positions, &points, &mut contacts[0])?;
    ConsistentDepth::default().find(&bodies, &positions, &points, &mut contacts[1])?;
    Ok(Cubes { contacts })
}

/// The angle between the way out and the impact, in degrees.
fn angle(contact: &Contact<f64>) -> f64 {
    let away = if contact.bodies[0] == 0 { -1.0 } else { 1.0 };
    (contact.direction.x * away).clamp(-1.0, 1.0).acos().to_degrees()
}

/// Draws both ways to get out, one above the other.
fn draw_cubes(folder: &Path) -> Result<String, QueryError> {
    let Cubes { contacts } = cubes(DRAWN).map_err(QueryError::computation)?;
    let mut parts: [RawMesh<f64>; 4] = Default::default();
    for (contacts, height) in contacts.iter().zip([1.5, 0.0]) {
        let up = Vector3::new(0.0, 0.0, height);
        for (body, x) in [0.0, 1.0 - DRAWN].into_iter().enumerate() {
            add_frame(&mut parts[body], Vector3::new(x, 0.0, height));
        }
        for contact in contacts.iter() {
            let part = &mut parts[2 + contact.bodies[0] as usize];
            add_arrow(part, contact.position + up, contact.direction);
        }
    }
    let [a, b, c, d] = parts.map(Model::from_mesh);
    let options = PictureOptions { ground: false, ..PictureOptions::default() };
    let picture = draw(&[a, b, c, d], &options).map_err(QueryError::computation)?;
    let name = "depths.png";
    write_png(&folder.join(name), &picture)?;
    Ok(name.to_owned())
}

/// A thin pyramid that points along a direction.
fn add_arrow(mesh: &mut RawMesh<f64>, from: Vector3<f64>, direction: Vector3<f64>) {
    let mut side = Vector3::zeros();
    side[direction.iamin()] = 1.0;
    let across = direction.cross(&side).normalize();
    let up = direction.cross(&across);
    let first = mesh.positions.len() as u32;
    let wide = 0.014;
    for (x, y) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
        mesh.positions.push(from + across * (x * wide) + up * (y * wide));
    }
    mesh.positions.push(from + direction * 0.13);
    let triangles = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [0, 2, 1], [0, 3, 2]];
    mesh.triangles.extend(triangles.map(|t| t.map(|corner: u32| corner + first)));
}

/// The twelve edges of a unit cube as thin beams.
fn add_frame(mesh: &mut RawMesh<f64>, low: Vector3<f64>) {
    let Ok(beam) = TetMesh::new(box_grid([1, 1, 1], 1.0)) else { return };
    let beam = beam.surface().mesh();
    let wide = 0.006;
    for axis in 0..3 {
        for (u, v) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
            let first = mesh.positions.len() as u32;
            mesh.positions.extend(beam.positions().iter().map(|p| {
                let mut place = low;
                place[axis] += p[axis];
                place[(axis + 1) % 3] += u + wide * (2.0 * p[(axis + 1) % 3] - 1.0);
                place[(axis + 2) % 3] += v + wide * (2.0 * p[(axis + 2) % 3] - 1.0);
                place
            }));
            mesh.triangles.extend(beam.triangles().iter().map(|t| t.map(|corner| corner + first)));
        }
    }
}
