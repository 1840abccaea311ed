//! What can be wrong with a text that is no formula, and the words for it.

use std::fmt;

use crate::diagnostic::{Applicability, Diagnostic, Span};
use crate::formula::syntax::limits::{MAX_LENGTH, MAX_NESTING};
use crate::formula::syntax::units::Unit;

/// A text that CPython's `eval` would not take, or that is beyond the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// Where.
    pub span: Span,
}

/// What is wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// There is nothing but blanks and comments.
    Empty,
    /// Longer than [`MAX_LENGTH`].
    TooLong,
    /// Nested deeper than [`MAX_NESTING`].
    TooDeep,
    /// The system gave no stack to parse a deep formula on.
    NoStack,
    /// A NUL byte, which Python takes in no source.
    NullByte,
    /// The formula goes on behind the end of its line.
    SecondLine,
    /// The formula's line begins with blanks, and is not the first of the text.
    Indented,
    /// A bracket that nothing closes.
    Unclosed(char),
    /// A closing bracket without its opening one; the one that is open instead, and where.
    Unmatched(char, Option<(char, Span)>),
    /// A string that nothing closes.
    UnclosedString,
    /// A character that stands nowhere in Python.
    Character(char),
    /// Digits that are no number; why.
    Number(&'static str),
    /// A number with a unit, or with a per cent sign.
    Unit {
        /// What it measures.
        unit: Unit,
        /// What was written.
        written: String,
        /// The number that a formula takes instead.
        number: String,
        /// Whether nothing else can be meant.
        is_plain: bool,
    },
    /// An operator of another language; what to write instead.
    Lookalike {
        /// What was written.
        written: String,
        /// What Python writes.
        instead: String,
        /// Why, or how.
        help: &'static str,
    },
    /// A word of Python's that cannot stand here.
    ReservedWord(String),
    /// A statement: `a = b`, `a; b`.
    Statement(&'static str),
    /// `x if c` without `else`.
    MissingElse,
    /// `else` without `if`.
    StrayElse,
    /// `not` or `lambda` behind an operator that binds tighter.
    NeedsParentheses(&'static str),
    /// Something about a call's arguments.
    Arguments(String),
    /// `:=` or `=` on something that is no name.
    AssignmentTarget,
    /// `:=` where Python wants parentheses around it.
    BareAssignmentExpression,
    /// `:=` in a comprehension, on a name that it loops over or in what it loops over.
    MisplacedAssignment,
    /// Something about a string; what.
    String(&'static str),
    /// Something about a lambda's parameters.
    Parameters(&'static str),
    /// An unpacking where Python takes none.
    MisplacedStar,
    /// Something else stands here than could.
    Unexpected {
        /// What could stand here.
        expected: &'static str,
        /// What does.
        found: String,
    },
}

/// The statement that is no expression only because its unpacking lacks brackets.
pub(crate) const BARE_UNPACKING: &str = "an unpacking without brackets";

impl SyntaxError {
    pub(super) fn new(kind: SyntaxErrorKind, span: Span) -> Self {
        Self { kind, span }
    }

    pub(super) fn unclosed(bracket: char, start: usize) -> Self {
        Self::new(SyntaxErrorKind::Unclosed(bracket), Span::new(start, start + 1))
    }

    pub(super) fn unmatched(closing: char, start: usize, open: Option<(char, usize)>) -> Self {
        let open = open.map(|(bracket, at)| (bracket, Span::new(at, at + 1)));
        Self::new(SyntaxErrorKind::Unmatched(closing, open), Span::new(start, start + 1))
    }

    pub(super) fn no_stack(text: &str) -> Self {
        Self::new(SyntaxErrorKind::NoStack, Span::new(0, text.len()))
    }

    /// The finding that this error is.
    pub fn diagnostic(&self) -> Diagnostic {
        let code = match self.kind {
            SyntaxErrorKind::TooLong | SyntaxErrorKind::TooDeep | SyntaxErrorKind::NoStack => "JSF103",
            SyntaxErrorKind::Lookalike { .. } => "JSF102",
            SyntaxErrorKind::Statement(_) => "JSF105",
            SyntaxErrorKind::Unit { unit: Unit::PerCent, .. } => "JSF611",
            SyntaxErrorKind::Unit { .. } => "JSF614",
            _ => "JSF101",
        };
        let mut diagnostic = Diagnostic::error(code, self.to_string(), self.span);
        diagnostic.help = self.help();
        if let SyntaxErrorKind::Unmatched(_, Some((_, span))) = self.kind {
            diagnostic = diagnostic.with_place(span, "this is the bracket that is open here");
        }
        match self.instead() {
            Some((instead, applicability)) => diagnostic.replaced_by(instead, applicability),
            None => diagnostic,
        }
    }

    /// What to write instead.
    fn instead(&self) -> Option<(&str, Applicability)> {
        match &self.kind {
            SyntaxErrorKind::Lookalike { instead, .. } if !instead.is_empty() => Some((instead, Applicability::Unsafe)),
            SyntaxErrorKind::Unit { number, is_plain: true, .. } => Some((number, Applicability::Safe)),
            SyntaxErrorKind::Unit { number, .. } => Some((number, Applicability::Unsafe)),
            _ => None,
        }
    }

    /// What to do about it.
    fn help(&self) -> Option<String> {
        use SyntaxErrorKind as Kind;
        Some(match &self.kind {
            Kind::Empty => "write an expression, such as `eligible_time + 1000 * fairshare_factor`".into(),
            Kind::Lookalike { help, .. } | Kind::Number(help) => (*help).into(),
            Kind::Statement(_) => {
                "`qmgr` accepts it, but then every job gets an error and the value 0: write one expression".into()
            }
            Kind::SecondLine | Kind::Indented => "PBS keeps only the first line; write the formula on one line".into(),
            Kind::Unit { unit, .. } => unit.advice().into(),
            Kind::Unclosed(bracket) => format!("close `{bracket}`, or take it away"),
            Kind::MissingElse => "write `value if condition else other_value`".into(),
            Kind::NeedsParentheses(word) => format!("put parentheses around `{word} …`"),
            Kind::BareAssignmentExpression => "a formula computes a value and keeps none".into(),
            Kind::Character(character) => return lookalike_character(*character),
            _ => return None,
        })
    }
}

fn lookalike_character(character: char) -> Option<String> {
    let ascii = match character {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '×' | '∗' | '·' => "*",
        '÷' | '⁄' | '∕' => "/",
        '“' | '”' | '„' => "\"",
        '‘' | '’' => "'",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '（' => "(",
        '）' => ")",
        '，' => ",",
        '²' => "**2",
        '³' => "**3",
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{feff}' => {
            return Some("it looks like a blank; write a plain one".into());
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
            Kind::NoStack => f.write_str("the system gave no memory to parse a formula nested this deep"),
            Kind::NullByte => f.write_str("the formula has a NUL byte"),
            Kind::SecondLine => f.write_str("the formula goes on behind the end of its line"),
            Kind::Indented => f.write_str("the line is indented"),
            Kind::Unclosed(bracket) => write!(f, "`{bracket}` is never closed"),
            Kind::Unmatched(closing, Some((open, _))) => write!(f, "`{closing}` does not close `{open}`"),
            Kind::Unmatched(closing, None) => write!(f, "`{closing}` closes nothing"),
            Kind::UnclosedString => f.write_str("the string is never closed"),
            Kind::Character(character) => {
                write!(f, "`{}` (U+{:04X}) is no character of the language", printable(*character), *character as u32)
            }
            Kind::Number(_) => f.write_str("this is no number"),
            Kind::Unit { written, .. } => write!(f, "`{written}` is no number in a formula"),
            Kind::Lookalike { written, instead, .. } if instead.is_empty() => write!(f, "`{written}` is not Python"),
            Kind::Lookalike { written, instead, .. } => {
                write!(f, "`{written}` is not Python; it is `{}` here", instead.trim())
            }
            Kind::ReservedWord(word) => write!(f, "`{word}` is a reserved word that cannot stand here"),
            Kind::Statement(what) => write!(f, "{what} is a statement, not an expression"),
            Kind::MissingElse => f.write_str("`if` without `else`"),
            Kind::StrayElse => f.write_str("`else` without `if`"),
            Kind::NeedsParentheses(word) => write!(f, "`{word}` cannot stand behind an operator that binds tighter"),
            Kind::Arguments(what) => f.write_str(what),
            Kind::AssignmentTarget => f.write_str("only a name can be assigned to"),
            Kind::BareAssignmentExpression => f.write_str("`:=` needs parentheses around it"),
            Kind::MisplacedAssignment => f.write_str("`:=` cannot stand here"),
            Kind::String(what) | Kind::Parameters(what) => f.write_str(what),
            Kind::MisplacedStar => f.write_str("nothing can be unpacked here"),
            Kind::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
        }
    }
}

impl std::error::Error for SyntaxError {}

fn printable(character: char) -> String {
    if character.is_control() || character.is_whitespace() {
        character.escape_default().to_string()
    } else {
        character.to_string()
    }
}
