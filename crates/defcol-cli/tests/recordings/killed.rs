//! Runs that are killed while they record: every frame that had reached the file is read, and is right.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use defcol::math::Vector3;
use defcol_recording::Recording;
use defcol_scenes::catalogue::Scene;

/// The states of a run that nobody disturbs, as far as they are needed.
struct Reference {
    scene: Scene<f64>,
    states: Vec<(u64, Vec<Vector3<f64>>)>,
}

impl Reference {
    fn state(&mut self, frame: u64) -> &(u64, Vec<Vector3<f64>>) {
        while self.states.len() as u64 <= frame {
            if !self.states.is_empty() {
                self.scene.step().unwrap();
            }
            let positions = self.scene.world.motion().positions.clone();
            self.states.push((self.scene.world.hash(), positions));
        }
        &self.states[frame as usize]
    }
}

fn frames_in(path: &Path) -> usize {
    Recording::open(path).map_or(0, |recording| recording.frame_count())
}

fn kill(times: u64) {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene::build("beam", 0).unwrap();
    let mut reference = Reference { scene, states: vec![] };
    let (mut random, mut total, mut unfinished) = (9u64, 0, 0);
    for number in 0..times {
        let path = folder.path().join(format!("{number}.mcap"));
        let mut run = Command::new(env!("CARGO_BIN_EXE_defcol"))
            .args(["run", "beam", "--frames", "100000", "--quiet", "--record"])
            .arg(&path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_millis(40 + (random >> 33) % 700));
        // What others can read while it is written is what has reached the file.
        let flushed = frames_in(&path);
        run.kill().unwrap();
        run.wait().unwrap();
        let Ok(mut recording) = Recording::open(&path) else {
            assert_eq!(flushed, 0);
            continue;
        };
        assert!(recording.frame_count() >= flushed, "{} < {flushed}", recording.frame_count());
        unfinished += u64::from(recording.loss().is_some());
        let frames: Vec<u64> = recording.frames().collect();
        for frame in frames {
            let (hash, positions) = reference.state(frame);
            let found = recording.frame(frame).unwrap();
            assert_eq!((found.state_hash, &found.positions), (*hash, positions), "frame {frame}");
            total += 1;
        }
        std::fs::remove_file(path).unwrap();
    }
    println!(
        "{total} frames of {times} killed runs, {unfinished} of which had begun to be written"
    );
    assert!(total as u64 > 10 * times && unfinished > times / 2, "{total} {unfinished}");
}

#[test]
fn runs_that_are_killed_keep_what_they_have_written() {
    kill(8);
}

#[test]
#[ignore = "takes minutes; run it with `cargo test --release -p defcol-cli --test main recordings:: -- --ignored --nocapture`"]
fn two_hundred_runs_that_are_killed_keep_what_they_have_written() {
    kill(200);
}
