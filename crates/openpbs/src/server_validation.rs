//! Whether the server accepts a formula when it is set.
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
//! Sources: the answers in `tests/golden/openpbs/validate.jsonl`, the log of that server, and CPython
//! 3.11, which the tests in `tests/referee` ask the same.

use std::sync::Arc;

use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::syntax::{Expr, ExprKind, SyntaxErrorKind, parse_for};
use job_sort_formula::python::Python;
use job_sort_formula::{ErrorKind, Formula, Program, PythonVersion, Schema, Value};

use crate::qmgr_command::refused_by_qmgr;
use crate::submission::{InvalidLiteralKind, PythonStringLiteral};

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
/// use jsf_openpbs::server_validation::{AnsweredBy, Uncertainty, validate};
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

/// The expression after `ans=`, or the answer to a text that is no expression.
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
