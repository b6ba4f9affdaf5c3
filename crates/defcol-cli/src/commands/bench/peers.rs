//! One task of the peer benchmark, measured the way its driver asks for: a JSON line per repetition.

use std::path::PathBuf;
use std::time::Instant;

use defcol::detect::hash::{Parameters, SpatialHash};
use defcol::detect::{Detector, Hits};
use defcol::math::Vector3;
use defcol::mesh::TetMesh;
use defcol::state::{Bodies, Collides};
use defcol_io::read;
use serde_json::json;

use crate::failure::Failure;
use crate::print;
use crate::progress::PROGRESS;
use crate::timing::{POINTS, on_threads};

/// Repetitions at most.
const MOST: usize = 15;

pub fn run(words: &[&str]) -> Result<(), Failure> {
    let usage = || {
        Failure::usage("give `peers TASK CASE THREADS BUDGET_SECONDS`, like `peers T5 rods100 1 2`")
    };
    let [task, case, threads, budget] = *words else {
        return Err(usage());
    };
    let threads: usize = threads.parse().ok().filter(|&n| n > 0).ok_or_else(usage)?;
    let budget: f64 = budget.parse().ok().filter(|&s: &f64| s >= 0.0).ok_or_else(usage)?;
    let folder = std::env::var_os("PEERS_DATA").map(PathBuf::from).ok_or_else(|| {
        Failure::usage("PEERS_DATA must name the folder with the files of the peer benchmark")
    })?;
    match task {
        "T5" => points_in_tetrahedra(&folder.join(format!("{case}.node")), threads, budget),
        _ => Err(Failure::usage(format!("task {task} cannot be measured yet; known: T5"))),
    }
}

/// T5: all (vertex, tetrahedron) pairs, from positions to the list.
fn points_in_tetrahedra(
    file: &std::path::Path,
    threads: usize,
    budget: f64,
) -> Result<(), Failure> {
    let raw = read(file, &PROGRESS)?.mesh.cast::<f32>();
    let positions: Vec<Vector3<f32>> = raw.positions.clone();
    let mesh = TetMesh::new(raw).map_err(|error| Failure::Input(error.to_string()))?;
    let mut bodies = Bodies::default();
    bodies.add_solid(&mesh, Collides::with_all_and_itself());
    // The same positions again and again would count as a body at rest.
    let mut hash = SpatialHash::with(Parameters { keep_resting: false, ..Parameters::default() });
    on_threads(threads, || {
        let mut hits = Hits::default();
        let mut detect =
            || hash.detect(&bodies, &positions, POINTS, &mut hits).map(|()| hits.points.len());
        // Once to choose cells and to order the tetrahedra, which later calls keep.
        detect().map_err(Failure::computation)?;
        let start = Instant::now();
        for run in 0..MOST {
            if run >= 3 && start.elapsed().as_secs_f64() > budget {
                break;
            }
            let begin = Instant::now();
            let value = detect().map_err(Failure::computation)?;
            let milliseconds = 1e3 * begin.elapsed().as_secs_f64();
            let phases = json!({ "build+query": milliseconds });
            print::text(json!({ "phases": phases, "result": { "value": value } }))?;
        }
        Ok(())
    })?
}
