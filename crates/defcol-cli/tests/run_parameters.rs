//! Flags of `defcol run` that change parameters of the simulation.

use std::process::Command;

use defcol::math::Vector3;
use defcol::world::SimulationParameters;
use defcol_query::Simulation;
use defcol_recording::Precision;
use serde_json::Value;

/// The state hash after some frames of a heavy box that falls on a soft slab.
fn hash_of(flags: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_defcol"))
        .args(["run", "box", "--frames", "30", "--format", "json", "--quiet"])
        .args(flags)
        .output()
        .unwrap();
    assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["state_hash"].as_str().unwrap().to_owned()
}

#[test]
fn flags_set_the_parameters_they_name() {
    type Change = fn(&mut SimulationParameters);
    let cases: [(&[&str], Change); 5] = [
        (&["--gravity", "1.5,-4,0.25"], |p| p.gravity = Vector3::new(1.5, -4.0, 0.25)),
        (&["--gravity=-1,-9.81,0"], |p| p.gravity.x = -1.0),
        (&["--friction", "0.05"], |p| p.contact.friction = 0.05),
        (&["--thickness", "0.02"], |p| p.contact.thickness = 0.02),
        (&["--largest-move", "0.01"], |p| p.largest_move = Some(0.01)),
    ];
    let unchanged = hash_of(&[]);
    for (flags, change) in cases {
        let mut simulation = Simulation::build("box", 0, Precision::F64).unwrap();
        let mut parameters = simulation.parameters().clone();
        change(&mut parameters);
        simulation.set_parameters(parameters).unwrap();
        (0..30).for_each(|_| simulation.step().unwrap());
        let found = hash_of(flags);
        assert_eq!(found, format!("{:016x}", simulation.hash()), "{flags:?}");
        assert_ne!(found, unchanged, "{flags:?} changes nothing");
    }
}
