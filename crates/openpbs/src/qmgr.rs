//! How a formula is set: the `qmgr` command, quoted for the shell and for `qmgr`, and whether the
//! server accepts what it gets ([`validate`]).
//!
//! `qmgr -c` takes one directive as one argument. A value may be quoted with `"` or `'`; the other
//! quote is then an ordinary character, and neither can be escaped. Every character must be
//! printable ASCII or white space (C's `isspace`); `&` is not accepted, quoted or not.
//!
//! The server does not parse the formula. It writes it into a Python script, `exec('ans=…', …)`,
//! and executes that twice: first with the value 1 for every resource, then with the numeric
//! resources only. It refuses a `SyntaxError` of the first pass and a `NameError` of either pass;
//! it ignores every other exception. So an unknown name counts only where the evaluation reaches
//! it, and statements are accepted like expressions. What the scheduler makes of the formula
//! afterwards is another question.
//!
//! `executed` finds the text that Python executes, which is evaluated in this crate's arithmetic. A
//! formula with anything but numbers, names, operators, tuples, lists and calls of the functions of
//! numbers is not followed: its answer is an [`Uncertainty`].
//!
//! Sources: the directives recorded in `tests/golden/openpbs/evaluate/extra.jsonl` (the records with
//! `"phase": "D_qmgr_syntax"`), the answers in `tests/golden/openpbs/validate.jsonl`, the log of that
//! server, and CPython 3.11, which the tests in `tests/referee` ask the same.

use std::sync::Arc;

use job_sort_formula::PythonVersion;
use job_sort_formula::diagnostic::{Span, is_control};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::program::Program;
use job_sort_formula::formula::syntax::{Expr, ExprKind, SyntaxErrorKind, parse_for};
use job_sort_formula::python::{ErrorKind, KnownOrType, Python, Value, WithComplex};
use job_sort_formula::schema::Schema;

use crate::submission::{InvalidLiteralKind, PythonStringLiteral};

/// The object whose formula is set by default.
const SERVER: &str = "server";

/// The longest single argument that Linux passes to a command, in bytes.
const MAX_ARGUMENT_BYTES: usize = 128 * 1024 - 1;

/// Why a formula cannot be set with `qmgr`: a character that it accepts in no value, both kinds of
/// quotes, a second line, or more than an argument may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotSettable {
    message: String,
    /// Where it is.
    pub span: Span,
    /// What to write instead.
    pub help: &'static str,
}

impl NotSettable {
    fn new(message: impl Into<String>, start: usize, length: usize, help: &'static str) -> Self {
        Self {
            message: message.into(),
            span: Span::new(start, start + length),
            help,
        }
    }
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
/// use jsf_openpbs::qmgr::set_command_for;
///
/// assert_eq!(set_command_for("server", "ncpus * 2").unwrap(), r#"qmgr -c 'set server job_sort_formula="ncpus * 2"'"#);
/// assert!(set_command_for("server", "ncpus & 1").is_err());
/// ```
///
/// # Errors
/// [`NotSettable`] if `qmgr` cannot be given the formula.
pub fn set_command_for(object: &str, formula: &str) -> Result<String, NotSettable> {
    let directive = set_directive(object, formula)?;
    // single quotes protect everything but single quotes
    Ok(format!("qmgr -c '{}'", directive.replace('\'', r"'\''")))
}

/// Like [`set_command_for`], for the object that `before` names, the text before the formula in its
/// document: `set sched NAME`, `set server NAME`, or the heading `Sched NAME` of a listing. Without
/// one, the object is the server.
///
/// # Errors
/// [`NotSettable`] if `qmgr` cannot be given the formula.
pub fn set_command_after(before: &str, formula: &str) -> Result<String, NotSettable> {
    set_command_for(&object_or_server(before), formula)
}

/// Makes the command that sets `job_sort_formula_threshold`, as it is typed in a shell: of the
/// scheduler that `before` names, the text before the formula in its document, else of the default
/// one. The attribute is a scheduler's, not the server's.
///
/// ```
/// use jsf_openpbs::qmgr::set_threshold_command;
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

/// The object that the text before a formula names, else the server.
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
/// [`NotSettable`] if `qmgr` cannot be given the formula.
pub fn set_directive(object: &str, formula: &str) -> Result<String, NotSettable> {
    let formula = formula.trim_end_matches('\n');
    if let Some(start) = formula.find('\n') {
        let message = "OpenPBS keeps only the first line of a formula";
        return Err(NotSettable::new(message, start, 1, "write one line"));
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
            return Err(NotSettable::new(message, start, length, help));
        }
    }
    let mut quote = '"';
    if formula.contains('"') {
        quote = '\'';
        if let Some(single) = formula.find('\'') {
            // it can quote a value only with a quote that does not occur in it
            let message = "qmgr accepts a value with `\"` or with `'`, not with both";
            let help = "write one kind of quotes, also in a comment";
            return Err(NotSettable::new(message, single, 1, help));
        }
    }
    let directive = format!("set {object} job_sort_formula={quote}{formula}{quote}");
    if directive.len() > MAX_ARGUMENT_BYTES {
        let message = format!(
            "the directive is longer than {MAX_ARGUMENT_BYTES} bytes, the most that Linux accepts as one argument"
        );
        let length = formula.len();
        return Err(NotSettable::new(
            message,
            0,
            length,
            "write a shorter formula",
        ));
    }
    Ok(directive)
}

/// Why `qmgr` rejects the first line of a formula, which is all that OpenPBS keeps.
pub fn refusal(formula: &str) -> Option<NotSettable> {
    let line = formula.split(['\n', '\0']).next().unwrap_or("");
    set_directive(SERVER, line).err()
}

/// Whether the character is printable ASCII other than `&`, or white space by C's `isspace`.
fn is_accepted(character: char) -> bool {
    let is_white_space = matches!(character, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r');
    (character.is_ascii_graphic() || is_white_space) && character != '&'
}

/// The server's answer to a formula.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
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
    const ACCEPTED: Self = Self {
        accepted: Some(true),
        code: Some(0),
        message: "",
        by: Some(AnsweredBy::Server),
        uncertainty: None,
    };
    const INVALID_FORMAT: Self = Self::refused(15123, "Invalid Formula Format");
    const INVALID_KEYWORD: Self = Self::refused(15124, "Formula contains invalid keyword");
    const INVALID_RESOURCE_TYPE: Self =
        Self::refused(15125, "Formula contains a resource of an invalid type");
    const INTERNAL_ERROR: Self = Self::refused(15011, "PBS server internal error");

    const fn refused(code: u32, message: &'static str) -> Self {
        Self {
            accepted: Some(false),
            code: Some(code),
            message,
            by: Some(AnsweredBy::Server),
            uncertainty: None,
        }
    }

    const fn unknown(uncertainty: Uncertainty) -> Self {
        Self {
            accepted: None,
            code: None,
            message: "",
            by: None,
            uncertainty: Some(uncertainty),
        }
    }
}

/// The answer of OpenPBS to the first line of a text, which is all that it keeps of a formula.
///
/// ```
/// use job_sort_formula::Schema;
/// use jsf_openpbs::qmgr::{AnsweredBy, Uncertainty, validate};
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
    let mut validation = server_answer(text, schema).unwrap_or_else(Validation::unknown);
    if refusal(text).is_some() {
        validation.by = Some(AnsweredBy::Qmgr);
    }
    validation
}

fn server_answer(text: &str, schema: &Schema) -> Result<Validation, Uncertainty> {
    let executed = match executed(text)? {
        Executed::Answered(answer) => return Ok(answer),
        Executed::Text(executed) => executed,
    };
    match parse(&executed, schema.python())? {
        Some(expr) => answer(&expr, schema),
        None => Ok(Validation::INVALID_FORMAT),
    }
}

/// The longest text, in bytes: the server has no limit, but no command line is longer.
const MAX_LENGTH: usize = 128 * 1024;

/// The first version whose parser counts brackets before it reads them: "What's New in Python 3.9",
/// PEP 617.
const COUNTS_BRACKETS: PythonVersion = PythonVersion::V3_9;

/// The most brackets that no parser before that finds too deep.
const MAX_BRACKETS: usize = 80;

/// The expression after `ans=`; `None` if Python refuses the text.
fn parse(text: &str, python: PythonVersion) -> Result<Option<Arc<Expr>>, Uncertainty> {
    if text.contains(['\n', '\r']) || text.ends_with('\\') {
        return Err(Uncertainty::Escape);
    }
    // blanks after `ans=` are no indentation
    let text = text.trim_start_matches([' ', '\t', '\u{c}']);
    if text.starts_with('=') {
        return Err(Uncertainty::Statement);
    }
    let error = match parse_for(text, MAX_LENGTH, python) {
        Ok(expr) => return Ok(Some(Arc::new(expr))),
        Err(error) => error,
    };
    match error.kind() {
        SyntaxErrorKind::Statement(_) => Err(Uncertainty::Statement),
        SyntaxErrorKind::TooLong | SyntaxErrorKind::NoStack => Err(Uncertainty::Size),
        // the parser may give up before it reaches the fault
        _ if python < COUNTS_BRACKETS && text.matches(['(', '[', '{']).count() > MAX_BRACKETS => {
            Err(Uncertainty::Size)
        }
        // a version may accept it: `max((key)=abs)`
        SyntaxErrorKind::AssignmentTarget if error.span().slice(text).starts_with('(') => {
            Err(Uncertainty::NonArithmetic)
        }
        _ if may_be_valid(text) => Err(Uncertainty::NonArithmetic),
        _ => Ok(None),
    }
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
        ans: KnownOrType::Known(Value::Int(0)),
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
    ans: KnownOrType<Value>,
    /// Whether the script's `except … as e` has deleted `math.e`.
    e_is_deleted: bool,
}

impl Pass<'_> {
    /// What the formula computes, or the kind of the exception that it raises.
    fn execute(
        &self,
        expr: &Arc<Expr>,
    ) -> Result<Result<KnownOrType<Value>, ErrorKind>, Uncertainty> {
        let program = self.compile(expr)?;
        let mut inputs = Vec::new();
        for name in program.inputs() {
            inputs.push(self.input(name));
        }
        let mut interpreter = program.interpreter(WithComplex(Python::new()));
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
    fn input(&self, name: &str) -> KnownOrType<Value> {
        match name {
            "ans" => self.ans.clone(),
            "errnum" => KnownOrType::Known(Value::Int(0)),
            "errmsg" => KnownOrType::Type("str"),
            "globals1" | "globals2" => KnownOrType::Type("dict"),
            _ => KnownOrType::Known(Value::Int(1)),
        }
    }
}

/// What the server's script executes.
enum Executed {
    /// This text, after `ans=`.
    Text(String),
    /// Nothing that decides: this is the server's answer.
    Answered(Validation),
}

/// The script is not valid Python.
const INVALID_SCRIPT: Executed = Executed::Answered(Validation::INTERNAL_ERROR);

/// Derives what the script executes for this formula.
fn executed(source: &str) -> Result<Executed, Uncertainty> {
    let source = source.split('\0').next().unwrap_or("");
    // an empty formula unsets the attribute
    if source.is_empty() {
        return Ok(Executed::Answered(Validation::ACCEPTED));
    }
    match source.split('\n').next() {
        None | Some("") => Ok(INVALID_SCRIPT),
        Some(line) => executed_line(line),
    }
}

fn executed_line(line: &str) -> Result<Executed, Uncertainty> {
    let invalid = match PythonStringLiteral::parse_between(line, '\'') {
        // releases of CPython 3.11 differ on it
        Ok(literal) if literal.text().contains('\0') => return Err(Uncertainty::Escape),
        Ok(literal) => return Ok(Executed::Text(literal.text().to_owned())),
        Err(invalid) => invalid,
    };
    let after_fault = &line[invalid.span.end as usize..];
    match invalid.kind {
        InvalidLiteralKind::Quote | InvalidLiteralKind::CarriageReturn => ended_string(line),
        InvalidLiteralKind::NamedCharacter
            if after_fault.starts_with('{') && after_fault.contains('}') =>
        {
            Err(Uncertainty::Escape)
        }
        InvalidLiteralKind::TrailingBackslash
        | InvalidLiteralKind::Escape
        | InvalidLiteralKind::NamedCharacter => Ok(INVALID_SCRIPT),
        // it cannot be encoded and so not compiled, an error that the script ignores
        InvalidLiteralKind::Surrogate => match executed_line(after_fault)? {
            Executed::Text(_) => Ok(Executed::Answered(Validation::ACCEPTED)),
            other => Ok(other),
        },
    }
}

/// The grammar reads neither the fields of f-strings nor every form of lambdas and comprehensions.
const MAY_BE_VALID: [&str; 3] = ["{", "lambda", "for"];

/// The formula ends the string around it: usually the script is then not valid Python, as with
/// `len('abc')`.
fn ended_string(line: &str) -> Result<Executed, Uncertainty> {
    let call = format!("exec('ans={line}', globals1, locals())");
    match Formula::parse(&call).map_err(|error| error.kind().clone()) {
        Err(
            SyntaxErrorKind::Statement(_) | SyntaxErrorKind::TooLong | SyntaxErrorKind::NoStack,
        ) => Err(Uncertainty::ScriptChanged),
        Err(_) if !MAY_BE_VALID.iter().any(|part| line.contains(part)) => Ok(INVALID_SCRIPT),
        _ => Err(Uncertainty::ScriptChanged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(refused.to_string().starts_with(message), "{refused}");
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
                refused.to_string(),
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
