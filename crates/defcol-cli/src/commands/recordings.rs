//! What `run`, `replay` and `diff` share: opening recordings and drawing movies of them.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use defcol::mesh::RawMesh;
use defcol_query::record_movie;
use defcol_recording::{Loss, Recording};
use defcol_render::Movie;
use defcol_scenes::regular::icosphere;

use crate::arguments::Common;
use crate::failure::Failure;
use crate::progress::{PROGRESS, writing_steps};

pub type Opened = Recording<BufReader<File>>;

/// The mesh that stands for a particle in pictures and exports.
pub fn particle() -> RawMesh<f64> {
    icosphere(0.012, 0)
}

/// Checks, before anything is drawn, that a movie can be written.
pub fn check_movie(path: &Path, options: Movie) -> Result<(), Failure> {
    defcol_render::check_movie(path, options).map_err(Failure::usage)
}

/// Opens a recording, and says what is missing of it.
pub fn open(path: &Path, common: &Common) -> Result<Opened, Failure> {
    let recording = Recording::open(path)
        .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
    if let Some(Loss { at, bytes, what }) = recording.loss()
        && !common.quiet
    {
        anstream::eprintln!(
            "{}: {what} (byte {at}; {bytes} bytes behind it are not read); frames 0 to {} are whole",
            path.display(),
            recording.last_frame()
        );
    }
    Ok(recording)
}

/// Runs `work` behind a progress bar. `work` calls the callback it is given for each frame; the callback returns false after
/// Ctrl-C.
pub fn behind_bar<T>(
    frames: &[u64],
    label: &str,
    common: &Common,
    work: impl FnOnce(&mut dyn FnMut(u64) -> bool) -> T,
) -> T {
    writing_steps(common.quiet, frames.len() as u32, label, |bar| {
        work(&mut |_| {
            bar.inc(1);
            !PROGRESS.is_cancelled()
        })
    })
}

/// Draws a movie.
pub fn film(
    recording: &mut Opened,
    frames: &[u64],
    path: &Path,
    options: Movie,
    common: &Common,
) -> Result<(), Failure> {
    behind_bar(frames, "drawing", common, |seen| {
        record_movie(recording, frames, path, options, &particle(), seen)
    })?;
    Ok(())
}
