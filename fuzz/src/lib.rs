//! One fuzz target for each mesh reader, and one for recordings. A reader gives a model or an error; the model is then
//! inspected and repaired, which must not panic either.

pub use libfuzzer_sys::fuzz_target;

use std::io::Cursor;

use defcol::mesh::inspect;
use defcol_io::{Format, Model, Progress, ReadError, Repair, parse, parse_tetgen};
use defcol_recording::Recording;

/// What a target does with its bytes.
pub fn read(bytes: &[u8], format: Format) {
    // The two files of TetGen stand behind one another, with a zero byte between them.
    let model = if format == Format::TetGen {
        let middle = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let elements = bytes.get(middle + 1..).unwrap_or_default();
        parse_tetgen(&bytes[..middle], elements, [None; 2], &Progress::new())
    } else {
        parse(bytes, format, None, &Progress::new())
    };
    look(model);
}

fn look(model: Result<Model, ReadError>) {
    match model {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mut model) => {
            let _ = inspect(&model.mesh);
            let steps = Repair {
                weld: Some(0.0),
                drop_degenerate: true,
                orient: true,
                flip_inverted: true,
            };
            let _ = model.repair(&steps);
        }
    }
}

/// A recording as a whole if the bytes begin like one; else they are the contents of a chunk, with the right checksum: few
/// random bytes have that, and all that is behind it is to be reached.
pub fn recording(bytes: &[u8]) {
    const WHOLE: &[u8] = include_bytes!("../../crates/defcol-recording/tests/first.mcap");
    if bytes.starts_with(b"\x89MCAP") {
        return play(bytes.to_vec());
    }
    // Up to the second chunk, the first with frames.
    let (mut at, mut chunks) = (8, 0);
    while chunks < 2 {
        chunks += usize::from(WHOLE[at] == 6);
        let length = u64::from_le_bytes(WHOLE[at + 1..at + 9].try_into().unwrap_or_default());
        at += if chunks < 2 { 9 + length as usize } else { 0 };
    }
    let mut file = WHOLE[..at].to_vec();
    let length = bytes.len() as u64;
    file.push(6);
    file.extend((8 + 8 + 8 + 4 + 4 + 8 + length).to_le_bytes());
    file.extend([0; 16]);
    file.extend(length.to_le_bytes());
    file.extend(crc32fast::hash(bytes).to_le_bytes());
    file.extend(0u32.to_le_bytes());
    file.extend(length.to_le_bytes());
    file.extend(bytes);
    play(file);
}

fn play(file: Vec<u8>) {
    match Recording::new(Cursor::new(file)) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mut recording) => {
            let frames: Vec<u64> = recording.frames().collect();
            for number in frames.iter().rev().chain(&frames) {
                if let Ok(frame) = recording.frame(*number) {
                    assert_eq!(frame.positions.len(), frame.bodies.vertex_count());
                }
            }
        }
    }
}

/// Makes the target of a format.
#[macro_export]
macro_rules! reader {
    ($format:ident) => {
        $crate::fuzz_target!(|bytes: &[u8]| $crate::read(bytes, defcol_io::Format::$format));
    };
}
