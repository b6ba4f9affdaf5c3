//! Runs the fuzz targets one after the other.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{command, run, succeeds};

/// `words`: seconds for each target, then the targets; all of them by default.
pub fn run_targets(root: &Path, words: &[&str]) -> Result<()> {
    let (seconds, targets) = match words {
        [] => (60, Vec::new()),
        [seconds, targets @ ..] => (
            seconds.parse::<u32>().context("the first word is the number of seconds")?,
            targets.iter().map(|target| (*target).to_owned()).collect(),
        ),
    };
    if !succeeds(&["fuzz", "--version"]) {
        bail!("cargo-fuzz is missing: cargo install cargo-fuzz");
    }
    let targets = if targets.is_empty() { all_targets(root)? } else { targets };
    for target in &targets {
        let corpus = format!("fuzz/corpus/{target}");
        std::fs::create_dir_all(root.join(&corpus))?;
        let seeds = format!("fuzz/seeds/{target}");
        let limit = format!("-max_total_time={seconds}");
        let arguments = ["fuzz", "run", target, &corpus, &seeds, "--", &limit, "-max_len=4096"];
        // Sanitizer flags are unstable; the variable makes the stable compiler accept them.
        run(command("cargo", &arguments).env("RUSTC_BOOTSTRAP", "1"))?;
    }
    println!("fuzz: {} targets ran {seconds} s each without a crash", targets.len());
    Ok(())
}

fn all_targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let mut targets = Vec::new();
    for entry in std::fs::read_dir(&folder).context("cannot read fuzz/fuzz_targets")? {
        let path = entry?.path();
        targets.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    targets.sort();
    Ok(targets)
}
