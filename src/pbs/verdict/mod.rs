//! What OpenPBS's server answers when the formula is set.
//!
//! The server does not read the formula itself. It writes it into a Python script, in single quotes behind `ans=`, and
//! has that executed twice: first where every resource has the value 1, then where the numeric ones alone are there.
//! `SyntaxError` and `NameError` are the refusals; whatever else is raised is swallowed. So a name counts only where
//! the evaluation comes by, statements are as good as expressions, and what the scheduler makes of the formula
//! afterwards is another matter.
//!
//! Here nothing is executed. `script` finds the text that Python would execute, `statements` parses it,
//! `evaluation` follows it as far as it can be known, and `runs` does so twice. Where it cannot be known, the answer
//! is that it cannot be told.
//!
//! Sources: the records in `tests/golden/openpbs/validate.jsonl`, the server's log of them, and CPython 3.11, which is
//! asked the same in `tests/referee/validation.rs`.

mod evaluation;
mod runs;
mod script;
mod statements;
mod strings;

use crate::schema::Schema;

use crate::pbs::qmgr;
use script::Executed;

/// The answer to a formula that is set.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Verdict {
    /// Whether the server takes the formula; `None` where it cannot be told.
    pub accepted: Option<bool>,
    /// The PBS error code, 0 for none.
    pub code: Option<u32>,
    /// The server's words.
    pub message: &'static str,
    /// Who turns the formula down when it is set with `qmgr`; `None` if nobody does, or if it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<RefusedBy>,
}

/// Who turns a formula down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusedBy {
    /// `qmgr` takes no such text, however it is quoted; the server never sees it. What the server would have said to it
    /// still stands in the other fields.
    Qmgr,
    /// The server.
    Server,
}

impl Verdict {
    const ACCEPTED: Self = Self { accepted: Some(true), code: Some(0), message: "", by: None };
    /// It cannot be told.
    pub const UNKNOWN: Self = Self { accepted: None, code: None, message: "", by: None };
    const FORMAT: Self = Self::refused(15123, "Invalid Formula Format");
    const KEYWORD: Self = Self::refused(15124, "Formula contains invalid keyword");
    const RESOURCE: Self = Self::refused(15125, "Formula contains a resource of an invalid type");
    const INTERNAL: Self = Self::refused(15011, "PBS server internal error");

    const fn refused(code: u32, message: &'static str) -> Self {
        Self { accepted: Some(false), code: Some(code), message, by: Some(RefusedBy::Server) }
    }
}

/// What OpenPBS answers to the admin's text, of which it sees the first line only.
///
/// ```
/// use job_sort_formula::Schema;
/// use job_sort_formula::pbs::verdict::{RefusedBy, verdict};
///
/// let answer = |text| verdict(text, &Schema::openpbs());
/// assert_eq!(answer("ncpus / queue_priority").accepted, Some(true));
/// assert_eq!(answer("ncpus +").code, Some(15123));
/// assert_eq!(answer("1 or nosuch").code, Some(0));
/// assert_eq!(answer("1 and nosuch").message, "Formula contains invalid keyword");
/// assert_eq!(answer("place").code, Some(15125));
/// assert_eq!(answer("len('abc')").code, Some(15011));
/// assert_eq!(answer("ncpus & 1").by, Some(RefusedBy::Qmgr));
/// ```
pub fn verdict(text: &str, schema: &Schema) -> Verdict {
    let mut verdict = of_server(text, schema);
    if qmgr::refusal(text).is_some() {
        verdict.by = Some(RefusedBy::Qmgr);
    }
    verdict
}

/// Whether a text may have `yield` or `await` where Python takes them, in a lambda or a generator; the grammar never
/// does.
fn may_await(text: &str) -> bool {
    let has = |word: &str| text.contains(word);
    (has("lambda") || has("for")) && (has("yield") || has("await") || has("async"))
}

fn of_server(text: &str, schema: &Schema) -> Verdict {
    let executed = match script::executed(text) {
        Executed::Nothing | Executed::Unreadable => return Verdict::ACCEPTED,
        Executed::Broken => return Verdict::INTERNAL,
        Executed::Unknown => return Verdict::UNKNOWN,
        Executed::Text(executed) => executed,
    };
    match statements::read(&executed) {
        Ok(statements) => runs::answer(&statements, schema),
        Err(statements::Unread::Syntax) => Verdict::FORMAT,
        Err(statements::Unread::Unknown) => Verdict::UNKNOWN,
    }
}
