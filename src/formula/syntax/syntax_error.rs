//! The errors of a text that is not a formula, and their messages. Operators of other languages, and
//! numbers with a unit or a percent sign, are recognised to suggest a fix.

use crate::diagnostic::{Applicability, Code, Diagnostic, Message, Span, is_control};

/// The greatest length of a formula, in bytes.
pub const MAX_LENGTH: usize = 64 * 1024;

/// The greatest nesting of brackets (and of `lambda`, which nests without brackets), the same as
/// CPython's.
pub const MAX_NESTING: usize = 200;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Why a text is not a formula: CPython's `eval` refuses it, or it exceeds a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .finding.message)]
pub struct SyntaxError {
    kind: SyntaxErrorKind,
    finding: Box<Diagnostic>,
}

/// The kinds of syntax error that a caller may treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// Longer than 64 KiB.
    TooLong,
    /// More than 200 levels of brackets, or of `lambda`.
    TooDeep,
    /// The system cannot start a thread with the stack that a deep formula needs.
    NoStack,
    /// A statement such as `a = b` or `a; b`.
    Statement,
    /// `=` in a call after something that is not a name.
    AssignmentTarget,
    /// Any other.
    Invalid,
}

const CONDITIONAL_FORM: &str = "write `value if condition else other_value`";

impl SyntaxError {
    fn from_finding(kind: SyntaxErrorKind, finding: Diagnostic) -> Self {
        let finding = Box::new(finding);
        Self { kind, finding }
    }

    pub(crate) fn new(message: impl Into<String>, span: Span) -> Self {
        let finding = Diagnostic::new(Code::InvalidSyntax, message, span);
        Self::from_finding(SyntaxErrorKind::Invalid, finding)
    }

    pub(crate) fn with_help(mut self, help: impl Into<Message>) -> Self {
        self.finding.help = Some(help.into());
        self
    }

    fn beyond_limits(kind: SyntaxErrorKind, message: impl Into<String>, span: Span) -> Self {
        Self::from_finding(kind, Diagnostic::new(Code::BeyondLimits, message, span))
    }

    pub(crate) fn too_long(span: Span) -> Self {
        let message = format!("the formula is longer than {MAX_LENGTH} bytes");
        Self::beyond_limits(SyntaxErrorKind::TooLong, message, span)
    }

    pub(super) fn too_deep(span: Span) -> Self {
        let message = format!("the formula is nested deeper than {MAX_NESTING} levels");
        Self::beyond_limits(SyntaxErrorKind::TooDeep, message, span)
    }

    pub(super) fn no_stack(span: Span) -> Self {
        let message = "not enough memory to parse a formula that is nested this deep";
        Self::beyond_limits(SyntaxErrorKind::NoStack, message, span)
    }

    /// Only blanks and comments.
    pub(super) fn empty(span: Span) -> Self {
        Self::new("the formula is empty", span)
            .with_help("write an expression, such as `eligible_time + 1000 * fairshare_factor`")
    }

    /// A line besides that of the formula, or before it; says what is wrong.
    pub(super) fn line(message: &str, span: Span) -> Self {
        Self::new(message, span)
            .with_help("PBS keeps only the first line; write the formula on one line")
    }

    /// An opening bracket that is never closed.
    pub(super) fn unclosed(bracket: char, span: Span) -> Self {
        Self::new(format!("`{bracket}` is never closed"), span)
            .with_help(format!("close `{bracket}` or remove it"))
    }

    /// A closing bracket that does not match the innermost open bracket, which is given with its
    /// span.
    pub(super) fn unmatched(closing: char, open: Option<(char, Span)>, span: Span) -> Self {
        let Some((open, open_span)) = open else {
            return Self::new(format!("`{closing}` has no opening bracket"), span);
        };
        let mut error = Self::new(format!("`{closing}` does not close `{open}`"), span);
        *error.finding = error
            .finding
            .with_secondary_label(open_span, "the open bracket");
        error
    }

    /// A character that Python does not use.
    pub(super) fn character(character: char, span: Span) -> Self {
        let (printed, number) = (printable(character), character as u32);
        let message = format!("`{printed}` (U+{number:04X}) is not a valid character in a formula");
        let mut error = Self::new(message, span);
        error.finding.help = character_help(character).map(Message::from);
        error
    }

    /// A reserved word where a name or a number is expected.
    pub(super) fn reserved_word(word: &str, span: Span) -> Self {
        let message = format!("`{word}` is a reserved word and cannot be used here");
        let error = Self::new(message, span);
        if word == "if" {
            error.with_help(CONDITIONAL_FORM)
        } else {
            error
        }
    }

    /// A statement of this name.
    pub(super) fn statement(name: &str, span: Span) -> Self {
        let message = format!("{name} is a statement, not an expression");
        let finding = Diagnostic::new(Code::Statement, message, span);
        Self::from_finding(SyntaxErrorKind::Statement, finding).with_help(
            "the server may accept it, but the scheduler evaluates only expressions: every job then has an error and the \
             value 0; write a single expression",
        )
    }

    /// `x if c` without `else`.
    pub(super) fn missing_else(span: Span) -> Self {
        Self::new("`if` without `else`", span).with_help(CONDITIONAL_FORM)
    }

    pub(super) fn assignment_target(span: Span) -> Self {
        Self {
            kind: SyntaxErrorKind::AssignmentTarget,
            ..Self::new("the target of an assignment must be a name", span)
        }
    }

    pub(super) fn unexpected(expected: &str, found: &str, span: Span) -> Self {
        Self::new(format!("expected {expected}, found {found}"), span)
    }

    /// The kind of error.
    pub fn kind(&self) -> SyntaxErrorKind {
        self.kind
    }

    /// The part of the text with the error.
    pub fn span(&self) -> Span {
        self.finding.span
    }

    /// The error as a finding.
    pub fn diagnostic(&self) -> Diagnostic {
        (*self.finding).clone()
    }
}

/// What to write instead of a character that looks like a Python one.
fn character_help(character: char) -> Option<String> {
    let ascii = match character {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '×' | '∗' | '·' => "*",
        '÷' | '⁄' | '∕' => "/",
        '“' | '”' | '„' | '‘' | '’' => {
            return Some("a formula contains no quotes; remove it".into());
        }
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '（' => "(",
        '）' => ")",
        '，' => ",",
        '²' => "**2",
        '³' => "**3",
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {
            return Some("this character cannot be seen; remove it".into());
        }
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => {
            return Some("this is not an ASCII space; write an ordinary space".into());
        }
        '$' => {
            return Some(
                "a name has no `$` before it; write `ncpus`, not `$ncpus` or `${ncpus}`".into(),
            );
        }
        '\\' => {
            return Some(
                "the backslash that protects a character from the shell is not part of a formula; remove it".into(),
            );
        }
        _ => return None,
    };
    Some(format!("write `{ascii}`"))
}

fn printable(character: char) -> String {
    if is_control(character) || character.is_whitespace() {
        character.escape_default().to_string()
    } else {
        character.to_string()
    }
}

/// The error for an operator of another language, with what to write instead. `expression` is the
/// expression around the operator, `then` the operand between `?` and `:`.
pub(super) fn foreign_operator(
    text: &str,
    expression: Span,
    operator: Span,
    then: &str,
) -> SyntaxError {
    let written = operator.slice(text);
    let (instead, help) = match written {
        "!" => ("not ".to_owned(), "`not` negates a condition"),
        "&&" => (
            spaced("and", text, operator),
            "`and` is true if both conditions are true",
        ),
        "||" => (
            spaced("or", text, operator),
            "`or` is true if one of the conditions is true",
        ),
        "<>" => ("!=".to_owned(), "`!=` is true if the values differ"),
        "===" | "!==" => (
            written[..2].to_owned(),
            "Python's comparison operators have two characters",
        ),
        _ => match written.strip_prefix('\\') {
            Some(instead) => (
                instead.to_owned(),
                "remove the backslash, which escapes the operator elsewhere",
            ),
            None => return conditional_operator(text, expression, operator, then),
        },
    };
    foreign(written, &instead, help, operator)
}

/// The error for what another language writes.
fn foreign(written: &str, instead: &str, help: &str, span: Span) -> SyntaxError {
    let python = instead.trim();
    let message = format!("`{written}` is not a Python operator; write `{python}`");
    let finding = Diagnostic::new(Code::ForeignOperator, message, span)
        // unsafe: `not` binds less tightly than `!`, so that `!a == b` becomes `not (a == b)`
        .replaced_by(instead, Applicability::Unsafe);
    SyntaxError::from_finding(SyntaxErrorKind::Invalid, finding).with_help(help)
}

/// The error for `condition ? then : otherwise`.
fn conditional_operator(text: &str, expression: Span, operator: Span, then: &str) -> SyntaxError {
    let condition = Span {
        end: operator.start,
        ..expression
    };
    let otherwise = Span {
        start: operator.end,
        ..expression
    };
    let (condition, otherwise) = (condition.slice(text).trim(), otherwise.slice(text).trim());
    let instead = format!("{} if {condition} else {otherwise}", then.trim());
    let help = "Python writes the condition in the middle";
    foreign("? :", &instead, help, expression)
}

/// The error for a word where an operator is expected, if it is one in another notation.
pub(super) fn word_operator(word: &str, span: Span) -> Option<SyntaxError> {
    let (instead, help) = match word {
        "AND" | "And" => ("and", "`and` is true if both conditions are true"),
        "OR" | "Or" => ("or", "`or` is true if one of the conditions is true"),
        "x" | "X" => ("*", "`*` multiplies"),
        _ => return None,
    };
    Some(foreign(word, instead, help, span))
}

/// The word that replaces an operator, with a blank on each side where the text has none.
fn spaced(word: &str, text: &str, operator: Span) -> String {
    let has_before = text[..operator.start as usize].ends_with(' ');
    let has_after = text[operator.end as usize..].starts_with(' ');
    let before = if has_before { "" } else { " " };
    let after = if has_after { "" } else { " " };
    format!("{before}{word}{after}")
}

/// What is found and what helps: `4gb`.
const SIZE: (Code, &str) = (
    Code::UnitInFormula,
    "a size is a number of kilobytes in a formula",
);

/// `24h`, `01:00:00`.
const DURATION: (Code, &str) = (
    Code::UnitInFormula,
    "a duration is a number of seconds in a formula",
);

/// `10%`.
const PERCENT: (Code, &str) = (
    Code::PercentSign,
    "`%` is the remainder operator; write the number itself",
);

/// The error for a number with a unit at the position where the parser fails; `None` if there is no
/// such number.
pub(super) fn number_with_unit(text: &str, position: usize) -> Option<SyntaxError> {
    percentage(text, position)
        .or_else(|| adjacent_unit(text, position))
        .or_else(|| separate_unit(text, position))
}

/// `10%` before an operator, a bracket or the end.
fn percentage(text: &str, position: usize) -> Option<SyntaxError> {
    // the parser fails after the `%`, where it expects an operand
    let before = text.get(..position)?.trim_end().strip_suffix('%')?;
    let number = last_token(before.trim_end());
    let start = before.trim_end().len() - number.len();
    let value = amount(number)? / 100.0;
    Some(unit_error(
        PERCENT,
        value,
        false,
        Span::new(start, before.len() + 1),
        text,
    ))
}

/// `4gb`, `24h`, `01:00:00`.
fn adjacent_unit(text: &str, position: usize) -> Option<SyntaxError> {
    let start = position - last_token(text.get(..position)?).len();
    let token = first_token(&text[start..]);
    let span = Span::new(start, start + token.len());
    if let Some(seconds) = clock_time(token) {
        return Some(unit_error(DURATION, seconds, true, span, text));
    }
    let (number, unit) = token.split_at(token.find(|c: char| c.is_ascii_alphabetic())?);
    size_or_duration(number, unit, span, text)
}

/// `4 gb`
fn separate_unit(text: &str, position: usize) -> Option<SyntaxError> {
    let before = text.get(..position)?.trim_end();
    let unit = first_token(&text[position..]);
    let number = last_token(before);
    let span = Span::new(before.len() - number.len(), position + unit.len());
    size_or_duration(number, unit, span, text)
}

fn size_or_duration(number: &str, unit: &str, span: Span, text: &str) -> Option<SyntaxError> {
    let amount = amount(number)?;
    let unit = unit.to_ascii_lowercase();
    if let Some(bytes) = bytes(&unit) {
        return Some(unit_error(
            SIZE,
            // OpenPBS rounds sizes up to whole kb
            (amount * bytes / 1024.0).ceil(),
            // a letter alone may be meant otherwise
            unit.len() == 2,
            span,
            text,
        ));
    }
    let seconds = seconds(&unit)?;
    Some(unit_error(
        DURATION,
        amount * seconds,
        // a letter alone may be meant otherwise: `m` is a minute or a megabyte
        unit.len() > 1,
        span,
        text,
    ))
}

/// The error for a number with a unit or a percent sign, and the equivalent number.
fn unit_error(
    (code, help): (Code, &str),
    value: f64,
    is_unambiguous: bool,
    span: Span,
    text: &str,
) -> SyntaxError {
    let applicability = if is_unambiguous {
        Applicability::Safe
    } else {
        Applicability::Unsafe
    };
    let message = format!("`{}` is not a number in a formula", span.slice(text));
    let finding =
        Diagnostic::new(code, message, span).replaced_by(value.to_string(), applicability);
    SyntaxError::from_finding(SyntaxErrorKind::Invalid, finding).with_help(help)
}

/// The number of bytes of a PBS size unit; a word (`w`) has 8 bytes.
fn bytes(unit: &str) -> Option<f64> {
    match unit {
        "b" => Some(1.0),
        "w" => Some(8.0),
        // not `m`, which is taken for minutes
        "k" | "g" | "t" | "p" => binary_prefix(unit),
        _ => {
            let prefix = unit.strip_suffix(['b', 'w'])?;
            if prefix.len() != 1 {
                return None;
            }
            let size = if unit.ends_with('w') { 8.0 } else { 1.0 };
            Some(binary_prefix(prefix)? * size)
        }
    }
}

fn binary_prefix(prefix: &str) -> Option<f64> {
    let power = "kmgtp".find(prefix)?;
    Some(1024f64.powi(power as i32 + 1))
}

fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "sec" | "secs" => 1.0,
        "m" | "min" | "mins" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// The seconds of `HH:MM:SS` or `MM:SS`.
fn clock_time(token: &str) -> Option<f64> {
    let parts: Vec<&str> = token.split(':').collect();
    if !matches!(parts.len(), 2 | 3) {
        return None;
    }
    let mut seconds = 0.0;
    for part in parts {
        if part.len() > 6 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        seconds = seconds * 60.0 + part.parse::<f64>().ok()?;
    }
    Some(seconds)
}

fn amount(number: &str) -> Option<f64> {
    let is_written = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'));
    // a double holds 15 digits exactly
    if !is_written || number.starts_with('_') || number.len() > 15 {
        return None;
    }
    number.replace('_', "").parse().ok()
}

fn is_token_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':')
}

fn last_token(text: &str) -> &str {
    &text[text.trim_end_matches(is_token_char).len()..]
}

fn first_token(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(is_token_char).len()]
}
