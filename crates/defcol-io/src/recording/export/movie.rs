//! Moving pictures: GIF and APNG by ourselves, everything else through ffmpeg.

use std::io::{Read, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use defcol::math::Bounds;
use defcol::mesh::RawMesh;

use super::{Recording, RecordingError, around, drawn, failed, file, upright};
use crate::error::WriteProblem;
use crate::picture::{Picture, PictureOptions, draw};

/// How a movie is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Movie {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Pictures in a second.
    pub rate: f64,
}

impl Default for Movie {
    fn default() -> Self {
        Self { width: 480, height: 360, rate: 25.0 }
    }
}

/// Draws a movie that runs as fast as the simulation did in its own time. The ending tells the kind: `gif`, `png` or `apng`,
/// or whatever ffmpeg knows. `seen` is told each frame that is drawn, and says whether to go on.
pub fn movie<T: Read + Seek>(
    recording: &mut Recording<T>,
    frames: &[u64],
    path: &Path,
    options: Movie,
    drop: &RawMesh<f64>,
    mut seen: impl FnMut(u64) -> bool,
) -> Result<(), RecordingError> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let ending = ending.to_str().unwrap_or_default().to_owned();
    if ending.is_empty() {
        let text = format!("{} has no ending: .gif, .png or .mp4, for example", path.display());
        return Err(RecordingError::Unfit(text));
    }
    if !(options.rate > 0.0 && options.rate <= 100.0) {
        return Err(RecordingError::Unfit("a movie has up to 100 pictures in a second".into()));
    }
    let picked = pick(recording, frames, options.rate)?;
    let around = around(recording, &picked)?;
    let around = Bounds::of([upright(&around.min), upright(&around.max)]);
    let drawing = PictureOptions {
        width: options.width,
        height: options.height,
        around: Some(around),
        ..PictureOptions::default()
    };
    let mut stopped = None;
    // The next picture, until there is none, somebody asks to stop or a frame cannot be read.
    let mut left = picked.iter();
    let mut next = || -> Result<Option<Picture>, WriteProblem> {
        let Some(&number) = left.next() else { return Ok(None) };
        if !seen(number) {
            stopped = Some(RecordingError::Cancelled);
            return Err(WriteProblem::Cancelled);
        }
        match recording.frame(number) {
            Ok(frame) => draw(&drawn(&frame.bodies, &frame.positions, drop), &drawing).map(Some),
            Err(error) => {
                stopped = Some(error);
                Err(WriteProblem::Cancelled)
            }
        }
    };
    let count = picked.len() as u32;
    let written = match ending.as_str() {
        "gif" => file(path, |sink| write_gif(options, &mut next, sink)),
        "png" | "apng" => file(path, |sink| write_apng(options, count, &mut next, sink)),
        _ => through_ffmpeg(options, &mut next, path),
    };
    match (written, stopped) {
        (Err(_), Some(error)) => Err(error),
        (written, _) => written,
    }
}

/// The frames nearest to the times of the pictures.
fn pick<T: Read + Seek>(
    recording: &mut Recording<T>,
    frames: &[u64],
    rate: f64,
) -> Result<Vec<u64>, RecordingError> {
    let (mut picked, mut next) = (vec![], f64::MIN);
    for &number in frames {
        let time = recording.frame(number)?.time;
        if time + 1e-9 >= next {
            picked.push(number);
            next = if picked.len() == 1 { time } else { next } + 1.0 / rate;
        }
    }
    if picked.is_empty() {
        return Err(RecordingError::Unfit("there is no frame to draw".into()));
    }
    Ok(picked)
}

type Next<'a> = &'a mut dyn FnMut() -> Result<Option<Picture>, WriteProblem>;

fn write_gif(options: Movie, next: Next, out: &mut impl Write) -> Result<(), WriteProblem> {
    let bad = |error: gif::EncodingError| WriteProblem::Io(std::io::Error::other(error));
    let size = |pixels: usize| {
        u16::try_from(pixels)
            .map_err(|_| WriteProblem::Unfit("a GIF has up to 65535 pixels".into()))
    };
    let (width, height) = (size(options.width)?, size(options.height)?);
    let mut encoder = gif::Encoder::new(out, width, height, &[]).map_err(bad)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(bad)?;
    let mut shown = 0.0;
    for number in 1.. {
        let Some(picture) = next()? else { return Ok(()) };
        let pixels = picture.pixels.as_flattened();
        let mut frame = gif::Frame::from_rgb_speed(width, height, pixels, 10);
        // In hundredths of a second, so that the sum is right.
        frame.delay = (100.0 * f64::from(number) / options.rate - shown).round() as u16;
        shown += f64::from(frame.delay);
        encoder.write_frame(&frame).map_err(bad)?;
    }
    Ok(())
}

fn write_apng(
    options: Movie,
    count: u32,
    next: Next,
    out: &mut impl Write,
) -> Result<(), WriteProblem> {
    let bad = |error: png::EncodingError| WriteProblem::Io(std::io::Error::other(error));
    let mut encoder = png::Encoder::new(out, options.width as u32, options.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_animated(count, 0).map_err(bad)?;
    encoder.set_frame_delay(100, (100.0 * options.rate).round() as u16).map_err(bad)?;
    let mut writer = encoder.write_header().map_err(bad)?;
    while let Some(picture) = next()? {
        writer.write_image_data(picture.pixels.as_flattened()).map_err(bad)?;
    }
    writer.finish().map_err(bad)
}

fn through_ffmpeg(options: Movie, next: Next, path: &Path) -> Result<(), RecordingError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("mp4");
    let part = tempfile::Builder::new()
        .prefix(".defcol-")
        .suffix(&format!(".part.{ending}"))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .map_err(|error| failed(path, error.into()))?;
    let size = format!("{}x{}", options.width, options.height);
    let child = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &size])
        .args(["-r", &options.rate.to_string(), "-i", "-", "-pix_fmt", "yuv420p"])
        .arg(part.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|_| {
        RecordingError::Unfit(format!(
            ".{ending} needs ffmpeg, which cannot be started; install it, or write .gif or .png, which need nothing"
        ))
    })?;
    let mut fill = || -> Result<(), WriteProblem> {
        let Some(mut pipe) = child.stdin.take() else { return Ok(()) };
        while let Some(picture) = next()? {
            pipe.write_all(picture.pixels.as_flattened())?;
        }
        Ok(())
    };
    let filled = fill();
    let said = child.wait_with_output().map_err(|error| failed(path, error.into()))?;
    if matches!(filled, Err(WriteProblem::Cancelled)) {
        return filled.map_err(|problem| failed(path, problem));
    }
    if !said.status.success() {
        let text = String::from_utf8_lossy(&said.stderr);
        let text = format!("ffmpeg could not write it: {}", text.trim());
        return Err(failed(path, WriteProblem::Unfit(text)));
    }
    filled.map_err(|problem| failed(path, problem))?;
    part.persist(path).map_err(|error| failed(path, error.error.into()))?;
    Ok(())
}
