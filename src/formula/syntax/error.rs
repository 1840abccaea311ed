//! The errors of a text that is not a formula, and their messages.

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
