//! From the admin's text to the text that Python evaluates.
//!
//! The scheduler writes the formula between double quotes into a Python script, `eval("…", …)`. So Python first
//! reads a string literal and resolves its escapes (`1\t+2` becomes `1`, a tab, `+2`), and only then a formula;
//! a quote in the formula ends the literal. Recorded in `tests/golden/openpbs/evaluate`, category `string`.

use std::fmt;

use crate::diagnostic::Span;

/// The text that Python evaluates, and where each part of it stands in the admin's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonStringLiteral {
    text: String,
    /// By ascending place; between them both texts run side by side.
    escapes: Vec<Resolved>,
}

/// An escape and what it became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Resolved {
    source: Span,
    result: Span,
}

/// Why Python never comes to evaluate the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidLiteral {
    /// What is wrong.
    pub kind: InvalidLiteralKind,
    /// Where in the admin's text.
    pub span: Span,
}

/// What breaks the script, or the text in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidLiteralKind {
    /// A double quote, which ends the string around the formula.
    Quote,
    /// A backslash at the end, which takes the closing quote's meaning away.
    TrailingBackslash,
    /// `\x`, `\u` or `\U` without its digits, or beyond the last character.
    Escape,
    /// A carriage return, which Python reads as the end of the line.
    CarriageReturn,
    /// `\N{…}`, a character by its name: those names are not known here.
    NamedCharacter,
    /// `\ud800` and its kin: half a character. Python reads it and then cannot evaluate it.
    HalfCharacter,
}

impl InvalidLiteral {
    /// Whether the scheduler notices nothing, so that every job keeps the value that the formula before gave the
    /// job before. Else each job has an error and the value 0, or it is not known here what it has.
    pub fn keeps_stale_values(&self) -> bool {
        !matches!(self.kind, InvalidLiteralKind::NamedCharacter | InvalidLiteralKind::HalfCharacter)
    }
}

impl fmt::Display for InvalidLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            InvalidLiteralKind::Quote => "`\"` ends the string in which the scheduler hands the formula to Python",
            InvalidLiteralKind::TrailingBackslash => "`\\` at the end hides the quote behind the formula from Python",
            InvalidLiteralKind::Escape => "the escape is none that Python can read",
            InvalidLiteralKind::CarriageReturn => "a carriage return ends the line for Python",
            InvalidLiteralKind::NamedCharacter => "`\\N` stands for a character by its name, which is not known here",
            InvalidLiteralKind::HalfCharacter => "the escape stands for half a character, which Python cannot evaluate",
        })
    }
}

impl std::error::Error for InvalidLiteral {}

impl PythonStringLiteral {
    /// Reads the first line of the admin's text, which is all that OpenPBS keeps, as Python reads a string.
    ///
    /// ```
    /// use job_sort_formula::pbs::python_string_literal::PythonStringLiteral;
    ///
    /// let script = PythonStringLiteral::parse(r"1\x30 + \d").unwrap();
    /// assert_eq!(script.text(), r"10 + \d");
    /// assert!(PythonStringLiteral::parse("len(\"abc\")").is_err());
    /// ```
    ///
    /// # Errors
    /// A [`InvalidLiteral`] when Python cannot read the script, or not evaluate the text in it.
    pub fn parse(source: &str) -> Result<Self, InvalidLiteral> {
        Self::parse_between(first_line(source), '"')
    }

    /// Reads a text of one line as Python reads it between two such quotes.
    pub(super) fn parse_between(line: &str, quote: char) -> Result<Self, InvalidLiteral> {
        let mut script = Self { text: String::with_capacity(line.len()), escapes: Vec::new() };
        let mut at = 0;
        while let Some(found) = line[at..].find(['\\', quote, '\r']) {
            let start = at + found;
            script.text.push_str(&line[at..start]);
            at = match line.as_bytes()[start] {
                b'\\' => script.escape(line, start)?,
                byte => {
                    let is_quote = byte != b'\r';
                    let kind = if is_quote { InvalidLiteralKind::Quote } else { InvalidLiteralKind::CarriageReturn };
                    return Err(broken(kind, start, start + 1));
                }
            };
        }
        script.text.push_str(&line[at..]);
        Ok(script)
    }

    /// The text that Python evaluates.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether no escape stands in the text, so that every place in it is the same place in the admin's.
    pub fn is_verbatim(&self) -> bool {
        self.escapes.is_empty()
    }

    /// The place in the admin's text of a place in [`PythonStringLiteral::text`]; it covers an escape as a whole.
    pub fn in_source(&self, span: Span) -> Span {
        let start = self.source_place(span.start, false);
        let end = if span.end > span.start { self.source_place(span.end, true) } else { start };
        Span { start, end }
    }

    /// `is_end` says that the place is the end of a span, and so belongs to what stands before it.
    fn source_place(&self, place: u32, is_end: bool) -> u32 {
        let before =
            |escape: &Resolved| if is_end { escape.result.start < place } else { escape.result.start <= place };
        let count = self.escapes.partition_point(before);
        let Some(last) = count.checked_sub(1).and_then(|last| self.escapes.get(last)) else { return place };
        match place.checked_sub(last.result.end) {
            Some(behind) => last.source.end + behind,
            None if is_end => last.source.end,
            None => last.source.start,
        }
    }

    /// Resolves the escape that begins at `start`; gives the place behind it.
    fn escape(&mut self, line: &str, start: usize) -> Result<usize, InvalidLiteral> {
        let (length, character) = escape(&line[start..]).map_err(|kind| broken(kind, start, line.len()))?;
        let end = start + length;
        let result = self.text.len();
        match character {
            Ok(character) => self.text.push(character),
            Err(Unresolved::Kept) => {
                self.text.push_str(&line[start..end]);
                return Ok(end);
            }
            Err(Unresolved::Broken(kind)) => return Err(broken(kind, start, end)),
        }
        let (source, result) = (Span::new(start, end), Span::new(result, self.text.len()));
        self.escapes.push(Resolved { source, result });
        Ok(end)
    }
}

fn broken(kind: InvalidLiteralKind, start: usize, end: usize) -> InvalidLiteral {
    InvalidLiteral { kind, span: Span::new(start, end) }
}

/// What OpenPBS keeps of a text: its first line, and of that what stands before a NUL.
fn first_line(source: &str) -> &str {
    let line = source.split(['\n', '\0']).next().unwrap_or("");
    line.trim_end_matches('\r')
}

/// What becomes of a backslash that stands for no character.
enum Unresolved {
    /// It stays as it is, and what stands behind it too.
    Kept,
    Broken(InvalidLiteralKind),
}

/// The escape at the start of `text`: its length, and the character that it stands for. Without a character behind
/// the backslash it is the whole that is broken.
fn escape(text: &str) -> Result<(usize, Result<char, Unresolved>), InvalidLiteralKind> {
    let Some(letter) = text[1..].chars().next() else { return Err(InvalidLiteralKind::TrailingBackslash) };
    let simple = match letter {
        '\\' | '\'' | '"' => letter,
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '0'..='7' => return Ok(octal(&text[1..])),
        'x' => return Ok(hexadecimal(&text[2..], 2)),
        'u' => return Ok(hexadecimal(&text[2..], 4)),
        'U' => return Ok(hexadecimal(&text[2..], 8)),
        'N' => return Ok((2, Err(Unresolved::Broken(InvalidLiteralKind::NamedCharacter)))),
        // what stands behind the backslash may end the string or the line
        _ => return Ok((1, Err(Unresolved::Kept))),
    };
    Ok((2, Ok(simple)))
}

/// Up to three octal digits.
fn octal(digits: &str) -> (usize, Result<char, Unresolved>) {
    let count = digits.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
    let code = u32::from_str_radix(&digits[..count], 8).unwrap_or_default();
    (1 + count, character(code))
}

/// Exactly `count` digits.
fn hexadecimal(digits: &str, count: usize) -> (usize, Result<char, Unresolved>) {
    let found = digits.bytes().take(count).take_while(u8::is_ascii_hexdigit).count();
    if found < count {
        return (2 + found, Err(Unresolved::Broken(InvalidLiteralKind::Escape)));
    }
    let code = u32::from_str_radix(&digits[..count], 16).unwrap_or(u32::MAX);
    (2 + count, character(code))
}

fn character(code: u32) -> Result<char, Unresolved> {
    let is_half = (0xd800..0xe000).contains(&code);
    let kind = if is_half { InvalidLiteralKind::HalfCharacter } else { InvalidLiteralKind::Escape };
    char::from_u32(code).ok_or(Unresolved::Broken(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        PythonStringLiteral::parse(source).unwrap().text().to_owned()
    }

    fn kind(source: &str) -> (InvalidLiteralKind, &str) {
        let error = PythonStringLiteral::parse(source).unwrap_err();
        (error.kind, error.span.of(source))
    }

    #[test]
    fn escapes_are_resolved_as_in_a_python_string() {
        assert_eq!(text(r"1\t+2"), "1\t+2");
        assert_eq!(text(r"\x31\u0031\U00000031\61\061"), "11111");
        assert_eq!(text(r"\0612\1234\8"), "12S4\\8");
        assert_eq!(text(r"\a\b\f\n\r\v\\\'"), "\u{7}\u{8}\u{c}\n\r\u{b}\\'");
        assert_eq!(text(r#"len(\"abc\")"#), "len(\"abc\")");
    }

    #[test]
    fn unknown_escapes_stay() {
        assert_eq!(text(r"0.005\*ncpus \é \d\&"), r"0.005\*ncpus \é \d\&");
        assert!(PythonStringLiteral::parse(r"\*").unwrap().is_verbatim());
    }

    #[test]
    fn only_the_first_line_counts() {
        assert_eq!(text("  ncpus \nmem"), "  ncpus ");
        assert_eq!(text("ncpus\r\nmem"), "ncpus");
        assert_eq!(text("ncpus\0mem"), "ncpus");
        assert_eq!(text(""), "");
    }

    #[test]
    fn what_breaks_the_script() {
        use InvalidLiteralKind as Kind;
        assert_eq!(kind("1+\"abc\""), (Kind::Quote, "\""));
        assert_eq!(kind(r"1 + \\\"), (Kind::TrailingBackslash, "\\"));
        assert_eq!(text(r"1 + \\"), r"1 + \");
        assert_eq!(kind(r"1\x3"), (Kind::Escape, r"\x3"));
        assert_eq!(kind(r"1\u00é1"), (Kind::Escape, r"\u00"));
        assert_eq!(kind(r"\U00110000"), (Kind::Escape, r"\U00110000"));
        assert_eq!(kind(r"\ud83d"), (Kind::HalfCharacter, r"\ud83d"));
        assert_eq!(kind(r"\N{DIGIT ONE}"), (Kind::NamedCharacter, r"\N"));
        assert_eq!(kind("1\r+2"), (Kind::CarriageReturn, "\r"));
        assert!(PythonStringLiteral::parse("\"").unwrap_err().keeps_stale_values());
        assert!(!PythonStringLiteral::parse(r"\ud800").unwrap_err().keeps_stale_values());
    }

    #[test]
    fn places_lead_back_to_the_source() {
        let source = r"1\t+\x6ecpus\u0031 + x";
        let script = PythonStringLiteral::parse(source).unwrap();
        assert_eq!(script.text(), "1\t+ncpus1 + x");
        let back = |part: &str| {
            let start = script.text().find(part).unwrap();
            script.in_source(Span::new(start, start + part.len())).of(source)
        };
        assert_eq!(back("ncpus1"), r"\x6ecpus\u0031");
        assert_eq!(back("ncpus1 +"), r"\x6ecpus\u0031 +");
        assert_eq!(back("cpus"), "cpus");
        assert_eq!(back("\t"), r"\t");
        assert_eq!(back("1\t+"), r"1\t+");
        assert_eq!(back("x"), "x");
        assert_eq!(script.in_source(Span::new(13, 13)), Span::new(source.len(), source.len()));
        assert_eq!(script.in_source(Span::new(0, 0)), Span::new(0, 0));
    }
}
