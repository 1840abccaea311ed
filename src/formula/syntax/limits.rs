//! The limits on a formula's text, checked before the grammar sees it.
//!
//! They are the crate's own and the same on every thread, target and profile.

use crate::diagnostic::Span;
use crate::formula::syntax::{SyntaxError, SyntaxErrorKind};

/// The longest formula, in bytes.
pub const MAX_LENGTH: usize = 64 * 1024;

/// The deepest nesting of brackets (and of `lambda`, which nests without one). It is CPython's own.
pub const MAX_NESTING: usize = 200;

/// Nesting that the grammar can follow on any thread's stack.
pub(super) const NESTING_ON_ANY_STACK: usize = 24;

/// Enough for [`MAX_NESTING`] levels of the grammar in an unoptimised build.
const DEEP_STACK: usize = 64 << 20;

/// Checks the limits, with `most` bytes for the length, and what only the raw text shows. Gives the deepest nesting.
pub(super) fn scan(text: &str, most: usize) -> Result<usize, SyntaxError> {
    if text.len() > most {
        return Err(SyntaxError::new(SyntaxErrorKind::TooLong, Span::new(most, most)));
    }
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        return Err(SyntaxError::new(SyntaxErrorKind::NullByte, Span::new(at, at + 1)));
    }
    let mut scanner =
        Scanner { text: text.as_bytes(), at: 0, begun: false, open: Vec::new(), deepest: 0, unbracketed: 0 };
    scanner.run()?;
    Ok(scanner.deepest)
}

/// Runs `work` on a thread whose stack is deep enough; `None` if the system gives no thread.
pub(super) fn on_a_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, work).ok()?.join().ok()
    })
}

pub(super) struct Scanner<'t> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
    /// Whether the formula's line has begun.
    pub(super) begun: bool,
    open: Vec<(u8, usize)>,
    deepest: usize,
    /// `lambda` and `?` nest to their right without a bracket.
    unbracketed: usize,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), SyntaxError> {
        self.skip_first_blanks();
        self.line()?;
        while let Some(&byte) = self.text.get(self.at) {
            let start = self.at;
            self.at += 1;
            match byte {
                b'(' | b'[' | b'{' => self.push(byte, start)?,
                b')' | b']' | b'}' => self.pop(byte, start)?,
                b'\'' | b'"' => self.skip_string(byte),
                b'#' => self.skip_comment(),
                b'\\' => self.continuation(start)?,
                b'\n' | b'\r' if self.open.is_empty() => self.line()?,
                b'?' => self.nest(start)?,
                b'l' if self.at_word(start, b"lambda") => self.nest(start)?,
                _ => {}
            }
        }
        match self.open.pop() {
            Some((bracket, start)) => Err(SyntaxError::unclosed(bracket as char, start)),
            None => Ok(()),
        }
    }

    fn push(&mut self, bracket: u8, start: usize) -> Result<(), SyntaxError> {
        self.open.push((bracket, start));
        self.check(start)
    }

    fn nest(&mut self, start: usize) -> Result<(), SyntaxError> {
        self.unbracketed += 1;
        self.check(start)
    }

    fn check(&mut self, start: usize) -> Result<(), SyntaxError> {
        self.deepest = self.deepest.max(self.open.len() + self.unbracketed);
        if self.deepest > MAX_NESTING {
            return Err(SyntaxError::new(SyntaxErrorKind::TooDeep, Span::new(start, start + 1)));
        }
        Ok(())
    }

    fn pop(&mut self, closing: u8, start: usize) -> Result<(), SyntaxError> {
        let expected = |open| match open {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        let closed = self.open.pop();
        match closed {
            Some((open, _)) if expected(open) == closing => Ok(()),
            _ => Err(SyntaxError::unmatched(closing as char, start, closed.map(|(open, at)| (open as char, at)))),
        }
    }

    /// Skips to the end of a string; an unclosed one ends with its line and is the grammar's to report.
    fn skip_string(&mut self, quote: u8) {
        let triple = [quote; 3];
        let is_triple = self.text[self.at - 1..].starts_with(&triple);
        self.at += if is_triple { 2 } else { 0 };
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\\' => self.at += if self.text[self.at..].starts_with(b"\\\r\n") { 3 } else { 2 },
                _ if is_triple && self.text[self.at..].starts_with(&triple) => return self.at += 3,
                b'\n' | b'\r' if !is_triple => return,
                _ if !is_triple && byte == quote => return self.at += 1,
                _ => self.at += 1,
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn at_word(&self, start: usize, word: &[u8]) -> bool {
        let part_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let before = start.checked_sub(1).and_then(|at| self.text.get(at));
        self.text[start..].starts_with(word)
            && !before.is_some_and(part_of_name)
            && !self.text.get(start + word.len()).is_some_and(part_of_name)
    }
}
