//! One fuzz target for each mesh reader. A reader gives a model or an error; the model is then
//! inspected and repaired, which must not panic either.

pub use libfuzzer_sys::fuzz_target;

use defcol::mesh::inspect;
use defcol_io::{Format, Model, Progress, ReadError, Repair, parse, parse_tetgen};

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
            let steps = Repair { weld: Some(0.0), drop_degenerate: true, orient: true, flip_inverted: true };
            let _ = model.repair(&steps);
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
