//! Simulations of a precision chosen at run time, their recordings and verification.

use std::fs::File;
use std::path::Path;

use defcol::math::Vector3;
use defcol_query::{Divergence, QueryError, Simulation, verify};
use defcol_recording::{Input, Plan, Precision, Recording, RecordingError, Scene as Origin};
use defcol_scenes::catalogue::{SCENES, Scene};

fn plan(scene: &str) -> Plan {
    Plan { scene: Some(Origin { name: scene.into(), seed: 3 }), ..Plan::default() }
}

#[test]
fn a_simulation_is_the_scene_in_its_precision() {
    for entry in SCENES {
        let mut single = Scene::<f32>::build(entry.name, 1).unwrap();
        let mut double = Scene::<f64>::build(entry.name, 1).unwrap();
        let mut simulations = [Precision::F32, Precision::F64]
            .map(|precision| Simulation::build(entry.name, 1, precision).unwrap());
        for _ in 0..2 {
            single.step().unwrap();
            double.step().unwrap();
            simulations.iter_mut().for_each(|simulation| simulation.step().unwrap());
        }
        assert_eq!(simulations[0].hash(), single.world.hash(), "{}", entry.name);
        assert_eq!(simulations[1].hash(), double.world.hash(), "{}", entry.name);
        assert_eq!(simulations[1].positions(), double.world.motion().positions);
        assert_eq!(simulations[1].energy(), double.world.energy());
        assert_eq!(simulations[1].frame(), 2);
        assert!(simulations[0].world_f32().is_some() && simulations[1].world_f32().is_none());
    }
    assert!(Simulation::build("nothing", 0, Precision::F64).is_err());
}

/// Records six frames; before the fourth, a body is pushed.
fn record(scene: &str, precision: Precision, path: &Path, store_input: bool) {
    let mut simulation = Simulation::build(scene, 3, precision).unwrap();
    let mut recorder = simulation.record(File::create(path).unwrap(), &plan(scene)).unwrap();
    for frame in 1..=6 {
        if frame == 4 {
            let push = Vector3::new(0.5, 0.0, 0.0);
            let input = Input::Velocity { body: 0, linear: push, angular: Vector3::zeros() };
            simulation.apply(&input).unwrap();
            if store_input {
                recorder.input(input);
            }
        }
        simulation.step().unwrap();
        recorder.frame(&simulation).unwrap();
    }
    assert_eq!(recorder.finish().unwrap().frames, 7);
}

#[test]
fn recordings_are_verified_and_unrecorded_inputs_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for precision in [Precision::F32, Precision::F64] {
        let path = folder.path().join("whole.mcap");
        record("particles", precision, &path, true);
        let mut recording = Recording::open(&path).unwrap();
        let mut frames = 0;
        let seen = |_| {
            frames += 1;
            true
        };
        assert_eq!(verify(&mut recording, seen).unwrap(), None);
        assert_eq!(frames, 7);
        let stopped = verify(&mut recording, |frame| frame < 3);
        assert_eq!(stopped.unwrap_err(), QueryError::Cancelled);
        let path = folder.path().join("missing.mcap");
        record("particles", precision, &path, false);
        let found = verify(&mut Recording::open(&path).unwrap(), |_| true).unwrap();
        let Some(Divergence { frame: 4, vertex: Some((0, _, distance)) }) = found else {
            panic!("{precision:?}: {found:?}");
        };
        assert!(distance > 1e-3 && distance < 0.1, "{distance}");
    }
}

#[test]
fn recorders_refuse_simulations_of_another_precision() {
    let single = Simulation::build("beam", 0, Precision::F32).unwrap();
    let mut double = Simulation::build("beam", 0, Precision::F64).unwrap();
    let file = tempfile::tempfile().unwrap();
    let mut recorder = single.record(file, &Plan::default()).unwrap();
    double.step().unwrap();
    assert!(matches!(recorder.frame(&double), Err(RecordingError::Unfit(_))));
    assert!(matches!(recorder.stop(&double, "why"), Err(RecordingError::Unfit(_))));
}
