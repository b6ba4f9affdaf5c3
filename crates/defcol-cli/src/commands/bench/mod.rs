//! `defcol bench`: our hot paths against what people would use instead, in one run.

mod depth;
mod hashing;
mod heap;
mod ldi;
#[cfg(feature = "peers")]
mod manifold;
#[cfg(feature = "peers")]
mod parry;
mod peers;
mod recording;
mod trees;

use defcol::detect::ldi::Shell;
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use serde::Serialize;

use crate::arguments::{BenchOptions, Common, OutputFormat};
use crate::failure::Failure;
use crate::print;

/// One comparison.
#[derive(Serialize)]
struct Row {
    task: &'static str,
    size: String,
    threads: usize,
    ours_ms: f64,
    peer: String,
    peer_ms: f64,
    ratio: f64,
    /// Whether both gave the same answer; null if the peer's is not known.
    agree: Option<bool>,
}

/// A surface in single precision.
struct Body {
    bodies: Bodies,
    positions: Vec<Vector3<f32>>,
}

impl Body {
    fn new(mesh: RawMesh<f64>) -> Result<Self, Failure> {
        let mesh = TriangleMesh::new(mesh.cast::<f32>())
            .map_err(|error| Failure::Input(error.to_string()))?;
        let mut bodies = Bodies::default();
        bodies.add_surface(&mesh, Collides::default());
        Ok(Self { bodies, positions: mesh.positions().to_vec() })
    }

    fn shell(&self) -> Result<Shell<'_, f32>, DetectError> {
        Shell::of_body(&self.bodies, &self.positions, 0)
    }
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    rows: Vec<Row>,
}

const TASKS: &[&str] = &["hashing", "ldi", "trees", "depth", "recording"];

pub fn run(options: &BenchOptions, common: &Common) -> Result<(), Failure> {
    let words: Vec<&str> = options.tasks.iter().map(String::as_str).collect();
    if let ["peers", rest @ ..] = words.as_slice() {
        return peers::run(rest);
    }
    if let ["heap", rest @ ..] = words.as_slice() {
        return heap::run(rest, common);
    }
    if let Some(unknown) = words.iter().find(|word| !TASKS.contains(word)) {
        return Err(Failure::usage(format!(
            "there is no task {unknown}; known: {}, heap SCENE, and peers TASK CASE THREADS BUDGET_SECONDS",
            TASKS.join(", ")
        )));
    }
    let wanted = |task: &str| words.is_empty() || words.contains(&task);
    let mut rows = Vec::new();
    if wanted("hashing") {
        rows.extend(hashing::run(options, common)?);
    }
    if wanted("ldi") {
        rows.extend(ldi::run(options, common)?);
    }
    if wanted("trees") {
        rows.extend(trees::run(options, common)?);
    }
    if wanted("depth") {
        rows.extend(depth::run(options, common)?);
    }
    if wanted("recording") {
        rows.extend(recording::run(options, common)?);
    }
    let wrong = rows.iter().filter(|row| row.agree == Some(false)).count();
    show(rows, common)?;
    if wrong > 0 {
        return Err(Failure::computation(format!("{wrong} answers differ")));
    }
    Ok(())
}

fn show(rows: Vec<Row>, common: &Common) -> Result<(), Failure> {
    if common.format == OutputFormat::Json {
        return Ok(print::json(&Report { schema: "defcol.bench/1", rows })?);
    }
    let mut table = print::table(&[
        "task",
        "size",
        "threads",
        "ours ms",
        "against",
        "its ms",
        "times faster",
        "same",
    ]);
    for row in &rows {
        table.add_row([
            row.task,
            &row.size,
            &row.threads.to_string(),
            &print::short(row.ours_ms),
            &row.peer,
            &print::short(row.peer_ms),
            &if row.ratio < 2.0 {
                format!("{:.2}", row.ratio)
            } else {
                format!("{:.1}", row.ratio)
            },
            row.agree.map_or("-", |agree| if agree { "yes" } else { "NO" }),
        ]);
    }
    print::text(table)?;
    if cfg!(not(feature = "peers")) && !common.quiet {
        print::note(
            "built without parry3d and manifold; add them with `cargo run --release --features peers -- bench`",
        );
    }
    Ok(())
}
