//! The command line as a user sees it. `TRYCMD=overwrite cargo test -p defcol-cli` accepts changes.

use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn commands() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}

fn defcol() -> Command {
    Command::new(env!("CARGO_BIN_EXE_defcol"))
}

#[test]
fn standard_input_and_output() {
    let mut child = defcol()
        .args(["convert", "-", "-", "--from", "obj", "--to", "off", "--encoding", "ascii"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("defcol starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").expect("it listens");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "OFF\n3 1 0\n 0 0 0\n 1 0 0\n 0 1 0\n3 0 1 2\n"
    );
}

#[test]
fn the_reader_of_the_output_may_leave() {
    let mut child = defcol()
        .args(["inspect", "--example"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("defcol starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("it ends").code().is_some_and(|code| code == 0));
}

#[test]
fn colours_only_where_wanted() {
    let stderr = |arguments: &[&str], no_color: bool| {
        let mut command = defcol();
        command.args(arguments);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        command.output().expect("defcol starts").stderr
    };
    let escape = |text: Vec<u8>| text.contains(&0x1b);
    assert!(!escape(stderr(&["inspect", "missing.obj"], false)), "not a terminal");
    assert!(escape(stderr(&["inspect", "missing.obj", "--color", "always"], false)));
    assert!(!escape(stderr(&["inspect", "missing.obj", "--color", "never"], false)));
    assert!(!escape(stderr(&["inspect", "missing.obj"], true)));
}

#[test]
fn json_begins_with_its_schema_and_has_the_promised_fields() {
    let output =
        defcol().args(["inspect", "--example", "--format", "json"]).output().expect("starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.trim_start_matches(['{', '\n', ' ']).starts_with("\"schema\": \"defcol.inspect/1\"")
    );
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let meshes = document["meshes"].as_array().expect("a list");
    assert_eq!(meshes.len(), 6);
    for mesh in meshes {
        for field in [
            "file",
            "vertices",
            "triangles",
            "tetrahedra",
            "closed",
            "oriented",
            "volume",
            "area",
            "bounds",
            "components",
            "defects",
        ] {
            assert!(mesh.get(field).is_some(), "{field}");
        }
    }
    let defects =
        meshes.iter().flat_map(|mesh| mesh["defects"].as_array().cloned().unwrap_or_default());
    for defect in defects {
        assert!(
            defect["kind"].is_string() && defect["count"].is_u64() && defect["example"].is_object()
        );
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    let output = |threads: &str| {
        let arguments = ["inspect", "--example", "--format", "json", "--threads", threads];
        defcol().args(arguments).output().expect("defcol starts").stdout
    };
    assert_eq!(output("1"), output("3"));
}

#[test]
fn heaps_are_measured_like_those_of_others() {
    let output = defcol()
        .args(["bench", "heap", "overlap96:1", "--format", "json", "--quiet"])
        .output()
        .expect("starts");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["schema"], "defcol.bench.heap/1");
    for field in [
        "edge_ratio_max",
        "edge_ratio_p01",
        "edge_ratio_p50",
        "edge_ratio_p99",
        "edges_through_triangles_other",
        "edges_through_triangles_self",
        "highest_mm",
        "inverted_tets",
        "kinetic_energy_j",
        "kinetic_energy_j_per_kg",
        "lowest_mm",
        "max_depth_mm",
        "max_speed",
        "mean_depth_mm",
        "non_finite_vertices",
        "pairs_other",
        "pairs_self",
        "vertices_below_ground",
        "vertices_beyond_walls",
        "vertices_inside",
        "volume_ratio",
        "worst_body_volume_ratio",
    ] {
        assert!(document[field].is_number(), "{field}: {}", document[field]);
    }
    // They began in each other, and lie on the ground now.
    assert_eq!(document["frames"], 300);
    assert_eq!(document["vertices_inside"], 0);
    assert!(document["lowest_mm"].as_f64().is_some_and(|height| height > 0.0 && height < 20.0));
}

#[test]
fn scenes_are_listed_as_json() {
    let output = defcol().args(["scenes", "--format", "json"]).output().expect("starts");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["schema"], "defcol.scenes/1");
    let scenes = document["scenes"].as_array().expect("a list");
    let names: Vec<_> = scenes.iter().filter_map(|scene| scene["name"].as_str()).collect();
    assert_eq!(names, ["balls", "rods", "membranes", "beam", "arm", "box", "particles"]);
    assert!(scenes.iter().all(|scene| scene["title"].is_string() && scene["bodies"].is_u64()));
}
