//! Moving pictures: GIF and APNG by ourselves, everything else through ffmpeg.

use std::io::{Read, Seek, SeekFrom, Write};
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
    can_write_movie(path, options)?;
    let ending = ending_of(path);
    let picked = pick(recording, frames, options.rate)?;
    let numbers: Vec<u64> = picked.iter().map(|(number, _)| *number).collect();
    let around = around(recording, &numbers)?;
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
    let mut next = || -> Result<Option<(Picture, f64)>, WriteProblem> {
        let Some(&(number, seconds)) = left.next() else { return Ok(None) };
        if !seen(number) {
            stopped = Some(RecordingError::Cancelled);
            return Err(WriteProblem::Cancelled);
        }
        match recording.frame(number) {
            Ok(frame) => {
                let picture = draw(&drawn(&frame.bodies, &frame.positions, drop), &drawing)?;
                Ok(Some((picture, seconds)))
            }
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

/// Whether such a movie can be written, before anything is drawn.
pub fn can_write_movie(path: &Path, options: Movie) -> Result<(), RecordingError> {
    let ending = ending_of(path);
    if ending.is_empty() {
        let text = format!("{} has no ending: .gif, .png or .mp4, for example", path.display());
        return Err(RecordingError::Unfit(text));
    }
    if !(options.rate >= 0.1 && options.rate <= 100.0) {
        let text = "a movie has between 0.1 and 100 pictures in a second";
        return Err(RecordingError::Unfit(text.into()));
    }
    if ["gif", "png", "apng"].contains(&ending.as_str()) {
        return Ok(());
    }
    let mut ffmpeg = Command::new("ffmpeg");
    let tried = ffmpeg.arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if tried.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(RecordingError::Unfit(format!(
        ".{ending} needs ffmpeg, which cannot be started; install it, or write .gif or .png, which need nothing"
    )))
}

fn ending_of(path: &Path) -> String {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// The frames nearest to the times of the pictures, and how long each is shown, in seconds.
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

/// Gives the next picture and how long it is shown.
type Next<'a> = &'a mut dyn FnMut() -> Result<Option<(Picture, f64)>, WriteProblem>;

fn write_gif(options: Movie, next: Next, out: &mut impl Write) -> Result<(), WriteProblem> {
    let bad = |error: gif::EncodingError| WriteProblem::Io(std::io::Error::other(error));
    let size = |pixels: usize| {
        u16::try_from(pixels)
            .map_err(|_| WriteProblem::Unfit("a GIF has up to 65535 pixels".into()))
    };
    let (width, height) = (size(options.width)?, size(options.height)?);
    let mut encoder = gif::Encoder::new(out, width, height, &[]).map_err(bad)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(bad)?;
    let (mut shown, mut time) = (0.0, 0.0);
    while let Some((picture, seconds)) = next()? {
        let pixels = picture.pixels.as_flattened();
        let mut frame = gif::Frame::from_rgb_speed(width, height, pixels, 10);
        // In hundredths of a second, so that the sum is right.
        time += 100.0 * seconds;
        frame.delay = (time - shown).round() as u16;
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
    let mut writer = encoder.write_header().map_err(bad)?;
    let (mut shown, mut time) = (0.0, 0.0);
    while let Some((picture, seconds)) = next()? {
        // In milliseconds, so that the sum is right.
        time += 1000.0 * seconds;
        let delay = (time - shown).round() as u16;
        shown += f64::from(delay);
        writer.set_frame_delay(delay, 1000).map_err(bad)?;
        writer.write_image_data(picture.pixels.as_flattened()).map_err(bad)?;
    }
    writer.finish().map_err(bad)
}

fn through_ffmpeg(options: Movie, next: Next, path: &Path) -> Result<(), RecordingError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    let suffix = format!(".part.{}", ending_of(path));
    builder.prefix(".defcol-").suffix(&suffix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let part = builder
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .map_err(|error| failed(path, error.into()))?;
    let said = tempfile::tempfile()?;
    let size = format!("{}x{}", options.width, options.height);
    let mut command = Command::new("ffmpeg");
    command
        .args(["-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &size])
        .args(["-r", &options.rate.to_string(), "-i", "-"])
        // Most codecs want even sizes.
        .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
        .arg(part.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(said.try_clone()?);
    // Ctrl-C is ours to handle.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| failed(path, error.into()))?;
    let mut fill = || -> Result<(), WriteProblem> {
        let Some(mut pipe) = child.stdin.take() else { return Ok(()) };
        let (mut written, mut time) = (0.0, 0.0);
        while let Some((picture, seconds)) = next()? {
            time += seconds * options.rate;
            // As often as it takes until it is the turn of the next.
            while written + 0.5 < time {
                pipe.write_all(picture.pixels.as_flattened())?;
                written += 1.0;
            }
        }
        Ok(())
    };
    let filled = fill();
    if matches!(filled, Err(WriteProblem::Cancelled)) {
        // It may have ended already.
        let _ = child.kill();
        let _ = child.wait();
        return filled.map_err(|problem| failed(path, problem));
    }
    let status = child.wait().map_err(|error| failed(path, error.into()))?;
    if !status.success() {
        let (mut said, mut text) = (said, String::new());
        said.seek(SeekFrom::Start(0))?;
        // Whatever it said.
        let _ = said.take(2000).read_to_string(&mut text);
        let text = format!("ffmpeg could not write it: {}", text.trim());
        return Err(failed(path, WriteProblem::Unfit(text)));
    }
    filled.map_err(|problem| failed(path, problem))?;
    part.persist(path).map_err(|error| failed(path, error.error.into()))?;
    Ok(())
}
