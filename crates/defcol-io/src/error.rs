//! What can go wrong with a file, where, and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub struct ReadError {
    /// The file; `None` for bytes that came from elsewhere.
    pub file: Option<PathBuf>,
    /// Where in the file.
    pub at: At,
    /// What is wrong there.
    pub problem: Problem,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}", file.display())?,
            None => write!(f, "input")?,
        }
        match self.at {
            At::File => write!(f, ": {}", self.problem),
            At::Line(line) => write!(f, ", line {line}: {}", self.problem),
            At::Byte(byte) => write!(f, ", byte {byte}: {}", self.problem),
        }
    }
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The file as a whole.
    File,
    /// A line, counted from 1.
    Line(usize),
    /// A byte, counted from 0.
    Byte(usize),
}

/// What may be wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The ending names no format.
    #[error("the ending names no mesh format; known endings: {known}")]
    UnknownFormat {
        /// All endings.
        known: String,
    },
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It holds no vertices.
    #[error("the file holds no vertices, so there is no mesh in it")]
    NoVertices,
    /// It does not begin as its format does.
    #[error("this is not {format}: it does not begin with {expected}; is the ending right?")]
    WrongMagic {
        /// The format.
        format: &'static str,
        /// How it begins.
        expected: &'static str,
    },
    /// It ends too early.
    #[error(
        "the file ends where {expected} should follow; it was cut off, or a count in it is too large"
    )]
    Truncated {
        /// What should follow.
        expected: &'static str,
    },
    /// A word is not what should be there.
    #[error("expected {expected}, found `{found}`")]
    Syntax {
        /// What should be there.
        expected: &'static str,
        /// The first characters of what is there.
        found: String,
    },
    /// A coordinate is NaN or infinite.
    #[error("the coordinate {0} is not finite; export the mesh again without it")]
    NonFinite(f64),
    /// A coordinate is too large.
    #[error("the coordinate {0:e} is beyond ±1e60; choose a larger unit of length")]
    OutOfRange(f64),
    /// An index names nothing.
    #[error("the index {index} names no {what}; there are {count}")]
    IndexOutOfRange {
        /// What is indexed.
        what: &'static str,
        /// The index as it stands in the file.
        index: i64,
        /// How many there are.
        count: usize,
    },
    /// A number that must be unique stands twice.
    #[error("the {what} {number} stands twice")]
    Repeated {
        /// What is numbered.
        what: &'static str,
        /// The number.
        number: u64,
    },
    /// A count that the file is too short for.
    #[error("{count} {what} are announced, but the rest of the file has room for {room} at most")]
    ImpossibleCount {
        /// What is counted.
        what: &'static str,
        /// The announced count.
        count: u64,
        /// What could fit.
        room: u64,
    },
    /// Something the format allows and defcol does not read.
    #[error("{what} not supported; {way_out}")]
    Unsupported {
        /// What, with its verb: "hexahedra are".
        what: String,
        /// What to do instead.
        way_out: &'static str,
    },
    /// Parts of the file contradict each other.
    #[error("{0}")]
    Inconsistent(String),
    /// Brackets in brackets in brackets.
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
    /// The file names another one that is not beside it.
    #[error(
        "the reference `{0}` leads outside the folder of the file; only files beside it are read"
    )]
    OutsideFolder(String),
    /// Reading would need more memory than such a file deserves.
    #[error(
        "reading would need more than {limit} bytes of memory, 16 times the size of the file; \
         it announces more than it holds"
    )]
    MemoryLimit {
        /// The limit in bytes.
        limit: usize,
    },
    /// The file makes the reader go over the same bytes again and again.
    #[error("reading would take far longer than a file of this size should; it repeats itself")]
    TooMuchWork,
    /// Indices would not fit 32 bits.
    #[error("{count} {what} are more than 32-bit indices allow; split the mesh")]
    TooLarge {
        /// What there are too many of.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// Somebody asked to stop.
    #[error("interrupted")]
    Cancelled,
}

/// Where a parser stopped and why. The reader's entry turns it into a [`ReadError`].
#[derive(Debug)]
pub(crate) struct Fault {
    pub at: FaultAt,
    pub problem: Problem,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum FaultAt {
    File,
    /// Offset in text; shown as a line.
    Text(usize),
    /// Offset in bytes that are not text.
    Byte(usize),
}

impl Fault {
    pub fn file(problem: Problem) -> Self {
        Self { at: FaultAt::File, problem }
    }

    pub fn text(offset: usize, problem: Problem) -> Self {
        Self { at: FaultAt::Text(offset), problem }
    }

    pub fn byte(offset: usize, problem: Problem) -> Self {
        Self { at: FaultAt::Byte(offset), problem }
    }

    pub fn located(self, bytes: &[u8], file: Option<&Path>) -> ReadError {
        let at = match self.at {
            FaultAt::File => At::File,
            FaultAt::Byte(offset) => At::Byte(offset),
            FaultAt::Text(offset) => {
                let before = &bytes[..offset.min(bytes.len())];
                At::Line(1 + memchr::memchr_iter(b'\n', before).count())
            }
        };
        ReadError { file: file.map(Path::to_path_buf), at, problem: self.problem }
    }
}

pub(crate) type Parsed<T> = Result<T, Fault>;

/// The first 24 bytes as printable text, for error messages.
pub fn excerpt(bytes: &[u8]) -> String {
    const LENGTH: usize = 24;
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(LENGTH)]);
    let mut text: String = shown.chars().flat_map(char::escape_debug).collect();
    if bytes.len() > LENGTH {
        text.push('…');
    }
    text
}

/// Why a file could not be written. What stood there before is still there.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct WriteError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong.
    pub problem: WriteProblem,
}

/// What may keep a model from being written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteProblem {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The ending names no format.
    #[error("the ending names no format that is written; known endings: {known}")]
    UnknownFormat {
        /// All endings.
        known: String,
    },
    /// The format cannot hold the model.
    #[error("{0}")]
    Unfit(String),
    /// The model itself is broken.
    #[error("the model cannot be written: {0}")]
    Mesh(#[from] defcol::error::MeshError),
    /// Somebody asked to stop.
    #[error("interrupted")]
    Cancelled,
}
