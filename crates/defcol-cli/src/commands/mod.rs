//! One file for each command.

pub mod bench;
pub mod collide;
pub mod completions;
pub mod contains;
pub mod convert;
pub mod depth;
pub mod diff;
pub mod inspect;
pub mod picture;
mod recordings;
pub mod replay;
pub mod run;
pub mod scenes;
pub mod suite;
pub mod tetrahedralize;
pub mod volume;

use std::io::Read;
use std::path::Path;

use defcol_io::{Format, Model, parse, read, write_coloured_ply};
use defcol_query::{ColouredMesh, NamedMesh, OverlapMesh};

use crate::arguments::Common;
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, with_bar, with_spinner, writing};
use defcol_scenes::models;

/// Makes a built-in model: its name, and behind a colon the number of triangles.
fn built_in(name: &str, quiet: bool) -> Result<Model, Failure> {
    let (name, count) = name.split_once(':').unwrap_or((name, ""));
    let model = models::find(name).map_err(Failure::usage)?;
    let count = match count {
        "" => model.triangles,
        text => {
            text.parse().ok().filter(|count| (4..=5_000_000).contains(count)).ok_or_else(|| {
                Failure::usage(format!("{text} is no number of triangles between 4 and 5000000"))
            })?
        }
    };
    let surface = with_spinner(quiet, &format!("making {name}"), |_| model.rigged(count));
    surface.map_err(Failure::computation)
}

/// Reads a mesh from a file, makes it if the path is `model:NAME`, or takes standard input if the path is
/// `-` and the format is named.
pub fn load(path: &Path, from: Option<&str>, quiet: bool) -> Result<Model, Failure> {
    if let Some(name) = path.to_str().and_then(|path| path.strip_prefix("model:")) {
        return built_in(name, quiet);
    }
    let label = format!("reading {}", path.display());
    if path != Path::new("-") {
        return Ok(with_bar(quiet, &label, || read(path, &PROGRESS))?);
    }
    let format = named_format(from, "--from")?;
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(with_bar(quiet, &label, || parse(&bytes, format, None, &PROGRESS))?)
}

/// Loads a mesh like [`load`], named after its path.
pub fn load_named(path: &Path, from: Option<&str>, quiet: bool) -> Result<NamedMesh, Failure> {
    Ok(NamedMesh::new(path.display().to_string(), load(path, from, quiet)?))
}

/// Writes a surface coloured by the given quantity as a PLY file.
pub fn write_coloured(
    path: &Path,
    coloured: &ColouredMesh,
    quantity: &str,
    common: &Common,
) -> Result<(), Failure> {
    writing(common.quiet, &format!("writing the {quantity}"), || {
        write_coloured_ply(path, &coloured.mesh, &coloured.colours, &PROGRESS)
    })?;
    if !common.quiet {
        let largest = print::short(coloured.largest);
        print::note(format!("{}: red is a {quantity} of {largest}", path.display()));
    }
    Ok(())
}

/// Writes overlap volumes as a PLY file.
pub fn write_overlap(path: &Path, overlap: &OverlapMesh, common: &Common) -> Result<(), Failure> {
    writing(common.quiet, "writing the overlap", || {
        write_coloured_ply(path, &overlap.mesh, &overlap.colours, &PROGRESS)
    })?;
    if !common.quiet {
        print::note(format!("{}: {} connected regions", path.display(), overlap.regions));
    }
    Ok(())
}

/// Refuses a file to write with another ending than one of these.
pub fn check_ending(path: &Path, endings: &[&str]) -> Result<(), Failure> {
    let own = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if endings.iter().any(|ending| ending.eq_ignore_ascii_case(own)) {
        return Ok(());
    }
    let known = endings.iter().map(|ending| format!(".{ending}")).collect::<Vec<_>>();
    let text = format!("{} does not end with {}", path.display(), known.join(" or "));
    Err(Failure::usage(text))
}

/// Whether a file can be put where it is to be: found out before work, not after.
pub fn check_folder(path: &Path) -> Result<(), Failure> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(Failure::usage(format!("there is no folder {}", folder.display()))),
        None => Ok(()),
    }
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
