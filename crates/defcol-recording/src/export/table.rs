//! Contacts as a table, for pandas and friends: CSV, or Parquet.

use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{Recording, RecordingError, file};
use crate::contacts::SOURCES;
use crate::read::Frame;
use defcol_io::WriteProblem;

/// Whole numbers of a row: bodies and vertices, by the numbers of their ids and counted from the first of the body.
const INTEGERS: [&str; 10] = [
    "body_a",
    "body_b",
    "vertex_a0",
    "vertex_a1",
    "vertex_a2",
    "vertex_a3",
    "vertex_b0",
    "vertex_b1",
    "vertex_b2",
    "vertex_b3",
];

/// Other numbers of a row.
const NUMBERS: [&str; 19] = [
    "time",
    "x",
    "y",
    "z",
    "direction_x",
    "direction_y",
    "direction_z",
    "depth",
    "volume",
    "area",
    "confidence",
    "weight_a0",
    "weight_a1",
    "weight_a2",
    "weight_a3",
    "weight_b0",
    "weight_b1",
    "weight_b2",
    "weight_b3",
];

/// Rows that are held in memory, and make a group of a Parquet file.
const GROUP: usize = 100_000;

/// Rows, column by column.
#[derive(Default)]
struct Rows {
    frames: Vec<i64>,
    methods: Vec<u8>,
    integers: [Vec<i32>; INTEGERS.len()],
    numbers: [Vec<f64>; NUMBERS.len()],
}

/// Writes the contacts of frames, one in a row; the ending tells the kind, `csv` or `parquet`. `seen` is told each frame, and
/// says whether to go on. Gives the number of rows.
pub fn contacts_table<T: Read + Seek>(
    recording: &mut Recording<T>,
    frames: &[u64],
    path: &Path,
    mut seen: impl FnMut(u64) -> bool,
) -> Result<u64, RecordingError> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let mut stopped = None;
    let mut count = 0;
    let mut each = |handle: &mut dyn FnMut(&Rows) -> Result<(), WriteProblem>| {
        let mut rows = Rows::default();
        for &number in frames {
            if !seen(number) {
                stopped = Some(RecordingError::Cancelled);
                return Err(WriteProblem::Cancelled);
            }
            match recording.frame(number) {
                Ok(frame) => rows.take(frame),
                Err(error) => {
                    stopped = Some(error);
                    return Err(WriteProblem::Cancelled);
                }
            }
            if rows.frames.len() >= GROUP {
                count += rows.frames.len() as u64;
                handle(&rows)?;
                rows.clear();
            }
        }
        count += rows.frames.len() as u64;
        handle(&rows)
    };
    let written = match ending.to_str() {
        Some("csv") => file(path, |sink| {
            let names = ["frame", "method"].iter().chain(&INTEGERS).chain(&NUMBERS);
            writeln!(sink, "{}", names.copied().collect::<Vec<_>>().join(","))?;
            each(&mut |rows| Ok(rows.write_csv(sink)?))
        }),
        Some("parquet") => file(path, |sink| {
            let schema = Arc::new(parse_message_type(&schema()).map_err(other)?);
            let buffer = Buffer::default();
            let mut out = SerializedFileWriter::new(buffer.clone(), schema, Default::default())
                .map_err(other)?;
            each(&mut |rows| {
                rows.write_parquet(&mut out).map_err(other)?;
                Ok(sink.bytes(&buffer.take())?)
            })?;
            out.close().map_err(other)?;
            Ok(sink.bytes(&buffer.take())?)
        }),
        _ => {
            let text = format!("{} ends neither with .csv nor with .parquet", path.display());
            return Err(RecordingError::Unfit(text));
        }
    };
    match (written, stopped) {
        (Ok(()), _) => Ok(count),
        (Err(_), Some(error)) | (Err(error), None) => Err(error),
    }
}

fn other(error: parquet::errors::ParquetError) -> WriteProblem {
    WriteProblem::Io(io::Error::other(error))
}

/// What the Parquet writer has written and the file has not got yet.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn schema() -> String {
    let mut text =
        String::from("message contacts { REQUIRED INT64 frame; REQUIRED BYTE_ARRAY method (UTF8);");
    INTEGERS.iter().for_each(|name| text.push_str(&format!(" REQUIRED INT32 {name};")));
    NUMBERS.iter().for_each(|name| text.push_str(&format!(" REQUIRED DOUBLE {name};")));
    text + " }"
}

impl Rows {
    fn clear(&mut self) {
        self.frames.clear();
        self.methods.clear();
        self.integers.iter_mut().for_each(Vec::clear);
        self.numbers.iter_mut().for_each(Vec::clear);
    }

    fn take(&mut self, frame: &Frame) {
        let Some(contacts) = &frame.contacts else { return };
        for contact in contacts.iter() {
            self.frames.push(frame.number as i64);
            let method = SOURCES.iter().position(|(source, _)| *source == contact.source);
            self.methods.push(method.unwrap_or(0) as u8);
            let bodies = contact.bodies.map(|body| &frame.bodies.bodies[body as usize]);
            let anchors = [&contact.first, &contact.second];
            let vertices = [0, 1].map(|side: usize| {
                let first = |vertex: u32| vertex as i64 - bodies[side].vertices.start as i64;
                anchors[side].vertices.map(|vertex| first(vertex) as i32)
            });
            let integers = bodies.iter().map(|body| body.id as i32).chain(vertices.concat());
            self.integers.iter_mut().zip(integers).for_each(|(list, value)| list.push(value));
            let numbers = std::iter::once(frame.time)
                .chain(contact.position.iter().copied())
                .chain(contact.direction.iter().copied())
                .chain([contact.depth, contact.volume, contact.area, contact.confidence])
                .chain(anchors.into_iter().flat_map(|anchor| anchor.weights));
            self.numbers.iter_mut().zip(numbers).for_each(|(list, value)| list.push(value));
        }
    }

    fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        for row in 0..self.frames.len() {
            write!(out, "{},{}", self.frames[row], SOURCES[usize::from(self.methods[row])].1)?;
            self.integers.iter().try_for_each(|list| write!(out, ",{}", list[row]))?;
            self.numbers.iter().try_for_each(|list| write!(out, ",{:?}", list[row]))?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn write_parquet<W: Write + Send>(
        &self,
        out: &mut SerializedFileWriter<W>,
    ) -> parquet::errors::Result<()> {
        let mut group = out.next_row_group()?;
        let mut column = 0;
        while let Some(mut writer) = group.next_column()? {
            match column {
                0 => writer.typed::<Int64Type>().write_batch(&self.frames, None, None)?,
                1 => {
                    let names = self.methods.iter().map(|method| SOURCES[usize::from(*method)].1);
                    let names: Vec<ByteArray> = names.map(ByteArray::from).collect();
                    writer.typed::<ByteArrayType>().write_batch(&names, None, None)?
                }
                _ if column < 2 + INTEGERS.len() => {
                    let list = &self.integers[column - 2];
                    writer.typed::<Int32Type>().write_batch(list, None, None)?
                }
                _ => {
                    let list = &self.numbers[column - 2 - INTEGERS.len()];
                    writer.typed::<DoubleType>().write_batch(list, None, None)?
                }
            };
            writer.close()?;
            column += 1;
        }
        group.close()?;
        Ok(())
    }
}
