//! Numbers out of bytes.

use crate::error::{Fault, FaultAt, Parsed, Problem};
use crate::text::{check_coordinate, check_count};
use defcol::math::Vector3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which byte comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// The kinds of number that binary formats store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

macro_rules! decode {
    ($bytes:expr, $endian:expr, $type:ty) => {{
        let mut array = [0; size_of::<$type>()];
        array.copy_from_slice(&$bytes[..size_of::<$type>()]);
        match $endian {
            Endian::Little => <$type>::from_le_bytes(array),
            Endian::Big => <$type>::from_be_bytes(array),
        }
    }};
}

impl Scalar {
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub const fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }

    /// The first number in `bytes`, which must hold one. Integers beyond 2^53 are rounded.
    #[inline]
    pub fn real(self, bytes: &[u8], endian: Endian) -> f64 {
        match self {
            Self::F32 => f64::from(decode!(bytes, endian, f32)),
            Self::F64 => decode!(bytes, endian, f64),
            Self::U64 => decode!(bytes, endian, u64) as f64,
            _ => self.integer(bytes, endian) as f64,
        }
    }

    /// The first number in `bytes` as an integer; one that does not fit becomes -1, which is
    /// neither a count nor an index.
    #[inline]
    pub fn integer(self, bytes: &[u8], endian: Endian) -> i64 {
        match self {
            Self::I8 => i64::from(decode!(bytes, endian, i8)),
            Self::U8 => i64::from(bytes[0]),
            Self::I16 => i64::from(decode!(bytes, endian, i16)),
            Self::U16 => i64::from(decode!(bytes, endian, u16)),
            Self::I32 => i64::from(decode!(bytes, endian, i32)),
            Self::U32 => i64::from(decode!(bytes, endian, u32)),
            Self::I64 => decode!(bytes, endian, i64),
            Self::U64 => i64::try_from(decode!(bytes, endian, u64)).unwrap_or(-1),
            Self::F32 | Self::F64 => {
                let value = self.real(bytes, endian);
                if value.fract() == 0.0 && value.abs() < 9e15 { value as i64 } else { -1 }
            }
        }
    }
}

/// Walks through bytes.
#[derive(Clone)]
pub(crate) struct Bytes<'a> {
    bytes: &'a [u8],
    pub offset: usize,
    pub endian: Endian,
}

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8], offset: usize, endian: Endian) -> Self {
        Self { bytes, offset, endian }
    }

    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.offset.min(self.bytes.len())..]
    }

    pub fn fault(&self, problem: Problem) -> Fault {
        Fault::byte(self.offset, problem)
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize, expected: &'static str) -> Parsed<&'a [u8]> {
        let Some(taken) = self.rest().get(..count) else {
            return Err(Fault::byte(self.bytes.len(), Problem::Truncated { expected }));
        };
        self.offset += count;
        Ok(taken)
    }

    pub fn integer(&mut self, scalar: Scalar, expected: &'static str) -> Parsed<i64> {
        Ok(scalar.integer(self.take(scalar.size(), expected)?, self.endian))
    }

    /// A count of things of which each takes at least `least` bytes.
    pub fn count(&mut self, scalar: Scalar, what: &'static str, least: usize) -> Parsed<usize> {
        let start = self.offset;
        let count = self.integer(scalar, what)?;
        let room = self.rest().len() / least;
        let problem = match u64::try_from(count) {
            Ok(count) => match check_count(count, what, room) {
                Ok(count) => return Ok(count),
                Err(problem) => problem,
            },
            Err(_) => Problem::Syntax { expected: what, found: count.to_string() },
        };
        Err(Fault::byte(start, problem))
    }

    /// `count` positions in a row, each three numbers.
    pub fn positions(
        &mut self,
        scalar: Scalar,
        count: usize,
        positions: &mut Vec<Vector3<f64>>,
    ) -> Parsed<()> {
        let start = self.offset;
        let records =
            self.take(count.saturating_mul(3 * scalar.size()), "the coordinates of the vertices")?;
        let layout = Layout {
            stride: 3 * scalar.size(),
            fields: [0, 1, 2].map(|k| (scalar, k * scalar.size())),
        };
        layout.positions(records, start, self.endian, positions)
    }
}

/// Where x, y and z are in each record of an array.
pub(crate) struct Layout {
    pub stride: usize,
    /// Kind and offset within the record of each coordinate.
    pub fields: [(Scalar, usize); 3],
}

impl Layout {
    /// Appends the positions of all whole records; `start` is where they begin in the file.
    pub fn positions(
        &self,
        records: &[u8],
        start: usize,
        endian: Endian,
        positions: &mut Vec<Vector3<f64>>,
    ) -> Parsed<()> {
        let first = positions.len();
        let [(x, at_x), (y, at_y), (z, at_z)] = self.fields;
        let same = y == x && z == x && at_y == at_x + x.size() && at_z == at_y + x.size();
        let doubtful = AtomicBool::new(false);
        let checked = |position: Vector3<f64>| {
            if position.iter().any(|&value| check_coordinate(value).is_err()) {
                doubtful.store(true, Ordering::Relaxed);
            }
            position
        };
        let records_of = || records.par_chunks_exact(self.stride).with_min_len(1 << 14);
        match (x, endian) {
            // The usual kinds without a decision per number.
            (Scalar::F32, Endian::Little) if same => positions.par_extend(records_of().map(|r| {
                let r = &r[at_x..at_x + 12];
                let value = |k: usize| f64::from(decode!(r[k..], Endian::Little, f32));
                checked(Vector3::new(value(0), value(4), value(8)))
            })),
            (Scalar::F64, Endian::Little) if same => positions.par_extend(records_of().map(|r| {
                let r = &r[at_x..at_x + 24];
                let value = |k: usize| decode!(r[k..], Endian::Little, f64);
                checked(Vector3::new(value(0), value(8), value(16)))
            })),
            _ => positions.par_extend(records_of().map(|r| {
                checked(Vector3::new(
                    x.real(&r[at_x..], endian),
                    y.real(&r[at_y..], endian),
                    z.real(&r[at_z..], endian),
                ))
            })),
        }
        if !doubtful.into_inner() {
            return Ok(());
        }
        let bad = |p: &Vector3<f64>| p.iter().any(|&value| check_coordinate(value).is_err());
        let Some(vertex) = positions[first..].iter().position(bad) else {
            return Ok(());
        };
        let problem = positions[first + vertex].iter().find_map(|&v| check_coordinate(v).err());
        let at = FaultAt::Byte(start + vertex * self.stride);
        Err(Fault { at, problem: problem.unwrap_or(Problem::NoVertices) })
    }
}
