//! The project's own commands. `cargo xtask ci` is what CI runs.

mod architecture;
mod fuzz;
mod instructions;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  ci                   everything CI checks: format, lints, tests, documentation, architecture
  architecture         the directions of dependencies, and the paths named in documents
  instructions         counts the instructions of the hot loops and fails beyond their limits
  fuzz [SECONDS] [TARGET...]
                       fuzzes each reader (default 60 s each); needs cargo-fuzz
";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["ci"] => ci(),
        ["architecture"] => architecture::check(&root()),
        ["instructions"] => match instructions::missing() {
            Some(what) => bail!("counting instructions needs {what}"),
            None => instructions::run(),
        },
        ["fuzz", rest @ ..] => fuzz::run_targets(&root(), rest),
        _ => bail!("{USAGE}"),
    }
}

fn ci() -> Result<()> {
    let start = Instant::now();
    cargo(&["fmt", "--all", "--check"])?;
    let lints =
        ["--workspace", "--all-targets", "--all-features", "--quiet", "--", "--deny", "warnings"];
    cargo(&[&["clippy"], &lints[..]].concat())?;
    if succeeds(&["nextest", "--version"]) {
        cargo(&["nextest", "run", "--workspace", "--no-fail-fast"])?;
        cargo(&["test", "--workspace", "--doc", "--quiet"])?;
    } else {
        cargo(&["test", "--workspace", "--quiet"])?;
    }
    // Results must not depend on the profile, and compilers vectorise differently in this one.
    let release = ["test", "--release", "--package", "defcol", "--quiet"];
    cargo(&[&release[..], &["--lib"]].concat())?;
    let detectors = [
        "ldi::",
        "hashing::",
        "bvh::",
        "impacts::",
        "contact_depth::",
        "contact_edges::",
        "contact_volume::",
        "near::",
        "bits::",
        "random_worlds::",
    ];
    cargo(&[&release[..], &["--test", "all", "--"], &detectors[..]].concat())?;
    run(command("cargo", &["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "--deny warnings"))?;
    architecture::check(&root())?;
    match instructions::missing() {
        Some(what) => println!("ci: instructions are not counted, that needs {what}"),
        None => instructions::run()?,
    }
    println!("ci: all green after {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// The root of the workspace, wherever the command is called from.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

fn cargo(arguments: &[&str]) -> Result<()> {
    run(&mut command("cargo", arguments))
}

fn run(command: &mut Command) -> Result<()> {
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let line = words.join(" ");
    println!("ci: {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

fn succeeds(arguments: &[&str]) -> bool {
    command("cargo", arguments).output().is_ok_and(|output| output.status.success())
}
