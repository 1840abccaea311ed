//! The errors of a text that is not a formula, and their messages.

use std::fmt;

use crate::diagnostic::{Applicability, Code, Diagnostic, Message, Span, is_control};

/// The greatest length of a formula, in bytes.
pub const MAX_LENGTH: usize = 64 * 1024;

/// The greatest nesting of brackets (and of `lambda`, which nests without brackets), the same as
/// CPython's.
pub const MAX_NESTING: usize = 200;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Why a text is not a formula: CPython's `eval` refuses it, or it exceeds a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    kind: SyntaxErrorKind,
    span: Span,
}

/// The kinds of syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// Only blanks and comments.
    Empty,
    /// Longer than 64 KiB.
    TooLong,
    /// More than 200 levels of brackets, or of `lambda`.
    TooDeep,
    /// The system cannot start a thread with the stack that a deep formula needs.
    NoStack,
    /// A NUL byte, which Python source cannot contain.
    NullByte,
    /// The formula continues after the end of its line.
    SecondLine,
    /// The line of the formula is indented and not the first line of the text.
    Indented,
    /// An opening bracket that is never closed.
    Unclosed(char),
    /// A closing bracket that does not match the innermost open bracket, which is given with its
    /// span.
    Unmatched(char, Option<(char, Span)>),
    /// A string that is never closed.
    UnclosedString,
    /// A character that Python does not use.
    Character(char),
    /// An invalid number; how to correct it.
    Number(&'static str),
    /// A number with a unit or a percent sign.
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
    ForeignOperator {
        /// The text.
        written: String,
        /// The Python for it.
        instead: String,
        /// An explanation.
        help: &'static str,
    },
    /// A reserved word where a name or a number is expected.
    ReservedWord(String),
    /// A statement such as `a = b` or `a; b`; its name.
    Statement(&'static str),
    /// `x if c` without `else`.
    MissingElse,
    /// `else` without `if`.
    StrayElse,
    /// `not` next to an operator that does not allow it.
    NeedsParentheses,
    /// An error in the arguments of a call; its message.
    Arguments(String),
    /// `=` in a call after something that is not a name.
    AssignmentTarget,
    /// A constant of a template, with this name, in a formula.
    TemplateConstant(String),
    /// A template that cannot be used.
    Template {
        /// What is wrong.
        message: String,
        /// How to correct it.
        help: String,
    },
    /// Any other unexpected token.
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

    pub(super) fn unclosed(bracket: char, start: usize) -> Self {
        Self::new(
            SyntaxErrorKind::Unclosed(bracket),
            Span::new(start, start + 1),
        )
    }

    pub(super) fn unmatched(closing: char, start: usize, open: Option<(char, usize)>) -> Self {
        let open = open.map(|(bracket, at)| (bracket, Span::new(at, at + 1)));
        Self::new(
            SyntaxErrorKind::Unmatched(closing, open),
            Span::new(start, start + 1),
        )
    }

    pub(super) fn no_stack(text: &str) -> Self {
        Self::new(SyntaxErrorKind::NoStack, Span::new(0, text.len()))
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

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use SyntaxErrorKind as Kind;
        match &self.kind {
            Kind::Empty => f.write_str("the formula is empty"),
            Kind::TooLong => write!(f, "the formula is longer than {MAX_LENGTH} bytes"),
            Kind::TooDeep => write!(f, "the formula is nested deeper than {MAX_NESTING} levels"),
            Kind::NoStack => {
                f.write_str("not enough memory to parse a formula that is nested this deep")
            }
            Kind::NullByte => f.write_str("the formula contains a NUL byte"),
            Kind::SecondLine => f.write_str("the formula continues after the end of its line"),
            Kind::Indented => f.write_str("the line is indented"),
            Kind::Unclosed(bracket) => write!(f, "`{bracket}` is never closed"),
            Kind::Unmatched(closing, Some((open, _))) => {
                write!(f, "`{closing}` does not close `{open}`")
            }
            Kind::Unmatched(closing, None) => write!(f, "`{closing}` has no opening bracket"),
            Kind::UnclosedString => f.write_str("the string is never closed"),
            Kind::Character(character) => {
                write!(
                    f,
                    "`{}` (U+{:04X}) is not a valid character in a formula",
                    printable(*character),
                    *character as u32
                )
            }
            Kind::Number(_) => f.write_str("invalid number"),
            Kind::Unit { written, .. } => write!(f, "`{written}` is not a number in a formula"),
            Kind::ForeignOperator {
                written, instead, ..
            } => {
                write!(
                    f,
                    "`{written}` is not a Python operator; write `{}`",
                    instead.trim()
                )
            }
            Kind::ReservedWord(word) => {
                write!(f, "`{word}` is a reserved word and cannot be used here")
            }
            Kind::Statement(what) => write!(f, "{what} is a statement, not an expression"),
            Kind::MissingElse => f.write_str("`if` without `else`"),
            Kind::StrayElse => f.write_str("`else` without `if`"),
            Kind::NeedsParentheses => {
                f.write_str("`not` and its operand must be parenthesized here")
            }
            Kind::Arguments(what) => f.write_str(what),
            Kind::AssignmentTarget => f.write_str("the target of an assignment must be a name"),
            Kind::TemplateConstant(name) => {
                write!(
                    f,
                    "this is a template, not a formula: `{name}` in braces is a constant to find"
                )
            }
            Kind::Template { message, .. } => f.write_str(message),
            Kind::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
        }
    }
}

impl std::error::Error for SyntaxError {}

fn printable(character: char) -> String {
    if is_control(character) || character.is_whitespace() {
        character.escape_default().to_string()
    } else {
        character.to_string()
    }
}
