//! Hot paths against other methods and libraries, in one run.

mod depth;
mod hashing;
pub mod heap;
mod ldi;
#[cfg(feature = "peers")]
mod manifold;
#[cfg(feature = "peers")]
mod parry;
pub mod peers;
mod recording;
mod trees;

use defcol::detect::ldi::Shell;
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use serde::Serialize;

use defcol_query::{OnStep, QueryError};

/// One comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Name of the task.
    pub task: &'static str,
    /// What was computed, and how much of it.
    pub size: String,
    /// Number of threads.
    pub threads: usize,
    /// Our time, in milliseconds.
    pub ours_ms: f64,
    /// What is compared with.
    pub peer: String,
    /// Its time, in milliseconds.
    pub peer_ms: f64,
    /// Its time divided by ours.
    pub ratio: f64,
    /// Whether both gave the same answer; `None` if the peer's is not known.
    pub agree: Option<bool>,
}

/// A surface in single precision.
struct Body {
    bodies: Bodies,
    positions: Vec<Vector3<f32>>,
}

impl Body {
    fn new(mesh: RawMesh<f64>) -> Result<Self, QueryError> {
        let mesh = TriangleMesh::new(mesh.cast::<f32>())
            .map_err(|error| QueryError::Input(error.to_string()))?;
        let mut bodies = Bodies::default();
        bodies.add_surface(&mesh, Collides::default());
        Ok(Self { bodies, positions: mesh.positions().to_vec() })
    }

    fn shell(&self) -> Result<Shell<'_, f32>, DetectError> {
        Shell::of_body(&self.bodies, &self.positions, 0)
    }
}

/// All comparisons of a run.
#[derive(Debug, Clone, Serialize)]
pub struct BenchReport {
    /// `defcol.bench/1`.
    pub schema: &'static str,
    /// The comparisons, task by task.
    pub rows: Vec<Row>,
}

type Task = fn(bool, OnStep) -> Result<Vec<Row>, QueryError>;

/// Every task by name.
const TASKS: &[(&str, Task)] = &[
    ("hashing", hashing::run),
    ("ldi", ldi::run),
    ("trees", trees::run),
    ("depth", depth::run),
    ("recording", recording::run),
];

/// Whether parry3d and manifold were compiled in.
pub const HAS_PEERS: bool = cfg!(feature = "peers");

/// Runs the named tasks, or all if `names` is empty. `quick` leaves out the large sizes.
///
/// # Errors
/// If a name is unknown or a computation fails.
pub fn run(names: &[&str], quick: bool, on_step: OnStep) -> Result<BenchReport, QueryError> {
    if let Some(unknown) = names.iter().find(|name| !TASKS.iter().any(|(task, _)| task == *name)) {
        let known: Vec<&str> = TASKS.iter().map(|(task, _)| *task).collect();
        return Err(QueryError::Request(format!(
            "there is no task {unknown}; known: {}, heap SCENE, and peers TASK CASE THREADS BUDGET_SECONDS",
            known.join(", ")
        )));
    }
    let mut rows = Vec::new();
    for (name, task) in TASKS {
        if names.is_empty() || names.contains(name) {
            rows.extend(task(quick, on_step)?);
        }
    }
    Ok(BenchReport { schema: "defcol.bench/1", rows })
}
