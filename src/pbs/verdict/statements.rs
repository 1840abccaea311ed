//! What stands behind `ans=`, statement by statement.
//!
//! The formula's own grammar reads expressions; here the statements around them are taken apart: `a; b`, `a = b`, a
//! second line. Python compiles all before it executes any, so an error in the last one is an error of the whole.

mod targets;

use std::sync::Arc;

use crate::diagnostic::Span;
use crate::formula::syntax::{BARE_UNPACKING, Expr, SyntaxError, SyntaxErrorKind, parse_up_to};

use crate::pbs::verdict::strings;
use crate::pbs::verdict::strings::Unreadable;
use targets::{is_single_target, is_target, is_variable};

/// One simple statement.
#[derive(Debug, Clone)]
pub(super) enum Statement {
    /// `targets = value`; without a target it is an expression that stands alone.
    Assignment {
        /// Left to right.
        targets: Vec<Arc<Expr>>,
        /// What is assigned.
        value: Arc<Expr>,
    },
    /// `target op= value`
    Augmented {
        /// What is read and then assigned to.
        target: Arc<Expr>,
        /// The other operand.
        value: Arc<Expr>,
    },
    /// `del a, b`
    Deletion(Vec<Box<str>>),
    /// `import a, b`
    Import(Vec<Box<str>>),
    /// `pass`
    Pass,
}

impl Statement {
    /// The expressions in it.
    pub(super) fn exprs(&self) -> Vec<&Arc<Expr>> {
        match self {
            Self::Assignment { targets, value } => targets.iter().chain([value]).collect(),
            Self::Augmented { target, value } => vec![target, value],
            Self::Deletion(_) | Self::Import(_) | Self::Pass => Vec::new(),
        }
    }
}

/// Why there are no statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// Python refuses the text.
    Syntax,
    /// It cannot be told whether it does.
    Unknown,
}

type Result<T> = std::result::Result<T, Unread>;

/// More statements, or targets of one, than this are not told apart: each is found by parsing all that follows.
const MOST: usize = 64;

/// The longest text, in bytes: the server has no limit, but a command line is not longer.
const MAX_LENGTH: usize = 128 * 1024;

/// Reads what stands behind `ans=`; the first statement assigns to `ans`.
pub(super) fn read(text: &str) -> Result<Vec<Statement>> {
    let text = text.trim_end_matches([' ', '\t', '\u{c}']);
    let begins = text.trim_start_matches([' ', '\t', '\u{c}']);
    if begins.starts_with(['\n', '\r', '#']) || text.starts_with("==") {
        return Err(Unread::Syntax);
    }
    // `ans==1` compares
    let compared = text.strip_prefix('=').map(|rest| format!("ans=={rest}"));
    let whole = compared.as_deref().unwrap_or(text);
    let mut doubt = Ok(());
    let mut statements = Vec::new();
    for (index, line) in lines(whole)?.into_iter().enumerate() {
        let place = if index > 0 { Place::NewLine } else { Place::First };
        match read_line(line, place, compared.is_none(), &mut statements) {
            Err(Unread::Unknown) => doubt = Err(Unread::Unknown),
            other => other?,
        }
    }
    doubt.map(|()| statements)
}

/// Reads one line that is handed to `eval` or `exec`.
pub(super) fn read_text(text: &str) -> Result<Vec<Statement>> {
    let mut statements = Vec::new();
    read_line(text, Place::First, false, &mut statements)?;
    Ok(statements)
}

/// Splits at the ends of lines that end a statement.
fn lines(text: &str) -> Result<Vec<&str>> {
    let (mut found, mut rest) = (Vec::new(), text);
    if !text.contains(['\n', '\r']) {
        return Ok(vec![text]);
    }
    loop {
        match parsed(rest) {
            Err(_) if found.len() > MOST => return Err(Unread::Unknown),
            Err(SyntaxError { kind: SyntaxErrorKind::SecondLine, span }) => {
                let (line, behind) = rest.split_at(span.start as usize);
                if line.ends_with([' ', '\t', '\u{c}']) {
                    return Err(Unread::Syntax);
                }
                found.push(line);
                rest = behind;
            }
            _ => {
                found.push(rest);
                return Ok(found);
            }
        }
    }
}

/// Reads an expression, or what may stand in its place in a statement: an unpacking without brackets.
fn parsed(text: &str) -> std::result::Result<Expr, SyntaxError> {
    match parse_up_to(text, MAX_LENGTH) {
        Err(SyntaxError { kind: SyntaxErrorKind::Statement(BARE_UNPACKING), .. }) => {
            // a comment would swallow the bracket
            parse_up_to(&format!("({text}\n)"), MAX_LENGTH + 3)
        }
        result => result,
    }
}

/// Where a statement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Behind `ans=`.
    First,
    /// Behind `;`.
    SameLine,
    /// On a line of its own.
    NewLine,
}

fn read_line(line: &str, place: Place, is_answer: bool, statements: &mut Vec<Statement>) -> Result<()> {
    let (mut rest, mut place) = (Some(line), place);
    while let Some(text) = rest {
        if statements.len() > MOST {
            return Err(Unread::Unknown);
        }
        let text = text.trim_start_matches([' ', '\t', '\u{c}']);
        if place != Place::First && (text.is_empty() || text.starts_with(['#', '\n', '\r'])) {
            return Ok(());
        }
        let keyword = if place == Place::First { None } else { keyword_statement(text, place)? };
        let (statement, behind) = match keyword {
            Some(found) => found,
            None => Reader { place, is_answer }.assignment(text)?,
        };
        statements.push(statement);
        (rest, place) = (behind, Place::SameLine);
    }
    Ok(())
}

/// A statement that begins with a word of its own, and what stands behind its `;`.
fn keyword_statement(text: &str, place: Place) -> Result<Option<(Statement, Option<&str>)>> {
    let word_end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    let (word, behind) = text.split_at(word_end);
    let compound = if place == Place::NewLine { Unread::Unknown } else { Unread::Syntax };
    match word {
        "pass" | "del" | "import" => {}
        "global" | "assert" | "raise" | "from" => return Err(Unread::Unknown),
        "if" | "for" | "while" | "try" | "with" | "def" | "class" | "async" => return Err(compound),
        "match" | "type" if place == Place::NewLine && text.contains(':') => return Err(Unread::Unknown),
        "return" | "break" | "continue" | "nonlocal" | "yield" => return Err(Unread::Syntax),
        _ => return Ok(None),
    }
    let end = behind.find([';', '#', '\n', '\r']).unwrap_or(behind.len());
    let (names, rest) = behind.split_at(end);
    let rest = rest.strip_prefix(';');
    let names: Vec<&str> = names.split(',').map(|name| name.trim_matches([' ', '\t'])).collect();
    let is_plain = |name: &&str| {
        let is_name = matches!(parsed(name), Ok(expr) if is_variable(&expr));
        name.is_ascii() && is_name
    };
    if word == "pass" {
        return if names == [""] { Ok(Some((Statement::Pass, rest))) } else { Err(Unread::Syntax) };
    }
    if !names.iter().all(is_plain) {
        return Err(Unread::Unknown);
    }
    let names = names.into_iter().map(Into::into).collect();
    Ok(Some((if word == "del" { Statement::Deletion(names) } else { Statement::Import(names) }, rest)))
}

struct Reader {
    place: Place,
    /// Whether the first statement assigns to `ans`.
    is_answer: bool,
}

impl Reader {
    /// Reads `target = target = value` and what stands behind its `;`.
    fn assignment<'t>(&self, text: &'t str) -> Result<(Statement, Option<&'t str>)> {
        let is_answer = self.place == Place::First && self.is_answer;
        let mut targets = if is_answer { vec![self.parsed("ans")?] } else { Vec::new() };
        let mut augmented = None;
        let mut text = text;
        loop {
            let at = match parsed(text) {
                Ok(expr) => return Ok((statement(targets, augmented, checked(expr)?), None)),
                Err(SyntaxError { kind: SyntaxErrorKind::Statement(_), span }) => span,
                Err(error) => return Err(self.refused(text, &error)),
            };
            let (head, sign, behind) = split(text, at);
            let head = self.parsed(head)?;
            match sign {
                ";" => return Ok((statement(targets, augmented, head), Some(behind))),
                _ if targets.len() > MOST => return Err(Unread::Unknown),
                "=" if augmented.is_none() && is_target(&head) => targets.push(head),
                _ if sign != "=" && targets.is_empty() && augmented.is_none() && is_single_target(&head) => {
                    augmented = Some(head);
                }
                _ => return Err(Unread::Syntax),
            }
            text = behind;
        }
    }

    fn parsed(&self, text: &str) -> Result<Arc<Expr>> {
        parsed(text).map_err(|error| self.refused(text, &error)).and_then(checked)
    }

    /// What Python makes of a text that is no expression here.
    fn refused(&self, text: &str, error: &SyntaxError) -> Unread {
        use SyntaxErrorKind as Kind;
        let has = |word: &str| text.contains(word);
        // an annotation, which is a statement too
        let is_annotation = self.place != Place::First
            && text.get(error.span.start as usize..).is_some_and(|rest| rest.starts_with(':'));
        match error.kind {
            Kind::TooLong | Kind::NoStack | Kind::NullByte => Unread::Unknown,
            Kind::TooDeep if has("lambda") => Unread::Unknown,
            _ if is_annotation || crate::pbs::verdict::may_await(text) => Unread::Unknown,
            _ => Unread::Syntax,
        }
    }
}

fn checked(expr: Expr) -> Result<Arc<Expr>> {
    match strings::check(&expr) {
        Ok(()) => Ok(Arc::new(expr)),
        Err(Unreadable::Broken) => Err(Unread::Syntax),
        Err(Unreadable::Unknown) => Err(Unread::Unknown),
    }
}

fn statement(targets: Vec<Arc<Expr>>, augmented: Option<Arc<Expr>>, value: Arc<Expr>) -> Statement {
    match augmented {
        Some(target) => Statement::Augmented { target, value },
        None => Statement::Assignment { targets, value },
    }
}

/// What stands before, in and behind the sign at `at`.
fn split(text: &str, at: Span) -> (&str, &str, &str) {
    (&text[..at.start as usize], at.of(text), &text[at.end as usize..])
}
