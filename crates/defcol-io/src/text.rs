//! Words and numbers out of text, quickly, and with the place when something is wrong.

use crate::error::{Fault, Parsed, Problem, excerpt};
use defcol::math::{Real, Vector3};

/// Walks through text word by word. Offsets are turned into lines only when an error needs one.
#[derive(Clone)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    pub offset: usize,
    /// From this character to the end of the line is comment.
    comment: Option<u8>,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

impl<'a> Scanner<'a> {
    pub fn new(bytes: &'a [u8], comment: Option<u8>) -> Self {
        Self { bytes, offset: 0, comment }
    }

    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.offset..]
    }

    pub fn fault(&self, problem: Problem) -> Fault {
        Fault::text(self.offset, problem)
    }

    /// Moves to the next word, over ends of lines and comments; false at the end of the text.
    pub fn skip_space(&mut self) -> bool {
        while let Some(&byte) = self.bytes.get(self.offset) {
            if is_space(byte) {
                self.offset += 1;
            } else if Some(byte) == self.comment {
                self.skip_line();
            } else {
                return true;
            }
        }
        false
    }

    /// Moves behind the end of this line.
    pub fn skip_line(&mut self) {
        self.offset += match memchr::memchr(b'\n', self.rest()) {
            Some(length) => length + 1,
            None => self.rest().len(),
        };
    }

    /// The rest of this line without white space at its ends; moves behind it.
    pub fn line(&mut self) -> &'a [u8] {
        let start = self.offset;
        self.skip_line();
        self.bytes[start..self.offset].trim_ascii()
    }

    /// Where the rest of this line is, without white space at its ends; does not move.
    pub fn rest_of_line(&self) -> std::ops::Range<usize> {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        let start = ahead.offset;
        let length = ahead.line().len();
        start..start + length
    }

    /// Moves to the next word of this line; false if there is none.
    pub fn skip_blanks(&mut self) -> bool {
        while let Some(&byte) = self.bytes.get(self.offset) {
            match byte {
                b'\n' => return false,
                _ if is_space(byte) => self.offset += 1,
                _ => return Some(byte) != self.comment,
            }
        }
        false
    }

    /// The next word without moving behind it; empty at the end of the text.
    pub fn peek(&mut self) -> &'a [u8] {
        self.skip_space();
        let rest = self.rest();
        &rest[..rest.iter().position(|&byte| is_space(byte)).unwrap_or(rest.len())]
    }

    /// The next word on this or a later line.
    pub fn word(&mut self, expected: &'static str) -> Parsed<&'a [u8]> {
        let word = self.peek();
        if word.is_empty() {
            return Err(self.fault(Problem::Truncated { expected }));
        }
        self.offset += word.len();
        Ok(word)
    }

    /// The next word, which must be this one.
    pub fn keyword(&mut self, keyword: &'static str) -> Parsed<()> {
        let word = self.word(keyword)?;
        if !word.eq_ignore_ascii_case(keyword.as_bytes()) {
            self.offset -= word.len();
            return Err(self.syntax(keyword));
        }
        Ok(())
    }

    /// The error that the next word is not what was expected.
    pub fn syntax(&mut self, expected: &'static str) -> Fault {
        let word = self.peek();
        if word.is_empty() {
            return self.fault(Problem::Truncated { expected });
        }
        self.fault(Problem::Syntax { expected, found: excerpt(word) })
    }

    /// The next word as a number of any size.
    pub fn number(&mut self, expected: &'static str) -> Parsed<f64> {
        self.skip_space();
        match number(self.rest()) {
            Some((value, length)) => {
                self.offset += length;
                Ok(value)
            }
            None => Err(self.syntax(expected)),
        }
    }

    /// The next word as a coordinate, finite and in range.
    pub fn coordinate(&mut self) -> Parsed<f64> {
        self.skip_space();
        let start = self.offset;
        let value = self.number("a coordinate")?;
        check_coordinate(value).map_err(|problem| Fault::text(start, problem))
    }

    /// The next three words as a position.
    pub fn position(&mut self) -> Parsed<Vector3<f64>> {
        Ok(Vector3::new(self.coordinate()?, self.coordinate()?, self.coordinate()?))
    }

    /// The next word as a whole number.
    pub fn integer(&mut self, expected: &'static str) -> Parsed<i64> {
        self.skip_space();
        match integer(self.rest()) {
            Some((value, length)) if ends_here(self.rest(), length) => {
                self.offset += length;
                Ok(value)
            }
            _ => Err(self.syntax(expected)),
        }
    }

    /// The next word as a number that is not negative.
    pub fn unsigned(&mut self, expected: &'static str) -> Parsed<u64> {
        self.skip_space();
        let start = self.offset;
        let value = self.integer(expected)?;
        u64::try_from(value).map_err(|_| {
            self.offset = start;
            self.syntax(expected)
        })
    }

    /// The next word as a count of things of which each takes at least `least` bytes.
    pub fn count(&mut self, what: &'static str, least: usize) -> Parsed<usize> {
        self.skip_space();
        let start = self.offset;
        let count = self.unsigned(what)?;
        // The last one may lack the white space behind it.
        let room = (self.rest().len() + 1) / least;
        check_count(count, what, room).map_err(|problem| Fault::text(start, problem))
    }

    /// The next word as an index of a vertex, counted from `base`.
    pub fn index(&mut self, base: i64, count: usize) -> Parsed<u32> {
        self.skip_space();
        let start = self.offset;
        let index = self.integer("the index of a vertex")?;
        check_index(index, base, count).map_err(|problem| Fault::text(start, problem))
    }
}

pub(crate) fn check_coordinate(value: f64) -> Result<f64, Problem> {
    if value.abs() <= f64::MAX_COORDINATE {
        Ok(value)
    } else if value.is_finite() {
        Err(Problem::OutOfRange(value))
    } else {
        Err(Problem::NonFinite(value))
    }
}

pub(crate) fn check_count(count: u64, what: &'static str, room: usize) -> Result<usize, Problem> {
    if count > room as u64 {
        return Err(Problem::ImpossibleCount { what, count, room: room as u64 });
    }
    let count = count as usize;
    // The slots of edges, six a tetrahedron, are counted in 32 bits.
    if count > u32::MAX as usize / 6 {
        return Err(Problem::TooLarge { what, count });
    }
    Ok(count)
}

/// Turns an index counted from `base` into one counted from 0.
pub(crate) fn check_index(index: i64, base: i64, count: usize) -> Result<u32, Problem> {
    match usize::try_from(index.wrapping_sub(base)) {
        Ok(vertex) if index >= base && vertex < count => Ok(vertex as u32),
        _ => Err(Problem::IndexOutOfRange { what: "vertex", index, count }),
    }
}

fn ends_here(text: &[u8], length: usize) -> bool {
    text.get(length).is_none_or(|&byte| is_space(byte))
}

/// A whole number at the beginning of the text, and its length.
pub(crate) fn integer(text: &[u8]) -> Option<(i64, usize)> {
    let signed = matches!(text.first(), Some(b'-' | b'+'));
    let start = usize::from(signed);
    let mut value = 0i64;
    let mut end = start;
    while let Some(digit) = text.get(end).map(|byte| byte.wrapping_sub(b'0')).filter(|d| *d < 10) {
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
        end += 1;
    }
    (end > start).then(|| (if text[0] == b'-' { -value } else { value }, end))
}

/// A number at the beginning of the text, up to white space, and its length.
///
/// Up to 15 digits and small exponents, which is nearly all there is, the value is one exact
/// product or quotient (Clinger 1990); the rest is left to the standard library. Both are
/// correctly rounded.
pub(crate) fn number(text: &[u8]) -> Option<(f64, usize)> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative || text.first() == Some(&b'+'));
    let digits = |from: usize, mantissa: &mut u64| {
        let mut end = from;
        while let Some(&byte) = text.get(end) {
            let digit = byte.wrapping_sub(b'0');
            if digit >= 10 {
                break;
            }
            *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            end += 1;
        }
        end
    };
    let mut mantissa = 0u64;
    let whole_end = digits(start, &mut mantissa);
    let mut end = whole_end;
    let mut exponent = 0i64;
    let mut digit_count = whole_end - start;
    if text.get(end) == Some(&b'.') {
        end = digits(whole_end + 1, &mut mantissa);
        exponent = -((end - whole_end - 1) as i64);
        digit_count += end - whole_end - 1;
    }
    if digit_count > 0 && matches!(text.get(end), Some(b'e' | b'E')) {
        match integer(&text[end + 1..]) {
            Some((power, length)) => {
                exponent = exponent.saturating_add(power);
                end += 1 + length;
            }
            None => digit_count = 0,
        }
    }
    // 19 digits cannot wrap around; leading zeros only make this more cautious.
    let simple =
        (1..=19).contains(&digit_count) && mantissa <= 1 << 53 && exponent.unsigned_abs() <= 22;
    if simple && ends_here(text, end) {
        let magnitude = mantissa as f64;
        let power = POWERS[exponent.unsigned_abs() as usize];
        let value = if exponent < 0 { magnitude / power } else { magnitude * power };
        return Some((if negative { -value } else { value }, end));
    }
    let length = text.iter().position(|&byte| is_space(byte)).unwrap_or(text.len());
    let word = std::str::from_utf8(&text[..length]).ok()?;
    Some((word.parse().ok()?, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_the_standard_library(
            word in "[+-]?[0-9]{0,22}(\\.[0-9]{0,22})?([eE][+-]?[0-9]{1,20})?",
        ) {
            let ours = number(word.as_bytes()).map(|(value, _)| value.to_bits());
            prop_assert_eq!(ours, word.parse::<f64>().ok().map(f64::to_bits), "{}", word);
        }

        #[test]
        fn shortest_decimals_come_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            let word = format!("{value:?} ");
            let (back, length) = number(word.as_bytes()).unwrap();
            prop_assert!(back == value || value.is_nan());
            prop_assert_eq!(length, word.len() - 1);
        }
    }

    #[test]
    fn words_that_are_no_numbers() {
        for word in ["", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "1x", "0x10", "--1"] {
            assert_eq!(number(word.as_bytes()), None, "{word}");
        }
        assert_eq!(number(b"1/2"), None);
        assert_eq!(integer(b"99999999999999999999"), None);
        assert_eq!(integer(b"-12/3"), Some((-12, 3)));
    }

    #[test]
    fn scanner_skips_comments_and_stays_on_its_line() {
        let mut scanner = Scanner::new(b"a # b c\n d\n\n e", Some(b'#'));
        assert_eq!(scanner.word("word").unwrap(), b"a");
        assert!(!scanner.skip_blanks());
        assert_eq!(scanner.word("word").unwrap(), b"d");
        assert_eq!(scanner.word("word").unwrap(), b"e");
        assert!(scanner.word("word").is_err());
    }
}
