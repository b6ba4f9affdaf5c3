//! The command line of defcol: `defcol --help`.

mod allocations;
mod arguments;
mod commands;
mod failure;
mod print;
mod progress;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::Failure;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

fn main() {
    let arguments = Arguments::parse();
    arguments.common.color.apply();
    let code = run(&arguments).unwrap_or_else(|failure| {
        failure.report();
        failure.code()
    });
    std::process::exit(code);
}

/// Does what was asked and returns the exit code.
fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let common = &arguments.common;
    progress::stop_on_interrupt();
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .build_global()
            .map_err(|error| Failure::computation(format!("cannot start threads: {error}")))?;
    }
    match &arguments.command {
        Command::Scenes => commands::scenes::run(common)?,
        Command::Run(options) => commands::run::run(options, common)?,
        Command::Replay(options) => commands::replay::run(options, common)?,
        Command::Diff(options) => commands::diff::run(options, common)?,
        Command::Bench(options) => commands::bench::run(options, common)?,
        Command::Suite(options) => commands::suite::run(options, common)?,
        Command::Depth(options) => commands::depth::run(options, common)?,
        Command::Volume(options) => commands::volume::run(options, common)?,
        Command::Contains(options) => commands::contains::run(options, common)?,
        Command::Collide(options) => return commands::collide::run(options, common),
        Command::Inspect(options) => commands::inspect::run(options, common)?,
        Command::Convert(options) => commands::convert::run(options, common)?,
        Command::Tetrahedralize(options) => commands::tetrahedralize::run(options, common)?,
        Command::Picture(options) => commands::picture::run(options, common)?,
        Command::Completions(options) => commands::completions::run(options)?,
    }
    Ok(0)
}
