//! `defcol completions`: completions for a shell.

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsOptions};
use crate::failure::Failure;

pub fn run(options: &CompletionsOptions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "defcol", &mut script);
    std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
    Ok(())
}
