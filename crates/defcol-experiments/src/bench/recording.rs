//! What recording costs a simulation.

use std::fs::File;
use std::time::Instant;

use defcol_recording::{Plan, Precision, Recording, Storage, Summary};

use super::Row;
use defcol_query::{OnStep, QueryError, Simulation, SimulationRecorder, with_steps};

/// Frames before times are taken: the rods touch by then.
const WARM_UP: usize = 60;

/// The rods with and without a recording, in turn.
pub fn run(quick: bool, on_step: OnStep) -> Result<Vec<Row>, QueryError> {
    let (frames, rounds) = if quick { (60, 1) } else { (240, 5) };
    let plans = [Storage::Exact, Storage::Quantised { quantum: 1e-5 }];
    let mut rows = vec![];
    for storage in plans {
        let (mut alone, mut with) = (vec![], vec![]);
        let mut summary = Summary::default();
        with_steps(on_step, rounds, "recording", |bar| -> Result<(), QueryError> {
            for _ in 0..rounds {
                alone.push(simulate(frames, None)?.0);
                let (time, done) = simulate(frames, Some(storage))?;
                with.push(time);
                summary = done;
                bar.advance();
            }
            Ok(())
        })?;
        let [ours_ms, peer_ms] = [with, alone].map(|mut times: Vec<f64>| {
            times.sort_unstable_by(f64::total_cmp);
            times[times.len() / 2] / frames as f64
        });
        let kind = if storage == Storage::Exact { "exact" } else { "multiples of 1e-5" };
        rows.push(Row {
            task: "recording",
            size: format!("rods, {kind}, {} bytes a frame", summary.bytes / summary.frames),
            threads: rayon::current_num_threads(),
            ours_ms,
            peer: "the same without".into(),
            peer_ms,
            ratio: peer_ms / ours_ms,
            agree: Some(true),
        });
    }
    Ok(rows)
}

/// Milliseconds of so many frames, with everything that recording them takes until the file is closed.
fn simulate(frames: usize, storage: Option<Storage>) -> Result<(f64, Summary), QueryError> {
    let mut rods = Simulation::build("rods", 0, Precision::F64).map_err(QueryError::computation)?;
    for _ in 0..WARM_UP {
        rods.step()?;
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("rods.mcap");
    let start = Instant::now();
    let mut recorder = match storage {
        Some(storage) => {
            let plan = Plan { storage, ..Plan::default() };
            Some(rods.record(File::create(&path)?, &plan)?)
        }
        None => None,
    };
    for _ in 0..frames {
        rods.step()?;
        if let Some(recorder) = &mut recorder {
            recorder.frame(&rods)?;
        }
    }
    let summary = recorder.map(SimulationRecorder::finish).transpose()?;
    let time = 1e3 * start.elapsed().as_secs_f64();
    let Some(summary) = summary else { return Ok((time, Summary::default())) };
    let mut recording = Recording::open(&path)?;
    let last = recording.last_frame();
    if recording.frame(last)?.state_hash != rods.hash() {
        return Err(QueryError::computation("the recording is not what was simulated"));
    }
    Ok((time, summary))
}
