//! What Python reads in a string: its prefixes, its escapes, and the expressions in an `f"…"`.

use std::sync::Arc;

use crate::formula::syntax::{Construct, Expr, NodeKind};
use crate::pbs::script_text::{BrokenScriptKind, ScriptText};

mod format;

/// The meaning of one string, or of several side by side.
#[derive(Debug, Clone)]
pub(super) enum Text {
    /// Text that is known.
    Plain(String),
    /// Text of which no more is known than that there is some.
    Unspoken,
    /// `b"…"`
    Bytes {
        /// Whether there are none.
        is_empty: bool,
    },
    /// `f"…"`
    Formatted(Vec<Piece>),
}

/// A part of an `f"…"`.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// What stands there as it is.
    Plain(String),
    /// `{expression}`
    Field {
        /// What is computed.
        expr: Arc<Expr>,
        /// Whether it is printed in another way than `str` does.
        is_converted: bool,
        /// The format behind `:`, which may compute something too.
        format: Vec<Piece>,
    },
}

/// Why there is no meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is a syntax error.
    Broken,
    /// It cannot be told.
    Unknown,
}

/// A string as it is written.
struct Literal<'t> {
    raw: bool,
    bytes: bool,
    format: bool,
    body: &'t str,
}

/// Reads strings that stand side by side.
pub(super) fn read(text: &str) -> Result<Text, Unreadable> {
    let literals = literals(text);
    let bytes = literals.iter().filter(|literal| literal.bytes).count();
    if bytes > 0 && bytes < literals.len() {
        return Err(Unreadable::Broken);
    }
    let mut whole = Text::Plain(String::new());
    let mut doubt = None;
    for literal in &literals {
        match literal.read() {
            Ok(part) => whole = joined(whole, part),
            Err(Unreadable::Broken) => return Err(Unreadable::Broken),
            Err(Unreadable::Unknown) => doubt = Some(Unreadable::Unknown),
        }
    }
    doubt.map_or(Ok(whole), Err)
}

/// Checks every string in a formula. What a `:=` in a string means to the lambdas and comprehensions around it, and to
/// those in the string, is not followed.
pub(super) fn check(expr: &Expr) -> Result<(), Unreadable> {
    check_in(expr, false)
}

/// The same where a lambda or a comprehension may stand around it.
fn check_in(expr: &Expr, is_inside: bool) -> Result<(), Unreadable> {
    let is_inside = is_inside || expr.scopes().next().is_some();
    let mut doubt = Ok(());
    for node in expr.nodes() {
        let NodeKind::Foreign { construct: Construct::String, .. } = node.kind else { continue };
        let checked = match read(node.span.of(expr.text())) {
            Ok(Text::Formatted(pieces)) => check_pieces(&pieces, is_inside),
            other => other.map(drop),
        };
        match checked {
            Err(Unreadable::Broken) => return Err(Unreadable::Broken),
            Err(Unreadable::Unknown) => doubt = Err(Unreadable::Unknown),
            Ok(()) => {}
        }
    }
    doubt
}

fn check_pieces(pieces: &[Piece], is_inside: bool) -> Result<(), Unreadable> {
    let mut doubt = Ok(());
    for piece in pieces {
        let Piece::Field { expr, format, .. } = piece else { continue };
        let assigns = expr
            .nodes()
            .iter()
            .any(|node| matches!(node.kind, NodeKind::Foreign { construct: Construct::AssignmentExpression, .. }));
        if assigns && (is_inside || expr.scopes().next().is_some()) {
            doubt = Err(Unreadable::Unknown);
        }
        check_in(expr, is_inside)?;
        check_pieces(format, is_inside)?;
    }
    doubt
}

fn joined(whole: Text, part: Text) -> Text {
    match (whole, part) {
        (Text::Plain(mut whole), Text::Plain(part)) => {
            whole.push_str(&part);
            Text::Plain(whole)
        }
        (Text::Plain(whole), part @ (Text::Bytes { .. } | Text::Unspoken)) if whole.is_empty() => part,
        (Text::Bytes { is_empty }, Text::Bytes { is_empty: other }) => Text::Bytes { is_empty: is_empty && other },
        (Text::Formatted(mut pieces), part) => {
            pieces.extend(pieces_of(part));
            Text::Formatted(pieces)
        }
        (whole, Text::Formatted(part)) => {
            let mut pieces = pieces_of(whole);
            pieces.extend(part);
            Text::Formatted(pieces)
        }
        _ => Text::Unspoken,
    }
}

fn pieces_of(text: Text) -> Vec<Piece> {
    match text {
        Text::Plain(text) => vec![Piece::Plain(text)],
        Text::Formatted(pieces) => pieces,
        Text::Unspoken | Text::Bytes { .. } => Vec::new(),
    }
}

/// Splits strings that stand side by side; the grammar has made sure that they are some.
fn literals(text: &str) -> Vec<Literal<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['"', '\'']) {
        // a comment between two strings may hold quotes
        let gap = &rest[..start];
        if let Some(comment) = gap.find('#') {
            let Some(end) = rest[comment..].find(['\n', '\r']) else { break };
            rest = &rest[comment + end..];
            continue;
        }
        let prefix = gap.trim_start_matches(|letter: char| !letter.is_ascii_alphabetic()).to_ascii_lowercase();
        let quote = &rest[start..=start];
        let triple = quote.repeat(3);
        let quote = if rest[start..].starts_with(&triple) { triple.as_str() } else { quote };
        let body = &rest[start + quote.len()..];
        let end = end_of(body, quote);
        let (raw, bytes, format) = (prefix.contains('r'), prefix.contains('b'), prefix.contains('f'));
        found.push(Literal { raw, bytes, format, body: &body[..end] });
        rest = body.get(end + quote.len()..).unwrap_or("");
    }
    found
}

/// Where the quote stands that ends the string.
fn end_of(body: &str, quote: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = body.get(at..) {
        match rest.chars().next() {
            None => break,
            Some('\\') => at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            Some(_) if rest.starts_with(quote) => return at,
            Some(other) => at += other.len_utf8(),
        }
    }
    body.len()
}

impl Literal<'_> {
    fn read(&self) -> Result<Text, Unreadable> {
        if self.format {
            return format::pieces(self.body, self.raw).map(Text::Formatted);
        }
        if self.bytes {
            let fits = self.body.is_ascii() && (self.raw || has_whole_escapes(self.body));
            let text = Text::Bytes { is_empty: self.body.is_empty() };
            return if fits { Ok(text) } else { Err(Unreadable::Broken) };
        }
        if self.raw { Ok(Text::Plain(self.body.to_owned())) } else { resolved(self.body) }
    }
}

/// Resolves the escapes of a string that is not raw.
fn resolved(body: &str) -> Result<Text, Unreadable> {
    if body.contains(['\n', '\r']) && body.contains('\\') {
        return Err(Unreadable::Unknown);
    }
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let (mut text, mut rest, mut is_spoken) = (String::new(), body.as_str(), true);
    loop {
        let broken = match ScriptText::between(rest, '\0') {
            Ok(script) => {
                text.push_str(script.text());
                return Ok(if is_spoken { Text::Plain(text) } else { Text::Unspoken });
            }
            Err(broken) => broken,
        };
        rest = &rest[broken.span.end as usize..];
        match broken.kind {
            BrokenScriptKind::HalfCharacter => is_spoken = false,
            BrokenScriptKind::NamedCharacter if rest.starts_with('{') => return Err(Unreadable::Unknown),
            _ => return Err(Unreadable::Broken),
        }
    }
}

/// In bytes `\x` alone can be broken.
fn has_whole_escapes(body: &str) -> bool {
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at + 1..];
        if let Some(digits) = escape.strip_prefix('x')
            && digits.bytes().take(2).filter(u8::is_ascii_hexdigit).count() < 2
        {
            return false;
        }
        rest = escape.get(1..).unwrap_or("");
    }
    true
}
