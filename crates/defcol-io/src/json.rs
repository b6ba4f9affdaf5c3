//! JSON as a flat list of tokens: eight bytes a token, whatever the document.
//!
//! Trees of enums or structs cost fifty and more bytes for the two bytes of `0,` or `{}`; a reader
//! that may take 16 times the size of the file cannot afford that.

use std::borrow::Cow;
use std::cell::Cell;

use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem, excerpt};

const MAX_DEPTH: usize = 64;

/// A document.
pub(crate) struct Json<'a> {
    text: &'a [u8],
    tokens: Vec<Token>,
    /// Tokens and bytes that look-ups have passed over; see [`Json::work`].
    work: Cell<usize>,
}

#[derive(Clone, Copy)]
struct Token {
    /// Where the value begins in the text; its first byte tells its kind.
    start: u32,
    /// The token behind the value and all it contains.
    next: u32,
}

impl<'a> Json<'a> {
    pub fn parse(text: &'a [u8], reading: &mut Reading) -> Parsed<Self> {
        if text.len() > u32::MAX as usize {
            return Err(Fault::file(Problem::TooLarge {
                what: "bytes of JSON",
                count: text.len(),
            }));
        }
        // Every token but the first stands behind one of these.
        let most = 1 + text.iter().filter(|byte| b",:[{".contains(byte)).count();
        let mut json = Self { text, tokens: reading.vec(most)?, work: Cell::new(0) };
        let mut at = json.value(json.space(0), 0)?;
        at = json.space(at);
        match text.get(at) {
            None => Ok(json),
            Some(_) => Err(json.syntax(at, "the end of the document")),
        }
    }

    /// What look-ups have passed over since the last call, for [`Reading::repeat`].
    pub fn work(&self) -> usize {
        self.work.take()
    }

    fn pass(&self, count: usize) {
        self.work.set(self.work.get().saturating_add(count));
    }

    pub fn root(&self) -> Value<'_> {
        Value { json: self, token: 0 }
    }

    fn space(&self, mut at: usize) -> usize {
        while matches!(self.text.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            at += 1;
        }
        at
    }

    fn syntax(&self, at: usize, expected: &'static str) -> Fault {
        match self.text.get(at..) {
            None | Some([]) => Fault::text(at, Problem::Truncated { expected }),
            Some(rest) => {
                let end = rest.iter().position(|byte| b" \n\r\t,:[]{}".contains(byte));
                let word = &rest[..end.unwrap_or(rest.len()).max(1)];
                Fault::text(at, Problem::Syntax { expected, found: excerpt(word) })
            }
        }
    }

    /// Adds the value that begins at `at`, and gives where it ends.
    fn value(&mut self, at: usize, depth: usize) -> Parsed<usize> {
        if depth > MAX_DEPTH {
            return Err(Fault::text(at, Problem::TooDeep(MAX_DEPTH)));
        }
        let token = self.tokens.len();
        self.tokens.push(Token { start: at as u32, next: 0 });
        let end = match self.text.get(at) {
            Some(b'"') => self.string_end(at)?,
            Some(b'[') => self.list(at, depth, b']')?,
            Some(b'{') => self.list(at, depth, b'}')?,
            Some(b'-' | b'0'..=b'9') => {
                let rest = &self.text[at..];
                let length = rest.iter().position(|byte| !b"+-.0123456789eE".contains(byte));
                let end = at + length.unwrap_or(rest.len());
                let word = std::str::from_utf8(&self.text[at..end]).unwrap_or_default();
                if word.parse::<f64>().is_err() {
                    return Err(self.syntax(at, "a number"));
                }
                end
            }
            _ => {
                let rest = self.text.get(at..).unwrap_or_default();
                match [&b"true"[..], b"false", b"null"].iter().find(|word| rest.starts_with(word)) {
                    Some(word) => at + word.len(),
                    None => return Err(self.syntax(at, "a JSON value")),
                }
            }
        };
        self.tokens[token].next = self.tokens.len() as u32;
        Ok(end)
    }

    /// The items of an array, or the keys and values of an object.
    fn list(&mut self, at: usize, depth: usize, close: u8) -> Parsed<usize> {
        let mut at = self.space(at + 1);
        if self.text.get(at) == Some(&close) {
            return Ok(at + 1);
        }
        loop {
            if close == b'}' {
                if self.text.get(at) != Some(&b'"') {
                    return Err(self.syntax(at, "a key in quotes"));
                }
                at = self.value(at, depth + 1)?;
                at = self.space(at);
                if self.text.get(at) != Some(&b':') {
                    return Err(self.syntax(at, "a colon"));
                }
                at = self.space(at + 1);
            }
            at = self.value(at, depth + 1)?;
            at = self.space(at);
            match self.text.get(at) {
                Some(b',') => at = self.space(at + 1),
                Some(byte) if *byte == close => return Ok(at + 1),
                _ => return Err(self.syntax(at, "a comma or the end of the list")),
            }
        }
    }

    fn string_end(&self, start: usize) -> Parsed<usize> {
        let mut at = start + 1;
        loop {
            match self.text.get(at) {
                None => {
                    return Err(Fault::text(
                        start,
                        Problem::Truncated { expected: "a closing quote" },
                    ));
                }
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
            }
        }
    }
}

/// A value of a document.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    json: &'a Json<'a>,
    token: u32,
}

impl<'a> Value<'a> {
    fn at(&self, token: u32) -> Token {
        self.json.tokens[token as usize]
    }

    fn first(&self) -> u8 {
        self.json.text[self.offset()]
    }

    /// Where the value stands in the text.
    pub fn offset(&self) -> usize {
        self.at(self.token).start as usize
    }

    /// What a list contains: items, or keys and values in turn.
    fn inner(self) -> impl Iterator<Item = Value<'a>> {
        let end = if matches!(self.first(), b'[' | b'{') { self.at(self.token).next } else { 0 };
        let mut token = self.token + 1;
        std::iter::from_fn(move || {
            let item = (token < end).then_some(Value { json: self.json, token })?;
            token = item.at(token).next;
            Some(item)
        })
    }

    /// The items of an array; nothing for other values.
    pub fn items(self) -> impl Iterator<Item = Value<'a>> {
        self.inner().take(if self.first() == b'[' { usize::MAX } else { 0 })
    }

    /// The value behind a key of an object.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        if self.first() != b'{' {
            return None;
        }
        let mut inner = self.inner();
        loop {
            let (name, value) = (inner.next()?, inner.next()?);
            self.json.pass(8);
            if name.string().is_some_and(|name| name == key) {
                return Some(value);
            }
        }
    }

    pub fn number(self) -> Option<f64> {
        let rest = &self.json.text[self.offset()..];
        let length = rest.iter().position(|byte| !b"+-.0123456789eE".contains(byte));
        std::str::from_utf8(&rest[..length.unwrap_or(rest.len())]).ok()?.parse().ok()
    }

    /// A whole number that is not negative.
    pub fn index(self) -> Option<usize> {
        let number = self.number()?;
        (number >= 0.0 && number.fract() == 0.0 && number < 9e15).then_some(number as usize)
    }

    pub fn is_true(self) -> bool {
        self.first() == b't'
    }

    pub fn string(self) -> Option<Cow<'a, str>> {
        if self.first() != b'"' {
            return None;
        }
        let start = self.offset() + 1;
        let end = self.json.string_end(start - 1).ok()? - 1;
        self.json.pass(end - start);
        let raw = String::from_utf8_lossy(&self.json.text[start..end]);
        if raw.contains('\\') { Some(Cow::Owned(unescaped(&raw))) } else { Some(raw) }
    }
}

fn unescaped(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    let mut units: Vec<u16> = Vec::new();
    while let Some(char) = rest.next() {
        let escape = if char == '\\' { rest.next() } else { None };
        if escape == Some('u') {
            let code = rest.as_str().get(..4).and_then(|code| u16::from_str_radix(code, 16).ok());
            if code.is_some() {
                rest = rest.as_str()[4..].chars();
            }
            units.push(code.unwrap_or(0xfffd));
            continue;
        }
        text.push_str(&String::from_utf16_lossy(&units));
        units.clear();
        text.push(match escape {
            None => char,
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some(other) => other,
        });
    }
    text.push_str(&String::from_utf16_lossy(&units));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;

    fn with<T>(text: &str, look: impl FnOnce(Value) -> T) -> Result<T, Fault> {
        let progress = Progress::default();
        let mut reading = Reading::new(text.len(), &progress);
        Json::parse(text.as_bytes(), &mut reading).map(|json| look(json.root()))
    }

    #[test]
    fn values_are_found() {
        let text =
            r#" {"a": [1, -2.5e3, {"b": "x\n\u00e9\ud83d\ude00\"y"}, []], "c": true, "d": {}} "#;
        with(text, |root| {
            let items: Vec<_> = root.get("a").unwrap().items().collect();
            assert_eq!(items.len(), 4);
            assert_eq!((items[0].index(), items[1].number()), (Some(1), Some(-2500.0)));
            assert_eq!(items[1].index(), None);
            assert_eq!(items[2].get("b").unwrap().string().unwrap(), "x\né😀\"y");
            assert_eq!(items[3].items().count(), 0);
            assert!(root.get("c").unwrap().is_true());
            assert!(root.get("d").unwrap().get("e").is_none());
            assert!(root.get("b").is_none(), "only keys of the object itself");
        })
        .unwrap();
    }

    #[test]
    fn broken_documents_are_refused() {
        for text in [
            "",
            "{",
            "[1",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "\"x",
            "\"\\",
            "tru",
            "1 2",
            "[1}",
            "-",
            "1e",
            "\u{feff}{}",
        ] {
            assert!(with(text, |_| ()).is_err(), "{text}");
        }
        assert!(with(&"[".repeat(100_000), |_| ()).is_err());
        assert!(with(&format!("{}{}", "[".repeat(60), "]".repeat(60)), |_| ()).is_ok());
    }
}
