//! The project's own commands: `cargo xtask` lists them.

mod architecture;
mod ci;
mod dependencies;
mod fuzz;
mod instructions;
mod mutants;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test                 all tests of the quick run, including documentation examples
  ci                   everything else that CI checks: format, lints, documentation, examples, release tests, portability,
                       dependencies, architecture, instruction counts
  examples             builds and runs every example
  long [NAME...]       test campaigns of minutes each: hash, ldi, volume, bvh, continuous, worlds, bit-flips,
                       recordings
  architecture         checks dependency directions and the paths named in documents
  dependencies         checks licenses and duplicate versions of dependencies
  portability          builds the core for wasm32 and packages all crates
  instructions         counts the instructions of the hot loops and fails beyond their limits
  fuzz [SECONDS] [TARGET...]
                       fuzzes each reader (default 60 s each); needs cargo-fuzz
  mutants [--shard K/N] [--folder FOLDER] [--re REGEX]
                       mutation testing of the core; needs cargo-mutants and cargo-nextest
";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let start = Instant::now();
    match words.as_slice() {
        ["test"] => ci::test()?,
        ["ci"] => ci::run()?,
        ["examples"] => ci::examples()?,
        ["long", names @ ..] => ci::long(names)?,
        ["architecture"] => architecture::check(&root())?,
        ["dependencies"] => dependencies::check()?,
        ["portability"] => ci::portability()?,
        ["instructions"] => instructions::run()?,
        ["fuzz", rest @ ..] => fuzz::run_targets(&root(), rest)?,
        ["mutants", rest @ ..] => mutants::run_folders(rest)?,
        _ => bail!("{USAGE}"),
    }
    println!("xtask {}: done after {:.0} s", words[0], start.elapsed().as_secs_f64());
    Ok(())
}

/// The root of the workspace, whatever the current directory is.
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

/// Runs a command and reports how long it took.
fn run(command: &mut Command) -> Result<()> {
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let line = words.join(" ");
    println!("xtask: {line}");
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    println!("xtask: {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// The output of a command that must succeed.
fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let line = format!("{program} {}", arguments.join(" "));
    let output =
        command(program, arguments).output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn succeeds(arguments: &[&str]) -> bool {
    command("cargo", arguments).output().is_ok_and(|output| output.status.success())
}
