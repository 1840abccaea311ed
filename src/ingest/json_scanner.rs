//! JSON text in place: where values end, and whether they are what JSON allows.
//!
//! Enters: bytes. Leaves: strings and numbers as they stand there. `None` is given to whatever is not plain beyond
//! doubt, broken or merely unusual; another reader then says which.

mod skip;

use std::borrow::Cow;

use crate::ingest::swar as words;
use crate::json_visitor::Token;

/// How many bytes behind the text a [`Scanner`] likes to have, all of them 0, to look at whole words.
pub(crate) const PADDING: usize = 128;

/// A value that stands alone, as it is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar<'d> {
    /// A whole number of at most seven digits, without sign.
    Small(u32),
    /// Any other number.
    Number(&'d str),
    /// A text of ASCII without escapes.
    Text(&'d str),
    Null,
}

impl Scalar<'_> {
    /// Hands on the token that the general road would make of it; `null` is none.
    pub(super) fn with_token<T>(self, take: impl FnOnce(&Token<'_>) -> T) -> Option<T> {
        match self {
            Self::Small(whole) => Some(take(&Token::Number(&whole.to_string()))),
            Self::Number(text) => Some(take(&Token::Number(text))),
            Self::Text(text) => Some(take(&Token::Text(Cow::Borrowed(text)))),
            Self::Null => None,
        }
    }
}

/// A place in a text.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'d> {
    bytes: &'d [u8],
    /// Where the text ends, before its padding.
    end: usize,
    /// The next byte.
    pub at: usize,
    /// Whether a line end is no space.
    is_line: bool,
}

impl<'d> Scanner<'d> {
    /// A scanner of a text that ends there; behind it there may be [`PADDING`].
    pub(crate) fn new(bytes: &'d [u8], end: usize) -> Self {
        Self { bytes, end, at: 0, is_line: false }
    }

    /// The same, to whom the end of a line is the end of the text.
    pub(crate) fn of_lines(bytes: &'d [u8], end: usize) -> Self {
        Self { is_line: true, ..Self::new(bytes, end) }
    }

    /// All bytes, with the padding.
    pub(crate) fn bytes(&self) -> &'d [u8] {
        self.bytes
    }

    /// Whether the text is at its end.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.end || (self.is_line && self.peek() == b'\n')
    }

    /// The next byte, 0 at the end.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Passes over one byte.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek() == byte).then(|| self.at += 1)
    }

    #[inline]
    fn word(&self) -> Option<u64> {
        let rest = self.bytes.get(self.at..)?;
        rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Passes over white space.
    #[inline]
    pub(crate) fn space(&mut self) {
        if self.peek() <= b' ' {
            self.spaces();
        }
    }

    fn spaces(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' if !self.is_line => self.at += 1,
                _ => return,
            }
            while self.word() == Some(words::each(b' ')) {
                self.at += 8;
            }
        }
    }

    /// The key of an entry and what stands up to its value.
    pub(crate) fn key(&mut self) -> Option<&'d str> {
        self.take(b'"')?;
        let key = str::from_utf8(self.plain()?).ok()?;
        self.space();
        self.take(b':')?;
        self.space();
        Some(key)
    }

    /// The inside of a text of ASCII without escapes, from behind its first quote to behind its last.
    #[inline]
    pub(crate) fn plain(&mut self) -> Option<&'d [u8]> {
        let start = self.at;
        while let Some(word) = self.word() {
            let stops = words::stops(word) | words::beyond_ascii(word);
            if stops == 0 {
                self.at += 8;
                continue;
            }
            self.at += stops.trailing_zeros() as usize / 8;
            break;
        }
        while matches!(self.peek(), b' '..=b'!' | b'#'..=b'[' | b']'..=b'\x7f') {
            self.at += 1;
        }
        let text = self.bytes.get(start..self.at)?;
        self.take(b'"')?;
        Some(text)
    }

    /// A number, as it is spelled.
    pub(crate) fn number(&mut self) -> Option<&'d str> {
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

    /// One digit or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// A whole number of one to seven digits, if that is all there is.
    #[inline]
    pub(crate) fn small(&mut self) -> Option<u32> {
        let (small, end) = words::small_at(self.bytes, self.at)?;
        self.at = end;
        Some(small)
    }

    /// A value that is no object, list or truth value.
    #[inline]
    pub(crate) fn scalar(&mut self) -> Option<Scalar<'d>> {
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
                self.plain().and_then(|text| str::from_utf8(text).ok()).map(Scalar::Text)
            }
            b'n' => self.word_of(b"null").map(|()| Scalar::Null),
            _ => self.number().map(Scalar::Number),
        }
    }

    /// A text, or a number as it is spelled; nothing for `null`.
    #[inline]
    pub(crate) fn name(&mut self) -> Option<Option<&'d str>> {
        match self.name_bytes()? {
            Some(name) => str::from_utf8(name).ok().map(Some),
            None => Some(None),
        }
    }

    /// The same as bytes, which are ASCII.
    #[inline]
    pub(crate) fn name_bytes(&mut self) -> Option<Option<&'d [u8]>> {
        match self.peek() {
            b'"' => {
                self.at += 1;
                self.plain().map(Some)
            }
            b'n' => self.word_of(b"null").map(|()| None),
            _ => self.number().map(|number| Some(number.as_bytes())),
        }
    }

    fn word_of(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }
}

#[cfg(test)]
mod tests;
