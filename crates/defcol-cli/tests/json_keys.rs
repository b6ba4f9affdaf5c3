//! Snapshot of the keys of every JSON document, which scripts depend on.
//!
//! `json_keys.txt` lists them. After adding a field, run `DEFCOL_ACCEPT=1 cargo test -p defcol-cli json_keys`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Commands in an order in which later ones find the files of earlier ones.
const COMMANDS: &[&str] = &[
    "inspect --example",
    "convert model:torus torus.ply",
    "tetrahedralize model:sphere sphere.mesh --cells 300 --embedding sphere.csv",
    "collide model:torus model:sphere",
    "collide sphere.mesh model:torus",
    "collide model:torus model:sphere --method ldi",
    "collide model:torus model:sphere --method bvh --self",
    "depth model:torus model:sphere --edges",
    "depth model:torus model:sphere --method nearest",
    "volume model:torus model:sphere --resolution 32",
    "volume model:torus model:sphere --resolution 32 --gradient gradient.csv",
    "contains model:torus model:sphere",
    "contains model:torus model:sphere --method ldi",
    "scenes",
    "run beam --frames 3",
    "run particles --frames 5 --record a.mcap",
    "run particles --frames 5 --seed 1 --record b.mcap",
    "replay a.mcap --verify --frame 2",
    "diff a.mcap a.mcap",
    "diff a.mcap b.mcap",
    "picture model:torus torus.png --width 32 --height 24",
    "bench depth --quick",
    "bench heap rods1",
    "suite volume-forces --quick --out report",
];

/// Adds the path of every key, like `pairs[].a`.
fn collect(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                keys.insert(path.clone());
                collect(value, &path, keys);
            }
        }
        Value::Array(list) => {
            for value in list {
                collect(value, &format!("{path}[]"), keys);
            }
        }
        _ => {}
    }
}

fn keys_of(words: &str, folder: &Path) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_defcol"))
        .current_dir(folder)
        .args(words.split_whitespace())
        .args(["--format", "json", "--quiet"])
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{words}: {error}: {}", String::from_utf8_lossy(&output.stderr))
    });
    let mut keys = BTreeSet::from([format!("= {}", document["schema"].as_str().unwrap_or(""))]);
    collect(&document, "", &mut keys);
    keys
}

#[test]
fn json_keys_are_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = String::new();
    for words in COMMANDS {
        found.push_str(&format!("$ defcol {words}\n"));
        for key in keys_of(words, folder.path()) {
            found.push_str(&format!("{key}\n"));
        }
    }
    let list = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/json_keys.txt"));
    if std::env::var_os("DEFCOL_ACCEPT").is_some() {
        std::fs::write(list, &found).unwrap();
    }
    let expected = std::fs::read_to_string(list).unwrap();
    let difference = expected.lines().zip(found.lines()).find(|(old, new)| old != new);
    assert_eq!(difference, None, "keys of JSON documents changed; see tests/json_keys.rs");
    assert_eq!(expected.lines().count(), found.lines().count());
}
