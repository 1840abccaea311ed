//! Where a formula's line begins and ends, as CPython's tokenizer has it: outside brackets a formula is one line,
//! which is not indented; around it may stand lines of nothing but blanks and comments.

use crate::diagnostic::Span;
use crate::formula::syntax::limits::Scanner;
use crate::formula::syntax::{SyntaxError, SyntaxErrorKind};

impl Scanner<'_> {
    /// `eval` takes these off before anyone looks for an indentation.
    pub(super) fn skip_first_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Goes to the first token of a line, if it has one.
    pub(super) fn line(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let indented = self.indentation()?;
        let span = Span::new(start, self.at);
        match self.byte() {
            Some(b'#' | b'\n' | b'\r') => Ok(()),
            // A last line of blanks counts as indented too: nothing ends it.
            _ if indented => Err(SyntaxError::new(SyntaxErrorKind::Indented, span)),
            None => Ok(()),
            Some(_) if self.begun => {
                Err(SyntaxError::new(SyntaxErrorKind::SecondLine, Span::new(self.at, self.text.len())))
            }
            Some(_) => {
                self.begun = true;
                Ok(())
            }
        }
    }

    /// Whether blanks move the line from the margin. A form feed goes back to it, and of a line that is continued
    /// within its indentation the first indented part counts.
    fn indentation(&mut self) -> Result<bool, SyntaxError> {
        let (mut indented, mut continued) = (false, false);
        while let Some(byte) = self.byte() {
            let start = self.at;
            match byte {
                b' ' | b'\t' => indented = true,
                b'\x0c' => indented = false,
                b'\\' => continued |= indented,
                _ => break,
            }
            self.at += 1;
            if byte == b'\\' {
                self.continuation(start)?;
            }
        }
        Ok(indented || continued)
    }

    /// Goes behind the line end that follows a backslash; there has to be something more.
    pub(super) fn continuation(&mut self, start: usize) -> Result<(), SyntaxError> {
        self.at += match self.text.get(self.at..).unwrap_or_default() {
            [b'\r', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            _ => return Ok(()),
        };
        if self.at < self.text.len() {
            return Ok(());
        }
        let (expected, found) = ("another line behind `\\`", "the end of the formula".into());
        Err(SyntaxError::new(SyntaxErrorKind::Unexpected { expected, found }, Span::new(start, start + 1)))
    }

    fn byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
}
