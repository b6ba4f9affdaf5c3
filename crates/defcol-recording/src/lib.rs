//! Recordings: every frame of a simulation kept in one file that stands alone.
//!
//! The file is [MCAP](https://mcap.dev): chunks packed with zstd, each with a checksum, so that its tools and Foxglove open
//! it. Attached are facts about the run (`defcol.recording`, JSON) and the bodies (`bodies/0`, and another one whenever bodies
//! come or go). Channels hold positions, contacts, times of stages, inputs and events; schema documents for all of them are in
//! the file. Each chunk begins with positions that need no others, so that every frame can be sought.
//!
//! Positions are exact unless asked otherwise: the bits of each number are told as the difference to where the last two frames
//! lead, byte plane by byte plane. Quantised positions are multiples of a length; the hash of the state is still that of the
//! run.
//!
//! ```
//! use defcol_recording::{Plan, Recorder, Recording};
//! use defcol_scenes::catalogue::Scene;
//! use std::io::Cursor;
//!
//! let mut scene = Scene::<f64>::build("beam", 0)?;
//! let mut recorder = Recorder::new(Cursor::new(vec![]), &scene.world, &Plan::default())?;
//! for _ in 0..3 {
//!     scene.step()?;
//!     recorder.frame(&scene.world)?;
//! }
//! let (bytes, _) = recorder.finish()?;
//! let mut recording = Recording::new(Cursor::new(bytes.into_inner()))?;
//! assert_eq!(recording.last_frame(), 3);
//! assert_eq!(recording.frame(2)?.number, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bodies;
mod contacts;
mod container;
mod difference;
pub mod export;
mod facts;
mod input;
mod positions;
mod read;
mod write;

pub use bodies::{BodyMesh, Topology};
pub use difference::{ContactDifference, Difference, Place, difference};
pub use facts::{Facts, Precision, Scene, Storage};
pub use input::Input;
pub use read::{Frame, Loss, Recording, Stop};
pub use write::{OnTrouble, Plan, Recorder, Summary, Trouble, WhenSlow};

use std::io;

/// Why a recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// No recording at all.
    #[error("this is no recording of defcol: {0}")]
    Foreign(String),
    /// Of a later program.
    #[error(
        "the recording has the format {found}, and this program knows those up to {known}; take a newer defcol"
    )]
    Version {
        /// What it says.
        found: String,
        /// What is known.
        known: &'static str,
    },
    /// Damaged, or made to look like a recording.
    #[error("byte {at}: {what}")]
    Damaged {
        /// Where the record begins.
        at: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A frame that is not in it.
    #[error("there is no frame {frame}; the recording has frames {first} to {last}")]
    NoSuchFrame {
        /// The frame.
        frame: u64,
        /// The first there is.
        first: u64,
        /// The last there is.
        last: u64,
    },
    /// Something that cannot be written down.
    #[error("{0}")]
    Unfit(String),
    /// A world that does not take an input.
    #[error(transparent)]
    World(#[from] defcol::error::WorldError),
    /// A file that was to be made from it.
    #[error(transparent)]
    Write(#[from] defcol_io::WriteError),
    /// Somebody asked to stop.
    #[error("interrupted")]
    Cancelled,
}

/// The format of the files written here.
pub const FORMAT: &str = "defcol.recording/1";

/// The channels: topic, message encoding, schema name, schema encoding, schema document.
const CHANNELS: [[&str; 5]; 6] = [
    ["inputs", "json", "defcol.input/1", "jsonschema", include_str!("schemas/input.json")],
    [
        "positions",
        "x-defcol",
        "defcol.positions/1",
        "x-defcol",
        include_str!("schemas/positions.txt"),
    ],
    ["contacts", "x-defcol", "defcol.contacts/1", "x-defcol", include_str!("schemas/contacts.txt")],
    ["stages", "json", "defcol.stages/1", "jsonschema", include_str!("schemas/stages.json")],
    ["frames", "json", "defcol.frame/1", "jsonschema", include_str!("schemas/frame.json")],
    ["events", "json", "defcol.event/1", "jsonschema", include_str!("schemas/event.json")],
];

/// A channel; its number is the place in [`CHANNELS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Inputs,
    Positions,
    Contacts,
    Stages,
    Frames,
    Events,
}

impl Channel {
    const ALL: [Self; 6] =
        [Self::Inputs, Self::Positions, Self::Contacts, Self::Stages, Self::Frames, Self::Events];
}

/// What ends each frame, in the channel `frames`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct FrameEnd {
    frame: u64,
    time: f64,
    state_hash: String,
    positions_hash: String,
    /// Between bodies, and of bodies with themselves.
    contacts: usize,
    self_contacts: usize,
}

/// What happened beside the simulation, in the channel `events`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    /// The contacts of a frame were not kept, as the disk was too slow.
    ContactsDropped { frame: u64 },
    /// All messages of a frame have this checksum (CRC-32 of the places of their channels in the list and their contents): it is whole even if its chunk is not.
    Whole { frame: u64, checksum: u32 },
    /// The run ended before its time, after this frame.
    Stopped { frame: u64, why: String },
    /// The recording is whole, and ends with this frame.
    End { frame: u64 },
}

/// FNV-1a over the bits of all numbers, 64 at a time.
fn hash(positions: &[defcol::math::Vector3<f64>]) -> u64 {
    positions.iter().flatten().fold(0xcbf2_9ce4_8422_2325, |hash, number| {
        (hash ^ number.to_bits()).wrapping_mul(0x100_0000_01b3)
    })
}
