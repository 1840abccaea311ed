//! Scans JSON text in place: finds where values end, and checks that they are valid; and the keys
//! of objects of one kind, each of whose meanings is looked up once.
//!
//! Enters: a text. Leaves: slices of strings and numbers. `None` means that the text is not valid
//! JSON.

use std::borrow::Cow;
use std::collections::HashMap;

use jsf_json::JsonScalar;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// A position in a JSON text.
#[derive(Debug, Clone)]
pub struct Scanner<'d> {
    text: &'d str,
    bytes: &'d [u8],
    /// The position of the next byte.
    pub at: usize,
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
    pub fn peek(&self) -> u8 {
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
    pub fn colon(&mut self) -> Option<()> {
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
    pub fn quoted(&mut self) -> Option<&'d str> {
        let start = self.at;
        self.take(b'"')?;
        self.skip_string()?;
        self.text.get(start..self.at)
    }

    /// The text of a string in quotes; `None` if an escape is not that of a character.
    pub fn unquoted(quoted: &'d str) -> Option<Cow<'d, str>> {
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
    /// The key in its quotes, as documents have it.
    quoted: Box<[u8]>,
    /// The key without escapes.
    name: Box<str>,
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
            Some(expected) if scanner.literal(&expected.quoted).is_some() => self.expected,
            _ => self.read(scanner, resolve)?,
        };
        scanner.colon()?;
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
        if self.keys.len() >= MAX_KEYS {
            self.keys.clear();
            self.indices.clear();
        }
        let index = self.keys.len();
        self.keys.push(KnownKey {
            quoted: quoted.as_bytes().into(),
            meaning: resolve(&name),
            name: name.into(),
        });
        self.indices.insert(quoted.into(), index);
        Some(index)
    }

    /// The key of this index.
    pub fn name(&self, index: usize) -> &str {
        self.keys.get(index).map_or("", |key| &key.name)
    }
}

#[cfg(test)]
mod tests;
