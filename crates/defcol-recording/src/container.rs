//! Records of an MCAP file, read one by one. Lengths are checked against what is there before anything is set aside.

use std::io::{self, Read, Seek, SeekFrom};

use crate::RecordingError;

/// Magic bytes at both ends of a file.
pub const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";

/// A chunk never holds more than this, packed or not.
pub const MOST_IN_CHUNK: u64 = 1 << 28;

pub const HEADER: u8 = 0x01;
pub const SCHEMA: u8 = 0x03;
pub const CHANNEL: u8 = 0x04;
pub const MESSAGE: u8 = 0x05;
pub const CHUNK: u8 = 0x06;
pub const ATTACHMENT: u8 = 0x09;
pub const DATA_END: u8 = 0x0f;

/// A record that is in the file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub kind: u8,
    /// Where it begins, with its kind.
    pub at: u64,
    pub length: u64,
}

impl Record {
    /// Where the next one begins.
    pub fn end(&self) -> u64 {
        self.at + 9 + self.length
    }

    pub fn damaged(&self, what: impl Into<String>) -> RecordingError {
        RecordingError::Damaged { at: self.at, what: what.into() }
    }
}

/// The record at a place; none at the end of the file.
pub fn record_at<T: Read + Seek>(
    file: &mut T,
    at: u64,
    size: u64,
) -> Result<Option<Record>, RecordingError> {
    let damaged = |what: &str| RecordingError::Damaged { at, what: what.into() };
    if at == size {
        return Ok(None);
    }
    if size - at < 9 {
        return Err(damaged("the file ends within a record"));
    }
    file.seek(SeekFrom::Start(at))?;
    let mut head = [0; 9];
    file.read_exact(&mut head)?;
    let mut fields = Fields::new(&head);
    let (Some(kind), Some(length)) = (fields.u8(), fields.u64()) else {
        return Err(damaged("the file ends within a record"));
    };
    if length > size - at - 9 {
        return Err(damaged("the file ends within a record"));
    }
    if !(1..=0x0f).contains(&kind) {
        return Err(damaged("there is no such record"));
    }
    Ok(Some(Record { kind, at, length }))
}

/// The contents of a record, in memory that is used again.
pub fn contents<T: Read + Seek>(
    file: &mut T,
    record: &Record,
    into: &mut Vec<u8>,
) -> Result<(), RecordingError> {
    if record.length > MOST_IN_CHUNK {
        return Err(record.damaged("the record is larger than any that defcol writes"));
    }
    file.seek(SeekFrom::Start(record.at + 9))?;
    into.clear();
    let got = file.take(record.length).read_to_end(into)?;
    if (got as u64) < record.length {
        return Err(record.damaged("the file ends within a record"));
    }
    Ok(())
}

/// What is left of a chunk that is cut off or damaged, with nothing checked: as far as it unpacks.
pub fn unpack_part(packed: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let mut fields = Fields::new(packed);
    let head = (|| {
        fields.bytes(8 + 8 + 8 + 4)?;
        let compression = fields.text()?;
        fields.u64()?;
        Some(compression)
    })();
    if head != Some("zstd") {
        return;
    }
    let Ok(mut decoder) = zstd::Decoder::with_buffer(fields.rest()) else { return };
    let mut piece = vec![0; 1 << 16];
    while (into.len() as u64) < MOST_IN_CHUNK {
        match decoder.read(&mut piece) {
            Ok(count) if count > 0 => into.extend_from_slice(&piece[..count]),
            _ => return,
        }
    }
}

/// Unpacks a chunk, and checks that it is what was packed.
pub fn unpack(record: &Record, packed: &[u8], into: &mut Vec<u8>) -> Result<(), RecordingError> {
    let short = || record.damaged("the chunk is shorter than its fields");
    let mut fields = Fields::new(packed);
    let (_, _) = (fields.u64().ok_or_else(short)?, fields.u64().ok_or_else(short)?);
    let size = fields.u64().ok_or_else(short)?;
    let checksum = fields.u32().ok_or_else(short)?;
    let compression = fields.text().ok_or_else(short)?;
    let length = fields.u64().ok_or_else(short)?;
    let bytes = fields.bytes(length).ok_or_else(short)?;
    if !fields.is_empty() {
        return Err(record.damaged("the chunk is longer than its contents"));
    }
    if size > MOST_IN_CHUNK {
        return Err(record.damaged("the chunk is larger than any that defcol writes"));
    }
    into.clear();
    match compression {
        "" => into.extend_from_slice(bytes),
        "zstd" => {
            let unpacked = zstd::Decoder::with_buffer(bytes)
                .and_then(|decoder| decoder.take(size + 1).read_to_end(into));
            unpacked
                .map_err(|error| record.damaged(format!("the chunk does not unpack: {error}")))?;
        }
        other => {
            let other = defcol_io::excerpt(other.as_bytes());
            return Err(record.damaged(format!("the chunk is packed with {other}, not with zstd")));
        }
    }
    if into.len() as u64 != size || crc32fast::hash(into) != checksum {
        return Err(record.damaged("the checksum of the chunk is wrong"));
    }
    Ok(())
}

/// An attachment.
pub struct Attachment<'a> {
    pub name: &'a str,
    pub data: &'a [u8],
}

/// Takes an attachment apart, and checks that it is what was attached.
pub fn attachment<'a>(record: &Record, bytes: &'a [u8]) -> Result<Attachment<'a>, RecordingError> {
    let short = || record.damaged("the attachment is shorter than its fields");
    let mut fields = Fields::new(bytes);
    let (_, _) = (fields.u64().ok_or_else(short)?, fields.u64().ok_or_else(short)?);
    let name = fields.text().ok_or_else(short)?;
    let _media = fields.text().ok_or_else(short)?;
    let length = fields.u64().ok_or_else(short)?;
    let data = fields.bytes(length).ok_or_else(short)?;
    let checksum = fields.u32().ok_or_else(short)?;
    if !fields.is_empty() || crc32fast::hash(&bytes[..bytes.len() - 4]) != checksum {
        return Err(record.damaged("the checksum of the attachment is wrong"));
    }
    Ok(Attachment { name, data })
}

/// A message within a chunk.
pub struct Message<'a> {
    pub channel: u16,
    pub sequence: u32,
    pub data: &'a [u8],
}

/// What may be in a chunk.
pub enum Inner<'a> {
    Message(Message<'a>),
    /// The number of a channel and its topic.
    Channel(u16, &'a str),
    Other,
}

/// The next record within a chunk; none at its end.
pub fn next_inner<'a>(fields: &mut Fields<'a>) -> Result<Option<Inner<'a>>, &'static str> {
    const SHORT: &str = "a record is longer than its chunk";
    if fields.is_empty() {
        return Ok(None);
    }
    let kind = fields.u8().ok_or(SHORT)?;
    let length = fields.u64().ok_or(SHORT)?;
    let mut inner = Fields::new(fields.bytes(length).ok_or(SHORT)?);
    match kind {
        MESSAGE => {
            let channel = inner.u16().ok_or(SHORT)?;
            let sequence = inner.u32().ok_or(SHORT)?;
            inner.bytes(16).ok_or(SHORT)?;
            Ok(Some(Inner::Message(Message { channel, sequence, data: inner.rest() })))
        }
        CHANNEL => {
            let (id, _) = (inner.u16().ok_or(SHORT)?, inner.u16().ok_or(SHORT)?);
            Ok(Some(Inner::Channel(id, inner.text().ok_or("the name of a channel is no text")?)))
        }
        SCHEMA => Ok(Some(Inner::Other)),
        _ => Err("a chunk holds a record that does not belong there"),
    }
}

/// Reads numbers from bytes; none where they end.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn bytes(&mut self, length: u64) -> Option<&'a [u8]> {
        let (own, rest) = self.bytes.split_at_checked(usize::try_from(length).ok()?)?;
        self.bytes = rest;
        Some(own)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (own, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*own)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// A length of four bytes, and as many bytes of text.
    pub fn text(&mut self) -> Option<&'a str> {
        let length = self.u32()?;
        std::str::from_utf8(self.bytes(u64::from(length))?).ok()
    }
}

/// How long a file is.
pub fn size<T: Seek>(file: &mut T) -> io::Result<u64> {
    file.seek(SeekFrom::End(0))
}
