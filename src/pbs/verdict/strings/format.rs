//! The inside of an `f"…"`, by the rules of Python 3.11: no backslash and no comment in an expression, and formats in
//! formats, but no deeper.

use std::sync::Arc;

use crate::formula::Formula;
use crate::formula::syntax::{Expr, SyntaxErrorKind};

use crate::pbs::verdict::may_await;
use crate::pbs::verdict::strings::{Piece, Text, Unreadable, check, resolved};

/// How deep formats may stand in formats.
const MAX_DEPTH: usize = 2;

type Result<T> = std::result::Result<T, Unreadable>;

pub(super) fn pieces(body: &str, raw: bool) -> Result<Vec<Piece>> {
    if !raw && body.contains("\\N") {
        return Err(Unreadable::Unknown);
    }
    let mut reader = Reader { rest: body, raw };
    reader.pieces(0)
}

struct Reader<'t> {
    rest: &'t str,
    raw: bool,
}

impl Reader<'_> {
    /// Reads to the end, or inside a field to the `}` that ends it.
    fn pieces(&mut self, depth: usize) -> Result<Vec<Piece>> {
        let (mut pieces, mut plain) = (Vec::new(), String::new());
        while let Some(next) = self.rest.chars().next() {
            let doubled = depth == 0 && self.rest[next.len_utf8()..].starts_with(next);
            match next {
                '{' | '}' if doubled => {
                    plain.push(next);
                    self.rest = &self.rest[2..];
                }
                '}' if depth > 0 => break,
                '}' => return Err(Unreadable::Broken),
                '{' => {
                    pieces.push(self.plain(std::mem::take(&mut plain))?);
                    self.rest = &self.rest[1..];
                    pieces.push(self.field(depth)?);
                }
                '\\' if !self.raw => {
                    let behind = self.rest[1..].chars().next().filter(|next| !matches!(next, '{' | '}'));
                    let length = 1 + behind.map_or(0, char::len_utf8);
                    plain.push_str(&self.rest[..length]);
                    self.rest = &self.rest[length..];
                }
                _ => {
                    plain.push(next);
                    self.rest = &self.rest[next.len_utf8()..];
                }
            }
        }
        pieces.push(self.plain(plain)?);
        Ok(pieces)
    }

    fn plain(&self, text: String) -> Result<Piece> {
        if self.raw {
            return Ok(Piece::Plain(text));
        }
        // a backslash before a brace stays one
        let text = if text.ends_with('\\') && !text.ends_with("\\\\") { format!("{text}\\") } else { text };
        match resolved(&text)? {
            Text::Plain(text) => Ok(Piece::Plain(text)),
            _ => Err(Unreadable::Unknown),
        }
    }

    /// Reads from behind `{` to behind `}`.
    fn field(&mut self, depth: usize) -> Result<Piece> {
        if depth >= MAX_DEPTH {
            return Err(Unreadable::Broken);
        }
        let expression = self.expression()?;
        let mut is_converted = false;
        if self.take('=') {
            is_converted = true;
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}', '\u{b}']);
        }
        if self.take('!') {
            is_converted = true;
            if !['s', 'r', 'a'].into_iter().any(|letter| self.take(letter)) {
                return Err(Unreadable::Broken);
            }
        }
        let format = if self.take(':') { self.pieces(depth + 1)? } else { Vec::new() };
        if !self.take('}') {
            return Err(Unreadable::Broken);
        }
        let expr = parsed(expression)?;
        Ok(Piece::Field { expr, is_converted, format })
    }

    fn take(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

impl<'t> Reader<'t> {
    /// Reads an expression to the `!`, `:`, `=` or `}` behind it.
    fn expression(&mut self) -> Result<&'t str> {
        let text = self.rest;
        let mut open = Vec::new();
        let mut at = 0;
        while let Some(next) = text[at..].chars().next() {
            let behind = &text[at + next.len_utf8()..];
            match next {
                '\\' | '#' => return Err(Unreadable::Broken),
                '"' | '\'' => {
                    at += string_length(&text[at..]).ok_or(Unreadable::Broken)?;
                    continue;
                }
                '(' | '[' | '{' => open.push(next),
                ')' | ']' | '}' if !open.is_empty() => {
                    let opened = open.pop();
                    if !matches!((opened, next), (Some('('), ')') | (Some('['), ']') | (Some('{'), '}')) {
                        return Err(Unreadable::Broken);
                    }
                }
                ')' | ']' => return Err(Unreadable::Broken),
                '!' | '=' | '<' | '>' if open.is_empty() && behind.starts_with('=') => at += 1,
                '!' | ':' | '=' | '}' if open.is_empty() => break,
                _ => {}
            }
            at += next.len_utf8();
        }
        let (expression, rest) = text.split_at(at.min(text.len()));
        let is_blank = expression.chars().all(|blank| matches!(blank, ' ' | '\t' | '\n' | '\r' | '\u{c}'));
        if !open.is_empty() || is_blank {
            return Err(Unreadable::Broken);
        }
        self.rest = rest;
        Ok(expression)
    }
}

/// The length of the string that begins here; none without its end.
fn string_length(text: &str) -> Option<usize> {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let quote = if text.starts_with(&triple) { triple.as_str() } else { quote };
    let end = text[quote.len()..].find(quote)?;
    Some(quote.len() + end + quote.len())
}

fn parsed(expression: &str) -> Result<Arc<Expr>> {
    match Formula::parse(&format!("({expression})")) {
        Ok(formula) => {
            let expr = Arc::new(formula.expr().clone());
            check(&expr)?;
            Ok(expr)
        }
        Err(error) => match error.kind {
            SyntaxErrorKind::TooLong | SyntaxErrorKind::NoStack | SyntaxErrorKind::TooDeep => Err(Unreadable::Unknown),
            _ if may_await(expression) => Err(Unreadable::Unknown),
            _ => Err(Unreadable::Broken),
        },
    }
}
