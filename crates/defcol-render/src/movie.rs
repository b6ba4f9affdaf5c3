//! Movies: GIF and animated PNG are encoded here, every other format by ffmpeg.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use defcol_io::{Progress, WriteError, WriteProblem, replace_file};

use crate::picture::Picture;

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

/// Supplies the next picture and how long it is shown, in seconds; `None` ends the movie.
pub type NextPicture<'a> = &'a mut dyn FnMut() -> Result<Option<(Picture, f64)>, WriteProblem>;

/// Writes a movie of `count` pictures. The file extension selects the format: `gif`, `png` or `apng`, or any other that
/// ffmpeg supports. The file appears only when it is complete.
pub fn write_movie(
    path: &Path,
    options: Movie,
    count: u32,
    next: NextPicture,
) -> Result<(), WriteError> {
    let written = match extension_of(path).as_str() {
        "gif" => replace_file(path, &Progress::new(), |sink| write_gif(options, next, sink)),
        "png" | "apng" => {
            replace_file(path, &Progress::new(), |sink| write_apng(options, count, next, sink))
        }
        _ => write_with_ffmpeg(options, next, path),
    };
    written.map_err(|problem| WriteError { file: path.to_path_buf(), problem })
}

/// Checks, before anything is drawn, that a movie of this format and frame rate can be written.
pub fn check_movie(path: &Path, options: Movie) -> Result<(), WriteProblem> {
    let ending = extension_of(path);
    if ending.is_empty() {
        let text = format!("{} has no ending: .gif, .png or .mp4, for example", path.display());
        return Err(WriteProblem::Unfit(text));
    }
    if !(options.rate >= 0.1 && options.rate <= 100.0) {
        let text = "a movie has between 0.1 and 100 pictures in a second";
        return Err(WriteProblem::Unfit(text.into()));
    }
    if ["gif", "png", "apng"].contains(&ending.as_str()) {
        return Ok(());
    }
    let mut ffmpeg = Command::new("ffmpeg");
    let tried = ffmpeg.arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if tried.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(WriteProblem::Unfit(format!(
        ".{ending} needs ffmpeg, which cannot be started; install it, or write .gif or .png, which need nothing"
    )))
}

fn extension_of(path: &Path) -> String {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase()
}

fn write_gif(options: Movie, next: NextPicture, out: &mut impl Write) -> Result<(), WriteProblem> {
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
    next: NextPicture,
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

fn write_with_ffmpeg(options: Movie, next: NextPicture, path: &Path) -> Result<(), WriteProblem> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    let suffix = format!(".part.{}", extension_of(path));
    builder.prefix(".defcol-").suffix(&suffix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let part = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
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
    let mut child = command.spawn()?;
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
        return filled;
    }
    let status = child.wait()?;
    if !status.success() {
        let (mut said, mut text) = (said, String::new());
        said.seek(SeekFrom::Start(0))?;
        // Whatever it said.
        let _ = said.take(2000).read_to_string(&mut text);
        let text = format!("ffmpeg could not write it: {}", text.trim());
        return Err(WriteProblem::Unfit(text));
    }
    filled?;
    part.persist(path).map_err(|error| error.error)?;
    Ok(())
}
