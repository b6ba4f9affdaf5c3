use defcol::error::{DetectError, WorldError};
use defcol_io::{Problem, ReadError, WriteError, WriteProblem};
use defcol_recording::RecordingError;

/// Why a query has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Options that exclude each other or do not apply to these meshes.
    #[error("{0}")]
    Request(String),
    /// A mesh or file that cannot be used; the message names it.
    #[error("{0}")]
    Input(String),
    /// The computation failed.
    #[error("{0}")]
    Computation(String),
    /// The caller asked to stop.
    #[error("interrupted")]
    Cancelled,
}

impl QueryError {
    /// A [`QueryError::Request`] with this message.
    pub fn request(message: impl std::fmt::Display) -> Self {
        Self::Request(message.to_string())
    }

    /// A [`QueryError::Input`] about the mesh of this name.
    pub fn input(name: &str, problem: impl std::fmt::Display) -> Self {
        Self::Input(format!("{name}: {problem}"))
    }

    /// A [`QueryError::Computation`] with this message.
    pub fn computation(message: impl std::fmt::Display) -> Self {
        Self::Computation(message.to_string())
    }
}

impl From<DetectError> for QueryError {
    fn from(error: DetectError) -> Self {
        Self::computation(error)
    }
}

impl From<WorldError> for QueryError {
    fn from(error: WorldError) -> Self {
        Self::computation(error)
    }
}

impl From<ReadError> for QueryError {
    fn from(error: ReadError) -> Self {
        match error.problem {
            Problem::Cancelled => Self::Cancelled,
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<WriteError> for QueryError {
    fn from(error: WriteError) -> Self {
        match error.problem {
            WriteProblem::Cancelled => Self::Cancelled,
            WriteProblem::UnknownFormat { .. } | WriteProblem::Unfit(_) => Self::request(error),
            WriteProblem::Mesh(_) => Self::Input(error.to_string()),
            _ => Self::computation(error),
        }
    }
}

impl From<RecordingError> for QueryError {
    fn from(error: RecordingError) -> Self {
        match error {
            RecordingError::Cancelled => Self::Cancelled,
            RecordingError::Write(error) => error.into(),
            RecordingError::Io(_) | RecordingError::World(_) => Self::computation(error),
            RecordingError::Unfit(_) | RecordingError::NoSuchFrame { .. } => Self::request(error),
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<std::io::Error> for QueryError {
    fn from(error: std::io::Error) -> Self {
        Self::computation(error)
    }
}
