//! Walks through a JSON text without a tree.
//!
//! A [`Scanner`] finds where values end and checks that they are valid. What each key of an object of
//! one kind means is looked up once ([`ObjectKeys`]).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use jsf_json::JsonScalar;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// The most digits of an integer that is small: an OpenPBS `float` holds all of them.
const SMALL_DIGITS: usize = 7;

/// A position in a JSON text.
#[derive(Debug, Clone)]
pub struct Scanner<'d> {
    text: &'d str,
    bytes: &'d [u8],
    /// The position of the next byte.
    at: usize,
}

impl<'d> Scanner<'d> {
    pub fn new(text: &'d str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
        }
    }

    /// Whether the end of the text is reached.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next byte, 0 at the end.
    #[inline]
    fn peek(&self) -> u8 {
        // outside of strings a NUL is no more valid than the end
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Skips this byte; `None` if the next one is another.
    #[inline]
    pub fn take(&mut self, byte: u8) -> Option<()> {
        if self.peek() != byte {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Skips these bytes; `None` if others come next.
    #[inline]
    pub fn literal(&mut self, word: &[u8]) -> Option<()> {
        if !self.bytes.get(self.at..)?.starts_with(word) {
            return None;
        }
        self.at += word.len();
        Some(())
    }

    /// Skips white space.
    #[inline]
    pub fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Skips the colon after a key, up to the value.
    #[inline]
    fn colon(&mut self) -> Option<()> {
        self.space();
        self.take(b':')?;
        self.space();
        Some(())
    }

    /// Reads the key of an entry, and skips up to its value.
    pub fn key(&mut self) -> Option<Cow<'d, str>> {
        let key = Self::unquoted(self.quoted()?)?;
        self.colon()?;
        Some(key)
    }

    /// Reads a string with its quotes and its escapes.
    #[inline]
    fn quoted(&mut self) -> Option<&'d str> {
        let start = self.at;
        self.take(b'"')?;
        self.skip_string()?;
        self.text.get(start..self.at)
    }

    /// The text of a string in quotes; `None` if an escape is not that of a character.
    fn unquoted(quoted: &'d str) -> Option<Cow<'d, str>> {
        match JsonScalar::from_text(quoted) {
            JsonScalar::String(text) => Some(text),
            _ => None,
        }
    }

    /// Reads the text of a value.
    #[inline]
    pub fn value(&mut self) -> Option<&'d str> {
        let start = self.at;
        self.skip_value()?;
        self.text.get(start..self.at)
    }

    /// Reads a value; that of `null`, an object or an array is described.
    #[inline]
    pub fn scalar(&mut self) -> Option<JsonScalar<'d>> {
        let start = self.at;
        if matches!(self.peek(), b'0'..=b'9' | b'-') {
            self.skip_number()?;
            return Some(JsonScalar::Number(self.text.get(start..self.at)?));
        }
        Some(JsonScalar::from_text(self.value()?))
    }

    /// Reads an integer without a sign of a few digits, which are all of the value; `None`, and nothing
    /// is read, if another value comes next.
    #[inline]
    pub fn small_integer(&mut self) -> Option<u32> {
        let mut integer = 0;
        let mut digits = 0;
        while let Some(byte @ b'0'..=b'9') = self.bytes.get(self.at + digits) {
            integer = 10 * integer + u32::from(byte - b'0');
            digits += 1;
            if digits > SMALL_DIGITS {
                return None;
            }
        }
        // no valid JSON, which is found where the value is read in the general way
        let has_leading_zero = digits > 1 && self.peek() == b'0';
        let next = self.bytes.get(self.at + digits);
        if digits == 0 || has_leading_zero || matches!(next, Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.at += digits;
        Some(integer)
    }

    /// Skips the brace that opens an object; another value is skipped as a whole, and described.
    pub fn open_object(&mut self) -> Option<Result<(), &'static str>> {
        if self.take(b'{').is_some() {
            return Some(Ok(()));
        }
        Some(Err(self.scalar()?.shape()))
    }

    #[inline]
    fn skip_number(&mut self) -> Option<()> {
        self.at += usize::from(self.peek() == b'-');
        match self.peek() {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            self.digits()?;
        }
        Some(())
    }

    /// Skips one digit or more.
    #[inline]
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { None } else { Some(()) }
    }
}

/// Skipping values: they are not parsed, but must be valid JSON.
impl Scanner<'_> {
    /// Skips a value.
    #[inline]
    pub fn skip_value(&mut self) -> Option<()> {
        match self.peek() {
            b'"' => {
                self.at += 1;
                self.skip_string()
            }
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    #[inline]
    fn skip_scalar(&mut self) -> Option<()> {
        match self.peek() {
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            _ => self.skip_number(),
        }
    }

    /// Skips an object or an array.
    fn skip_nested(&mut self) -> Option<()> {
        let rest = Deserializer::from_str(self.text.get(self.at..)?);
        let mut values = rest.into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(())
    }

    /// Skips the rest of any string, from after its opening quote to after its closing one.
    #[inline]
    fn skip_string(&mut self) -> Option<()> {
        loop {
            let rest = self.bytes.get(self.at..)?;
            let length = memchr::memchr2(b'"', b'\\', rest)?;
            // all bytes are looked at, because the compiler can then compare many at once
            if rest[..length]
                .iter()
                .fold(false, |is_control, &byte| is_control | (byte < b' '))
            {
                return None;
            }
            self.at += length;
            if self.take(b'"').is_some() {
                return Some(());
            }
            self.skip_escape()?;
        }
    }

    fn skip_escape(&mut self) -> Option<()> {
        match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                self.at += digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?;
            }
            _ => return None,
        }
        Some(())
    }
}

/// The most keys whose meaning is remembered.
const MAX_KEYS: usize = 4096;

/// What comes next in an object: a value or the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<R> {
    /// A value, with the meaning of its key, and the index of the key.
    Value(R, usize),
    End,
}

/// The meanings of the keys that were read so far, in the order of their first objects.
#[derive(Debug)]
pub struct ObjectKeys<R> {
    keys: Vec<KnownKey<R>>,
    indices: HashMap<Box<str>, usize>,
    /// The key that follows the last one in most objects: a server prints those of each job in the
    /// same order.
    expected: usize,
    /// Whether the object has just begun.
    is_first: bool,
}

#[derive(Debug)]
struct KnownKey<R> {
    /// The key in its quotes with its colon, as most documents have them.
    quoted: Box<[u8]>,
    /// The key without escapes.
    name: Arc<str>,
    meaning: R,
}

impl<R: Copy> ObjectKeys<R> {
    pub fn new() -> Self {
        Self {
            keys: Vec::new(),
            indices: HashMap::new(),
            expected: 0,
            is_first: true,
        }
    }

    /// Begins another object.
    pub fn begin(&mut self) {
        self.is_first = true;
    }

    /// Skips to the next value of an object; `resolve` returns the meaning of a new key. `None` if
    /// the text is not valid JSON.
    #[inline]
    pub fn next(
        &mut self,
        scanner: &mut Scanner<'_>,
        resolve: impl FnOnce(&str) -> R,
    ) -> Option<Next<R>> {
        scanner.space();
        if std::mem::take(&mut self.is_first) {
            self.expected = 0;
            if scanner.take(b'}').is_some() {
                return Some(Next::End);
            }
        } else if scanner.take(b',').is_some() {
            scanner.space();
        } else {
            scanner.take(b'}')?;
            return Some(Next::End);
        }
        // looking a key up takes longer than reading its value
        let index = match self.keys.get(self.expected) {
            Some(expected) if scanner.literal(&expected.quoted).is_some() => {
                scanner.space();
                self.expected
            }
            _ => {
                let index = self.read(scanner, resolve)?;
                scanner.colon()?;
                index
            }
        };
        self.expected = index + 1;
        Some(Next::Value(self.keys.get(index)?.meaning, index))
    }

    /// Reads a key, and returns its index.
    #[inline(never)]
    fn read(
        &mut self,
        scanner: &mut Scanner<'_>,
        resolve: impl FnOnce(&str) -> R,
    ) -> Option<usize> {
        let quoted = scanner.quoted()?;
        if let Some(&known) = self.indices.get(quoted) {
            return Some(known);
        }
        let name = Scanner::unquoted(quoted)?;
        // each job may have other keys, which must not fill the memory
        if self.keys.len() >= MAX_KEYS {
            self.keys.clear();
            self.indices.clear();
        }
        let index = self.keys.len();
        self.keys.push(KnownKey {
            quoted: format!("{quoted}:").into_bytes().into(),
            meaning: resolve(&name),
            name: name.into(),
        });
        self.indices.insert(quoted.into(), index);
        Some(index)
    }

    /// The key of this index.
    pub fn name(&self, index: usize) -> Arc<str> {
        self.keys[index].name.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random sequences of JSON fragments, valid and invalid.
    fn texts() -> impl Iterator<Item = String> {
        const PIECES: [&str; 44] = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"\"",
            "\"b\\n\"",
            "\"\\u00e9\"",
            "\"\\u00g9\"",
            "\"\\",
            "\"",
            "0",
            "-0",
            "01",
            "1",
            "12345678",
            "1234567",
            "1.5",
            "1.",
            ".5",
            "1e5",
            "1E+",
            "1e-400",
            "-",
            "+1",
            "true",
            "false",
            "null",
            "nul",
            " ",
            "\n",
            "\t",
            "\r",
            "\x0b",
            "\0",
            "\x01",
            "\x7f",
            "\"\x1f\"",
            "\"é\"",
            "é",
            "        ",
            "\"a somewhat longer text, with (eight) bytes\"",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        std::iter::repeat_with(move || {
            let mut text = String::new();
            let mut open = Vec::new();
            // Mostly a fragment that may come next, so that many texts are valid.
            for _ in 0..roll(&mut state, 12) {
                match roll(&mut state, 8) {
                    0 => text.push_str(PIECES[roll(&mut state, PIECES.len())]),
                    1 => {
                        text.push_str("{\"k\" : ");
                        open.push('}');
                    }
                    2 => {
                        text.push('[');
                        open.push(']');
                    }
                    3 => text.extend(open.pop()),
                    4 => text.push_str(if open.last() == Some(&'}') {
                        ",\"l\":"
                    } else {
                        " ,\n"
                    }),
                    _ => {
                        let scalars = [6, 7, 8, 9, 13, 14, 16, 17, 19, 22, 24, 27, 29, 40];
                        text.push_str(PIECES[scalars[roll(&mut state, scalars.len())]]);
                    }
                }
            }
            text.extend(open.iter().rev());
            text
        })
    }

    /// A random number below `sides`.
    fn roll(state: &mut u64, sides: usize) -> usize {
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % sides
    }

    /// Whether the scanner skips the whole text as one value.
    fn is_value(text: &str) -> bool {
        let mut scanner = Scanner::new(text);
        scanner.space();
        let skipped = scanner.skip_value();
        scanner.space();
        skipped.is_some() && scanner.at == text.len()
    }

    #[test]
    fn what_is_skipped_is_valid_json() {
        let mut valid = 0;
        for text in texts().take(200_000) {
            let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            assert_eq!(is_value(&text), expected, "{text}");
            valid += usize::from(expected);
        }
        assert!(valid > 10_000, "{valid}");
    }

    #[test]
    fn nesting_may_be_deep() {
        let depth = 10_000;
        assert!(is_value(&("[".repeat(depth) + &"]".repeat(depth))));
        assert!(!is_value(&("[".repeat(depth) + &"]".repeat(depth - 1))));
    }

    /// The lengths of the keys of an object of numbers.
    fn read(keys: &mut ObjectKeys<usize>, text: &str) -> Option<Vec<usize>> {
        let mut scanner = Scanner::new(text);
        scanner.take(b'{')?;
        let mut found = Vec::new();
        keys.begin();
        while let Next::Value(length, _) = keys.next(&mut scanner, str::len)? {
            scanner.skip_value()?;
            found.push(length);
        }
        Some(found)
    }

    #[test]
    fn keys_are_separated_by_commas() {
        let mut keys = ObjectKeys::new();
        for (text, expected) in [
            (r#"{"a":1,"bb":2}"#, Some(vec![1, 2])),
            (r#"{"bb":2,"a":1}"#, Some(vec![2, 1])),
            (r#"{"a":1,"bb" : 2, "a":3 }"#, Some(vec![1, 2, 1])),
            (r#"{"\u0061":1,"bb":2}"#, Some(vec![1, 2])),
            ("{}", Some(vec![])),
            (r#"{"a":1,}"#, None),
            (r#"{,"a":1}"#, None),
            (r#"{"a":1"bb":2}"#, None),
            (r#"{"\ud800":1}"#, None),
        ] {
            assert_eq!(read(&mut keys, text), expected, "{text}");
        }
    }

    #[test]
    fn more_keys_than_are_remembered_are_read() {
        let mut keys = ObjectKeys::new();
        let entries: Vec<_> = (0..MAX_KEYS + 10)
            .map(|number| format!("\"{number:05}\":1"))
            .collect();
        let text = format!("{{{}}}", entries.join(","));
        assert_eq!(read(&mut keys, &text), Some(vec![5; MAX_KEYS + 10]));
    }
}
