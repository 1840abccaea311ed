//! Scans JSON text in place: finds where values end, and checks that they are valid.
//!
//! Enters: bytes. Leaves: slices of strings and numbers. `None` means that the text is not valid JSON, or valid but
//! unusual (escapes, bytes beyond ASCII, deep nesting): the reference reader then decides.

use std::borrow::Cow;

use jsf_json::JsonScalar;

/// The deepest nesting that is skipped.
const MAX_DEPTH: u32 = 64;

/// A value that is neither an object, an array nor a boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar<'d> {
    /// An integer of at most seven digits, without sign.
    Small(u32),
    /// Any other number.
    Number(&'d str),
    /// A string of ASCII without escapes.
    String(&'d str),
    Null,
}

impl Scalar<'_> {
    /// Passes on the scalar that the reference reader gets; `None` for `null`.
    pub(super) fn with_scalar<T>(self, convert: impl FnOnce(&JsonScalar<'_>) -> T) -> Option<T> {
        match self {
            Self::Small(integer) => Some(convert(&JsonScalar::Number(&integer.to_string()))),
            Self::Number(text) => Some(convert(&JsonScalar::Number(text))),
            Self::String(text) => Some(convert(&JsonScalar::String(Cow::Borrowed(text)))),
            Self::Null => None,
        }
    }
}

/// A position in a JSON text.
#[derive(Debug, Clone)]
pub(super) struct Scanner<'d> {
    bytes: &'d [u8],
    /// The position of the next byte.
    pub at: usize,
    /// Whether a line end ends the text instead of being white space.
    is_line: bool,
}

impl<'d> Scanner<'d> {
    pub(super) fn new(bytes: &'d [u8]) -> Self {
        Self { bytes, at: 0, is_line: false }
    }

    /// A scanner for which a line end is the end of the text.
    pub(super) fn for_lines(bytes: &'d [u8]) -> Self {
        Self { is_line: true, ..Self::new(bytes) }
    }

    /// Whether the end of the text is reached.
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len() || (self.is_line && self.peek() == b'\n')
    }

    /// The next byte, 0 at the end.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Skips this byte; `None` if the next one is another.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek() == byte).then(|| self.at += 1)
    }

    /// Skips white space.
    #[inline]
    pub(super) fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r') || (self.peek() == b'\n' && !self.is_line) {
            self.at += 1;
        }
    }

    /// Reads the key of an entry, and skips up to its value.
    pub(super) fn key(&mut self) -> Option<&'d str> {
        self.take(b'"')?;
        let key = str::from_utf8(self.plain()?).ok()?;
        self.colon()?;
        Some(key)
    }

    /// Skips the colon after a key, up to the value.
    #[inline]
    pub(super) fn colon(&mut self) -> Option<()> {
        self.space();
        self.take(b':')?;
        self.space();
        Some(())
    }

    /// Reads the rest of a string of ASCII without escapes, from after its opening quote to after its closing one.
    #[inline]
    pub(super) fn plain(&mut self) -> Option<&'d [u8]> {
        let start = self.at;
        while matches!(self.peek(), b' '..=b'!' | b'#'..=b'[' | b']'..=b'\x7f') {
            self.at += 1;
        }
        let text = self.bytes.get(start..self.at)?;
        self.take(b'"')?;
        Some(text)
    }

    /// Reads the text of a number.
    pub(super) fn number(&mut self) -> Option<&'d str> {
        let start = self.at;
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
        str::from_utf8(self.bytes.get(start..self.at)?).ok()
    }

    /// Skips one digit or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Reads an integer of one to seven digits without sign, fraction or exponent.
    #[inline]
    pub(super) fn small(&mut self) -> Option<u32> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let has_leading_zero = length > 1 && rest[0] == b'0';
        if !(1..=7).contains(&length) || has_leading_zero || matches!(rest.get(length), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.at += length;
        Some(rest[..length].iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
    }

    /// Reads a scalar other than a boolean.
    #[inline]
    pub(super) fn scalar(&mut self) -> Option<Scalar<'d>> {
        match self.small() {
            Some(small) => Some(Scalar::Small(small)),
            None => self.other_scalar(),
        }
    }

    #[inline(never)]
    fn other_scalar(&mut self) -> Option<Scalar<'d>> {
        match self.peek() {
            b'"' => {
                self.at += 1;
                self.plain().and_then(|text| str::from_utf8(text).ok()).map(Scalar::String)
            }
            b'n' => self.literal(b"null").map(|()| Scalar::Null),
            _ => self.number().map(Scalar::Number),
        }
    }

    /// Reads a string, or a number as text; `Some(None)` for `null`.
    #[inline]
    pub(super) fn name(&mut self) -> Option<Option<&'d str>> {
        match self.name_bytes()? {
            Some(name) => str::from_utf8(name).ok().map(Some),
            None => Some(None),
        }
    }

    /// Reads the same as bytes, which are ASCII.
    #[inline]
    pub(super) fn name_bytes(&mut self) -> Option<Option<&'d [u8]>> {
        match self.peek() {
            b'"' => {
                self.at += 1;
                self.plain().map(Some)
            }
            b'n' => self.literal(b"null").map(|()| None),
            _ => self.number().map(|number| Some(number.as_bytes())),
        }
    }

    /// Skips these bytes; `None` if others come next.
    #[inline]
    pub(super) fn literal(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }
}

/// Skipping values: they are not parsed, but must be valid JSON.
impl Scanner<'_> {
    /// Skips a value.
    #[inline]
    pub(super) fn skip_value(&mut self) -> Option<()> {
        match self.peek() {
            b'"' => {
                self.at += 1;
                self.skip_string()
            }
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    fn skip_scalar(&mut self) -> Option<()> {
        match self.peek() {
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            _ => self.number().map(|_| ()),
        }
    }

    /// Skips an object or an array.
    fn skip_nested(&mut self) -> Option<()> {
        // A bit for each open object (1) or array (0), the innermost lowest.
        let mut open = 0u64;
        let mut depth = 0;
        loop {
            let is_empty = match self.peek() {
                opener @ (b'{' | b'[') if depth < MAX_DEPTH => {
                    open = open << 1 | u64::from(opener == b'{');
                    depth += 1;
                    self.at += 1;
                    self.space();
                    self.peek() == closer(open)
                }
                b'"' => {
                    self.at += 1;
                    self.skip_string()?;
                    true
                }
                b'{' | b'[' => return None,
                _ => {
                    self.skip_scalar()?;
                    true
                }
            };
            if is_empty {
                self.space();
                while self.peek() == closer(open) {
                    open >>= 1;
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return Some(());
                    }
                    self.space();
                }
                self.take(b',')?;
                self.space();
            }
            if open & 1 == 1 {
                self.skip_key()?;
            }
        }
    }

    /// Skips any key, up to its value.
    #[inline]
    pub(super) fn skip_key(&mut self) -> Option<()> {
        self.take(b'"')?;
        self.skip_string()?;
        self.colon()
    }

    /// Skips the rest of any string, from after its opening quote to after its closing one.
    ///
    /// Bytes beyond ASCII need no check: invalid UTF-8 is replaced byte by byte, which never removes a quote.
    #[inline]
    fn skip_string(&mut self) -> Option<()> {
        loop {
            let rest = self.bytes.get(self.at..)?;
            let length = memchr::memchr2(b'"', b'\\', rest)?;
            if rest[..length].iter().any(|&byte| byte < b' ') {
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

fn closer(open: u64) -> u8 {
    if open & 1 == 1 { b'}' } else { b']' }
}

#[cfg(test)]
mod tests;
