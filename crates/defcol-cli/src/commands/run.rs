//! `defcol run`: simulates a scene of the catalogue.

use std::time::Instant;

use defcol::integrate::{Accuracy, Integrator};
use defcol::math::{Real, Vector3};
use defcol::mesh::RawMesh;
use defcol::response::{Pressure, Springs};
use defcol::stats::Stage;
use defcol::world::{Detection, Parameters, Response, World};
use defcol_io::Model;
use defcol_io::picture::{PictureOptions as Drawing, draw, write_png};
use defcol_scenes::catalogue::{Scene, SceneError};
use defcol_scenes::regular::icosphere;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::allocations;
use crate::arguments::{
    Common, DetectorChoice, IntegratorChoice, OutputFormat, Precision, ResponseChoice, RunOptions,
};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_steps;

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
    allocations: Vec<u64>,
}

pub fn run(options: &RunOptions, common: &Common) -> Result<(), Failure> {
    if let Some(picture) = &options.picture {
        super::check_ending(picture, &["png"])?;
        let folder = picture.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(Failure::usage(format!("there is no folder {}", folder.display())));
        }
        if !(1..=16384).contains(&options.width) || !(1..=16384).contains(&options.height) {
            return Err(Failure::usage(
                "a picture has between 1 and 16384 pixels in each direction",
            ));
        }
    }
    match options.precision {
        Precision::F32 => simulate::<f32>(options, common, "f32"),
        Precision::F64 => simulate::<f64>(options, common, "f64"),
    }
}

fn simulate<R: Real>(
    options: &RunOptions,
    common: &Common,
    precision: &'static str,
) -> Result<(), Failure> {
    let mut scene =
        Scene::<R>::build(&options.scene, options.seed).map_err(|error| match error {
            SceneError::Unknown(_) => Failure::usage(error),
            other => Failure::computation(other),
        })?;
    let parameters = chosen(options, scene.world.parameters());
    scene.world.set_parameters(parameters).map_err(Failure::usage)?;
    let first = scene.world.energy().iter().sum();
    let mut times = Times::default();
    let (mut peak, mut deepest) = (0, 0.0f64);
    let done = with_steps(common.quiet, options.frames, &options.scene, |bar| {
        for _ in 0..options.frames {
            let (start, before) = (Instant::now(), allocations::count());
            scene.step()?;
            times.take(&scene.world, start, before);
            peak = peak.max(scene.world.contact_counts().iter().sum());
            deepest = deepest.max(scene.world.deepest());
            bar.inc(1);
        }
        Ok(())
    });
    let [contacts, self_contacts] = scene.world.contact_counts();
    let report = Report {
        schema: "defcol.run/1",
        scene: options.scene.clone(),
        precision,
        frames: scene.world.frame(),
        dt: scene.world.parameters().frame,
        state_hash: format!("{:016x}", scene.world.hash()),
        contacts,
        self_contacts,
        peak_contacts: peak,
        stages: times.stages(),
        allocations_per_frame: times.allocations_per_frame(),
        max_penetration: deepest,
        energy: Ends { first, last: scene.world.energy().iter().sum() },
    };
    show(&report, &times, common)?;
    if let Some(path) = &options.picture {
        let drawing =
            Drawing { width: options.width, height: options.height, ..Drawing::default() };
        let picture = draw(&models(&scene.world), &drawing).map_err(Failure::computation)?;
        write_png(path, &picture)?;
        if !common.quiet && common.format == OutputFormat::Table {
            print::text(path.display())?;
        }
    }
    // What was reached is told in any case.
    done.map_err(|error: defcol::error::WorldError| {
        Failure::computation(format!("after frame {}: {error}", scene.world.frame()))
    })
}

/// What was asked for in place of what the scene has.
fn chosen(options: &RunOptions, of_scene: &Parameters) -> Parameters {
    let mut parameters = of_scene.clone();
    if let Some(dt) = options.dt {
        parameters.frame = dt;
    }
    if let Some(substeps) = options.substeps {
        parameters.substeps = substeps;
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
    fn take<R: Real>(&mut self, world: &World<R>, start: Instant, before: u64) {
        self.frames.push(1e3 * start.elapsed().as_secs_f64());
        self.allocations.push(allocations::count() - before);
        for (stage, list) in Stage::ALL.into_iter().zip(&mut self.stages) {
            list.push(1e3 * world.clock().of(stage).as_secs_f64());
        }
    }

    fn rows(&self) -> impl Iterator<Item = (&'static str, [f64; 3])> {
        let stages = Stage::ALL.into_iter().zip(&self.stages);
        let stages = stages.map(|(stage, list)| (stage.name(), summary(list)));
        stages.chain(std::iter::once(("frame", summary(&self.frames))))
    }

    fn stages(&self) -> Value {
        let rows = self.rows().map(|(name, [mean, p50, p99])| {
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

/// Mean, median and the 99th percentile.
pub fn summary(times: &[f64]) -> [f64; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (sorted.len().max(1) - 1) as f64 * share;
        sorted.get(place.round() as usize).copied().unwrap_or(0.0)
    };
    let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
    [mean, at(0.5), at(0.99)]
}

fn show(report: &Report, times: &Times, common: &Common) -> Result<(), Failure> {
    if common.format == OutputFormat::Json {
        return Ok(print::json(report)?);
    }
    let mut table = print::table(&["stage", "mean ms", "median ms", "99 % ms"]);
    for (name, values) in times.rows() {
        let [mean, p50, p99] = values.map(|value| format!("{:.3}", value + 0.0));
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
    Ok(())
}

/// What pictures are drawn of; their z axis points up.
pub fn models<R: Real>(world: &World<R>) -> Vec<Model> {
    let bodies = world.bodies();
    let places: Vec<Vector3<f64>> = world
        .motion()
        .positions
        .iter()
        .map(|place| place.map(R::to_f64))
        .map(|place| Vector3::new(place.x, -place.z, place.y))
        .collect();
    let drop = icosphere(0.012, 0);
    let mut models = vec![];
    for body in bodies.list() {
        let first = body.vertices.start as u32;
        let own = &places[body.vertices.clone()];
        let mut mesh = RawMesh { positions: own.to_vec(), ..RawMesh::default() };
        let triangles = &bodies.triangles()[body.triangles.clone()];
        mesh.triangles.extend(triangles.iter().map(|corners| corners.map(|corner| corner - first)));
        if mesh.triangles.is_empty() {
            // Points are drawn as small balls.
            mesh.positions.clear();
            for place in own {
                let start = mesh.positions.len() as u32;
                mesh.positions.extend(drop.positions.iter().map(|corner| corner + place));
                let corners = drop.triangles.iter();
                mesh.triangles.extend(corners.map(|corners| corners.map(|corner| corner + start)));
            }
        }
        models.push(Model { mesh, ..Model::default() });
    }
    models
}
