//! Movies of recordings.

use std::io::{Read, Seek};
use std::path::Path;

use defcol::math::Bounds;
use defcol::mesh::RawMesh;
use defcol_io::WriteProblem;
use defcol_recording::export::bounds_of_frames;
use defcol_recording::{Recording, RecordingError};
use defcol_render::{Movie, Picture, PictureOptions, check_movie, draw, write_movie};

use crate::picture::{body_models, upright};

/// Writes a movie of recorded frames that runs at the speed of simulated time. The file extension selects the format, see
/// [`write_movie`]. Particles are drawn as copies of `drop`. `on_frame` receives each frame that is drawn and returns whether
/// to continue.
///
/// # Errors
/// If the format is not supported, a frame cannot be read or the file cannot be written.
pub fn record_movie<T: Read + Seek>(
    recording: &mut Recording<T>,
    frames: &[u64],
    path: &Path,
    options: Movie,
    drop: &RawMesh<f64>,
    mut on_frame: impl FnMut(u64) -> bool,
) -> Result<(), RecordingError> {
    check_movie(path, options).map_err(|problem| RecordingError::Unfit(problem.to_string()))?;
    let picked = pick(recording, frames, options.rate)?;
    let numbers: Vec<u64> = picked.iter().map(|(number, _)| *number).collect();
    let bounds = bounds_of_frames(recording, &numbers)?;
    let drawing = PictureOptions {
        width: options.width,
        height: options.height,
        around: Some(Bounds::of([upright(&bounds.min), upright(&bounds.max)])),
        ..PictureOptions::default()
    };
    let mut stopped = None;
    // The next picture, until there is none, the caller asks to stop or a frame cannot be read.
    let mut left = picked.iter();
    let mut next = || -> Result<Option<(Picture, f64)>, WriteProblem> {
        let Some(&(number, seconds)) = left.next() else { return Ok(None) };
        if !on_frame(number) {
            stopped = Some(RecordingError::Cancelled);
            return Err(WriteProblem::Cancelled);
        }
        match recording.frame(number) {
            Ok(frame) => {
                let models = body_models(&frame.bodies, &frame.positions, drop);
                Ok(Some((draw(&models, &drawing)?, seconds)))
            }
            Err(error) => {
                stopped = Some(error);
                Err(WriteProblem::Cancelled)
            }
        }
    };
    let written = write_movie(path, options, picked.len() as u32, &mut next);
    match (written, stopped) {
        (Err(_), Some(error)) => Err(error),
        (written, _) => Ok(written?),
    }
}

/// The frames nearest in time to each picture of the movie, and how long each is shown, in seconds.
fn pick<T: Read + Seek>(
    recording: &mut Recording<T>,
    frames: &[u64],
    rate: f64,
) -> Result<Vec<(u64, f64)>, RecordingError> {
    let (mut picked, mut next) = (Vec::<(u64, f64)>::new(), f64::MIN);
    for &number in frames {
        let time = recording.frame(number)?.time;
        if time + 1e-9 >= next {
            next = if picked.is_empty() { time } else { next.max(time - 1.0 / rate) } + 1.0 / rate;
            picked.push((number, time));
        }
    }
    // From the times to the differences; the last one is shown as long as the one before.
    for index in 0..picked.len() {
        picked[index].1 = match picked.get(index + 1) {
            Some((_, after)) => (after - picked[index].1).clamp(0.0, 60.0),
            None if index > 0 => picked[index - 1].1,
            None => 1.0 / rate,
        };
    }
    if picked.is_empty() {
        return Err(RecordingError::Unfit("there is no frame to draw".into()));
    }
    Ok(picked)
}
