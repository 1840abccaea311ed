//! A formula on its way into the scheduler: how it is set, whether the server accepts it, and what
//! Python reads of it.
//!
//! `qmgr -c` takes one directive as one argument. A value may be quoted with `"` or `'`; the other
//! quote is then an ordinary character, and neither can be escaped. Every character must be
//! printable ASCII or white space (C's `isspace`); `&` is not accepted, quoted or not.
//!
//! The server does not parse the formula. It writes it into a Python script, `exec('ans=…', …)`,
//! and executes that twice: first with the value 1 for every resource, then with the numeric
//! resources only. It refuses a `SyntaxError` of the first pass and a `NameError` of either pass;
//! it ignores every other exception. So an unknown name counts only where the evaluation reaches
//! it, and statements are accepted like expressions. [`validate`] finds the text that Python
//! executes, which is evaluated in this crate's arithmetic. A formula with anything but numbers,
//! names, operators, tuples, lists and calls of the functions of numbers is not followed: its
//! answer is an [`Uncertainty`].
//!
//! The scheduler writes the formula between double quotes into a Python script, `eval("…", …)`.
//! Python therefore reads it as a string literal first ([`PythonStringLiteral`]) and decodes its
//! escapes (`1\t+2` becomes `1`, a tab, `+2`); a quote in the formula ends the literal.
//! [`FormulaSubmission`] has the parsed [`Formula`] or a [`Refusal`], and takes findings back to the
//! submitted text.
//!
//! Sources: the directives recorded in `tests/golden/openpbs/evaluate/extra.jsonl` (the records with
//! `"phase": "D_qmgr_syntax"`), category `string` there, the answers in
//! `tests/golden/openpbs/validate.jsonl`, the log of that server, and CPython 3.11, which the tests in
//! `tests/referee` ask the same.

use std::sync::Arc;

use job_sort_formula::PythonVersion;
use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Span, is_control};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::program::Program;
use job_sort_formula::formula::syntax::{Expr, ExprKind, SyntaxErrorKind, parse_for};
use job_sort_formula::python::{ErrorKind, Python, Value};
use job_sort_formula::schema::Schema;
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
    text: String,
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
    pub(super) fn parse_between(line: &str, quote: char) -> Result<Self, InvalidLiteral> {
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
fn before_line_end(source: &str) -> &str {
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

/// The object whose formula is set by default.
const SERVER: &str = "server";

/// The longest single argument that Linux passes to a command, in bytes.
const MAX_ARGUMENT_BYTES: usize = 128 * 1024 - 1;

/// The finding that a formula cannot be set with `qmgr`.
fn not_settable(
    message: impl Into<String>,
    start: usize,
    length: usize,
    help: &str,
) -> Box<Diagnostic> {
    let span = Span::new(start, start + length);
    Box::new(Diagnostic::new(Code::NotPassedOn, message, span).with_help(help))
}

/// The character in backticks; with its number if it is beyond ASCII, and escaped if it cannot be
/// seen.
fn shown(character: char) -> String {
    match character {
        _ if is_control(character) || character.is_whitespace() => {
            format!("`{}`", character.escape_default())
        }
        _ if character.is_ascii() => format!("`{character}`"),
        _ => format!("`{character}` (U+{:04X})", character as u32),
    }
}

/// Makes the command that sets the formula of an object, such as `server` or `sched NAME`, as it is
/// typed in a shell. Newlines after the formula are removed.
///
/// ```
/// use jsf_openpbs::submission::set_command_for;
///
/// assert_eq!(set_command_for("server", "ncpus * 2").unwrap(), r#"qmgr -c 'set server job_sort_formula="ncpus * 2"'"#);
/// assert!(set_command_for("server", "ncpus & 1").is_err());
/// ```
///
/// # Errors
/// The finding that says why `qmgr` cannot be given the formula: a character that it accepts in no
/// value, both kinds of quotes, a second line, or more than an argument may have.
pub fn set_command_for(object: &str, formula: &str) -> Result<String, Box<Diagnostic>> {
    let directive = set_directive(object, formula)?;
    // single quotes protect everything but single quotes
    Ok(format!("qmgr -c '{}'", directive.replace('\'', r"'\''")))
}

/// Makes the command that sets `job_sort_formula_threshold`, as it is typed in a shell: of the
/// scheduler that `before` names, the text before the formula in its document, else of the default
/// one. The attribute is a scheduler's, not the server's.
///
/// ```
/// use jsf_openpbs::submission::set_threshold_command;
///
/// assert_eq!(set_threshold_command("", 0.5), "qmgr -c 'set sched job_sort_formula_threshold = 0.5'");
/// ```
pub fn set_threshold_command(before: &str, threshold: f64) -> String {
    let scheduler = match object_named_in(before) {
        Some(object) if object.starts_with("sched") => object,
        _ => "sched".to_owned(),
    };
    format!("qmgr -c 'set {scheduler} job_sort_formula_threshold = {threshold}'")
}

/// The object that the text before a formula in its document names: `set sched NAME`, `set server
/// NAME`, or the heading `Sched NAME` of a listing; else the server.
pub fn object_or_server(before: &str) -> String {
    object_named_in(before).unwrap_or_else(|| SERVER.to_owned())
}

/// The object that the directive or the listing before a formula names.
fn object_named_in(before: &str) -> Option<String> {
    let before = before.strip_suffix(['"', '\'']).unwrap_or(before);
    let before = before.trim_end_matches(['\\', ' ', '=']);
    let (preceding_lines, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let mut words: Vec<&str> = line.split_whitespace().collect();
    for word in &mut words {
        *word = word.trim_start_matches(['"', '\'']);
    }
    match words.as_slice() {
        [
            ..,
            "set" | "s",
            object @ ("sched" | "server"),
            name,
            "job_sort_formula",
        ] if is_name(name) => Some(format!("{object} {name}")),
        // as `qmgr` prints the default scheduler: the server refuses another formula beside its own
        [.., "set" | "s", "sched", "job_sort_formula"] => Some("sched".to_owned()),
        ["job_sort_formula"] => {
            let mut above = preceding_lines.lines().rev();
            let heading = above.find(|line| line.starts_with(|c: char| !c.is_whitespace()))?;
            let name = heading.strip_prefix("Sched ")?.trim();
            if is_name(name) {
                Some(format!("sched {name}"))
            } else {
                None
            }
        }
        _ => None,
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_of_name)
}

/// Whether the name of an object or of an attribute may contain the character.
pub fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.')
}

/// Makes the directive `set OBJECT job_sort_formula=…`, not quoted for the shell.
///
/// # Errors
/// The finding that says why `qmgr` cannot be given the formula: a character that it accepts in no
/// value, both kinds of quotes, a second line, or more than an argument may have.
pub fn set_directive(object: &str, formula: &str) -> Result<String, Box<Diagnostic>> {
    let formula = formula.trim_end_matches('\n');
    if let Some(start) = formula.find('\n') {
        let message = "OpenPBS keeps only the first line of a formula";
        return Err(not_settable(message, start, 1, "write one line"));
    }
    for (start, character) in formula.char_indices() {
        if !is_accepted(character) {
            let character_shown = shown(character);
            let message =
                format!("qmgr does not accept {character_shown} in a value, quoted or not");
            let help = match character {
                '&' => "in arithmetic, write `%` or `//`; in a comment, `and`",
                _ => "write printable ASCII only, also in a comment",
            };
            let length = character.len_utf8();
            return Err(not_settable(message, start, length, help));
        }
    }
    let mut quote = '"';
    if formula.contains('"') {
        quote = '\'';
        if let Some(single) = formula.find('\'') {
            // it can quote a value only with a quote that does not occur in it
            let message = "qmgr accepts a value with `\"` or with `'`, not with both";
            let help = "write one kind of quotes, also in a comment";
            return Err(not_settable(message, single, 1, help));
        }
    }
    let directive = format!("set {object} job_sort_formula={quote}{formula}{quote}");
    if directive.len() > MAX_ARGUMENT_BYTES {
        let message = format!(
            "the directive is longer than {MAX_ARGUMENT_BYTES} bytes, the most that Linux accepts as one argument"
        );
        let length = formula.len();
        return Err(not_settable(message, 0, length, "write a shorter formula"));
    }
    Ok(directive)
}

/// Why `qmgr` rejects the first line of a formula, which is all that OpenPBS keeps.
pub fn refused_by_qmgr(formula: &str) -> Option<Box<Diagnostic>> {
    set_directive(SERVER, before_line_end(formula)).err()
}

/// Whether the character is printable ASCII other than `&`, or white space by C's `isspace`.
fn is_accepted(character: char) -> bool {
    let is_white_space = matches!(character, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r');
    (character.is_ascii_graphic() || is_white_space) && character != '&'
}

/// The server's answer to a formula.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Validation {
    /// Whether the server accepts the formula; `None` if that cannot be determined.
    pub accepted: Option<bool>,
    /// The PBS error code, 0 for none; `None` if it cannot be determined.
    pub code: Option<u32>,
    /// The server's message; may be empty.
    pub message: &'static str,
    /// Which program decides when the formula is set with `qmgr`; `None` if the answer cannot be
    /// determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy>,
    /// Why the server's answer cannot be determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<Uncertainty>,
}

/// Which program accepts or refuses a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnsweredBy {
    /// `qmgr` refuses: it cannot pass such a text to the server, however it is quoted. The other
    /// fields still give the server's answer to the text.
    Qmgr,
    /// The server.
    Server,
}

/// Why the server's answer cannot be determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Uncertainty {
    /// A single quote ends the string around the formula, and the script may still be valid Python.
    #[error("a single quote in it changes the server's script")]
    ScriptChanged,
    /// An escape makes a NUL, a line end or a backslash at the end, or names a character (`\N{…}`).
    #[error("it depends on an escape that is not resolved here")]
    Escape,
    /// Statements, or an assignment.
    #[error("it is a statement, not an expression")]
    Statement,
    /// A text that is too long or too deep for this crate, or for some release of CPython.
    #[error("it is too long or too deep")]
    Size,
    /// Something that is not arithmetic, such as a string, a lambda or a call of another builtin.
    #[error("it has a part that is not arithmetic")]
    NonArithmetic,
    /// The value of a complex number, or a computation beyond the limits of this crate.
    #[error("it depends on a computation beyond the limits")]
    Limit,
}

impl Validation {
    const ACCEPTED: Self = Self::of_server(true, 0, "");
    const INVALID_FORMAT: Self = Self::of_server(false, 15123, "Invalid Formula Format");
    const INVALID_KEYWORD: Self = Self::of_server(false, 15124, "Formula contains invalid keyword");
    const INVALID_RESOURCE_TYPE: Self = Self::of_server(
        false,
        15125,
        "Formula contains a resource of an invalid type",
    );
    const INTERNAL_ERROR: Self = Self::of_server(false, 15011, "PBS server internal error");

    const fn of_server(accepted: bool, code: u32, message: &'static str) -> Self {
        Self {
            accepted: Some(accepted),
            code: Some(code),
            message,
            by: Some(AnsweredBy::Server),
            uncertainty: None,
        }
    }
}

impl From<Uncertainty> for Validation {
    fn from(uncertainty: Uncertainty) -> Self {
        Self {
            uncertainty: Some(uncertainty),
            ..Self::default()
        }
    }
}

/// The answer of OpenPBS to the first line of a text, which is all that it keeps of a formula.
///
/// ```
/// use job_sort_formula::Schema;
/// use jsf_openpbs::submission::{AnsweredBy, Uncertainty, validate};
///
/// let answer = |text| validate(text, &Schema::openpbs());
/// assert_eq!(answer("ncpus / queue_priority").accepted, Some(true));
/// assert_eq!(answer("ncpus +").code, Some(15123));
/// assert_eq!(answer("1 or nosuch").code, Some(0));
/// assert_eq!(answer("1 and nosuch").message, "Formula contains invalid keyword");
/// assert_eq!(answer("place").code, Some(15125));
/// assert_eq!(answer("len('abc')").code, Some(15011));
/// assert_eq!(answer("ncpus & 1").by, Some(AnsweredBy::Qmgr));
/// assert_eq!(answer("str(ncpus)").uncertainty, Some(Uncertainty::NonArithmetic));
/// ```
pub fn validate(text: &str, schema: &Schema) -> Validation {
    let mut validation = match server_answer(text, schema) {
        Ok(answer) | Err(answer) => answer,
    };
    if refused_by_qmgr(text).is_some() {
        validation.by = Some(AnsweredBy::Qmgr);
    }
    validation
}

/// The answer that the expression decides, or the one that is known before.
fn server_answer(text: &str, schema: &Schema) -> Result<Validation, Validation> {
    let expr = parse(&executed(text)?, schema.python())?;
    Ok(answer(&expr, schema)?)
}

/// The longest text, in bytes: the server has no limit, but no command line is longer.
const MAX_LENGTH: usize = 128 * 1024;

/// The first version whose parser counts brackets before it reads them: "What's New in Python 3.9",
/// PEP 617.
const COUNTS_BRACKETS: PythonVersion = PythonVersion::V3_9;

/// The most brackets that no parser before that finds too deep.
const MAX_BRACKETS: usize = 80;

/// The expression after `ans=`, or the answer to a text that is none.
fn parse(text: &str, python: PythonVersion) -> Result<Arc<Expr>, Validation> {
    if text.contains(['\n', '\r']) || text.ends_with('\\') {
        return Err(Uncertainty::Escape.into());
    }
    // blanks after `ans=` are no indentation
    let text = text.trim_start_matches([' ', '\t', '\u{c}']);
    if text.starts_with('=') {
        return Err(Uncertainty::Statement.into());
    }
    let error = match parse_for(text, MAX_LENGTH, python) {
        Ok(expr) => return Ok(Arc::new(expr)),
        Err(error) => error,
    };
    Err(match error.kind() {
        SyntaxErrorKind::Statement => Uncertainty::Statement.into(),
        SyntaxErrorKind::TooLong | SyntaxErrorKind::NoStack => Uncertainty::Size.into(),
        // the parser may give up before it reaches the fault
        _ if python < COUNTS_BRACKETS && text.matches(['(', '[', '{']).count() > MAX_BRACKETS => {
            Uncertainty::Size.into()
        }
        // a version may accept it: `max((key)=abs)`
        SyntaxErrorKind::AssignmentTarget if error.span().slice(text).starts_with('(') => {
            Uncertainty::NonArithmetic.into()
        }
        _ if may_be_valid(text) => Uncertainty::NonArithmetic.into(),
        _ => Validation::INVALID_FORMAT,
    })
}

/// Whether some version may accept a text that the grammar refuses: the grammar reads neither what
/// is in strings nor every form of lambdas and comprehensions.
fn may_be_valid(text: &str) -> bool {
    let code = text.split('#').next().unwrap_or_default();
    let mut words = code.split(|character: char| !character.is_alphanumeric() && character != '_');
    code.contains(['"', '\'']) || words.any(|word| matches!(word, "lambda" | "for"))
}

/// The server's answer to an expression that Python parses.
fn answer(expr: &Arc<Expr>, schema: &Schema) -> Result<Validation, Uncertainty> {
    let mut pass = Pass {
        schema,
        is_first: true,
        ans: Value::Int(0),
        e_is_deleted: false,
    };
    let refused = pass.compile(expr)?.refused().map(|raised| raised.kind);
    // the parser up to 3.8 answers some formulas that are too deep as if they were no Python
    if refused == Some(ErrorKind::Limit) && schema.python() < PythonVersion::V3_9 {
        return Err(Uncertainty::Size);
    }
    if has_every_name(expr, schema) {
        return Ok(Validation::ACCEPTED);
    }
    if refused.is_some() {
        return Err(Uncertainty::Size);
    }
    match pass.execute(expr)? {
        Err(ErrorKind::Name) => return Ok(Validation::INVALID_KEYWORD),
        // an exception that the server ignores
        Err(_) => pass.e_is_deleted = true,
        Ok(value) => pass.ans = value,
    }
    pass.is_first = false;
    match pass.execute(expr)? {
        Err(ErrorKind::Name) => Ok(Validation::INVALID_RESOURCE_TYPE),
        Ok(_) | Err(_) => Ok(Validation::ACCEPTED),
    }
}

/// Whether every name has a value in both passes, so that nothing can raise a `NameError`. An
/// exception in the first pass deletes `e`.
fn has_every_name(expr: &Expr, schema: &Schema) -> bool {
    for node in expr.nodes() {
        if let ExprKind::Name(name) = &node.kind {
            let resolution =
                Resolution::resolve(name, schema.python(), |name| schema.is_numeric(name));
            if **name == *"e" || !matches!(resolution, Resolution::Constant(_) | Resolution::Input)
            {
                return false;
            }
        }
    }
    true
}

/// One execution of the formula in the server's script.
struct Pass<'s> {
    schema: &'s Schema,
    is_first: bool,
    /// The script's variable to which the formula is assigned.
    ans: Value,
    /// Whether the script's `except … as e` has deleted `math.e`.
    e_is_deleted: bool,
}

impl Pass<'_> {
    /// What the formula computes, or the kind of the exception that it raises.
    fn execute(&self, expr: &Arc<Expr>) -> Result<Result<Value, ErrorKind>, Uncertainty> {
        let program = self.compile(expr)?;
        let mut inputs = Vec::new();
        for name in program.inputs() {
            inputs.push(self.input(name));
        }
        let mut interpreter = program.interpreter(Python::new().following_complex());
        match interpreter.evaluate(&inputs).map_err(|error| error.kind()) {
            Err(ErrorKind::Limit | ErrorKind::Complex) => Err(Uncertainty::Limit),
            result => Ok(result),
        }
    }

    fn compile(&self, expr: &Arc<Expr>) -> Result<Program, Uncertainty> {
        let resolve = |name: &str| self.resolve(name);
        Program::compile_with(Arc::clone(expr), self.schema.python(), &resolve)
            .map_err(|_| Uncertainty::NonArithmetic)
    }

    /// The script's variables, among which is `math`, come before the resources, and the builtins
    /// come last.
    fn resolve(&self, name: &str) -> Resolution {
        match name {
            "ans" | "errnum" | "errmsg" | "globals1" | "globals2" => Resolution::Input,
            "e" if self.e_is_deleted && self.is_resource(name) => Resolution::Input,
            "e" if self.e_is_deleted => Resolution::Undefined,
            _ => Resolution::resolve(name, self.schema.python(), |name| self.is_resource(name)),
        }
    }

    fn is_resource(&self, name: &str) -> bool {
        if self.is_first {
            self.schema.entry(name).is_some()
        } else {
            self.schema.is_numeric(name)
        }
    }

    /// Every resource is 1.
    fn input(&self, name: &str) -> Value {
        match name {
            "ans" => self.ans.clone(),
            "errnum" => Value::Int(0),
            "errmsg" => Value::OfType("str"),
            "globals1" | "globals2" => Value::OfType("dict"),
            _ => Value::Int(1),
        }
    }
}

/// The text that the server's script executes after `ans=` for this formula, or the server's answer if
/// no text decides it.
fn executed(source: &str) -> Result<String, Validation> {
    let source = source.split('\0').next().unwrap_or("");
    // an empty formula unsets the attribute
    if source.is_empty() {
        return Err(Validation::ACCEPTED);
    }
    match source.split('\n').next() {
        None | Some("") => Err(Validation::INTERNAL_ERROR),
        Some(line) => executed_line(line),
    }
}

fn executed_line(line: &str) -> Result<String, Validation> {
    let invalid = match PythonStringLiteral::parse_between(line, '\'') {
        // releases of CPython 3.11 differ on it
        Ok(literal) if literal.text().contains('\0') => return Err(Uncertainty::Escape.into()),
        Ok(literal) => return Ok(literal.text),
        Err(invalid) => invalid,
    };
    let after_fault = &line[invalid.span.end as usize..];
    Err(match invalid.kind {
        InvalidLiteralKind::Quote | InvalidLiteralKind::CarriageReturn => ended_string(line),
        InvalidLiteralKind::NamedCharacter
            if after_fault.starts_with('{') && after_fault.contains('}') =>
        {
            Uncertainty::Escape.into()
        }
        InvalidLiteralKind::TrailingBackslash
        | InvalidLiteralKind::Escape
        | InvalidLiteralKind::NamedCharacter => Validation::INTERNAL_ERROR,
        // it cannot be encoded and so not compiled, an error that the script ignores
        InvalidLiteralKind::Surrogate => {
            executed_line(after_fault)?;
            Validation::ACCEPTED
        }
    })
}

/// The grammar reads neither the fields of f-strings nor every form of lambdas and comprehensions.
const MAY_BE_VALID: [&str; 3] = ["{", "lambda", "for"];

/// The formula ends the string around it: usually the script is then not valid Python, as with
/// `len('abc')`.
fn ended_string(line: &str) -> Validation {
    let call = format!("exec('ans={line}', globals1, locals())");
    match Formula::parse(&call).map_err(|error| error.kind()) {
        Err(SyntaxErrorKind::Statement | SyntaxErrorKind::TooLong | SyntaxErrorKind::NoStack) => {
            Uncertainty::ScriptChanged.into()
        }
        Err(_) if !MAY_BE_VALID.iter().any(|part| line.contains(part)) => {
            Validation::INTERNAL_ERROR
        }
        _ => Uncertainty::ScriptChanged.into(),
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

    const DIRECTIVE: &str = "set server job_sort_formula=";

    /// The value that `qmgr` reads from a directive, by the recorded rules.
    fn read_back(value: &str) -> Option<String> {
        let mut read = String::new();
        let mut quote = None;
        let mut quoting = false;
        for character in value.trim_start().chars() {
            if !is_accepted(character) {
                return None;
            }
            match character {
                _ if quoting && quote == Some(character) => quoting = false,
                _ if quoting => read.push(character),
                '"' | '\'' if quote.is_none_or(|quote| quote == character) => {
                    quote = Some(character);
                    quoting = true;
                }
                ',' => return None,
                blank if blank.is_ascii_whitespace() || blank == '\u{b}' => return None,
                _ => read.push(character),
            }
        }
        (!quoting).then_some(read)
    }

    fn value_of(directive: &str) -> &str {
        directive.strip_prefix(DIRECTIVE).unwrap()
    }

    #[test]
    fn qmgr_reads_back_the_quoted_value() {
        let blanks = "\t1\u{c}+\u{b}1\r ";
        for formula in [
            "ncpus",
            "",
            "a, b # c; d",
            "len(\"abc\")",
            "len('abc')",
            r"1\t+'\'",
            "x!=1 and $y `z`",
            blanks,
        ] {
            let directive = set_directive("server", formula).unwrap();
            assert_eq!(
                read_back(value_of(&directive)).as_deref(),
                Some(formula),
                "{directive}"
            );
        }
    }

    #[test]
    fn values_that_qmgr_rejects() {
        let long = "1".repeat(MAX_ARGUMENT_BYTES);
        for (formula, message, start, end) in [
            ("ncpus & 1", "qmgr does not accept `&`", 6, 7),
            ("ncpus \u{2013} 1", "qmgr does not accept `\u{2013}`", 6, 9),
            ("1\u{7f}", r"qmgr does not accept `\u{7f}`", 1, 2),
            ("1\0", r"qmgr does not accept `\u{0}`", 1, 2),
            ("\"a\"'b'", "qmgr accepts a value with", 3, 4),
            ("1\n+1", "OpenPBS keeps only the first line", 1, 2),
            (&long, "the directive is longer", 0, MAX_ARGUMENT_BYTES),
        ] {
            let refused = set_command_for("server", formula).unwrap_err();
            assert_eq!(refused.span, Span::new(start, end), "{formula:.80?}");
            assert!(refused.message.starts_with(message), "{refused:?}");
        }
        assert_eq!(
            set_command_for("server", "ncpus\n"),
            set_command_for("server", "ncpus")
        );
        for (formula, shown) in [
            ("é", "`é` (U+00E9)"),
            ("1\u{7f}", r"`\u{7f}`"),
            ("1\u{a0}", r"`\u{a0}`"),
            ("1 & 2", "`&`"),
        ] {
            let refused = set_command_for("server", formula).unwrap_err();
            assert_eq!(
                refused.message,
                format!("qmgr does not accept {shown} in a value, quoted or not")
            );
        }
    }

    #[test]
    fn the_shell_does_not_change_the_directive() {
        assert_eq!(
            set_command_for("server", "a'b").unwrap(),
            r#"qmgr -c 'set server job_sort_formula="a'\''b"'"#
        );
        assert_eq!(
            set_command_for("server", "a\"b").unwrap(),
            r#"qmgr -c 'set server job_sort_formula='\''a"b'\'''"#
        );
    }
}
