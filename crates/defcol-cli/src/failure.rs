//! Why a command ended without a result, and the exit code that says so.

use std::fmt::Display;
use std::io;

use clap::builder::styling::{AnsiColor, Style};
use defcol_io::{Problem, ReadError, WriteError, WriteProblem};
use defcol_query::QueryError;
use defcol_recording::RecordingError;

/// A command that did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage that the argument parser could not see.
    Usage(String),
    /// Bad input.
    Input(String),
    /// Bad input that has been reported already.
    InputReported,
    /// The computation, or writing its result, failed.
    Computation(String),
    /// Somebody asked to stop.
    Interrupted,
    /// Somebody asked to stop; some files are there.
    Halted,
    /// Somebody asked to stop after this frame; what was reached has been told.
    Stopped(u64),
}

impl Failure {
    pub fn usage(message: impl Display) -> Self {
        Self::Usage(message.to_string())
    }

    pub fn computation(message: impl Display) -> Self {
        Self::Computation(message.to_string())
    }

    pub fn code(&self) -> i32 {
        match self {
            Self::Usage(_) => 2,
            Self::Input(_) | Self::InputReported => 3,
            Self::Computation(_) => 4,
            Self::Interrupted | Self::Halted | Self::Stopped(_) => 130,
        }
    }

    pub fn report(&self) {
        match self {
            Self::Usage(message) | Self::Input(message) | Self::Computation(message) => {
                let style: Style = AnsiColor::Red.on_default().bold();
                anstream::eprintln!("{style}error:{style:#} {message}");
            }
            Self::Interrupted => anstream::eprintln!("interrupted; nothing was written"),
            Self::Halted => anstream::eprintln!("interrupted; files that are there are whole"),
            Self::Stopped(frame) => anstream::eprintln!("interrupted after frame {frame}"),
            Self::InputReported => {}
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Request(message) => Self::Usage(message),
            QueryError::Input(message) => Self::Input(message),
            QueryError::Cancelled => Self::Interrupted,
            other => Self::computation(other),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error.problem {
            Problem::Cancelled => Self::Interrupted,
            Problem::UnknownFormat { .. } if error.file.is_none() => Self::usage(error),
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error.problem {
            WriteProblem::Cancelled => Self::Interrupted,
            WriteProblem::UnknownFormat { .. } | WriteProblem::Unfit(_) => Self::usage(error),
            WriteProblem::Mesh(_) => Self::Input(error.to_string()),
            _ => Self::computation(error),
        }
    }
}

impl From<RecordingError> for Failure {
    fn from(error: RecordingError) -> Self {
        match error {
            RecordingError::Cancelled => Self::Halted,
            RecordingError::Write(error) => error.into(),
            RecordingError::Unfit(_) | RecordingError::NoSuchFrame { .. } => Self::usage(error),
            RecordingError::Io(_) | RecordingError::World(_) => Self::computation(error),
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // Whoever reads the output, as in `| head`, has seen enough.
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        Self::computation(error)
    }
}
