//! The syntax of formulas. Text enters; a syntax tree with spans leaves. No other module uses the
//! grammar.
//!
//! [`parse`] makes an [`Expr`], whose `Display` writes the text back, or a [`SyntaxError`]. Names
//! are not resolved here. Python that is not arithmetic becomes [`ExprKind::Unsupported`], whether
//! or not CPython accepts it; operators and units of other languages become errors with a fix.
//!
//! The raw text is checked here, before it is parsed: its length, the nesting of its brackets and
//! its lines. The limits are the crate's own and the same on every thread, target and profile. Lines
//! are those of CPython's tokenizer: outside brackets a formula is one line without indentation;
//! other lines may contain only blanks and comments.

mod ast;
mod error;
mod parser;

use crate::diagnostic::{Span, floor_char_boundary};
use crate::python::{ContinuedIndentation, PythonVersion};
use error::Result;

pub(crate) use ast::with_comments;
pub use ast::{Construct, Expr, ExprId, ExprKind, Keyword, LiteralKind, Node};
pub use error::{MAX_LENGTH, MAX_NESTING, SyntaxError, SyntaxErrorKind};
pub(super) use parser::TemplatePlace;

/// Parses the text of a formula as the default version of Python does.
///
/// # Errors
/// A [`SyntaxError`] if CPython's `eval` refuses the text, or if it exceeds [`MAX_LENGTH`] or
/// [`MAX_NESTING`]. A text with a construct that is not arithmetic may be refused by CPython and
/// not here.
pub fn parse(text: &str) -> Result<Expr> {
    parse_for(text, MAX_LENGTH, PythonVersion::default())
}

/// Parses as a version of Python does, with another limit on the length: OpenPBS accepts longer
/// texts than this crate.
///
/// # Errors
/// As for [`parse`].
pub fn parse_for(text: &str, max_length: usize, python: PythonVersion) -> Result<Expr> {
    build(text, max_length, python, false).map(|(expr, _)| expr)
}

/// Parses the text of a formula with constants that are to be found, as the default version of
/// Python reads the rest. Each constant is a name in the tree; its places are returned too.
///
/// # Errors
/// As for [`parse`].
pub(super) fn parse_template(text: &str) -> Result<(Expr, Vec<TemplatePlace>)> {
    build(text, MAX_LENGTH, PythonVersion::default(), true)
}

fn build(
    text: &str,
    max_length: usize,
    python: PythonVersion,
    is_template: bool,
) -> Result<(Expr, Vec<TemplatePlace>)> {
    let nesting = scan(text, max_length, python)?;
    // `None` if a limit of pest is reached
    let build = || parser::parse(text, python, is_template);
    if nesting <= NESTING_ON_ANY_STACK
        && let Some(result) = build()
    {
        return result;
    }
    if let Some(Some(result)) = with_deep_stack(build) {
        return result;
    }
    Err(SyntaxError::no_stack(Span::new(0, text.len())))
}

/// Whether Python reads the name of a resource as one name: those of OpenPBS may contain `-` too,
/// or be keywords.
pub fn is_identifier(name: &str) -> bool {
    match parse(name) {
        Ok(expr) => expr.node(expr.root()).name() == Some(name),
        Err(_) => false,
    }
}

/// The greatest nesting that can be parsed on the stack of any thread, of 256 KiB. Without
/// optimization, a level takes several times as much.
const NESTING_ON_ANY_STACK: usize = if cfg!(debug_assertions) { 8 } else { 24 };

/// The size of a stack, in bytes, on which [`MAX_NESTING`] levels can be parsed in an unoptimized
/// build.
const DEEP_STACK: usize = 64 << 20;

/// Checks the raw text, of which `max_length` bytes are allowed; returns its deepest nesting.
fn scan(text: &str, max_length: usize, python: PythonVersion) -> Result<usize> {
    if text.len() > max_length {
        return Err(too_long(text, max_length));
    }
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

/// The error of a text of more than `max_length` bytes, at the first character beyond them, or at
/// the end.
fn too_long(text: &str, max_length: usize) -> SyntaxError {
    let end = floor_char_boundary(text, max_length);
    SyntaxError::too_long(Span::new(end, end))
}

/// The span of one byte.
fn byte_at(at: usize) -> Span {
    Span::new(at, at + 1)
}

/// Runs `work` on a thread with a stack for [`MAX_NESTING`] levels; `None` if the system cannot
/// start one. WebAssembly has no threads: there, the module is linked with such a stack.
fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if cfg!(target_family = "wasm") {
        return Some(work());
    }
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(DEEP_STACK)
            .spawn_scoped(scope, work)
            .ok()?
            .join()
            .ok()
    })
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
                b'(' | b'[' | b'{' => self.open_bracket(byte, start)?,
                b')' | b']' | b'}' => self.close_bracket(byte, start)?,
                b'\'' | b'"' => self.position = start + string_length(&self.text[start..]),
                b'#' => self.position = start + comment_length(&self.text[start..]),
                b'\\' => self.continuation(start)?,
                b'\n' | b'\r' if self.open.is_empty() => self.begin_line()?,
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

    fn open_bracket(&mut self, bracket: u8, start: usize) -> Result<()> {
        self.open.push((bracket, start));
        self.check_nesting(start)
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
fn comment_length(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

/// The length of the string at the start of a text, without a prefix. One that is never closed ends
/// with its line; the grammar reports it.
fn string_length(text: &str) -> usize {
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
            '\\' if rest.starts_with("\\\r\n") => 3,
            '\\' => 1 + characters.nth(1).map_or(0, char::len_utf8),
            _ => first.len_utf8(),
        };
    }
}

/// Whether the byte can be a part of a name.
fn is_in_name(byte: &u8) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Applicability, Code};

    fn printed(text: &str) -> String {
        match parse(text) {
            Ok(expr) => expr.to_string(),
            Err(error) => format!("{}..{}: {error}", error.span().start, error.span().end),
        }
    }

    #[test]
    fn keyword_names_are_not_names_of_the_formula() {
        let formula = crate::Formula::parse("max(ncpus, mem, key=abs, default=walltime)").unwrap();
        assert_eq!(formula.names(), ["max", "ncpus", "mem", "abs", "walltime"]);
    }

    #[test]
    fn a_number_that_is_a_float_only_before_else_is_printed_as_a_float() {
        assert_eq!(printed("1 if x < 0_4else 2"), "1 if x < 0_4.0 else 2");
    }

    #[test]
    fn printing_restores_the_text() {
        for text in [
            "pow(2, -(fairshare_tree_usage / fairshare_perc))",
            "1 + 2 * 3 - -4 // ~5**-6",
            "a if b else c if d else e",
            "a or b and not c == d < e",
            "max(1, 2, key=abs, default=0)",
            "(1,)",
            "1, 2",
            "[1, 2, (3 + 4)]",
            "0x1f + 1_000.5e-3 + .5 + 5.",
            "not (a in (1, 2) and b not in [3])",
        ] {
            assert_eq!(printed(text), text);
        }
    }

    #[test]
    fn the_fix_of_a_unit_is_the_number() {
        for (text, code, written, number, safe) in [
            ("mem > 4gb", "JSF614", "4gb", "4194304", true),
            ("1.5 GB + 1", "JSF614", "1.5 GB", "1572864", true),
            ("100b", "JSF614", "100b", "1", false),
            ("walltime > 01:00:00", "JSF614", "01:00:00", "3600", true),
            ("1:30", "JSF614", "1:30", "90", true),
            ("(24h) * 2", "JSF614", "24h", "86400", false),
            ("10% * ncpus", "JSF611", "10%", "0.1", false),
            ("5 * (12.5 %)", "JSF611", "12.5 %", "0.125", false),
        ] {
            let found = parse(text).unwrap_err().diagnostic();
            let fix = found
                .fix
                .unwrap_or_else(|| panic!("{text}: {}", found.message));
            assert_eq!(
                (found.code.name(), found.span.slice(text), &*fix.replacement),
                (code, written, number)
            );
            assert_eq!(fix.applicability == Applicability::Safe, safe, "{text}");
        }
        for plain in [
            "4x", "1 +", "ncpus %", "4 ncpus", "1:", ":", "%", "é:00", "1:00:",
        ] {
            assert!(
                parse(plain).unwrap_err().diagnostic().code == Code::InvalidSyntax,
                "{plain}"
            );
        }
    }

    #[test]
    fn the_formulas_of_real_sites_are_parsed() {
        for text in [
            include_str!("../../../examples/formulas/alcf.txt"),
            include_str!("../../../examples/formulas/nas.txt"),
            include_str!("../../../examples/formulas/pp718.txt"),
            include_str!("../../../examples/formulas/qut.txt"),
        ] {
            let expr = parse(text.trim()).unwrap();
            let printed = parse(&expr.to_string()).unwrap();
            assert!(
                expr.nodes()
                    .iter()
                    .map(|node| &node.kind)
                    .eq(printed.nodes().iter().map(|node| &node.kind)),
                "{text}"
            );
        }
    }

    #[test]
    fn the_limits_include_their_last_value() {
        for open in ["(", "f(", "-(", "f(1,", "not ("] {
            assert!(parse(&deep(open, MAX_NESTING)).is_ok(), "{open}");
            assert!(
                matches!(
                    parse(&deep(open, MAX_NESTING + 1)).unwrap_err().kind(),
                    SyntaxErrorKind::TooDeep
                ),
                "{open}"
            );
        }
        assert!(parse(&deep("f(", MAX_NESTING).replace('1', "f()")).is_err());
        for long in [
            "1+".repeat(MAX_LENGTH / 2 - 1) + "1",
            "-".repeat(5000) + "x",
            "x**".repeat(5000) + "x",
        ] {
            assert!(parse(&long).is_ok());
        }
    }

    fn deep(open: &str, levels: usize) -> String {
        format!("{}1{}", open.repeat(levels), ")".repeat(levels))
    }
}
