//! Twelve dolphins that morph: triangles that meet, all of them or any.

use std::time::Duration;

use defcol::detect::brute::triangle_pairs;
use defcol::detect::bvh::{Collider, Group, Placement, Split};
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol::mesh::TriangleMesh;
use defcol_scenes::morphing::{MorphingScene, STEPS, dolphin_school};

use super::Row;
use crate::timing::{on_threads, shortest};
use defcol_query::{OnStep, QueryError, with_steps};

const TASK: &str = "trees";
/// Every so many steps of the experiment are taken.
const STRIDE: usize = 40;
const BUDGET: Duration = Duration::from_secs(2);

pub fn run(quick: bool, on_step: OnStep) -> Result<Vec<Row>, QueryError> {
    let levels = if quick { 2 } else { 4 };
    let mut rows = Vec::new();
    with_steps(on_step, levels, "dolphins", |bar| {
        for level in 0..levels {
            on_threads(1, || measure(level, &mut rows))??;
            bar.advance();
        }
        Ok::<(), QueryError>(())
    })?;
    Ok(rows)
}

fn measure(level: u32, rows: &mut Vec<Row>) -> Result<(), QueryError> {
    let scene = dolphin_school(level, STEPS);
    let frames: Vec<usize> = (0..STEPS).step_by(STRIDE).collect();
    let size = format!("12 dolphins of {} triangles", scene.mesh.triangles.len());
    let mut school = school(&scene).map_err(QueryError::computation)?;
    let mut ours = Answers::default();
    for (found, count) in [(Found::All, &mut ours.pairs), (Found::First, &mut ours.touching)] {
        let mut failed = None;
        let milliseconds = shortest(BUDGET, || {
            *count = 0;
            for &frame in &frames {
                failed = failed.take().or(pose(&mut school, &scene, frame).err());
                *count += match found {
                    Found::All => school.all().map(|(_, pairs)| pairs.len()).sum::<usize>(),
                    Found::First => school.first().count(),
                };
            }
        }) / frames.len() as f64;
        if let Some(error) = failed {
            return Err(QueryError::computation(error));
        }
        match found {
            Found::All => ours.all_ms = milliseconds,
            Found::First => ours.first_ms = milliseconds,
        }
    }
    // What everything else needs first: the vertices in the world, as the bodies have them.
    let mut worlds = Vec::new();
    for &frame in &frames {
        pose(&mut school, &scene, frame).map_err(QueryError::computation)?;
        let vertices = scene.mesh.positions.len() as u32;
        let positions = |body: &mut Collider<f32>| -> Vec<Vector3<f32>> {
            (0..vertices).map(|vertex| body.position(vertex)).collect()
        };
        worlds.push(school.bodies().map(positions).collect::<Vec<_>>());
    }
    if level == 0 {
        let mut count = 0;
        let milliseconds = shortest(Duration::ZERO, || {
            count = every_pair(&worlds, &scene.mesh.triangles);
        }) / frames.len() as f64;
        rows.push(ours.row(
            &size,
            Found::All,
            "everything against everything",
            milliseconds,
            count,
        ));
    }
    #[cfg(feature = "peers")]
    {
        use super::parry::ParryBodies;
        let mut parry = ParryBodies::new(&worlds[0], &scene.mesh.triangles);
        for (found, first_only) in [(Found::All, false), (Found::First, true)] {
            let mut count = 0;
            let milliseconds = shortest(BUDGET, || {
                count = worlds
                    .iter()
                    .map(|world| {
                        parry.refit(world);
                        if first_only { parry.touching(world) } else { parry.pairs(world) }
                    })
                    .sum();
            }) / frames.len() as f64;
            let peer = "parry3d trees, refitted; vertices given";
            rows.push(ours.row(&size, found, peer, milliseconds, count));
        }
    }
    Ok(())
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    All,
    First,
}

/// What a school of morphing bodies took and found.
#[derive(Default)]
struct Answers {
    all_ms: f64,
    first_ms: f64,
    pairs: usize,
    touching: usize,
}

impl Answers {
    fn row(&self, size: &str, found: Found, peer: &str, theirs: f64, count: usize) -> Row {
        let (ours, own, what) = match found {
            Found::All => (self.all_ms, self.pairs, "all pairs"),
            Found::First => (self.first_ms, self.touching, "first found"),
        };
        Row {
            task: TASK,
            size: format!("{size}, {what}"),
            threads: 1,
            ours_ms: ours,
            peer: peer.to_owned(),
            peer_ms: theirs,
            ratio: theirs / ours,
            agree: Some(own == count),
        }
    }
}

fn school(scene: &MorphingScene) -> Result<Group<f32>, DetectError> {
    let single = |positions: &Vec<Vector3<f64>>| -> Vec<Vector3<f32>> {
        positions.iter().map(|p| p.map(|x| x as f32)).collect()
    };
    let references: Vec<_> = scene.references.iter().map(single).collect();
    let mesh =
        TriangleMesh::new(scene.mesh.clone().cast()).map_err(|_| DetectError::NoTriangles)?;
    let dolphin = Collider::morphing(&mesh, &references, 0, Split::default())?;
    Ok(Group::new(vec![dolphin; scene.steps[0].len()]))
}

fn pose(school: &mut Group<f32>, scene: &MorphingScene, step: usize) -> Result<(), DetectError> {
    for (dolphin, pose) in school.bodies().zip(&scene.steps[step]) {
        dolphin.set_weights(&pose.weights.map(|weight| weight as f32))?;
        let (rotation, translation) =
            (pose.rotation.map(|x| x as f32), pose.translation.map(|x| x as f32));
        dolphin.set_placement(Placement::new(rotation, translation)?)?;
    }
    Ok(())
}

/// Everything against everything.
fn every_pair(worlds: &[Vec<Vec<Vector3<f32>>>], triangles: &[[u32; 3]]) -> usize {
    let mut count = 0;
    for world in worlds {
        for (b, second) in world.iter().enumerate() {
            for first in &world[..b] {
                count += triangle_pairs((first, triangles), (second, triangles)).len();
            }
        }
    }
    count
}
