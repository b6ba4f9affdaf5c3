//! A bar for work that takes long, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use defcol_io::Progress;
use defcol_query::{OnStep, Step};
use indicatif::{ProgressBar, ProgressStyle};

/// How far the current work is.
pub static PROGRESS: Progress = Progress::new();

/// Whether a file is being written, so that there is something to clean up.
static WRITING: AtomicBool = AtomicBool::new(false);

/// Ctrl-C ends the program at once, unless a file is being written: then the writer is asked to stop, and
/// only a second Ctrl-C does not ask.
pub fn stop_on_interrupt() {
    let handler = || {
        if PROGRESS.is_cancelled() || !WRITING.load(Ordering::Relaxed) {
            std::process::exit(130);
        }
        PROGRESS.cancel();
    };
    // Fails only if a handler is there already; then that one decides.
    let _ = ctrlc::set_handler(handler);
}

/// Writes, with a bar like [`with_bar`].
pub fn writing<T: Send>(quiet: bool, label: &str, work: impl FnOnce() -> T + Send) -> T {
    WRITING.store(true, Ordering::Relaxed);
    let result = with_bar(quiet, label, work);
    WRITING.store(false, Ordering::Relaxed);
    result
}

/// Does the work, and shows a bar on a terminal once it takes longer than a moment.
pub fn with_bar<T: Send>(quiet: bool, label: &str, work: impl FnOnce() -> T + Send) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        scope.spawn(move || draw(label, &wait));
        let result = work();
        drop(done);
        result
    })
}

/// Does work of up to `steps` steps behind a bar; the work moves it on, and may say how it goes.
pub fn with_steps<T>(
    quiet: bool,
    steps: u32,
    label: &str,
    work: impl FnOnce(&ProgressBar) -> T,
) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return work(&ProgressBar::hidden());
    }
    let bar = ProgressBar::new(u64::from(steps));
    bar.set_style(step_style());
    bar.set_message(label.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    let result = work(&bar);
    bar.finish_and_clear();
    result
}

/// The same; Ctrl-C asks the work to stop, which looks at [`PROGRESS`].
pub fn writing_steps<T>(
    quiet: bool,
    steps: u32,
    label: &str,
    work: impl FnOnce(&ProgressBar) -> T,
) -> T {
    WRITING.store(true, Ordering::Relaxed);
    let result = with_steps(quiet, steps, label, work);
    WRITING.store(false, Ordering::Relaxed);
    result
}

/// Does work of unknown length behind a spinner; the work may say how it goes.
pub fn with_spinner<T>(quiet: bool, label: &str, work: impl FnOnce(&ProgressBar) -> T) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return work(&ProgressBar::hidden());
    }
    let spinner = ProgressBar::new_spinner();
    spinner.set_message(label.to_owned());
    spinner.enable_steady_tick(Duration::from_millis(100));
    let result = work(&spinner);
    spinner.finish_and_clear();
    result
}

/// Does work behind a spinner, which becomes a bar when the work reports steps.
pub fn with_query<T>(quiet: bool, label: &str, work: impl FnOnce(OnStep) -> T) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return work(&|_| ());
    }
    let bar = ProgressBar::new_spinner();
    bar.set_message(label.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    let on_step = |step: Step| {
        if step.done == 0 {
            bar.set_style(step_style());
            bar.set_length(u64::from(step.total));
        }
        bar.set_position(u64::from(step.done));
        bar.set_message(step.label.to_owned());
    };
    let result = work(&on_step);
    bar.finish_and_clear();
    result
}

fn step_style() -> ProgressStyle {
    ProgressStyle::with_template("{msg} {wide_bar} step {pos} of at most {len}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Draws until the other end of the channel is gone.
fn draw(label: &str, wait: &mpsc::Receiver<()>) {
    let pause = |milliseconds| {
        wait.recv_timeout(Duration::from_millis(milliseconds))
            == Err(mpsc::RecvTimeoutError::Timeout)
    };
    if !pause(300) {
        return;
    }
    let bar = ProgressBar::new(0);
    let template = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(label.to_owned());
    while pause(60) {
        let (done, total) = PROGRESS.get();
        bar.set_length(total.max(done));
        bar.set_position(done);
    }
    bar.finish_and_clear();
}
