//! Whether OpenPBS's server accepts a formula when `qmgr` sets it.
//!
//! The server does not parse the formula. It writes it into a Python script, `exec('ans=…', …)`, and executes that
//! twice: first with the value 1 for every resource, then with the numeric resources only. It refuses a `SyntaxError`
//! of the first pass and a `NameError` of either pass; it ignores every other exception. So an unknown name counts only
//! where the evaluation reaches it, and statements are accepted like expressions. What the scheduler makes of the
//! formula afterwards is another question.
//!
//! In: the text of a formula, and the [`Schema`]. Out: a [`Validation`]. `executed_text` finds the text that Python
//! executes, `statements` parses it, `bound_names` finds formulas in which every name has a value wherever it is
//! evaluated, and `passes` computes the others in this crate's own arithmetic. Only arithmetic is evaluated: where the
//! answer depends on anything else, it is an [`Uncertainty`].
//!
//! Sources: the answers recorded in `tests/golden/openpbs/validate.jsonl`, the log of that server, and CPython 3.11,
//! which the tests in `tests/referee` ask the same.

mod bound_names;
mod executed_text;
pub(super) mod operands;
mod passes;
mod statements;

use std::fmt;

use job_sort_formula::PythonVersion;
use job_sort_formula::schema::Schema;

use crate::qmgr;
use crate::qmgr_validation::executed_text::ExecutedText;
use crate::qmgr_validation::statements::ParseFailure;

/// The server's answer to a formula.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Validation {
    /// Whether the server accepts the formula; `None` if that cannot be determined.
    pub accepted: Option<bool>,
    /// The PBS error code, 0 for none; `None` if it cannot be determined.
    pub code: Option<u32>,
    /// The server's message; may be empty.
    pub message: &'static str,
    /// Which program decides when the formula is set with `qmgr`; `None` if the answer cannot be determined.
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
    /// `qmgr` refuses: it cannot pass such a text to the server, however it is quoted. The other fields still
    /// give the server's answer to the text.
    Qmgr,
    /// The server.
    Server,
}

/// Why the server's answer cannot be determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Uncertainty {
    /// A single quote ends the string around the formula, and the script is still valid Python.
    ScriptChanged,
    /// An escape makes a NUL, or names a character (`\N{…}`).
    Escape,
    /// An f-string with fields, or a string with a named character, whose syntax is not checked.
    StringSyntax,
    /// `yield`, `await` or `async` in a lambda or a generator, whose syntax is not checked.
    Await,
    /// A statement other than `name = expression` and `pass`.
    Statement,
    /// A text that is too long or too deep, or has too many statements, to be parsed, or a depth at which CPython's
    /// answer depends on the depth of its own stack.
    Size,
    /// The answer depends on something that is not arithmetic: a string, an attribute, a call of another builtin.
    NonArithmetic,
    /// A computation beyond the limits of this crate.
    Limit,
}

impl fmt::Display for Uncertainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ScriptChanged => "a single quote in it changes the server's script",
            Self::Escape => "it depends on an escape that is not resolved here",
            Self::StringSyntax => "the syntax inside its strings is not checked",
            Self::Await => "the syntax of `yield`, `await` and `async` is not checked",
            Self::Statement => "it has a statement that is not executed here",
            Self::Size => "it is too long or too deep",
            Self::NonArithmetic => "it depends on the value of something that is not arithmetic",
            Self::Limit => "it depends on a computation beyond the limits",
        })
    }
}

impl Validation {
    const ACCEPTED: Self =
        Self { accepted: Some(true), code: Some(0), message: "", by: Some(AnsweredBy::Server), uncertainty: None };
    const INVALID_FORMAT: Self = Self::refused(15123, "Invalid Formula Format");
    const INVALID_KEYWORD: Self = Self::refused(15124, "Formula contains invalid keyword");
    const INVALID_RESOURCE_TYPE: Self = Self::refused(15125, "Formula contains a resource of an invalid type");
    const INTERNAL_ERROR: Self = Self::refused(15011, "PBS server internal error");

    const fn refused(code: u32, message: &'static str) -> Self {
        Self { accepted: Some(false), code: Some(code), message, by: Some(AnsweredBy::Server), uncertainty: None }
    }

    const fn unknown(uncertainty: Uncertainty) -> Self {
        Self { accepted: None, code: None, message: "", by: None, uncertainty: Some(uncertainty) }
    }
}

/// The answer of OpenPBS to the first line of a text, which is all that it keeps of a formula.
///
/// ```
/// use job_sort_formula::Schema;
/// use jsf_openpbs::qmgr_validation::{AnsweredBy, Uncertainty, validate};
///
/// let answer = |text| validate(text, &Schema::openpbs());
/// assert_eq!(answer("ncpus / queue_priority").accepted, Some(true));
/// assert_eq!(answer("ncpus +").code, Some(15123));
/// assert_eq!(answer("1 or nosuch").code, Some(0));
/// assert_eq!(answer("1 and nosuch").message, "Formula contains invalid keyword");
/// assert_eq!(answer("place").code, Some(15125));
/// assert_eq!(answer("len('abc')").code, Some(15011));
/// assert_eq!(answer("ncpus & 1").by, Some(AnsweredBy::Qmgr));
/// assert_eq!(answer("str(ncpus) and nosuch").uncertainty, Some(Uncertainty::NonArithmetic));
/// ```
pub fn validate(text: &str, schema: &Schema) -> Validation {
    let mut validation = server_answer(text, schema).unwrap_or_else(Validation::unknown);
    if qmgr::refusal(text).is_some() {
        validation.by = Some(AnsweredBy::Qmgr);
    }
    validation
}

fn server_answer(text: &str, schema: &Schema) -> Result<Validation, Uncertainty> {
    let executed = match executed_text::executed(text)? {
        ExecutedText::Nothing | ExecutedText::Unencodable => return Ok(Validation::ACCEPTED),
        ExecutedText::InvalidScript => return Ok(Validation::INTERNAL_ERROR),
        ExecutedText::Text(executed) => executed,
    };
    match statements::parse(&executed, schema.python()) {
        Ok(statements) => passes::answer(&statements, schema),
        Err(ParseFailure::Syntax) if may_nest_strings(&executed, schema.python()) => Err(Uncertainty::StringSyntax),
        Err(ParseFailure::Syntax) => Ok(Validation::INVALID_FORMAT),
        Err(ParseFailure::Uncertain(uncertainty)) => Err(uncertainty),
    }
}

/// The first version whose f-strings can have strings in the same quotes, line ends and comments in their fields. "What's New in
/// Python 3.12", PEP 701.
const NESTS_STRINGS: PythonVersion = PythonVersion::V3_12;

/// Whether a text that the grammar rejects may contain such an f-string: one whose first quote is not its last, or is on
/// another line.
fn may_nest_strings(text: &str, python: PythonVersion) -> bool {
    python >= NESTS_STRINGS && ['"', '\''].iter().any(|quote| has_open_field(text, *quote))
}

fn has_open_field(text: &str, quote: char) -> bool {
    let mut parts = text.split(quote).peekable();
    while let Some(before) = parts.next() {
        let prefix = before.trim_end_matches(['r', 'R']);
        let is_f_string = prefix.ends_with(['f', 'F']);
        let Some(field) = parts.peek().filter(|_| is_f_string) else { continue };
        let is_open = field.matches('{').count() > field.matches('}').count() || field.contains(['\n', '\r']);
        if is_open && field.contains('{') && parts.clone().count() > 1 {
            return true;
        }
    }
    false
}

/// Whether a text that the grammar rejects may contain `yield` or `await` where Python allows them: in a lambda or a
/// generator.
fn may_await(text: &str) -> bool {
    ["lambda", "for"].iter().any(|word| text.contains(word))
        && ["yield", "await", "async"].iter().any(|word| text.contains(word))
}
