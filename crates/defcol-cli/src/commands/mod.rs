//! One file for each command.

pub mod completions;
pub mod convert;
pub mod inspect;

use std::io::Read;
use std::path::Path;

use defcol_io::{Format, Model, parse, read};

use crate::failure::Failure;
use crate::progress::{PROGRESS, with_bar};

/// Reads a mesh from a file, or from standard input if the path is `-` and the format is named.
pub fn load(path: &Path, from: Option<&str>, quiet: bool) -> Result<Model, Failure> {
    let label = format!("reading {}", path.display());
    if path != Path::new("-") {
        return Ok(with_bar(quiet, &label, || read(path, &PROGRESS))?);
    }
    let format = named_format(from, "--from")?;
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(with_bar(quiet, &label, || parse(&bytes, format, None, &PROGRESS))?)
}

/// The format that an option names by its ending.
fn named_format(ending: Option<&str>, option: &str) -> Result<Format, Failure> {
    let Some(ending) = ending else {
        return Err(Failure::usage(format!("`-` needs {option} with a format, like {option} ply")));
    };
    Format::of_ending(ending.trim_start_matches('.')).ok_or_else(|| {
        let known = Format::ALL.into_iter().flat_map(Format::endings).copied().collect::<Vec<_>>();
        Failure::usage(format!("{option} {ending} is no format; known: {}", known.join(" ")))
    })
}
