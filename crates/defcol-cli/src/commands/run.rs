//! `defcol run`: simulates a scene of the catalogue.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use defcol::error::WorldError;
use defcol::integrate::{Accuracy, Integrator};
use defcol::response::{Pressure, Springs};
use defcol::stats::{Stage, TimeSummary};
use defcol::world::{Detection, Response, SimulationParameters};
use defcol_query::{Simulation, SimulationRecorder, body_models};
use defcol_recording::{
    Input, Plan, Precision, Recording, RecordingError, Scene as Origin, Storage, Summary, Trouble,
    WhenSlow,
};
use defcol_render::{Movie, PictureOptions as Drawing, draw, write_png};
use defcol_scenes::catalogue::SceneError;
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::recordings::{check_movie, film, particle};
use crate::allocations;
use crate::arguments::{
    Common, DetectorChoice, IntegratorChoice, OutputFormat, ResponseChoice, RunOptions,
    WhenSlowChoice,
};
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, writing_steps};

/// Frames at the end over which allocations are counted.
const COUNTED: usize = 100;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    scene: String,
    precision: &'static str,
    frames: u64,
    dt: f64,
    state_hash: String,
    contacts: usize,
    self_contacts: usize,
    peak_contacts: usize,
    stages: Value,
    allocations_per_frame: f64,
    max_penetration: f64,
    energy: Ends,
    recording: Option<Recorded>,
}

/// What was recorded.
#[derive(Serialize)]
struct Recorded {
    file: String,
    bytes: u64,
    bytes_per_frame: f64,
    waited_ms: f64,
    frames_without_contacts: u64,
}

#[derive(Serialize)]
struct Ends {
    first: f64,
    last: f64,
}

/// Milliseconds of each frame.
#[derive(Default)]
struct Times {
    stages: [Vec<f64>; Stage::ALL.len()],
    frames: Vec<f64>,
    /// What recording cost the simulation, if there was any.
    recording: Vec<f64>,
    allocations: Vec<u64>,
}

pub fn run(options: &RunOptions, common: &Common) -> Result<(), Failure> {
    if let Some(picture) = &options.picture {
        super::check_ending(picture, &["png"])?;
        super::check_folder(picture)?;
        if !(1..=16384).contains(&options.width) || !(1..=16384).contains(&options.height) {
            return Err(Failure::usage(
                "a picture has between 1 and 16384 pixels in each direction",
            ));
        }
    }
    if let Some(path) = &options.record {
        super::check_ending(path, &["mcap"])?;
        super::check_folder(path)?;
    }
    if let Some(path) = &options.movie {
        super::check_folder(path)?;
        check_movie(path, Movie::default())?;
    }
    simulate(options, common)
}

fn simulate(options: &RunOptions, common: &Common) -> Result<(), Failure> {
    let precision = options.precision.into();
    let mut simulation = Simulation::build(&options.scene, options.seed, precision).map_err(
        |error| match error {
            SceneError::Unknown(_) => Failure::usage(error),
            other => Failure::computation(other),
        },
    )?;
    let parameters = chosen(options, simulation.parameters());
    simulation.set_parameters(parameters).map_err(Failure::usage)?;
    let inputs =
        options.inputs.as_deref().map_or(Ok(vec![]), |path| read_inputs(path, options.frames))?;
    let mut tape = Tape::begin(options, &simulation)?;
    let first = simulation.energy().total();
    let mut times = Times::default();
    let (mut peak, mut deepest) = (0, 0.0f64);
    let mut go_on = |bar: &ProgressBar, simulation: &mut Simulation, tape: &mut Tape| {
        for _ in 0..options.frames {
            if PROGRESS.is_cancelled() {
                return Err(Stop::Interrupted);
            }
            let next = simulation.frame() + 1;
            for timed in inputs.iter().filter(|timed| timed.frame == next) {
                simulation.apply(&timed.input).map_err(Stop::Input)?;
                tape.note(&timed.input);
            }
            let (start, before) = (Instant::now(), allocations::count());
            simulation.step().map_err(Stop::World)?;
            times.take(simulation, start, before);
            peak = peak.max(simulation.contact_counts().total());
            deepest = deepest.max(simulation.deepest());
            let start = Instant::now();
            if tape.frame(simulation).map_err(Stop::Recording)? {
                times.recording.push(1e3 * start.elapsed().as_secs_f64());
            }
            bar.inc(1);
        }
        Ok(())
    };
    let (done, recorded) = writing_steps(common.quiet, options.frames, &options.scene, |bar| {
        let done = go_on(bar, &mut simulation, &mut tape);
        // What was reached is kept and told in any case.
        let recorded = tape.end(&simulation, done.as_ref().err());
        (done, recorded)
    });
    let counts = simulation.contact_counts();
    let report = Report {
        schema: "defcol.run/1",
        scene: options.scene.clone(),
        precision: if precision == Precision::F32 { "f32" } else { "f64" },
        frames: simulation.frame(),
        dt: simulation.parameters().frame,
        state_hash: format!("{:016x}", simulation.hash()),
        contacts: counts.between_bodies,
        self_contacts: counts.self_contacts,
        peak_contacts: peak,
        stages: times.stages(),
        allocations_per_frame: times.allocations_per_frame(),
        max_penetration: deepest,
        energy: Ends { first, last: simulation.energy().total() },
        recording: recorded.as_ref().ok().and_then(|summary| {
            let (file, summary) = (options.record.as_ref()?, summary.as_ref()?);
            Some(Recorded {
                file: file.display().to_string(),
                bytes: summary.bytes,
                bytes_per_frame: summary.bytes as f64 / summary.frames as f64,
                waited_ms: 1e3 * summary.waited.as_secs_f64(),
                frames_without_contacts: summary.without_contacts,
            })
        }),
    };
    show(&report, &times, common)?;
    if let Some(path) = &options.picture {
        let drawing =
            Drawing { width: options.width, height: options.height, ..Drawing::default() };
        let picture = draw(&models(&simulation), &drawing).map_err(Failure::computation)?;
        write_png(path, &picture)?;
        tell(path, common)?;
    }
    let frame = simulation.frame();
    match done {
        Err(Stop::Recording(error)) => return Err(not_kept(options, frame, &error)),
        Err(Stop::World(error)) => {
            return Err(Failure::computation(format!("after frame {frame}: {error}")));
        }
        Err(Stop::Input(error)) => {
            return Err(Failure::Input(format!("the input before frame {}: {error}", frame + 1)));
        }
        Err(Stop::Interrupted) => return Err(Failure::Stopped(frame)),
        Ok(()) => {}
    }
    recorded.map_err(|error| not_kept(options, frame, &error))?;
    if let Some(path) = &options.movie {
        let mut recording = Recording::open(&tape.path)?;
        let frames: Vec<u64> = recording.frames().collect();
        film(&mut recording, &frames, path, Movie::default(), common)?;
        tell(path, common)?;
    }
    Ok(())
}

/// Why a run ends before its last frame.
enum Stop {
    World(WorldError),
    Input(WorldError),
    Recording(RecordingError),
    Interrupted,
}

fn not_kept(options: &RunOptions, frame: u64, error: &RecordingError) -> Failure {
    if matches!(error, RecordingError::Cancelled) {
        return Failure::Stopped(frame);
    }
    let file =
        options.record.as_ref().map_or("the recording".into(), |path| path.display().to_string());
    Failure::computation(format!(
        "{file}: {error} (in frame {frame}); what was written before is kept: see `defcol replay`"
    ))
}

fn tell(path: &Path, common: &Common) -> Result<(), Failure> {
    if !common.quiet && common.format == OutputFormat::Table {
        print::text(path.display())?;
    }
    Ok(())
}

/// A line of a file of inputs.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Timed {
    frame: u64,
    input: Input,
}

fn read_inputs(path: &Path, frames: u32) -> Result<Vec<Timed>, Failure> {
    let bad = |at: &str, what: &dyn std::fmt::Display| {
        Failure::Input(format!("{}{at}: {what}", path.display()))
    };
    let text = fs::read_to_string(path).map_err(|error| bad("", &error))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let at = format!(", line {}", number + 1);
            let timed: Timed = serde_json::from_str(line).map_err(|error| bad(&at, &error))?;
            if !(1..=u64::from(frames)).contains(&timed.frame) {
                let text = format!("there is no frame {}; this run has 1 to {frames}", timed.frame);
                return Err(bad(&at, &text));
            }
            Ok(timed)
        })
        .collect()
}

/// Where frames are kept, if they are.
struct Tape {
    path: PathBuf,
    recorder: Option<SimulationRecorder>,
    /// Gone when the run is.
    _folder: Option<tempfile::TempDir>,
}

impl Tape {
    fn begin(options: &RunOptions, simulation: &Simulation) -> Result<Self, Failure> {
        let (path, folder) = match (&options.record, &options.movie) {
            (Some(path), _) => (path.clone(), None),
            (None, Some(_)) => {
                let folder = tempfile::tempdir()?;
                (folder.path().join("run.mcap"), Some(folder))
            }
            (None, None) => {
                return Ok(Self { path: PathBuf::new(), recorder: None, _folder: None });
            }
        };
        let storage = match options.quantise {
            Some(quantum) => Storage::Quantised { quantum },
            None => Storage::Exact,
        };
        let when_slow = match options.when_slow {
            WhenSlowChoice::Wait => WhenSlow::Wait,
            WhenSlowChoice::DropContacts => WhenSlow::DropContacts,
        };
        let plan = Plan {
            scene: Some(Origin { name: options.scene.clone(), seed: options.seed }),
            storage,
            when_slow,
            on_trouble: Arc::new(move |trouble| warn(trouble, when_slow)),
            ..Plan::default()
        };
        simulation.check_plan(&plan)?;
        let mut how = OpenOptions::new();
        how.write(true).create(true).truncate(true).create_new(!options.overwrite);
        let file = how.open(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Failure::usage(format!(
                "{} is there already; give another name, or --overwrite",
                path.display()
            )),
            _ => Failure::usage(format!("{}: {error}", path.display())),
        })?;
        let recorder = Some(simulation.record(file, &plan)?);
        Ok(Self { path, recorder, _folder: folder })
    }

    fn note(&mut self, input: &Input) {
        // Parameters are noticed anyway.
        if let Some(recorder) = &mut self.recorder
            && !matches!(input, Input::Parameters { .. })
        {
            recorder.input(input.clone());
        }
    }

    /// Says whether anything is kept at all.
    fn frame(&mut self, simulation: &mut Simulation) -> Result<bool, RecordingError> {
        let Some(recorder) = &mut self.recorder else { return Ok(false) };
        recorder.frame(simulation)?;
        Ok(true)
    }

    fn end(
        &mut self,
        simulation: &Simulation,
        stop: Option<&Stop>,
    ) -> Result<Option<Summary>, RecordingError> {
        let Some(mut recorder) = self.recorder.take() else { return Ok(None) };
        match stop {
            Some(Stop::World(error) | Stop::Input(error)) => {
                recorder.stop(simulation, &format!("failed: {error}"))?;
            }
            Some(Stop::Interrupted) => recorder.stop(simulation, "interrupted")?,
            Some(Stop::Recording(_)) | None => {}
        }
        recorder.finish().map(Some)
    }
}

/// Tells of trouble while recording; gives up when somebody asks to stop.
fn warn(trouble: Trouble, when_slow: WhenSlow) -> bool {
    match trouble {
        Trouble::Full(waited) if waited.is_zero() => {
            anstream::eprintln!(
                "the disk is full: waiting for room; Ctrl-C ends the run and keeps what is recorded"
            );
        }
        Trouble::Full(_) => {}
        Trouble::RoomAgain => anstream::eprintln!("there is room again: going on"),
        Trouble::Slow => anstream::eprintln!(
            "the disk is slower than the simulation: {}",
            match when_slow {
                WhenSlow::Wait =>
                    "the simulation waits (--when-slow drop-contacts leaves contacts out instead)",
                WhenSlow::DropContacts => "contacts are left out where need be",
            }
        ),
    }
    !PROGRESS.is_cancelled()
}

/// What was asked for in place of what the scene has.
fn chosen(options: &RunOptions, of_scene: &SimulationParameters) -> SimulationParameters {
    let mut parameters = of_scene.clone();
    if let Some(dt) = options.dt {
        parameters.frame = dt;
    }
    if let Some(substeps) = options.substeps {
        parameters.substeps = substeps;
    }
    if let Some(gravity) = options.gravity {
        parameters.gravity = gravity.into();
    }
    if let Some(friction) = options.friction {
        parameters.contact.friction = friction;
    }
    if let Some(thickness) = options.thickness {
        parameters.contact.thickness = thickness;
    }
    if options.largest_move.is_some() {
        parameters.largest_move = options.largest_move;
    }
    if let Some(integrator) = options.integrator {
        parameters.integrator = match integrator {
            IntegratorChoice::Explicit => Integrator::ExplicitEuler,
            IntegratorChoice::Symplectic => Integrator::SymplecticEuler,
            IntegratorChoice::Verlet => Integrator::Verlet,
            IntegratorChoice::Rk4 => Integrator::RungeKutta4,
            IntegratorChoice::Implicit => Integrator::ImplicitEuler(Accuracy::default()),
            IntegratorChoice::Xpbd => Integrator::Xpbd,
        };
    }
    if let Some(detector) = options.detector {
        parameters.detection = match detector {
            DetectorChoice::Auto => Detection::Automatic,
            DetectorChoice::Hash => Detection::Hash,
            DetectorChoice::Trees => Detection::Trees,
            DetectorChoice::Ldi => Detection::Ldi,
            DetectorChoice::LdiOnePass => Detection::LdiOnePass,
            DetectorChoice::Brute => Detection::Brute,
        };
    }
    if let Some(response) = options.response {
        parameters.response = match response {
            ResponseChoice::Layer => Response::Layer(Springs::default()),
            ResponseChoice::Penalty => Response::Penalty(Springs::default()),
            ResponseChoice::Pressure => Response::Pressure {
                pressure: Pressure { stiffness: 2e7, viscosity: 200.0 },
                resolution: 32,
            },
            ResponseChoice::Volume => Response::Volume { resolution: 32 },
        };
    }
    parameters
}

impl Times {
    fn take(&mut self, simulation: &Simulation, start: Instant, before: u64) {
        self.frames.push(1e3 * start.elapsed().as_secs_f64());
        self.allocations.push(allocations::count() - before);
        for (stage, list) in Stage::ALL.into_iter().zip(&mut self.stages) {
            list.push(1e3 * simulation.clock().of(stage).as_secs_f64());
        }
    }

    fn rows(&self) -> impl Iterator<Item = (&'static str, TimeSummary)> {
        let stages = Stage::ALL.into_iter().zip(&self.stages);
        let stages = stages.map(|(stage, list)| (stage.name(), TimeSummary::of(list)));
        let whole = std::iter::once(("frame", TimeSummary::of(&self.frames)));
        let recording =
            (!self.recording.is_empty()).then(|| ("record", TimeSummary::of(&self.recording)));
        stages.chain(whole).chain(recording)
    }

    fn stages(&self) -> Value {
        let rows = self.rows().map(|(name, TimeSummary { mean, p50, p99 })| {
            (name.to_owned(), json!({ "mean": mean, "p50": p50, "p99": p99 }))
        });
        Value::Object(Map::from_iter(rows))
    }

    /// Of the last frames, when everything has found its size.
    fn allocations_per_frame(&self) -> f64 {
        let last = &self.allocations[self.allocations.len().saturating_sub(COUNTED)..];
        last.iter().sum::<u64>() as f64 / last.len().max(1) as f64
    }
}

fn show(report: &Report, times: &Times, common: &Common) -> Result<(), Failure> {
    if common.format == OutputFormat::Json {
        return Ok(print::json(report)?);
    }
    let mut table = print::table(&["stage", "mean ms", "median ms", "99 % ms"]);
    for (name, values) in times.rows() {
        let [mean, p50, p99] =
            [values.mean, values.p50, values.p99].map(|value| format!("{:.3}", value + 0.0));
        table.add_row([name.to_owned(), mean, p50, p99]);
    }
    print::text(table)?;
    print::text(format!(
        "{} frames of {} s; {} contacts, {} with themselves, {} at the most; deepest {} m; energy {} J, then {} J; \
         {} allocations a frame; state {}",
        report.frames,
        print::short(report.dt),
        report.contacts + report.self_contacts,
        report.self_contacts,
        report.peak_contacts,
        print::short(report.max_penetration),
        print::short(report.energy.first),
        print::short(report.energy.last),
        print::short(report.allocations_per_frame),
        report.state_hash,
    ))?;
    if let Some(recorded) = &report.recording {
        print::text(format!(
            "{}: {} bytes, {:.0} a frame",
            recorded.file, recorded.bytes, recorded.bytes_per_frame
        ))?;
    }
    Ok(())
}

/// One model per body, for pictures.
fn models(simulation: &Simulation) -> Vec<defcol_io::Model> {
    body_models(&simulation.topology(), &simulation.positions(), &particle())
}
