//! The raw text of a formula, which is checked before it is parsed: its length, the nesting of its
//! brackets and its lines. These are those of CPython's tokenizer: outside brackets a formula is one
//! line without indentation; other lines may contain only blanks and comments.

use crate::diagnostic::{Span, floor_char_boundary};
use crate::formula::syntax::syntax_error::Result;
use crate::formula::syntax::{MAX_NESTING, SyntaxError};
use crate::python::{ContinuedIndentation, PythonVersion};

/// Checks the raw text, of which `max_length` bytes are allowed; returns its deepest nesting.
pub(super) fn scan(text: &str, max_length: usize, python: PythonVersion) -> Result<usize> {
    if text.len() > max_length {
        // at the first character beyond them, or at the end
        let end = floor_char_boundary(text, max_length);
        return Err(SyntaxError::too_long(Span::new(end, end)));
    }
    // anywhere, in a comment too: CPython refuses such a text before it looks for tokens
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        return Err(SyntaxError::new(
            "the formula contains a NUL byte",
            byte_at(at),
        ));
    }
    let mut scanner = Scanner {
        text,
        python,
        position: 0,
        has_begun: false,
        open: Vec::new(),
        deepest: 0,
        unbracketed: 0,
    };
    scanner.run()?;
    Ok(scanner.deepest)
}

/// The span of one byte.
fn byte_at(at: usize) -> Span {
    Span::new(at, at + 1)
}

struct Scanner<'t> {
    text: &'t str,
    python: PythonVersion,
    position: usize,
    /// Whether the line of the formula has begun.
    has_begun: bool,
    /// The open brackets and their positions.
    open: Vec<(u8, usize)>,
    deepest: usize,
    /// The number of `lambda` and `?`, which nest to the right without a bracket.
    unbracketed: usize,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<()> {
        self.skip_leading_blanks();
        self.begin_line()?;
        while let Some(byte) = self.byte() {
            let start = self.position;
            self.position += 1;
            match byte {
                b'(' | b'[' | b'{' => {
                    self.open.push((byte, start));
                    self.check_nesting(start)?;
                }
                b')' | b']' | b'}' => self.close_bracket(byte, start)?,
                // brackets and line ends in a string are not those of the formula
                b'\'' | b'"' => self.position = start + string_length(&self.text[start..]),
                b'#' => self.position = start + comment_length(&self.text[start..]),
                b'\\' => self.continuation(start)?,
                // between brackets a line end is a blank
                b'\n' | b'\r' if self.open.is_empty() => self.begin_line()?,
                // the grammar recurses for these two as for a bracket
                b'?' => self.nest_without_bracket(start)?,
                b'l' if self.has_word_at(start, "lambda") => self.nest_without_bracket(start)?,
                _ => {}
            }
        }
        match self.open.pop() {
            Some((bracket, start)) => Err(SyntaxError::unclosed(bracket as char, byte_at(start))),
            None => Ok(()),
        }
    }

    fn nest_without_bracket(&mut self, start: usize) -> Result<()> {
        // never lowered: the scanner does not know where one ends
        self.unbracketed += 1;
        self.check_nesting(start)
    }

    fn check_nesting(&mut self, start: usize) -> Result<()> {
        self.deepest = self.deepest.max(self.open.len() + self.unbracketed);
        if self.deepest > MAX_NESTING {
            return Err(SyntaxError::too_deep(byte_at(start)));
        }
        Ok(())
    }

    fn close_bracket(&mut self, closing: u8, start: usize) -> Result<()> {
        let closed = self.open.pop();
        match (closed, closing) {
            (Some((b'(', _)), b')') | (Some((b'[', _)), b']') | (Some((b'{', _)), b'}') => Ok(()),
            _ => {
                let open = closed.map(|(open, at)| (open as char, byte_at(at)));
                Err(SyntaxError::unmatched(
                    closing as char,
                    open,
                    byte_at(start),
                ))
            }
        }
    }

    /// Whether `word` is at `start` and is not a part of a longer name.
    fn has_word_at(&self, start: usize, word: &str) -> bool {
        let bytes = self.text.as_bytes();
        bytes[start..].starts_with(word.as_bytes())
            && !bytes[..start].last().is_some_and(is_in_name)
            && !bytes.get(start + word.len()).is_some_and(is_in_name)
    }
}

/// The length of the comment at the start of a text.
pub(super) fn comment_length(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

/// The length of the string at the start of a text, without a prefix. One that is never closed ends
/// with its line; the grammar reports it.
pub(super) fn string_length(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let is_triple = text.starts_with(&triple);
    let end = if is_triple { &triple } else { quote };
    let mut length = end.len();
    loop {
        let rest = text.get(length..).unwrap_or_default();
        let Some(first) = rest.chars().next() else {
            return text.len();
        };
        if rest.starts_with(end) {
            return length + end.len();
        }
        if matches!(first, '\n' | '\r') && !is_triple {
            return length;
        }
        let mut characters = rest.chars();
        length += match first {
            // the two characters are one line end, which the backslash escapes
            '\\' if rest.starts_with("\\\r\n") => 3,
            '\\' => 1 + characters.nth(1).map_or(0, char::len_utf8),
            _ => first.len_utf8(),
        };
    }
}

/// Whether the byte can be a part of a name.
fn is_in_name(byte: &u8) -> bool {
    // a character beyond ASCII may be a letter, with which `lambda` is a part of a longer name
    byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii()
}

impl Scanner<'_> {
    /// Skips the blanks that `eval` strips before the tokenizer looks for an indentation.
    fn skip_leading_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t')) {
            self.position += 1;
        }
    }

    /// Skips to the first token of a line, if it has one.
    fn begin_line(&mut self) -> Result<()> {
        let start = self.position;
        let mut indented = self.skip_indentation();
        let is_continued = self.byte() == Some(b'\\');
        if is_continued {
            let rest_indented = self.skip_continuations()?;
            indented = match self.python.indentation_of_continued_lines() {
                ContinuedIndentation::First => indented,
                ContinuedIndentation::None => false,
                ContinuedIndentation::Any => indented || rest_indented,
            };
        }
        let is_blank = matches!(self.byte(), Some(b'#' | b'\n' | b'\r'));
        let is_skipped = is_blank && !(is_continued && self.python.keeps_blank_continued_lines());
        let span = Span::new(start, self.position);
        match self.byte() {
            _ if is_skipped => Ok(()),
            // without a line end after it, a line of blanks counts as indented
            _ if indented => Err(SyntaxError::line("the line is indented", span)),
            None => Ok(()),
            Some(_) if is_blank && self.has_begun => Ok(()),
            Some(_) if is_blank => Err(SyntaxError::unexpected(
                "a formula after `\\`",
                "a line without one",
                span,
            )),
            Some(_) if self.has_begun => Err(SyntaxError::line(
                "the formula continues after the end of its line",
                Span::new(self.position, self.text.len()),
            )),
            Some(_) => {
                self.has_begun = true;
                Ok(())
            }
        }
    }

    /// Skips blanks and returns whether they indent the line. A form feed ends the indentation
    /// before it.
    fn skip_indentation(&mut self) -> bool {
        let mut indented = false;
        while let Some(byte @ (b' ' | b'\t' | b'\x0c')) = self.byte() {
            indented = byte != b'\x0c';
            self.position += 1;
        }
        indented
    }

    /// Skips the backslashes that continue the line, and returns whether there is an indentation
    /// after any of them.
    fn skip_continuations(&mut self) -> Result<bool> {
        let mut indented = false;
        while self.byte() == Some(b'\\') {
            let start = self.position;
            self.position += 1;
            self.continuation(start)?;
            indented |= self.skip_indentation();
        }
        Ok(indented)
    }

    /// Skips the line end after a backslash; since Python 3.8 another line must follow.
    fn continuation(&mut self, start: usize) -> Result<()> {
        self.position += match &self.text.as_bytes()[self.position..] {
            [b'\r', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            _ => return Ok(()),
        };
        if self.position < self.text.len() || self.python < PythonVersion::V3_8 {
            return Ok(());
        }
        Err(SyntaxError::unexpected(
            "another line after `\\`",
            "the end of the formula",
            byte_at(start),
        ))
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }
}
