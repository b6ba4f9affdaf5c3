//! Mutation testing of the core: cargo-mutants changes the code, tests must notice.
//!
//! A clone of HEAD below `target/mutants` is mutated in place, so that each build is incremental. Tests are selected by the
//! folder of the mutant, and the first failure ends a run: a mutant takes about a minute.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{command, output, root, run, succeeds};

/// Folders of the core and the tests that run for their mutants, as prefixes of test names; unit tests always run.
const FOLDERS: &[(&str, &[&str])] = &[
    ("math", &["math::", "mesh::", "broad::", "detect::", "contact::", "model::"]),
    ("mesh", &["mesh::", "detect::", "contact::"]),
    ("state", &["detect::", "contact::", "world::"]),
    ("model", &["model::", "world::"]),
    ("broad", &["broad::", "world::"]),
    ("detect", &["detect::", "contact::"]),
    ("contact", &["contact::", "world::"]),
    ("response", &["world::"]),
    ("integrate", &["world::"]),
    ("world", &["world::"]),
];

/// Seconds after which a test run counts as hanging.
const TIMEOUT: &str = "150";

/// Results of cargo-mutants, by the file that lists them.
const RESULTS: &[&str] = &["caught", "missed", "timeout", "unviable"];

pub fn run_folders(words: &[&str]) -> Result<()> {
    let (mut shard, mut folders) = ("0/1", Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = *words.next().with_context(|| format!("{word} needs a value"))?;
        match *word {
            "--shard" => shard = value,
            "--folder" => folders.push(value),
            other => bail!("unknown option {other}; known: --shard K/N, --folder FOLDER"),
        }
    }
    if !succeeds(&["mutants", "--version"]) || !succeeds(&["nextest", "--version"]) {
        bail!(
            "mutation testing needs cargo-mutants and cargo-nextest: cargo install cargo-mutants cargo-nextest"
        );
    }
    let known: Vec<&str> = FOLDERS.iter().map(|(folder, _)| *folder).collect();
    if let Some(unknown) = folders.iter().find(|folder| !known.contains(folder)) {
        bail!("the core has no folder {unknown}; known: {}", known.join(", "));
    }
    let place = root().join("target/mutants");
    let tree = place.join("tree");
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    fs::create_dir_all(&place)?;
    let [from, to] = [root(), tree.clone()].map(|path| path.to_string_lossy().into_owned());
    output("git", &["clone", "--quiet", &from, &to])?;
    for (folder, tests) in FOLDERS {
        if folders.is_empty() || folders.contains(folder) {
            mutate(folder, tests, shard, &place)?;
        }
    }
    report(&place)
}

/// Runs cargo-mutants on a folder; survivors are no error here.
fn mutate(folder: &str, tests: &[&str], shard: &str, place: &Path) -> Result<()> {
    let tests: Vec<String> = tests.iter().map(|prefix| format!("test(/^{prefix}/)")).collect();
    let filter = format!("kind(lib) or {}", tests.join(" or "));
    let files = format!("crates/defcol/src/{folder}/**");
    let results = place.join(folder);
    fs::create_dir_all(&results)?;
    let results = results.to_string_lossy().into_owned();
    let tree = place.join("tree").to_string_lossy().into_owned();
    let mut cargo = command(
        "cargo",
        &[
            "mutants",
            "--in-place",
            "--dir",
            &tree,
            "--package",
            "defcol",
            "--file",
            &files,
            "--shard",
            shard,
            "--sharding",
            "round-robin",
            "--baseline",
            "skip",
            "--timeout",
            TIMEOUT,
            "--test-tool",
            "nextest",
            "--output",
            &results,
            "--no-times",
            "--cargo-test-arg=--lib",
            "--cargo-test-arg=--test=main",
            "--cargo-test-arg=--filterset",
        ],
    );
    cargo.arg(format!("--cargo-test-arg={filter}"));
    cargo.env("CARGO_TARGET_DIR", place.join("build")).env("CARGO_INCREMENTAL", "1");
    // Exit codes 2 and 3 mean mutants that survived or timed out, which the report lists.
    match run(&mut cargo) {
        Err(error) if Path::new(&results).join("mutants.out/outcomes.json").is_file() => {
            println!("xtask: {error}");
            Ok(())
        }
        other => other,
    }
}

/// Prints counts and survivors of all folders tested so far.
fn report(place: &Path) -> Result<()> {
    let mut counts = vec![0; RESULTS.len()];
    let mut survivors = Vec::new();
    for (folder, _) in FOLDERS {
        for (result, count) in RESULTS.iter().zip(&mut counts) {
            let file = place.join(folder).join("mutants.out").join(format!("{result}.txt"));
            let Ok(text) = fs::read_to_string(file) else { continue };
            *count += text.lines().count();
            if *result == "missed" {
                survivors.extend(text.lines().map(str::to_owned));
            }
        }
    }
    for (result, count) in RESULTS.iter().zip(&counts) {
        println!("{result}: {count}");
    }
    survivors.iter().for_each(|survivor| println!("survived: {survivor}"));
    let viable = counts[0] + counts[1] + counts[2];
    let killed = counts[0] + counts[2];
    println!("killed {killed} of {viable} viable mutants");
    Ok(())
}
