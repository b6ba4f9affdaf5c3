//! Mutation testing of the core: cargo-mutants changes the code, and tests must detect it.
//!
//! A clone of HEAD below `target/mutants` is mutated in place, so that each build is incremental. Tests are selected by the
//! folder of the mutant, and the first failure ends a run: a mutant takes about a minute.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// What to mutate.
struct Selection<'a> {
    /// Every N-th mutant of each folder, starting with the K-th.
    shard: &'a str,
    /// Only mutants whose description matches.
    pattern: Option<&'a str>,
}

pub fn run_folders(words: &[&str]) -> Result<()> {
    let mut selection = Selection { shard: "0/1", pattern: None };
    let mut folders = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = *words.next().with_context(|| format!("{word} needs a value"))?;
        match *word {
            "--shard" => selection.shard = value,
            "--re" => selection.pattern = Some(value),
            "--folder" => folders.push(value),
            other => {
                bail!("unknown option {other}; known: --shard K/N, --folder FOLDER, --re REGEX")
            }
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
    let workspace = prepare()?;
    for (folder, tests) in FOLDERS {
        if folders.is_empty() || folders.contains(folder) {
            mutate(folder, tests, &selection, &workspace)?;
        }
    }
    report(&workspace)
}

/// Clones HEAD below `target/mutants`, removes earlier results and checks that all tests pass without a mutation.
fn prepare() -> Result<PathBuf> {
    let workspace = root().join("target/mutants");
    for (folder, _) in FOLDERS.iter().chain(&[("tree", &[][..])]) {
        let folder = workspace.join(folder);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
    }
    fs::create_dir_all(&workspace)?;
    let tree = workspace.join("tree");
    let [from, to] = [root(), tree.clone()].map(|path| path.to_string_lossy().into_owned());
    output("git", &["clone", "--quiet", &from, &to])?;
    let tests = ["nextest", "run", "--package", "defcol", "--lib", "--test", "main"];
    run(incremental(command("cargo", &tests).current_dir(&tree), &workspace))?;
    Ok(workspace)
}

/// Makes builds of the clone incremental, in their own folder.
fn incremental<'a>(command: &'a mut Command, workspace: &Path) -> &'a mut Command {
    command.env("CARGO_TARGET_DIR", workspace.join("build")).env("CARGO_INCREMENTAL", "1")
}

/// Runs cargo-mutants on a folder; survivors are no error here.
fn mutate(folder: &str, tests: &[&str], selection: &Selection, workspace: &Path) -> Result<()> {
    let tests: Vec<String> = tests.iter().map(|prefix| format!("test(/^{prefix}/)")).collect();
    let results = workspace.join(folder);
    fs::create_dir_all(&results)?;
    let mut cargo =
        command("cargo", &["mutants", "--in-place", "--package", "defcol", "--no-times"]);
    cargo
        .arg("--dir")
        .arg(workspace.join("tree"))
        .arg("--output")
        .arg(&results)
        .arg(format!("--file=crates/defcol/src/{folder}/**"))
        .args(["--shard", selection.shard, "--sharding", "round-robin"])
        .args(["--baseline", "skip", "--timeout", TIMEOUT, "--test-tool", "nextest"])
        .args(["--cargo-test-arg=--lib", "--cargo-test-arg=--test=main"])
        .arg("--cargo-test-arg=--filterset")
        .arg(format!("--cargo-test-arg=kind(lib) or {}", tests.join(" or ")));
    if let Some(pattern) = selection.pattern {
        cargo.args(["--re", pattern]);
    }
    let status =
        incremental(&mut cargo, workspace).status().context("cannot start cargo-mutants")?;
    // 2: mutants survived, 3: tests timed out. Both are in the report.
    match status.code() {
        Some(0 | 2 | 3) => Ok(()),
        _ => bail!("cargo-mutants failed in {folder}: {status}"),
    }
}

/// Prints counts and survivors of all folders tested so far.
fn report(workspace: &Path) -> Result<()> {
    let mut counts = vec![0; RESULTS.len()];
    let mut survivors = Vec::new();
    for (folder, _) in FOLDERS {
        for (result, count) in RESULTS.iter().zip(&mut counts) {
            let file = workspace.join(folder).join("mutants.out").join(format!("{result}.txt"));
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
