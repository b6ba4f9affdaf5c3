//! `defcol replay`: what is in a recording, whether it can be had again, and in other formats.

use defcol::math::Vector3;
use defcol_query::{Divergence, body_models};
use defcol_recording::export::{Kind, contacts_table, export};
use defcol_recording::{Frame, Loss, Precision, RecordingError, Storage};
use defcol_render::{Movie, PictureOptions as Drawing, draw, write_png};
use serde::Serialize;
use serde_json::{Value, json};

use super::recordings::{Opened, behind_bar, check_movie, film, open, particle};
use crate::arguments::{Common, ExportChoice, OutputFormat, ReplayOptions};
use crate::failure::Failure;
use crate::print;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    file: String,
    program: String,
    scene: Option<String>,
    seed: Option<u64>,
    precision: Precision,
    positions: Storage,
    /// The number of the last frame.
    frames: u64,
    seconds: f64,
    bodies: usize,
    vertices: usize,
    peak_contacts: usize,
    frames_without_contacts: usize,
    bytes: u64,
    bytes_per_frame: f64,
    lost: Option<Value>,
    /// How the run ended before its time.
    stopped: Option<Value>,
    verified: Option<bool>,
    first_divergence: Option<Divergence>,
    frame: Option<Value>,
    written: Vec<String>,
}

pub fn run(options: &ReplayOptions, common: &Common) -> Result<(), Failure> {
    if let Some(picture) = &options.picture {
        super::check_ending(picture, &["png"])?;
    }
    if let Some(table) = &options.contacts {
        super::check_ending(table, &["csv", "parquet"])?;
    }
    let size = Movie { width: options.width, height: options.height, rate: options.rate };
    if let Some(path) = &options.movie {
        check_movie(path, size)?;
    }
    for path in [&options.picture, &options.contacts, &options.movie].into_iter().flatten() {
        super::check_folder(path)?;
    }
    let mut recording = open(&options.recording, common)?;
    let frames = chosen(&recording, options)?;
    let (peak, without) = play(&mut recording, &frames, common)?;
    if without > 0 && options.contacts.is_some() && !common.quiet {
        anstream::eprintln!(
            "{without} frames have no contacts in the table: they were left out when it was recorded"
        );
    }
    let divergence = if options.verify { verify(&mut recording, common)? } else { None };
    let written = write(&mut recording, &frames, options, size, common)?;
    let facts = recording.facts().clone();
    let (bytes, count) = (recording.size(), recording.frame_count());
    let lost = recording
        .loss()
        .map(|Loss { at, bytes, what }| json!({ "at": at, "bytes": bytes, "what": what }));
    let stopped = recording
        .stop()
        .map(|stop| json!({ "frame": stop.frame, "why": stop.why, "inputs": stop.inputs }));
    let last = recording.last_frame();
    let seconds = recording.frame(last)?.time;
    let frame = recording.frame(options.frame.unwrap_or(last))?;
    let report = Report {
        schema: "defcol.replay/1",
        file: options.recording.display().to_string(),
        program: facts.program,
        seed: facts.scene.as_ref().map(|scene| scene.seed),
        scene: facts.scene.map(|scene| scene.name),
        precision: facts.precision,
        positions: facts.positions,
        frames: last,
        seconds,
        bodies: frame.bodies.bodies.len(),
        vertices: frame.positions.len(),
        peak_contacts: peak,
        frames_without_contacts: without,
        bytes,
        bytes_per_frame: bytes as f64 / count as f64,
        lost,
        stopped,
        verified: options.verify.then_some(divergence.is_none()),
        first_divergence: divergence.clone(),
        frame: options.frame.map(|_| about(frame)),
        written,
    };
    show(&report, common)?;
    match divergence {
        Some(Divergence { frame, .. }) => Err(Failure::computation(format!(
            "{}: simulated again, frame {frame} is another one; with the same program that is a bug: keep the recording",
            options.recording.display()
        ))),
        None => Ok(()),
    }
}

/// The frames that were asked for.
fn chosen(recording: &Opened, options: &ReplayOptions) -> Result<Vec<u64>, RecordingError> {
    let (first, last) = match (options.frame, options.frames) {
        (Some(frame), _) => (frame, frame),
        (None, Some(range)) => range,
        (None, None) => (0, u64::MAX),
    };
    let own = recording.frames().filter(|number| (first..=last).contains(number));
    let own: Vec<u64> = own.step_by(options.every as usize).collect();
    if own.is_empty() {
        let (frame, last) = (first, recording.last_frame());
        return Err(RecordingError::NoSuchFrame { frame, first: 0, last });
    }
    Ok(own)
}

/// Reads every frame, and gives the most contacts that one has, and how many have none as they were left out.
fn play(
    recording: &mut Opened,
    frames: &[u64],
    common: &Common,
) -> Result<(usize, usize), Failure> {
    behind_bar(frames, "reading", common, |seen| {
        let (mut peak, mut without) = (0, 0);
        for &number in frames {
            if !seen(number) {
                return Err(Failure::Interrupted);
            }
            let frame = recording.frame(number)?;
            peak = peak.max(frame.contact_counts.iter().sum());
            without += usize::from(frame.contacts.is_none());
        }
        Ok((peak, without))
    })
}

/// Simulates again, and compares the hash of each state.
fn verify(recording: &mut Opened, common: &Common) -> Result<Option<Divergence>, Failure> {
    let frames: Vec<u64> = recording.frames().collect();
    Ok(behind_bar(&frames, "simulating", common, |seen| defcol_query::verify(recording, seen))?)
}

/// Everything that was asked for in files; gives what there is now.
fn write(
    recording: &mut Opened,
    frames: &[u64],
    options: &ReplayOptions,
    size: Movie,
    common: &Common,
) -> Result<Vec<String>, Failure> {
    let mut written = vec![];
    if let (Some(folder), Some(kind)) = (&options.export, options.kind) {
        let kind = match kind {
            ExportChoice::Vtu => Kind::Vtu,
            ExportChoice::Glb => Kind::Glb,
            ExportChoice::Obj => Kind::Obj,
            ExportChoice::Pov => Kind::Pov,
        };
        let first = behind_bar(frames, "exporting", common, |seen| {
            export(recording, frames, folder, kind, &particle(), seen)
        })?;
        written.push(first.display().to_string());
    }
    if let Some(path) = &options.contacts {
        behind_bar(frames, "contacts", common, |seen| {
            contacts_table(recording, frames, path, seen)
        })?;
        written.push(path.display().to_string());
    }
    if let Some(path) = &options.movie {
        film(recording, frames, path, size, common)?;
        written.push(path.display().to_string());
    }
    if let Some(path) = &options.picture {
        let frame = recording.frame(frames[frames.len() - 1])?;
        let drawing =
            Drawing { width: options.width, height: options.height, ..Drawing::default() };
        let models = body_models(&frame.bodies, &frame.positions, &particle());
        write_png(path, &draw(&models, &drawing).map_err(Failure::usage)?)?;
        written.push(path.display().to_string());
    }
    Ok(written)
}

/// One frame.
fn about(frame: &Frame) -> Value {
    let lowest = frame.positions.iter().copied().reduce(|a: Vector3<f64>, b| a.inf(&b));
    let highest = frame.positions.iter().copied().reduce(|a: Vector3<f64>, b| a.sup(&b));
    let corner = |corner: Option<Vector3<f64>>| corner.map(|v| [v.x, v.y, v.z]);
    json!({
        "frame": frame.number,
        "time": frame.time,
        "state_hash": format!("{:016x}", frame.state_hash),
        "contacts": frame.contact_counts[0],
        "self_contacts": frame.contact_counts[1],
        "contacts_kept": frame.contacts.is_some(),
        "deepest": frame.contacts.as_ref().map(|all| all.depth().iter().copied().fold(0.0, f64::max)),
        "bounds": [corner(lowest), corner(highest)],
        "stages": frame.stages,
        "inputs": frame.inputs,
    })
}

fn show(report: &Report, common: &Common) -> Result<(), Failure> {
    if common.format == OutputFormat::Json {
        return Ok(print::json(report)?);
    }
    let mut table = print::table(&["", ""]);
    let mut row = |name: &str, value: String| {
        table.add_row([name.to_owned(), value]);
    };
    row("file", format!("{}, by {}", report.file, report.program));
    if let (Some(scene), Some(seed)) = (&report.scene, report.seed) {
        row("scene", format!("{scene}, seed {seed}"));
    }
    let precision = if report.precision == Precision::F32 { "f32" } else { "f64" };
    let positions = match report.positions {
        Storage::Exact => "exact".to_owned(),
        Storage::Quantised { quantum } => format!("multiples of {}", print::short(quantum)),
    };
    row("positions", format!("{precision}, {positions}"));
    row("frames", format!("0 to {}, {} s", report.frames, print::short(report.seconds)));
    row("bodies", format!("{} with {} vertices", report.bodies, report.vertices));
    row("contacts", format!("{} at the most", report.peak_contacts));
    row("size", format!("{} bytes, {:.0} a frame", report.bytes, report.bytes_per_frame));
    if report.frames_without_contacts > 0 {
        row(
            "without",
            format!("contacts were left out of {} frames", report.frames_without_contacts),
        );
    }
    if let Some(stopped) = &report.stopped {
        row(
            "stopped",
            format!("after frame {}, {}", stopped["frame"], stopped["why"].as_str().unwrap_or("")),
        );
    }
    if let Some(lost) = &report.lost {
        row("missing", format!("{}, byte {}", lost["what"].as_str().unwrap_or(""), lost["at"]));
    }
    if let Some(verified) = report.verified {
        let text = match &report.first_divergence {
            _ if verified => "every state is the same when simulated again".to_owned(),
            Some(Divergence { frame, vertex: Some((body, vertex, by)) }) => {
                format!(
                    "frame {frame} differs: vertex {vertex} of body {body} by {}",
                    print::short(*by)
                )
            }
            Some(Divergence { frame, .. }) => format!("frame {frame} differs, in how it moves"),
            None => String::new(),
        };
        row("verified", text);
    }
    print::text(table)?;
    if let Some(frame) = &report.frame {
        print::text(serde_json::to_string_pretty(frame).map_err(Failure::computation)?)?;
    }
    for path in &report.written {
        print::text(path)?;
    }
    Ok(())
}
