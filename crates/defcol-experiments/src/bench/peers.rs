//! One task of the peer benchmark, measured the way its driver asks for: a JSON line per repetition.

mod trees;

use std::path::Path;
use std::time::Instant;

use defcol::detect::bvh::{NearestSearch, PrimitiveTree};
use defcol::detect::hash::{HashParameters, SpatialHash};
use defcol::detect::ldi::{
    ExactPoints, Generator, Ldi, OverlapMeter, SampledPoints, Software, Start, View,
};
use defcol::detect::{Detector, Hits};
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol::mesh::TetMesh;
use defcol::state::{Bodies, Collides};
use defcol_io::{Progress, read, read_points};
use serde_json::{Value, json};

use super::Body;
use crate::timing::{POINTS, on_threads};
use defcol_query::QueryError;
use trees::Found;

/// Repetitions at most.
const MOST: usize = 15;

/// Pixels along a side for points that are sampled, as many as the other images of the benchmark have.
const POINT_RESOLUTION: u32 = 128;

/// Pixels along a side for volumes: enough for half a per cent.
const VOLUME_RESOLUTION: u32 = 96;

/// Measures one task of the peer benchmark on the files in `folder`: `words` are the task, the case, the number of threads and
/// the time budget in seconds. `emit` receives a JSON document per repetition; its error ends the measurement.
///
/// # Errors
/// If the words are not understood, a file is missing or a computation fails.
pub fn run(
    words: &[&str],
    folder: Option<&Path>,
    emit: &(dyn Fn(Value) -> Result<(), QueryError> + Sync),
) -> Result<(), QueryError> {
    let usage = || {
        QueryError::request(
            "give `peers TASK CASE THREADS BUDGET_SECONDS`, like `peers T5 rods100 1 2`",
        )
    };
    let [task, case, threads, budget] = *words else {
        return Err(usage());
    };
    let threads: usize = threads.parse().ok().filter(|&n| n > 0).ok_or_else(usage)?;
    let budget: f64 = budget.parse().ok().filter(|&s: &f64| s >= 0.0).ok_or_else(usage)?;
    let folder = folder.ok_or_else(|| {
        QueryError::request("PEERS_DATA must name the folder with the files of the peer benchmark")
    })?;
    let repeat = Repeat { threads, budget, emit };
    match task {
        "T1" => exact_points(folder, case, &repeat),
        "T1-sampled" => sampled_points(folder, case, &repeat),
        "T2" => volume(folder, case, &repeat),
        "T3" => trees::between(folder, case, &repeat),
        "T4" => trees::within(folder, case, &repeat),
        "T5" => points_in_tetrahedra(&folder.join(format!("{case}.node")), &repeat),
        "T6" => trees::dolphins(folder, case, Found::All, &repeat),
        "T6-first" => trees::dolphins(folder, case, Found::First, &repeat),
        "T7" => depths(folder, case, &repeat),
        _ => Err(QueryError::request(format!(
            "task {task} cannot be measured yet; known: T1, T1-sampled, T2 to T7, T6-first"
        ))),
    }
}

/// How often work is repeated, and on how many threads.
struct Repeat<'a> {
    threads: usize,
    budget: f64,
    emit: &'a (dyn Fn(Value) -> Result<(), QueryError> + Sync),
}

/// How long the parts of a repetition took.
struct Phases {
    last: Instant,
    milliseconds: serde_json::Map<String, Value>,
}

impl Phases {
    fn begin() -> Self {
        Self { last: Instant::now(), milliseconds: serde_json::Map::new() }
    }

    /// Ends a part; what it took is added to what it took before.
    fn end(&mut self, name: &str) {
        let now = Instant::now();
        let before = self.milliseconds.get(name).and_then(Value::as_f64).unwrap_or_default();
        let all = before + 1e3 * (now - self.last).as_secs_f64();
        self.milliseconds.insert(name.to_owned(), json!(all));
        self.last = now;
    }
}

impl Repeat<'_> {
    /// Measures work that is one part.
    fn measure(
        &self,
        mut work: impl FnMut() -> Result<Value, DetectError> + Send,
    ) -> Result<(), QueryError> {
        self.measure_parts(1, |phases| {
            let value = work()?;
            phases.end("build+query");
            Ok(value)
        })
    }

    /// Does the work once without counting, which allocates, then prints a line for each repetition: how long each
    /// part took for one of so many frames. The work returns its answer.
    fn measure_parts(
        &self,
        frames: usize,
        mut work: impl FnMut(&mut Phases) -> Result<Value, DetectError> + Send,
    ) -> Result<(), QueryError> {
        on_threads(self.threads, || {
            work(&mut Phases::begin()).map_err(QueryError::computation)?;
            let start = Instant::now();
            for run in 0..MOST {
                if run >= 3 && start.elapsed().as_secs_f64() > self.budget {
                    break;
                }
                let mut phases = Phases::begin();
                let value = work(&mut phases).map_err(QueryError::computation)?;
                let mut parts = phases.milliseconds;
                for part in parts.values_mut() {
                    *part = json!(part.as_f64().unwrap_or_default() / frames as f64);
                }
                (self.emit)(json!({ "phases": parts, "result": { "value": value } }))?;
            }
            Ok(())
        })?
    }
}

/// A surface as a body.
fn body(folder: &Path, name: &str) -> Result<Body, QueryError> {
    Body::new(read(&folder.join(format!("{name}.obj")), &Progress::new())?.mesh)
}

/// The points of a case of T1.
fn points(folder: &Path, case: &str) -> Result<Vec<Vector3<f32>>, QueryError> {
    let points = read_points(&folder.join(format!("points_{case}.xyz")), &Progress::new())?;
    Ok(points.iter().map(|point| point.map(|x| x as f32)).collect())
}

fn count(inside: &[bool]) -> Value {
    json!(inside.iter().filter(|&&inside| inside).count())
}

/// T1: how many points are inside, without error.
fn exact_points(folder: &Path, case: &str, repeat: &Repeat) -> Result<(), QueryError> {
    let (body, points) = (body(folder, case)?, points(folder, case)?);
    let (mut exact, mut inside) = (ExactPoints::default(), Vec::new());
    repeat.measure(|| {
        exact.contains(&body.shell()?, &points, &mut inside)?;
        Ok(count(&inside))
    })
}

/// T1: how many points are inside, as far as an image tells.
fn sampled_points(folder: &Path, case: &str, repeat: &Repeat) -> Result<(), QueryError> {
    let (body, points) = (body(folder, case)?, points(folder, case)?);
    let (mut generator, mut ldi) = (Software::default(), Ldi::default());
    let (mut sampled, mut inside) = (SampledPoints::default(), Vec::new());
    repeat.measure(|| {
        let shell = body.shell()?;
        let axis = shell.bounds().extent().imin();
        let view = View::new(shell.bounds(), axis, POINT_RESOLUTION)?;
        generator.generate(&[shell], &view, Start::Near, &mut ldi)?;
        sampled.contains(&ldi, &points, &mut inside);
        Ok(count(&inside))
    })
}

/// The name of a mesh of a pair: `a`, `b`, `a_rest` or `b_rest`.
fn of_pair(folder: &Path, case: &str, which: &str) -> Result<String, QueryError> {
    let manifest = std::fs::read(folder.join("manifest.json"))?;
    let manifest: Value = serde_json::from_slice(&manifest)
        .map_err(|error| QueryError::Input(format!("manifest.json: {error}")))?;
    match manifest["pairs"][case][which].as_str() {
        Some(name) => Ok(name.to_owned()),
        None => Err(QueryError::Input(format!("manifest.json: there is no pair {case}"))),
    }
}

/// T2: the volume that two meshes have in common.
fn volume(folder: &Path, case: &str, repeat: &Repeat) -> Result<(), QueryError> {
    let (first, second) =
        (body(folder, &of_pair(folder, case, "a")?)?, body(folder, &of_pair(folder, case, "b")?)?);
    let mut meter = OverlapMeter::<Software>::default();
    repeat.measure(|| {
        let overlap = meter.one_axis(&first.shell()?, &second.shell()?, VOLUME_RESOLUTION)?;
        Ok(json!(overlap.volume.value))
    })
}

/// T7: how deep points are in a body. The tree was built for another pose.
fn depths(folder: &Path, case: &str, repeat: &Repeat) -> Result<(), QueryError> {
    let (body, rest, points) = match case.split_once(':') {
        Some((name, "points")) => {
            (body(folder, name)?, body(folder, &format!("{name}_def"))?, points(folder, name)?)
        }
        Some((pair, "verts")) => {
            let part = |which: &str| body(folder, &of_pair(folder, pair, which)?);
            (part("b")?, part("b_rest")?, part("a")?.positions)
        }
        _ => {
            return Err(QueryError::request(format!(
                "{case} is no case of T7, like blob50k:points"
            )));
        }
    };
    let (mut exact, mut inside) = (ExactPoints::default(), Vec::new());
    let triangles = body.bodies.triangles();
    let mut tree = PrimitiveTree::new(&rest.positions, triangles);
    let (mut within, mut nearest) = (Vec::new(), Vec::new());
    let mut search = NearestSearch::default();
    repeat.measure_parts(1, |phases| {
        exact.contains(&body.shell()?, &points, &mut inside)?;
        phases.end("inside");
        tree.refit(&body.positions);
        phases.end("refit");
        within.clear();
        within.extend(points.iter().zip(&inside).filter(|(_, inside)| **inside).map(|(p, _)| *p));
        search.find(&tree, triangles, &body.positions, &within, &mut nearest);
        phases.end("depth");
        Ok(json!(nearest.iter().map(|nearest| f64::from(nearest.distance)).sum::<f64>()))
    })
}

/// T5: all (vertex, tetrahedron) pairs, from positions to the list.
fn points_in_tetrahedra(file: &Path, repeat: &Repeat) -> Result<(), QueryError> {
    let raw = read(file, &Progress::new())?.mesh.cast::<f32>();
    let positions: Vec<Vector3<f32>> = raw.positions.clone();
    let mesh = TetMesh::new(raw).map_err(|error| QueryError::Input(error.to_string()))?;
    let mut bodies = Bodies::default();
    bodies.add_solid(&mesh, Collides::with_all_and_itself());
    // The same positions again and again would count as a body at rest.
    let mut hash =
        SpatialHash::with(HashParameters { keep_resting: false, ..HashParameters::default() });
    let mut hits = Hits::default();
    repeat.measure(|| {
        hash.detect(&bodies, &positions, POINTS, &mut hits)?;
        Ok(json!(hits.points.len()))
    })
}
