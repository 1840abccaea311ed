//! Strings: their prefixes and escapes, so that what Python refuses is refused. They are never evaluated.
//!
//! Not looked into: the expressions in an f-string, and the names of characters in `\\N{…}`.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::grammar::Rule;
use crate::formula::syntax::tree::{Builder, Result, span_of};
use crate::formula::syntax::{Construct, NodeId, SyntaxError, SyntaxErrorKind};

impl Builder {
    /// One string, or several side by side.
    pub(super) fn strings(&mut self, pair: Pair<'_, Rule>, span: Span) -> Result<NodeId> {
        let mut bytes = None;
        for string in pair.into_inner() {
            let error = |what| Err(SyntaxError::new(SyntaxErrorKind::String(what), span_of(&string)));
            let text = string.as_str();
            let prefix = text.split(['"', '\'']).next().unwrap_or_default();
            let is = |letter: char| prefix.contains([letter, letter.to_ascii_uppercase()]);
            if bytes.is_some_and(|bytes| bytes != is('b')) {
                return error("strings and bytes stand side by side");
            }
            bytes = Some(is('b'));
            if is('b') && !text.is_ascii() {
                return error("bytes are written in ASCII");
            }
            if !is('r') && !escapes_are_whole(text, is('b')) {
                return error("an escape in the string lacks digits");
            }
        }
        Ok(self.foreign(Construct::String, span, Vec::new()))
    }
}

/// Whether every `\\x`, `\\u` and `\\U` has its digits.
fn escapes_are_whole(text: &str, bytes: bool) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let mut escape = rest[at + 1..].chars();
        let count = match escape.next() {
            Some('x') => 2,
            Some('u') if !bytes => 4,
            Some('U') if !bytes => 8,
            _ => 0,
        };
        let digits = escape.as_str().get(..count).unwrap_or_default();
        let beyond = count == 8 && u32::from_str_radix(digits, 16).is_ok_and(|code| code > 0x10_ffff);
        if digits.len() < count || beyond || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return false;
        }
        rest = escape.as_str();
    }
    true
}
