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
#[error("{kind}")]
pub struct SyntaxError {
    kind: SyntaxErrorKind,
    span: Span,
}

/// The kinds of syntax error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// Only blanks and comments.
    #[error("the formula is empty")]
    Empty,
    /// Longer than 64 KiB.
    #[error("the formula is longer than {MAX_LENGTH} bytes")]
    TooLong,
    /// More than 200 levels of brackets, or of `lambda`.
    #[error("the formula is nested deeper than {MAX_NESTING} levels")]
    TooDeep,
    /// The system cannot start a thread with the stack that a deep formula needs.
    #[error("not enough memory to parse a formula that is nested this deep")]
    NoStack,
    /// A NUL byte, which Python source cannot contain.
    #[error("the formula contains a NUL byte")]
    NullByte,
    /// The formula continues after the end of its line.
    #[error("the formula continues after the end of its line")]
    SecondLine,
    /// The line of the formula is indented and not the first line of the text.
    #[error("the line is indented")]
    Indented,
    /// An opening bracket that is never closed.
    #[error("`{0}` is never closed")]
    Unclosed(char),
    /// A closing bracket that does not match the innermost open bracket, which is given with its
    /// span.
    #[error("`{}` {}", .0, unmatched(.1))]
    Unmatched(char, Option<(char, Span)>),
    /// A string that is never closed.
    #[error("the string is never closed")]
    UnclosedString,
    /// A character that Python does not use.
    #[error("`{}` (U+{:04X}) is not a valid character in a formula", printable(*.0), *.0 as u32)]
    Character(char),
    /// An invalid number; how to correct it.
    #[error("invalid number")]
    Number(&'static str),
    /// A number with a unit or a percent sign.
    #[error("`{written}` is not a number in a formula")]
    Unit {
        /// The kind of unit.
        unit: Unit,
        /// The text.
        written: String,
        /// The equivalent number.
        number: String,
        /// Whether the unit has only one meaning.
        is_unambiguous: bool,
    },
    /// An operator of another language.
    #[error("`{written}` is not a Python operator; write `{}`", .instead.trim())]
    ForeignOperator {
        /// The text.
        written: String,
        /// The Python for it.
        instead: String,
        /// An explanation.
        help: &'static str,
    },
    /// A reserved word where a name or a number is expected.
    #[error("`{0}` is a reserved word and cannot be used here")]
    ReservedWord(String),
    /// A statement such as `a = b` or `a; b`; its name.
    #[error("{0} is a statement, not an expression")]
    Statement(&'static str),
    /// `x if c` without `else`.
    #[error("`if` without `else`")]
    MissingElse,
    /// `else` without `if`.
    #[error("`else` without `if`")]
    StrayElse,
    /// `not` next to an operator that does not allow it.
    #[error("`not` and its operand must be parenthesized here")]
    NeedsParentheses,
    /// An error in the arguments of a call; its message.
    #[error("{0}")]
    Arguments(String),
    /// `=` in a call after something that is not a name.
    #[error("the target of an assignment must be a name")]
    AssignmentTarget,
    /// A constant of a template, with this name, in a formula.
    #[error("this is a template, not a formula: `{0}` in braces is a constant to find")]
    TemplateConstant(String),
    /// A template that cannot be used.
    #[error("{message}")]
    Template {
        /// What is wrong.
        message: String,
        /// How to correct it.
        help: String,
    },
    /// Any other unexpected token.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What the grammar allows.
        expected: &'static str,
        /// The token.
        found: String,
    },
}

/// The kinds of unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `4gb`
    Size,
    /// `24h`, `01:00:00`
    Duration,
    /// `10%`
    Percent,
}

impl Unit {
    fn help(self) -> &'static str {
        match self {
            Self::Size => "a size is a number of kilobytes in a formula",
            Self::Duration => "a duration is a number of seconds in a formula",
            Self::Percent => "`%` is the remainder operator; write the number itself",
        }
    }
}

impl SyntaxError {
    pub(crate) fn new(kind: SyntaxErrorKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// The kind of error.
    pub fn kind(&self) -> &SyntaxErrorKind {
        &self.kind
    }

    /// The part of the text with the error.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The error as a finding.
    pub fn diagnostic(&self) -> Diagnostic {
        let code = match self.kind {
            SyntaxErrorKind::TooLong | SyntaxErrorKind::TooDeep | SyntaxErrorKind::NoStack => {
                Code::BeyondLimits
            }
            SyntaxErrorKind::ForeignOperator { .. } => Code::ForeignOperator,
            SyntaxErrorKind::Statement(_) => Code::Statement,
            SyntaxErrorKind::Unit {
                unit: Unit::Percent,
                ..
            } => Code::PercentSign,
            SyntaxErrorKind::Unit { .. } => Code::UnitInFormula,
            _ => Code::InvalidSyntax,
        };
        let mut diagnostic = Diagnostic::new(code, self.to_string(), self.span);
        diagnostic.help = self.help().map(Message::from);
        if let SyntaxErrorKind::Unmatched(_, Some((_, span))) = self.kind {
            diagnostic = diagnostic.with_secondary_label(span, "the open bracket");
        }
        match self.replacement() {
            Some((replacement, applicability)) => {
                diagnostic.replaced_by(replacement, applicability)
            }
            None => diagnostic,
        }
    }

    fn replacement(&self) -> Option<(&str, Applicability)> {
        match &self.kind {
            SyntaxErrorKind::ForeignOperator { instead, .. } => {
                Some((instead, Applicability::Unsafe))
            }
            SyntaxErrorKind::Unit {
                number,
                is_unambiguous: true,
                ..
            } => Some((number, Applicability::Safe)),
            SyntaxErrorKind::Unit { number, .. } => Some((number, Applicability::Unsafe)),
            _ => None,
        }
    }

    /// How to correct it.
    fn help(&self) -> Option<String> {
        use SyntaxErrorKind as Kind;
        Some(match &self.kind {
            Kind::Empty => "write an expression, such as `eligible_time + 1000 * fairshare_factor`".into(),
            Kind::ForeignOperator { help, .. } | Kind::Number(help) => (*help).into(),
            Kind::Statement(_) => {
                "the server may accept it, but the scheduler evaluates only expressions: every job then has an error and the \
                 value 0; write a single expression"
                    .into()
            }
            Kind::SecondLine | Kind::Indented => "PBS keeps only the first line; write the formula on one line".into(),
            Kind::Unit { unit, .. } => unit.help().into(),
            Kind::Unclosed(bracket) => format!("close `{bracket}` or remove it"),
            Kind::MissingElse => "write `value if condition else other_value`".into(),
            Kind::NeedsParentheses => "put parentheses around `not …`".into(),
            Kind::Character(character) => return character_help(*character),
            Kind::TemplateConstant(_) => {
                "`jsf fit` finds the constants of a template; a formula has the number itself".into()
            }
            Kind::Template { help, .. } => help.clone(),
            Kind::ReservedWord(word) if word == "if" => "write `value if condition else other_value`".into(),
            _ => return None,
        })
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

/// What is wrong with a closing bracket, after it.
fn unmatched(open: &Option<(char, Span)>) -> String {
    match open {
        Some((open, _)) => format!("does not close `{open}`"),
        None => "has no opening bracket".to_owned(),
    }
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
    SyntaxError::new(
        SyntaxErrorKind::ForeignOperator {
            written: written.to_owned(),
            instead,
            help,
        },
        operator,
    )
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
    let kind = SyntaxErrorKind::ForeignOperator {
        written: "? :".to_owned(),
        instead: format!("{} if {condition} else {otherwise}", then.trim()),
        help: "Python writes the condition in the middle",
    };
    SyntaxError::new(kind, expression)
}

/// The error for a word where an operator is expected, if it is one in another notation.
pub(super) fn word_operator(word: &str) -> Option<SyntaxErrorKind> {
    let (instead, help) = match word {
        "AND" | "And" => ("and", "`and` is true if both conditions are true"),
        "OR" | "Or" => ("or", "`or` is true if one of the conditions is true"),
        "x" | "X" => ("*", "`*` multiplies"),
        _ => return None,
    };
    Some(SyntaxErrorKind::ForeignOperator {
        written: word.to_owned(),
        instead: instead.to_owned(),
        help,
    })
}

/// The word that replaces an operator, with a blank on each side where the text has none.
fn spaced(word: &str, text: &str, operator: Span) -> String {
    let has_before = text[..operator.start as usize].ends_with(' ');
    let has_after = text[operator.end as usize..].starts_with(' ');
    let before = if has_before { "" } else { " " };
    let after = if has_after { "" } else { " " };
    format!("{before}{word}{after}")
}

/// The error for a number with a unit at the position where the parser fails; `None` if there is no
/// such number.
pub(super) fn number_with_unit(text: &str, position: usize) -> Option<SyntaxError> {
    percentage(text, position)
        .or_else(|| adjacent_unit(text, position))
        .or_else(|| separate_unit(text, position))
}

/// `10%` before an operator, a bracket or the end.
fn percentage(text: &str, position: usize) -> Option<SyntaxError> {
    let before = text.get(..position)?.trim_end().strip_suffix('%')?;
    let number = last_token(before.trim_end());
    let start = before.trim_end().len() - number.len();
    let value = amount(number)? / 100.0;
    Some(unit_error(
        Unit::Percent,
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
        return Some(unit_error(Unit::Duration, seconds, true, span, text));
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
            Unit::Size,
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
        Unit::Duration,
        amount * seconds,
        // a letter alone may be meant otherwise: `m` is a minute or a megabyte
        unit.len() > 1,
        span,
        text,
    ))
}

fn unit_error(unit: Unit, value: f64, is_unambiguous: bool, span: Span, text: &str) -> SyntaxError {
    let written = span.slice(text).to_owned();
    let number = value.to_string();
    SyntaxError::new(
        SyntaxErrorKind::Unit {
            unit,
            written,
            number,
            is_unambiguous,
        },
        span,
    )
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
