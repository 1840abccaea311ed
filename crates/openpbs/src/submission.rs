//! A formula on its way into the scheduler: what Python reads of it.
//!
//! The scheduler writes the formula between double quotes into a Python script, `eval("…", …)`.
//! Python therefore reads it as a string literal first ([`PythonStringLiteral`]) and decodes its
//! escapes (`1\t+2` becomes `1`, a tab, `+2`); a quote in the formula ends the literal.
//! [`FormulaSubmission`] has the parsed [`Formula`] or a [`Refusal`], and takes findings back to the
//! submitted text.
//!
//! Sources: category `string` in `tests/golden/openpbs/evaluate/extra.jsonl`, and CPython 3.11, which
//! the tests in `tests/referee` ask the same.

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Span};
use job_sort_formula::formula::syntax::SyntaxErrorKind;
use jsf_words::counted;
use thiserror::Error;

/// The text of a formula, and the result of parsing it.
#[derive(Debug, Clone)]
pub struct FormulaSubmission {
    text: String,
    /// What follows the first line, which OpenPBS leaves out.
    below: String,
    literal: Option<PythonStringLiteral>,
    formula: Result<Formula, Refusal>,
}

/// Why a text is not a formula.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The finding, with its span in the submitted text.
    pub finding: Box<Diagnostic>,
    /// Whether Python refuses the text too, and not this crate alone.
    pub is_of_python: bool,
}

impl FormulaSubmission {
    /// Reads the text as OpenPBS does: its first line, as a Python string literal, and then as an
    /// expression.
    ///
    /// ```
    /// use jsf_openpbs::submission::FormulaSubmission;
    ///
    /// assert!(FormulaSubmission::to_openpbs(r"ncpus\t* 2").formula().is_ok());
    /// // the server puts the formula between quotes, and the first `"` ends them
    /// let refusal = FormulaSubmission::to_openpbs("float(\"2\")").formula().unwrap_err().clone();
    /// assert_eq!(refusal.finding.code, "JSF106");
    /// ```
    pub fn to_openpbs(text: &str) -> Self {
        let (literal, formula) = match PythonStringLiteral::parse(text) {
            Ok(literal) => {
                let formula = parsed(literal.text(), Some(&literal));
                (Some(literal), formula)
            }
            Err(error) => {
                let refusal = Refusal {
                    finding: Box::new(literal_finding(&error, text)),
                    // Python knows the names of characters
                    is_of_python: error.kind != InvalidLiteralKind::NamedCharacter,
                };
                (None, Err(refusal))
            }
        };
        let below = text.split_once('\n').map_or("", |(_, below)| below);
        Self {
            text: text.to_owned(),
            below: below.to_owned(),
            literal,
            formula,
        }
    }

    /// Reads the text as an expression, without OpenPBS's string literal.
    pub fn as_expression(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            below: String::new(),
            literal: None,
            formula: parsed(text, None),
        }
    }

    /// The submitted text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The formula, or why the text is not one.
    pub fn formula(&self) -> Result<&Formula, &Refusal> {
        self.formula.as_ref()
    }

    /// The string literal that Python reads before the formula in it, if the text is to be read as
    /// one.
    pub fn literal(&self) -> Option<&PythonStringLiteral> {
        self.literal.as_ref()
    }

    /// The same submission, with the lines that the source has below the text.
    #[must_use]
    pub fn followed_by(self, below: &str) -> Self {
        Self {
            below: below.to_owned(),
            ..self
        }
    }

    /// Whether the source has text only below its first line, which is empty.
    pub(crate) fn is_below_empty_line(&self) -> bool {
        self.text.is_empty() && !self.below.trim().is_empty()
    }

    /// A finding if the source has more than comments below the first line: OpenPBS silently leaves
    /// it out.
    pub fn lines_left_out(&self) -> Option<Diagnostic> {
        let left_out = self.below.lines().filter(|line| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with('#')
        });
        let lines = match left_out.count() {
            0 => return None,
            count => counted(count, "line below it is", "lines below it are"),
        };
        let end = self.text.split('\n').next().unwrap_or("").trim_end().len();
        let message = format!("PBS keeps only the first line: {lines} left out");
        Some(
            Diagnostic::new(Code::LinesLeftOut, message, Span::new(end, end)).with_help(
                "write the whole formula on the first line; begin notes below it with `#`",
            ),
        )
    }

    /// Maps the spans of findings on the formula to the submitted text.
    pub fn in_source(&self, findings: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
        let findings = findings.into_iter();
        findings
            .map(|found| mapped(found, self.literal.as_ref()))
            .collect()
    }
}

/// The formula in a text, which may be that of a string literal.
fn parsed(text: &str, literal: Option<&PythonStringLiteral>) -> Result<Formula, Refusal> {
    use SyntaxErrorKind::{NoStack, TooLong};

    Formula::parse(text).map_err(|error| Refusal {
        finding: Box::new(mapped(error.diagnostic(), literal)),
        // these are limits of this crate
        is_of_python: !matches!(error.kind(), TooLong | NoStack),
    })
}

fn mapped(mut finding: Diagnostic, literal: Option<&PythonStringLiteral>) -> Diagnostic {
    if let Some(literal) = literal {
        finding.span = literal.in_source(finding.span);
        for label in &mut finding.labels {
            label.span = literal.in_source(label.span);
        }
        if let Some(fix) = &mut finding.fix {
            fix.span = literal.in_source(fix.span);
        }
    }
    finding
}

fn literal_finding(error: &InvalidLiteral, text: &str) -> Diagnostic {
    let help = if error.keeps_stale_values() {
        "the scheduler does not detect the error: every job gets the last value that the previous formula had; \
         if it is the first formula after the scheduler's start, the scheduler crashes"
    } else {
        "write the character instead of its escape"
    };
    let found = Diagnostic::new(Code::BreaksScript, error.to_string(), error.span).with_help(help);
    match in_quotes(text) {
        Some(formula) => found
            .with_label("the quotes of a shell command are not part of the formula")
            .with_fix(Span::new(0, text.len()), formula, Applicability::Unsafe),
        None => found,
    }
}

/// The formula in a text that was copied with the double quotes around it.
fn in_quotes(text: &str) -> Option<&str> {
    let formula = text.trim().strip_prefix('"')?.strip_suffix('"')?;
    (!formula.contains('"') && Formula::parse(formula).is_ok()).then_some(formula)
}

/// The text that Python evaluates, with the mapping of its spans to the submitted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonStringLiteral {
    pub(crate) text: String,
    /// For each byte of the text, and for its end, the byte of the submitted text.
    places: Vec<u32>,
}

/// Why Python cannot evaluate the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct InvalidLiteral {
    /// What is wrong.
    pub kind: InvalidLiteralKind,
    /// Where in the submitted text.
    pub span: Span,
}

/// What makes the script or the text in it invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidLiteralKind {
    /// A double quote, which ends the literal.
    #[error("`\"` ends the string in which the scheduler passes the formula to Python")]
    Quote,
    /// A backslash at the end, which escapes the closing quote.
    #[error("`\\` at the end escapes the quote that ends the formula's string in Python")]
    TrailingBackslash,
    /// `\x`, `\u` or `\U` with too few digits, or beyond the last code point.
    #[error("Python cannot decode this escape")]
    Escape,
    /// A carriage return, which Python reads as the end of the line.
    #[error("a carriage return ends the line for Python")]
    CarriageReturn,
    /// `\N{…}`, a character by its Unicode name. This crate has no table of the names.
    #[error("`\\N` denotes a character by its Unicode name, which is not supported here")]
    NamedCharacter,
    /// A surrogate such as `\ud800`, which Python decodes but cannot evaluate.
    #[error("the escape denotes a surrogate, which Python cannot evaluate")]
    Surrogate,
}

impl InvalidLiteral {
    /// Whether the scheduler does not notice the error, so that every job keeps the value that the
    /// previous formula gave the previous job. Otherwise every job has an error and the value 0, or
    /// its value is unknown.
    fn keeps_stale_values(&self) -> bool {
        !matches!(
            self.kind,
            InvalidLiteralKind::NamedCharacter | InvalidLiteralKind::Surrogate
        )
    }
}

impl PythonStringLiteral {
    /// Decodes the first line of the submitted text, which is all that OpenPBS keeps, as Python
    /// decodes a string literal.
    ///
    /// ```
    /// use jsf_openpbs::submission::PythonStringLiteral;
    ///
    /// let literal = PythonStringLiteral::parse(r"1\x30 + \d").unwrap();
    /// assert_eq!(literal.text(), r"10 + \d");
    /// assert!(PythonStringLiteral::parse("len(\"abc\")").is_err());
    /// ```
    ///
    /// # Errors
    /// [`InvalidLiteral`]: Python cannot parse the script, or cannot evaluate the text in it.
    pub fn parse(source: &str) -> Result<Self, InvalidLiteral> {
        Self::parse_between(before_line_end(source).trim_end_matches('\r'), '"')
    }

    /// Decodes one line as Python decodes it between two of the given quotes.
    pub(crate) fn parse_between(line: &str, quote: char) -> Result<Self, InvalidLiteral> {
        let mut literal = Self {
            text: String::with_capacity(line.len()),
            places: Vec::with_capacity(line.len() + 1),
        };
        let mut start = 0;
        while let Some(written) = line[start..].chars().next() {
            let (length, character) = match written {
                '\\' => {
                    escape(&line[start..]).map_err(|(kind, length)| invalid(kind, start, length))?
                }
                '\r' => return Err(invalid(InvalidLiteralKind::CarriageReturn, start, 1)),
                _ if written == quote => return Err(invalid(InvalidLiteralKind::Quote, start, 1)),
                _ => (written.len_utf8(), written),
            };
            literal.text.push(character);
            literal.places.resize(literal.text.len(), start as u32);
            start += length;
        }
        literal.places.push(start as u32);
        Ok(literal)
    }

    /// The text that Python evaluates.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text contains no escape, so that its spans are those of the submitted text.
    pub fn is_verbatim(&self) -> bool {
        // an escape is longer than its character
        self.places.last() == Some(&(self.text.len() as u32))
    }

    /// Maps a span of [`PythonStringLiteral::text`] to the submitted text; the result covers whole
    /// escapes.
    pub fn in_source(&self, span: Span) -> Span {
        let place = |at: u32| self.places.get(at as usize).copied().unwrap_or(at);
        Span {
            start: place(span.start),
            end: place(span.end),
        }
    }
}

fn invalid(kind: InvalidLiteralKind, start: usize, length: usize) -> InvalidLiteral {
    InvalidLiteral {
        kind,
        span: Span::new(start, start + length),
    }
}

/// The part of a text that OpenPBS keeps: its first line, up to a NUL.
pub(crate) fn before_line_end(source: &str) -> &str {
    source.split(['\n', '\0']).next().unwrap_or("")
}

/// The length of an escape, and the character that it denotes. An error says what is wrong with how much of the text.
type Decoded = Result<(usize, char), (InvalidLiteralKind, usize)>;

/// Decodes the escape at the start of `text`.
fn escape(text: &str) -> Decoded {
    let Some(letter) = text[1..].chars().next() else {
        return Err((InvalidLiteralKind::TrailingBackslash, 1));
    };
    let character = match letter {
        '\\' | '\'' | '"' => letter,
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '0'..='7' => return number(text, 1, 3, 8),
        'x' => return number(text, 2, 2, 16),
        'u' => return number(text, 2, 4, 16),
        'U' => return number(text, 2, 8, 16),
        'N' => return Err((InvalidLiteralKind::NamedCharacter, 2)),
        // the character after the backslash may end the string or the line
        _ => return Ok((1, '\\')),
    };
    Ok((2, character))
}

/// Decodes an escape by its digits: up to three octal ones, or all hexadecimal ones.
fn number(text: &str, start: usize, most: usize, radix: u32) -> Decoded {
    let digits = text[start..].chars().take(most);
    let count = digits.take_while(|digit| digit.is_digit(radix)).count();
    let end = start + count;
    if radix == 16 && count < most {
        return Err((InvalidLiteralKind::Escape, end));
    }
    let code = u32::from_str_radix(&text[start..end], radix).unwrap_or(u32::MAX);
    match char::from_u32(code) {
        Some(character) => Ok((end, character)),
        None if (0xd800..0xe000).contains(&code) => Err((InvalidLiteralKind::Surrogate, end)),
        None => Err((InvalidLiteralKind::Escape, end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        PythonStringLiteral::parse(source)
            .unwrap()
            .text()
            .to_owned()
    }

    fn kind(source: &str) -> (InvalidLiteralKind, &str) {
        let error = PythonStringLiteral::parse(source).unwrap_err();
        (error.kind, error.span.slice(source))
    }

    #[test]
    fn escapes_are_decoded_as_in_a_python_string() {
        assert_eq!(text(r"1\t+2"), "1\t+2");
        assert_eq!(text(r"\x31\u0031\U00000031\61\061"), "11111");
        assert_eq!(text(r"\0612\1234\8"), "12S4\\8");
        assert_eq!(text(r"\a\b\f\n\r\v\\\'"), "\u{7}\u{8}\u{c}\n\r\u{b}\\'");
        assert_eq!(text(r#"len(\"abc\")"#), "len(\"abc\")");
    }

    #[test]
    fn unknown_escapes_are_kept() {
        assert_eq!(text(r"0.005\*ncpus \é \d\&"), r"0.005\*ncpus \é \d\&");
        assert!(PythonStringLiteral::parse(r"\*").unwrap().is_verbatim());
    }

    #[test]
    fn only_the_first_line_is_read() {
        assert_eq!(text("  ncpus \nmem"), "  ncpus ");
        assert_eq!(text("ncpus\r\nmem"), "ncpus");
        assert_eq!(text("ncpus\0mem"), "ncpus");
        assert_eq!(text(""), "");
    }

    #[test]
    fn invalid_literals() {
        use InvalidLiteralKind as Kind;
        assert_eq!(kind("1+\"abc\""), (Kind::Quote, "\""));
        assert_eq!(kind(r"1 + \\\"), (Kind::TrailingBackslash, "\\"));
        assert_eq!(text(r"1 + \\"), r"1 + \");
        assert_eq!(kind(r"1\x3"), (Kind::Escape, r"\x3"));
        assert_eq!(kind(r"1\u00é1"), (Kind::Escape, r"\u00"));
        assert_eq!(kind(r"\U00110000"), (Kind::Escape, r"\U00110000"));
        assert_eq!(kind(r"\ud83d"), (Kind::Surrogate, r"\ud83d"));
        assert_eq!(kind(r"\N{DIGIT ONE}"), (Kind::NamedCharacter, r"\N"));
        assert_eq!(kind("1\r+2"), (Kind::CarriageReturn, "\r"));
        assert!(
            PythonStringLiteral::parse("\"")
                .unwrap_err()
                .keeps_stale_values()
        );
        assert!(
            !PythonStringLiteral::parse(r"\ud800")
                .unwrap_err()
                .keeps_stale_values()
        );
    }

    #[test]
    fn spans_map_back_to_the_source() {
        let source = r"1\t+\x6ecpus\u0031 + x";
        let literal = PythonStringLiteral::parse(source).unwrap();
        assert_eq!(literal.text(), "1\t+ncpus1 + x");
        for (part, written) in [
            ("ncpus1", r"\x6ecpus\u0031"),
            ("ncpus1 +", r"\x6ecpus\u0031 +"),
            ("cpus", "cpus"),
            ("\t", r"\t"),
            ("1\t+", r"1\t+"),
            ("x", "x"),
        ] {
            let start = literal.text().find(part).unwrap();
            assert_eq!(
                literal
                    .in_source(Span::new(start, start + part.len()))
                    .slice(source),
                written
            );
        }
        assert_eq!(
            literal.in_source(Span::new(13, 13)),
            Span::new(source.len(), source.len())
        );
        assert_eq!(literal.in_source(Span::new(0, 0)), Span::new(0, 0));
    }
}
