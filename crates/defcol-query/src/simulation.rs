//! Scenes of the catalogue simulated in a precision chosen at run time.
//!
//! `World` is generic over its precision; this type is not. Crates that use it link the simulation instead of compiling it
//! again: instantiating `World` takes longer than anything else in a release build.

use std::fs::File;

use defcol::error::WorldError;
use defcol::math::{Real, Vector3};
use defcol::state::Bodies;
use defcol::stats::Clock;
use defcol::world::{ContactCounts, Energy, SimulationParameters, World};
use defcol_recording::{Input, Plan, Precision, Recorder, RecordingError, Summary, Topology};
use defcol_scenes::catalogue::{Scene, SceneError};

/// A scene and its simulation, in single or double precision.
pub struct Simulation(AnyScene);

enum AnyScene {
    F32(Scene<f32>),
    F64(Scene<f64>),
}

/// Evaluates an expression for the scene of either precision.
macro_rules! with_scene {
    ($simulation:expr, $scene:ident => $body:expr) => {
        match $simulation {
            AnyScene::F32($scene) => $body,
            AnyScene::F64($scene) => $body,
        }
    };
}

impl Simulation {
    /// Builds a scene of the catalogue. Seed 0 is the scene itself, others displace its bodies a little.
    ///
    /// # Errors
    /// If the name is unknown or the scene cannot be built.
    pub fn build(name: &str, seed: u64, precision: Precision) -> Result<Self, SceneError> {
        Ok(Self(match precision {
            Precision::F32 => AnyScene::F32(Scene::build(name, seed)?),
            Precision::F64 => AnyScene::F64(Scene::build(name, seed)?),
        }))
    }

    /// Advances one frame; on error, the state is that before the call.
    ///
    /// # Errors
    /// If the step diverged.
    pub fn step(&mut self) -> Result<(), WorldError> {
        with_scene!(&mut self.0, scene => scene.step())
    }

    /// Applies an input before the next frame.
    ///
    /// # Errors
    /// If the world does not accept it.
    pub fn apply(&mut self, input: &Input) -> Result<(), WorldError> {
        with_scene!(&mut self.0, scene => input.apply(&mut scene.world))
    }

    /// Parameters of the world.
    pub fn parameters(&self) -> &SimulationParameters {
        with_scene!(&self.0, scene => scene.world.parameters())
    }

    /// Changes the parameters of the world.
    ///
    /// # Errors
    /// If one is out of range.
    pub fn set_parameters(&mut self, parameters: SimulationParameters) -> Result<(), WorldError> {
        with_scene!(&mut self.0, scene => scene.world.set_parameters(parameters))
    }

    /// Number of frames simulated.
    pub fn frame(&self) -> u64 {
        with_scene!(&self.0, scene => scene.world.frame())
    }

    /// Hash of the state, identical for any number of threads.
    pub fn hash(&self) -> u64 {
        with_scene!(&self.0, scene => scene.world.hash())
    }

    /// Kinetic and potential energy.
    pub fn energy(&self) -> Energy {
        with_scene!(&self.0, scene => scene.world.energy())
    }

    /// Contact counts of the last frame.
    pub fn contact_counts(&self) -> ContactCounts {
        with_scene!(&self.0, scene => scene.world.contact_counts())
    }

    /// Largest penetration depth of the last frame, in m.
    pub fn deepest(&self) -> f64 {
        with_scene!(&self.0, scene => scene.world.deepest())
    }

    /// Times of the stages of the last frame.
    pub fn clock(&self) -> &Clock {
        with_scene!(&self.0, scene => scene.world.clock())
    }

    /// Ranges and primitives of all bodies.
    pub fn bodies(&self) -> &Bodies {
        with_scene!(&self.0, scene => scene.world.bodies())
    }

    /// Surfaces of all bodies, for pictures.
    pub fn topology(&self) -> Topology {
        with_scene!(&self.0, scene => Topology::of(&scene.world))
    }

    /// One position per vertex of all bodies, in global vertex order.
    pub fn positions(&self) -> Vec<Vector3<f64>> {
        with_scene!(&self.0, scene => positions_of(&scene.world))
    }

    /// The world, if its precision is single.
    pub fn world_f32(&self) -> Option<&World<f32>> {
        match &self.0 {
            AnyScene::F32(scene) => Some(&scene.world),
            AnyScene::F64(_) => None,
        }
    }

    /// Starts a recording of the current and all later frames in a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record(&self, file: File, plan: &Plan) -> Result<SimulationRecorder, RecordingError> {
        Ok(SimulationRecorder(match &self.0 {
            AnyScene::F32(scene) => AnyRecorder::F32(Recorder::new(file, &scene.world, plan)?),
            AnyScene::F64(scene) => AnyRecorder::F64(Recorder::new(file, &scene.world, plan)?),
        }))
    }

    /// Checks a plan before a file is opened.
    ///
    /// # Errors
    /// If positions of this scene cannot be stored as planned.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), RecordingError> {
        with_scene!(&self.0, scene => plan.check(&scene.world))
    }
}

fn positions_of<R: Real>(world: &World<R>) -> Vec<Vector3<f64>> {
    world.motion().positions.iter().map(|position| position.map(R::to_f64)).collect()
}

/// Records a [`Simulation`] in a file. Always used with the simulation that started it.
pub struct SimulationRecorder(AnyRecorder);

enum AnyRecorder {
    F32(Recorder<f32, File>),
    F64(Recorder<f64, File>),
}

impl SimulationRecorder {
    /// Stores an input that was applied before the next frame.
    pub fn input(&mut self, input: Input) {
        match &mut self.0 {
            AnyRecorder::F32(recorder) => recorder.input(input),
            AnyRecorder::F64(recorder) => recorder.input(input),
        }
    }

    /// Stores the last frame of the simulation.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn frame(&mut self, simulation: &Simulation) -> Result<(), RecordingError> {
        match (&mut self.0, &simulation.0) {
            (AnyRecorder::F32(recorder), AnyScene::F32(scene)) => recorder.frame(&scene.world),
            (AnyRecorder::F64(recorder), AnyScene::F64(scene)) => recorder.frame(&scene.world),
            _ => Err(another_simulation()),
        }
    }

    /// Stores why the simulation ended early.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn stop(&mut self, simulation: &Simulation, why: &str) -> Result<(), RecordingError> {
        match (&mut self.0, &simulation.0) {
            (AnyRecorder::F32(recorder), AnyScene::F32(scene)) => recorder.stop(&scene.world, why),
            (AnyRecorder::F64(recorder), AnyScene::F64(scene)) => recorder.stop(&scene.world, why),
            _ => Err(another_simulation()),
        }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> Result<Summary, RecordingError> {
        match self.0 {
            AnyRecorder::F32(recorder) => recorder.finish().map(|(_, summary)| summary),
            AnyRecorder::F64(recorder) => recorder.finish().map(|(_, summary)| summary),
        }
    }
}

fn another_simulation() -> RecordingError {
    RecordingError::Unfit("a recorder was given a simulation of another precision".into())
}
