//! Positions as differences to where the frames before lead. The schema document `positions.txt` says how.

use defcol::math::Vector3;

use crate::container::Fields;
use crate::facts::{Precision, Storage};

/// Numbers of which the last frames consist, so that the next can be told as a difference.
#[derive(Debug, Default)]
pub struct Codec {
    /// All x, all y, all z of the last frame, and of the one before.
    last: Vec<u64>,
    before: Vec<u64>,
    /// How many of them are known.
    known: u8,
    residuals: Vec<u64>,
}

/// Multiples beyond this are not whole numbers of a float any more.
pub const MOST_MULTIPLES: f64 = (1u64 << 52) as f64;

/// Why positions cannot be written down.
pub const TOO_FINE: &str = "a position is more than 2^52 times the length that positions are rounded to; choose a longer one";

impl Codec {
    /// The next frame stands on its own.
    pub fn restart(&mut self) {
        self.known = 0;
    }

    /// Appends a frame. Gives the positions as they will be read through `kept`.
    pub fn encode(
        &mut self,
        positions: &[Vector3<f64>],
        bodies: u32,
        precision: Precision,
        storage: Storage,
        out: &mut Vec<u8>,
        kept: &mut Vec<Vector3<f64>>,
    ) -> Result<(), String> {
        let numbers = Numbers::new(precision, storage);
        if self.last.len() != 3 * positions.len() {
            self.restart();
        }
        out.extend_from_slice(&[self.known, numbers.width() as u8, numbers.code(), 0]);
        out.extend_from_slice(&bodies.to_le_bytes());
        out.extend_from_slice(&(positions.len() as u64).to_le_bytes());
        out.extend_from_slice(&numbers.quantum().to_le_bytes());
        // What becomes the last frame is written over the one before the last.
        std::mem::swap(&mut self.last, &mut self.before);
        self.residuals.clear();
        self.last.resize(3 * positions.len(), 0);
        kept.clear();
        kept.resize(positions.len(), Vector3::zeros());
        for axis in 0..3 {
            let first = axis * positions.len();
            for (vertex, position) in positions.iter().enumerate() {
                let index = first + vertex;
                let number = numbers.of(position[axis]).ok_or(TOO_FINE)?;
                kept[vertex][axis] = numbers.value(number);
                // `before` holds the last frame now, `last` the one before it.
                let guess = self.guess(numbers, index);
                self.residuals.push(numbers.residual(number, guess));
                self.last[index] = number;
            }
        }
        for axis in self.residuals.chunks(positions.len().max(1)) {
            for plane in 0..numbers.width() {
                out.extend(axis.iter().map(|residual| (residual >> (8 * plane)) as u8));
            }
        }
        self.known = (self.known + 1).min(2);
        Ok(())
    }

    /// Reads a frame; gives the number of the bodies.
    pub fn decode(&mut self, bytes: &[u8], positions: &mut Vec<Vector3<f64>>) -> Option<u32> {
        let mut fields = Fields::new(bytes);
        let (kind, width, code, _) = (fields.u8()?, fields.u8()?, fields.u8()?, fields.u8()?);
        let bodies = fields.u32()?;
        let count = usize::try_from(fields.u64()?).ok()?;
        let numbers = Numbers::decode(width, code, fields.f64()?)?;
        if count.checked_mul(3 * numbers.width())? != fields.len() || kind > 2 {
            return None;
        }
        if kind > 0 && (self.last.len() != 3 * count || kind > self.known) {
            return None;
        }
        self.known = kind;
        std::mem::swap(&mut self.last, &mut self.before);
        self.last.resize(3 * count, 0);
        positions.clear();
        positions.resize(count, Vector3::zeros());
        for axis in 0..3 {
            let planes = fields.bytes((count * numbers.width()) as u64)?;
            for (vertex, position) in positions.iter_mut().enumerate() {
                let residual = (0..numbers.width()).fold(0u64, |sum, plane| {
                    sum | u64::from(planes[plane * count + vertex]) << (8 * plane)
                });
                let index = axis * count + vertex;
                let number = numbers.number(residual, self.guess(numbers, index));
                self.last[index] = number;
                position[axis] = numbers.value(number);
            }
        }
        self.known = (self.known + 1).min(2);
        Some(bodies)
    }

    /// Where a number is expected, when `before` holds the last frame and `last` still the one before.
    #[inline]
    fn guess(&self, numbers: Numbers, index: usize) -> u64 {
        match self.known {
            0 => numbers.zero(),
            1 => self.before[index],
            _ => numbers.ahead(self.before[index], self.last[index]),
        }
    }
}

/// Which bodies the positions of a message are of.
pub fn bodies_of(bytes: &[u8]) -> Option<u32> {
    let mut fields = Fields::new(bytes);
    fields.bytes(4)?;
    fields.u32()
}

/// How coordinates are whole numbers.
#[derive(Debug, Clone, Copy)]
enum Numbers {
    Single,
    Double,
    Multiples(f64),
}

impl Numbers {
    fn new(precision: Precision, storage: Storage) -> Self {
        match (storage, precision) {
            (Storage::Quantised { quantum }, _) => Self::Multiples(quantum),
            (Storage::Exact, Precision::F32) => Self::Single,
            (Storage::Exact, Precision::F64) => Self::Double,
        }
    }

    fn decode(width: u8, code: u8, quantum: f64) -> Option<Self> {
        match (width, code) {
            (4, 0) => Some(Self::Single),
            (8, 0) => Some(Self::Double),
            (8, 1) if quantum > 0.0 && quantum.is_finite() => Some(Self::Multiples(quantum)),
            _ => None,
        }
    }

    fn width(self) -> usize {
        if matches!(self, Self::Single) { 4 } else { 8 }
    }

    fn code(self) -> u8 {
        u8::from(matches!(self, Self::Multiples(_)))
    }

    fn quantum(self) -> f64 {
        if let Self::Multiples(quantum) = self { quantum } else { 0.0 }
    }

    fn of(self, value: f64) -> Option<u64> {
        match self {
            Self::Single => Some(u64::from(ordered32((value as f32).to_bits()))),
            Self::Double => Some(ordered64(value.to_bits())),
            Self::Multiples(quantum) => {
                let multiple = (value / quantum).round();
                (multiple.abs() < MOST_MULTIPLES).then_some(multiple as i64 as u64)
            }
        }
    }

    fn value(self, number: u64) -> f64 {
        match self {
            Self::Single => f64::from(f32::from_bits(unordered32(number as u32))),
            Self::Double => f64::from_bits(unordered64(number)),
            Self::Multiples(quantum) => number as i64 as f64 * quantum,
        }
    }

    fn zero(self) -> u64 {
        match self {
            Self::Single => u64::from(ordered32(0)),
            Self::Double => ordered64(0),
            Self::Multiples(_) => 0,
        }
    }

    /// Where two frames lead.
    #[inline]
    fn ahead(self, last: u64, before: u64) -> u64 {
        match self {
            Self::Single => {
                let [p, q] =
                    [last, before].map(|number| f32::from_bits(unordered32(number as u32)));
                u64::from(ordered32((2.0 * p - q).to_bits()))
            }
            Self::Double => {
                let [p, q] = [last, before].map(|number| f64::from_bits(unordered64(number)));
                ordered64((2.0 * p - q).to_bits())
            }
            Self::Multiples(_) => last.wrapping_mul(2).wrapping_sub(before),
        }
    }

    #[inline]
    fn residual(self, number: u64, guess: u64) -> u64 {
        if let Self::Single = self {
            let r = (number as u32).wrapping_sub(guess as u32);
            return u64::from((r << 1) ^ ((r as i32 >> 31) as u32));
        }
        let r = number.wrapping_sub(guess);
        (r << 1) ^ ((r as i64 >> 63) as u64)
    }

    #[inline]
    fn number(self, residual: u64, guess: u64) -> u64 {
        if let Self::Single = self {
            let r = residual as u32;
            let r = (r >> 1) ^ (r & 1).wrapping_neg();
            return u64::from((guess as u32).wrapping_add(r));
        }
        let r = (residual >> 1) ^ (residual & 1).wrapping_neg();
        guess.wrapping_add(r)
    }
}

/// Bits of floats so that neighbouring floats are neighbouring numbers.
fn ordered64(bits: u64) -> u64 {
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn unordered64(number: u64) -> u64 {
    if number >> 63 == 1 { number & !(1 << 63) } else { !number }
}

fn ordered32(bits: u32) -> u32 {
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn unordered32(number: u32) -> u32 {
    if number >> 31 == 1 { number & !(1 << 31) } else { !number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_order_and_come_back() {
        let values =
            [f64::MIN, -1.5, -1e-300, -0.0, 0.0, 5e-324, 1.0, 1.0 + f64::EPSILON, f64::MAX];
        for pair in values.windows(2) {
            assert!(ordered64(pair[0].to_bits()) < ordered64(pair[1].to_bits()), "{pair:?}");
        }
        for value in values {
            assert_eq!(unordered64(ordered64(value.to_bits())), value.to_bits());
            let bits = (value as f32).to_bits();
            assert_eq!(unordered32(ordered32(bits)), bits);
        }
    }

    #[test]
    fn frames_come_back_bit_by_bit_whatever_they_are() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state
        };
        for precision in [Precision::F32, Precision::F64] {
            let (mut encoder, mut decoder) = (Codec::default(), Codec::default());
            for frame in 0..20 {
                let count = if frame < 10 { 17 } else { 5 };
                let positions: Vec<Vector3<f64>> = (0..count)
                    .map(|_| {
                        Vector3::from_fn(|_, _| match (random() >> 33) % 4 {
                            0 => -0.0,
                            1 => f64::from(f32::from_bits((random() >> 33) as u32)),
                            2 => 1e30 * (random() as f64 - 9e18) / 9e18,
                            _ => (random() >> 40) as f64 * 1e-6,
                        })
                        .map(|x| if precision == Precision::F32 { f64::from(x as f32) } else { x })
                        .map(|x| if x.is_finite() { x } else { 0.5 })
                    })
                    .collect();
                if frame % 7 == 0 {
                    encoder.restart();
                }
                let (mut bytes, mut kept, mut read) = (vec![], vec![], vec![]);
                let exact = Storage::Exact;
                encoder.encode(&positions, 3, precision, exact, &mut bytes, &mut kept).unwrap();
                assert_eq!(decoder.decode(&bytes, &mut read), Some(3));
                let bits = |list: &[Vector3<f64>]| -> Vec<u64> {
                    list.iter().flatten().map(|x| x.to_bits()).collect()
                };
                assert_eq!(bits(&positions), bits(&read), "{precision:?} {frame}");
                assert_eq!(bits(&kept), bits(&read));
            }
        }
    }

    #[test]
    fn quantised_frames_are_as_near_as_they_say() {
        let (mut encoder, mut decoder) = (Codec::default(), Codec::default());
        let storage = Storage::Quantised { quantum: 1e-4 };
        for frame in 0..5 {
            let positions = vec![Vector3::new(0.1 + f64::from(frame) * 0.033, -7.77777, 0.0); 3];
            let (mut bytes, mut kept, mut read) = (vec![], vec![], vec![]);
            let (out, precision) = (&mut bytes, Precision::F64);
            encoder.encode(&positions, 0, precision, storage, out, &mut kept).unwrap();
            decoder.decode(&bytes, &mut read).unwrap();
            assert_eq!(kept, read);
            assert!(read.iter().zip(&positions).all(|(a, b)| (a - b).amax() <= 0.5001e-4));
        }
        let far = [Vector3::new(1e20, 0.0, 0.0)];
        let (mut bytes, mut kept) = (vec![], vec![]);
        let (out, precision) = (&mut bytes, Precision::F64);
        assert!(encoder.encode(&far, 0, precision, storage, out, &mut kept).is_err());
    }
}
