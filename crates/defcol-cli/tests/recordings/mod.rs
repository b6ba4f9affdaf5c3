//! Recordings on the command line: what is told, with which exit code, and what is left behind.
mod killed;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use defcol::math::Vector3;
use defcol_recording::{Plan, Recorder, Recording, Scene as Origin};
use defcol_scenes::catalogue::Scene;
use serde_json::Value;

fn defcol(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_defcol"));
    command.current_dir(folder).args(words.split_whitespace()).output().unwrap()
}

/// The JSON document that a command prints.
fn json(folder: &Path, words: &str) -> Value {
    let output = defcol(folder, &format!("{words} --format json"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a command complains about, and its exit code.
fn complaint(folder: &Path, words: &str) -> (i32, String) {
    let output = defcol(folder, words);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_run_is_recorded_verified_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, more) in [("a", ""), ("b", "--precision f32 --threads 1"), ("c", "--quantise 1e-4")]
    {
        let run = json(folder, &format!("run arm --frames 40 --record {name}.mcap {more}"));
        assert_eq!(run["recording"]["file"], format!("{name}.mcap"));
        let replay = json(folder, &format!("replay {name}.mcap --verify --threads 2"));
        assert_eq!(replay["verified"], true);
        assert_eq!(replay["first_divergence"], Value::Null);
        assert_eq!((replay["frames"].as_u64(), &replay["lost"]), (Some(40), &Value::Null));
        let last = json(folder, &format!("replay {name}.mcap --frame 40"));
        assert_eq!(last["frame"]["state_hash"], run["state_hash"]);
    }
    json(folder, "run arm --frames 41 --record d.mcap --quiet");
    let same = json(folder, "diff a.mcap a.mcap");
    assert_eq!((&same["equal"], &same["first"]), (&Value::Bool(true), &Value::Null));
    let longer = json(folder, "diff a.mcap d.mcap");
    assert_eq!((&longer["equal"], &longer["first"]["frame"]), (&Value::Bool(false), &41.into()));
    let other = json(folder, "diff a.mcap b.mcap");
    assert_eq!(other["first"]["frame"], 0);
    assert!(other["first"]["vertex"]["by"].as_f64().unwrap() < 1e-6);
    let text = String::from_utf8(defcol(folder, "diff a.mcap b.mcap").stdout).unwrap();
    assert!(text.contains("different from frame 0 on"), "{text}");
}

#[test]
fn inputs_are_recorded_and_applied_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let facts = || -> Value {
        let mut recording = Recording::open(&folder.join("plain.mcap")).unwrap();
        recording.frame(0).unwrap();
        serde_json::to_value(recording.facts()).unwrap()["parameters"].clone()
    };
    json(folder, "run box --frames 30 --record plain.mcap");
    let mut parameters = facts();
    parameters["gravity"] = serde_json::json!([0.1, -3.0, 0.0]);
    let line = |frame: u64, input: Value| serde_json::json!({ "frame": frame, "input": input });
    let lines = [
        line(10, serde_json::json!({ "kind": "parameters", "parameters": parameters })),
        line(
            15,
            serde_json::json!({ "kind": "velocity", "body": 1, "linear": [0.5, 0, 0], "angular": [0, 0, 1] }),
        ),
    ];
    fs::write(folder.join("in.jsonl"), lines.map(|line| line.to_string()).join("\n\n")).unwrap();
    json(folder, "run box --frames 30 --record changed.mcap --inputs in.jsonl");
    assert_eq!(json(folder, "replay changed.mcap --verify")["verified"], true);
    let frame = json(folder, "replay changed.mcap --frame 15");
    assert_eq!(frame["frame"]["inputs"][0]["kind"], "velocity");
    assert_eq!(json(folder, "diff plain.mcap changed.mcap")["first"]["frame"], 10);
    let fixed = |frame: u64, body: u32, word: &str| {
        format!(
            "{{\"frame\": {frame}, \"input\": {{\"kind\": \"fixed\", \"body\": {body}, \"vertices\": [], \"{word}\": true}}}}"
        )
    };
    for (text, part) in [
        ("\n{\"frame\": 1}\n".to_owned(), "in.jsonl, line 2"),
        (fixed(9, 0, "fixed"), "there is no frame 9"),
        (fixed(1, 0, "fixd"), "fixd"),
        (fixed(1, 7, "fixed"), "before frame 1: there is no body with the number 7"),
    ] {
        fs::write(folder.join("in.jsonl"), text).unwrap();
        let (code, text) = complaint(folder, "run box --frames 3 --inputs in.jsonl");
        assert!(code == 3 && text.contains(part), "{code} {text}");
    }
    // What breaks a run is in the recording, and breaks it again.
    let push = serde_json::json!({ "kind": "velocity", "body": 1, "linear": [0, 1e7, 0], "angular": [0, 0, 0] });
    fs::write(folder.join("in.jsonl"), line(6, push).to_string()).unwrap();
    let (code, _) = complaint(folder, "run box --frames 9 --inputs in.jsonl --record broken.mcap");
    assert_eq!(code, 4);
    let broken = json(folder, "replay broken.mcap --verify");
    assert_eq!((&broken["verified"], &broken["frames"]), (&true.into(), &5.into()));
    assert!(broken["stopped"]["why"].as_str().unwrap().starts_with("failed: "));
    assert_eq!(broken["stopped"]["inputs"][0]["kind"], "velocity");
}

#[test]
fn a_run_that_nobody_can_repeat_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::<f64>::build("box", 0).unwrap();
    let origin = Origin { name: "box".into(), seed: 0 };
    let plan = Plan { scene: Some(origin), ..Plan::default() };
    let file = fs::File::create(folder.path().join("odd.mcap")).unwrap();
    let mut recorder = Recorder::new(file, &scene.world, &plan).unwrap();
    for frame in 0..20 {
        if frame == 12 {
            // Nobody is told.
            let id = scene.world.body_ids().nth(1).unwrap();
            scene.world.set_velocity(id, Vector3::x(), Vector3::zeros()).unwrap();
        }
        scene.step().unwrap();
        recorder.frame(&scene.world).unwrap();
    }
    recorder.finish().unwrap();
    let output = defcol(folder.path(), "replay odd.mcap --verify --format json");
    assert_eq!(output.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["verified"], &report["first_divergence"]["frame"]),
        (&false.into(), &13.into())
    );
    assert!(report["first_divergence"]["vertex"][2].as_f64().unwrap() > 0.0);
}

#[test]
fn bad_recordings_and_wrong_words_are_told_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    json(folder, "run beam --frames 70 --record beam.mcap");
    let whole = fs::read(folder.join("beam.mcap")).unwrap();
    fs::write(folder.join("cut.mcap"), &whole[..whole.len() * 2 / 3]).unwrap();
    fs::write(folder.join("text.mcap"), "solid").unwrap();
    fs::create_dir(folder.join("dir.mcap")).unwrap();
    let (code, text) = complaint(folder, "replay cut.mcap --verify");
    assert!(code == 0 && text.contains("the file ends within a record"), "{code} {text}");
    let cut = json(folder, "replay cut.mcap --quiet");
    assert!(cut["frames"].as_u64().unwrap() >= 29 && cut["lost"]["bytes"].as_u64().unwrap() > 0);
    for (words, expected, part) in [
        ("replay text.mcap", 3, "text.mcap: this is no recording"),
        ("replay dir.mcap", 3, "not a regular file"),
        ("replay none.mcap", 3, "none.mcap: No such file"),
        ("replay beam.mcap --frame 71", 2, "frames 0 to 70"),
        ("replay beam.mcap --frames 5..3", 2, "not a range"),
        ("replay beam.mcap --every 0", 2, "0"),
        ("replay beam.mcap --as vtu", 2, "--export"),
        ("replay beam.mcap --export x", 2, "--as"),
        ("replay beam.mcap --contacts x.xls", 2, ".csv or .parquet"),
        ("replay beam.mcap --movie x", 2, "no ending"),
        ("replay beam.mcap --movie missing/x.gif", 2, "no folder missing"),
        ("replay beam.mcap --contacts missing/x.csv", 2, "no folder missing"),
        ("run beam --frames 1 --movie missing/x.gif", 2, "no folder missing"),
        ("run beam --frames 1 --movie x", 2, "no ending"),
        ("run beam --frames 1 --record q.mcap --quantise 0", 2, "not a length"),
        ("run beam --frames 1 --record q.mcap --quantise 1e-17", 2, "longer one"),
        ("run beam --frames 1 --record beam.mcap", 2, "--overwrite"),
        ("run beam --frames 1 --record beam.bag", 2, ".mcap"),
        ("run beam --frames 1 --record missing/x.mcap", 2, "no folder missing"),
        ("diff beam.mcap text.mcap", 3, "no recording"),
    ] {
        let (code, text) = complaint(folder, words);
        assert!(code == expected && text.contains(part), "{words}: {code} {text}");
    }
    assert_eq!(fs::read(folder.join("beam.mcap")).unwrap(), whole);
    json(folder, "run beam --frames 2 --record beam.mcap --overwrite");
    assert_eq!(json(folder, "replay beam.mcap")["frames"], 2);
}

/// Sends Ctrl-C after a while; gives the exit code.
#[cfg(unix)]
fn interrupt(folder: &Path, words: &str, after: Duration) -> i32 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_defcol"))
        .current_dir(folder)
        .args(words.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    child.wait().unwrap().code().unwrap()
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_recording_properly_and_leaves_no_half_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let words = "run beam --frames 100000 --record long.mcap";
    assert_eq!(interrupt(folder, words, Duration::from_millis(1500)), 130);
    let recording = Recording::open(&folder.join("long.mcap")).unwrap();
    assert_eq!(recording.loss(), None);
    assert_eq!(recording.stop().unwrap().why, "interrupted");
    assert!(recording.last_frame() > 5);
    json(folder, "run beam --frames 200 --record long.mcap --overwrite");
    for words in [
        "replay long.mcap --movie long.gif --rate 60 --width 1600 --height 1200",
        "replay long.mcap --movie long.png --rate 60 --width 1600 --height 1200",
    ] {
        assert_eq!(interrupt(folder, words, Duration::from_millis(1500)), 130, "{words}");
    }
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["long.mcap"]);
}
