//! Parses the text after `ans=` into statements.
//!
//! The formula's own grammar parses expressions; this module splits the statements around them: `a; b`, `a = b`, a
//! second line. Python compiles all of them before it executes any, so a syntax error in the last one is an error
//! of the whole text.

use std::borrow::Cow;
use std::sync::Arc;

use job_sort_formula::PythonVersion;
use job_sort_formula::diagnostic::Span;
use job_sort_formula::formula::syntax::{
    BARE_UNPACKING, Construct, Expr, ExprId, ExprKind, SyntaxError, SyntaxErrorKind, parse_for,
};

use crate::qmgr_validation::{self, Uncertainty};

/// One simple statement.
#[derive(Debug, Clone)]
pub(super) enum Statement {
    /// `targets = value`; without a target it is an expression.
    Assignment {
        /// Left to right.
        targets: Vec<Target>,
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
    /// `pass`
    Pass,
}

/// What an assignment assigns to.
#[derive(Debug, Clone)]
pub(super) struct Target(Arc<Expr>);

impl Target {
    /// The variable; `None` for an attribute, an item or an unpacking.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.0.node(self.0.without_parentheses(self.0.root())).kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl Statement {
    /// The expressions in it.
    pub(super) fn exprs(&self) -> Vec<&Arc<Expr>> {
        match self {
            Self::Assignment { targets, value } => targets.iter().map(|target| &target.0).chain([value]).collect(),
            Self::Augmented { target, value } => vec![target, value],
            Self::Pass => Vec::new(),
        }
    }
}

/// Why there are no statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParseFailure {
    /// Python rejects the text.
    Syntax,
    /// It is not known whether Python accepts the text, or what the text does.
    Uncertain(Uncertainty),
}

const TOO_LARGE: ParseFailure = ParseFailure::Uncertain(Uncertainty::Size);

type Result<T> = std::result::Result<T, ParseFailure>;

/// The most statements, and the most targets of one: finding each one parses all the text that follows.
const MAX_STATEMENTS: usize = 64;

/// The longest text, in bytes: the server has no limit, but no command line is longer.
const MAX_LENGTH: usize = 128 * 1024;

/// What Python skips between the tokens of a line.
const BLANKS: [char; 3] = [' ', '\t', '\u{c}'];
/// Line ends that do not end the line.
const CONTINUED: [&str; 3] = ["\\\r\n", "\\\n", "\\\r"];
/// The first version in which another line must follow it.
const CONTINUES_TO_A_LINE: PythonVersion = PythonVersion::V3_8;

/// Parses the text after `ans=`; the first statement assigns to `ans`.
pub(super) fn parse(text: &str, python: PythonVersion) -> Result<Vec<Statement>> {
    let closed = closed(text, python);
    let text = closed.as_ref();
    if first_token(text, python).starts_with(['\n', '\r', '#']) || text.starts_with("==") {
        return Err(ParseFailure::Syntax);
    }
    // `ans==1` is a comparison
    let compared = text.strip_prefix('=').map(|rest| format!("ans=={rest}"));
    let whole = compared.as_deref().unwrap_or(text);
    let mut uncertain = None;
    let mut statements = Vec::new();
    // the first statement begins after `ans=`, so blanks before it are no indentation
    for (index, line) in lines(first_token(whole, python), python)?.into_iter().enumerate() {
        let place = if index > 0 { Place::NewLine } else { Place::First };
        let parser = AssignmentParser { place, is_answer: compared.is_none(), python };
        match parse_line(line, parser, &mut statements) {
            Err(ParseFailure::Syntax) => return Err(ParseFailure::Syntax),
            Err(failure) => uncertain = Some(failure),
            Ok(()) => {}
        }
    }
    uncertain.map_or(Ok(statements), Err)
}

/// The text without the blanks at its end. Python ends a last line of blanks, which a backslash before it then continues to, and
/// before 3.8 also a last line with a backslash.
fn closed(text: &str, python: PythonVersion) -> Cow<'_, str> {
    if python < CONTINUES_TO_A_LINE && text.ends_with('\\') {
        return format!("{text}\n").into();
    }
    let trimmed = text.trim_end_matches(BLANKS);
    if trimmed.len() < text.len() && trimmed.ends_with(['\n', '\r']) {
        return format!("{trimmed}\n").into();
    }
    trimmed.into()
}

/// The text without the blanks and the continued line ends before it, within a line.
fn first_token(text: &str, python: PythonVersion) -> &str {
    let mut rest = text.trim_start_matches(BLANKS);
    while let Some(after) = CONTINUED.iter().find_map(|continued| rest.strip_prefix(continued)) {
        if after.is_empty() && python >= CONTINUES_TO_A_LINE {
            return rest;
        }
        rest = after.trim_start_matches(BLANKS);
    }
    rest
}

/// A line without the backslashes after it that continue it to the next one.
fn without_continuations(line: &str) -> &str {
    let mut line = line;
    while let Some(before) =
        CONTINUED.iter().find_map(|continued| line.trim_end_matches(BLANKS).strip_suffix(continued))
    {
        line = before.trim_end_matches(BLANKS);
    }
    line
}

/// Splits the text at the line ends that end a statement.
fn lines(text: &str, python: PythonVersion) -> Result<Vec<&str>> {
    if !text.contains(['\n', '\r']) {
        return Ok(vec![text]);
    }
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        match parse_expression(rest, python) {
            Err(_) if found.len() > MAX_STATEMENTS => return Err(TOO_LARGE),
            Err(error) if *error.kind() == SyntaxErrorKind::SecondLine => {
                let (line, after) = rest.split_at(error.span().start as usize);
                found.push(without_continuations(line));
                rest = after;
            }
            _ => {
                found.push(rest);
                return Ok(found);
            }
        }
    }
}

/// Parses an expression, or an unpacking without brackets, which a statement may contain instead.
fn parse_expression(text: &str, python: PythonVersion) -> std::result::Result<Expr, SyntaxError> {
    match parse_for(text, MAX_LENGTH, python) {
        Err(error) if *error.kind() == SyntaxErrorKind::Statement(BARE_UNPACKING) => {
            // a comment would swallow the bracket
            parse_for(&format!("({text}\n)"), MAX_LENGTH + 3, python)
        }
        result => result,
    }
}

/// The place of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// After `ans=`.
    First,
    /// After `;`.
    SameLine,
    /// On a line of its own.
    NewLine,
}

fn parse_line(line: &str, mut parser: AssignmentParser, statements: &mut Vec<Statement>) -> Result<()> {
    let mut rest = Some(line);
    while let Some(text) = rest {
        if statements.len() > MAX_STATEMENTS {
            return Err(TOO_LARGE);
        }
        let text = first_token(text, parser.python);
        if parser.place != Place::First && (text.is_empty() || text.starts_with(['#', '\n', '\r'])) {
            return Ok(());
        }
        let keyword = if parser.place == Place::First { None } else { keyword_statement(text, parser)? };
        let (statement, after) = match keyword {
            Some(found) => found,
            None => parser.parse(text)?,
        };
        statements.push(statement);
        rest = after;
        parser.place = Place::SameLine;
    }
    Ok(())
}

/// A statement that begins with a keyword, and the text after its `;`.
fn keyword_statement(text: &str, parser: AssignmentParser) -> Result<Option<(Statement, Option<&str>)>> {
    const UNCERTAIN: ParseFailure = ParseFailure::Uncertain(Uncertainty::Statement);
    let word_end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    let (word, after) = text.split_at(word_end);
    let begins_line = parser.place == Place::NewLine;
    match word {
        "async" if parser.python < ASYNC_IS_RESERVED => return Ok(None),
        "pass" => {}
        "del" | "import" | "global" | "assert" | "raise" | "from" => return Err(UNCERTAIN),
        "if" | "for" | "while" | "try" | "with" | "def" | "class" | "async" if begins_line => {
            return Err(UNCERTAIN);
        }
        "match" | "type" if begins_line && text.contains(':') => return Err(UNCERTAIN),
        "if" | "for" | "while" | "try" | "with" | "def" | "class" | "async" | "return" | "break" | "continue"
        | "nonlocal" | "yield" => return Err(ParseFailure::Syntax),
        _ => return Ok(None),
    }
    let end = after.find([';', '#', '\n', '\r']).unwrap_or(after.len());
    let (between, rest) = after.split_at(end);
    if !between.trim_matches([' ', '\t']).is_empty() {
        return Err(ParseFailure::Syntax);
    }
    Ok(Some((Statement::Pass, rest.strip_prefix(';'))))
}

/// The first version in which `async` and `await` are reserved words: "What's New in Python 3.7".
const ASYNC_IS_RESERVED: PythonVersion = PythonVersion::V3_7;

/// The first version whose parser counts brackets before it reads them: "What's New in Python 3.9", PEP 617.
const HAS_PEG_PARSER: PythonVersion = PythonVersion::V3_9;

#[derive(Clone, Copy)]
struct AssignmentParser {
    place: Place,
    /// Whether the first statement assigns to `ans`.
    is_answer: bool,
    python: PythonVersion,
}

impl AssignmentParser {
    /// Parses `target = target = value`; also returns the text after its `;`.
    fn parse<'t>(&self, text: &'t str) -> Result<(Statement, Option<&'t str>)> {
        let is_answer = self.place == Place::First && self.is_answer;
        let mut targets = if is_answer { vec![Target(self.expression("ans")?)] } else { Vec::new() };
        let mut augmented = None;
        let mut text = text;
        loop {
            let at = match parse_expression(text, self.python) {
                Ok(expr) => return Ok((statement(targets, augmented, checked(expr)?), None)),
                Err(error) if matches!(error.kind(), SyntaxErrorKind::Statement(_)) => error.span(),
                Err(error) => return Err(self.failure(text, &error)),
            };
            let (head, operator, after) = split(text, at);
            let head = self.expression(head)?;
            match operator {
                ";" => return Ok((statement(targets, augmented, head), Some(after))),
                _ if targets.len() > MAX_STATEMENTS => return Err(TOO_LARGE),
                "=" if augmented.is_none() && is_target(&head) => targets.push(Target(head)),
                _ if operator != "=" && targets.is_empty() && augmented.is_none() && is_single_target(&head) => {
                    augmented = Some(head);
                }
                _ => return Err(ParseFailure::Syntax),
            }
            text = first_token(after, self.python);
        }
    }

    fn expression(&self, text: &str) -> Result<Arc<Expr>> {
        parse_expression(text, self.python).map_err(|error| self.failure(text, &error)).and_then(checked)
    }

    /// How Python treats a text that is not an expression here.
    fn failure(&self, text: &str, error: &SyntaxError) -> ParseFailure {
        use SyntaxErrorKind as Kind;
        // an annotation is a statement too
        let is_annotation = self.place != Place::First
            && text.get(error.span().start as usize..).is_some_and(|rest| rest.starts_with(':'));
        match error.kind() {
            Kind::TooLong | Kind::NoStack | Kind::NullByte => TOO_LARGE,
            // the parser up to 3.8 runs out of its stack before that
            Kind::TooDeep if text.contains("lambda") || self.python < HAS_PEG_PARSER => TOO_LARGE,
            _ if is_annotation => ParseFailure::Uncertain(Uncertainty::Statement),
            _ if qmgr_validation::may_await(text) => ParseFailure::Uncertain(Uncertainty::Await),
            _ => ParseFailure::Syntax,
        }
    }
}

/// Rejects an expression with strings whose contents the grammar does not check: the fields of an f-string and
/// `\N{…}`.
fn checked(expr: Expr) -> Result<Arc<Expr>> {
    for node in expr.nodes() {
        if matches!(node.kind, ExprKind::Unsupported { construct: Construct::String, .. }) {
            let text = node.span.slice(expr.text());
            let is_formatted = text.contains(['{', '}']) && text.contains(['f', 'F']);
            if is_formatted || text.contains("\\N") {
                return Err(ParseFailure::Uncertain(Uncertainty::StringSyntax));
            }
        }
    }
    Ok(Arc::new(expr))
}

fn statement(targets: Vec<Target>, augmented: Option<Arc<Expr>>, value: Arc<Expr>) -> Statement {
    match augmented {
        Some(target) => Statement::Augmented { target, value },
        None => Statement::Assignment { targets, value },
    }
}

/// The text before the operator at `at`, the operator, and the text after it.
fn split(text: &str, at: Span) -> (&str, &str, &str) {
    (&text[..at.start as usize], at.slice(text), &text[at.end as usize..])
}

fn is_assignable(expr: &Expr, id: ExprId) -> bool {
    matches!(&expr.node(id).kind, ExprKind::Name(name) if !matches!(&**name, "True" | "False" | "None" | "__debug__"))
}

/// Whether `op=` may assign to it.
fn is_single_target(expr: &Expr) -> bool {
    let id = expr.without_parentheses(expr.root());
    match expr.node(id).kind {
        ExprKind::Unsupported { construct, .. } => matches!(construct, Construct::Attribute | Construct::Subscript),
        _ => is_assignable(expr, id),
    }
}

/// Whether `=` may assign to it.
fn is_target(expr: &Expr) -> bool {
    let mut open = vec![expr.root()];
    while let Some(id) = open.pop() {
        match &expr.node(id).kind {
            ExprKind::Name(_) if is_assignable(expr, id) => {}
            ExprKind::Unsupported { construct: Construct::Attribute | Construct::Subscript, .. } => {}
            ExprKind::Unsupported { construct: Construct::Unpacking, parts } => open.extend(parts.iter()),
            ExprKind::Parenthesized(inner) => open.push(*inner),
            ExprKind::Tuple { items, .. } | ExprKind::List(items) => {
                let kinds = items.iter().map(|&item| &expr.node(item).kind);
                let unpackings =
                    kinds.filter(|kind| matches!(kind, ExprKind::Unsupported { construct: Construct::Unpacking, .. }));
                if unpackings.count() > 1 {
                    return false;
                }
                open.extend(items.iter());
            }
            _ => return false,
        }
    }
    true
}
