//! What OpenPBS's server answers when the formula is set.

use crate::formula::Formula;
use crate::formula::number::{ErrorKind, Value};
use crate::formula::program::Program;
use crate::formula::syntax::{SyntaxError, SyntaxErrorKind};
use crate::schema::Schema;

/// The server's answer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Verdict {
    /// Whether the formula is set; `None` where it cannot be told.
    pub accepted: Option<bool>,
    /// The PBS error code, 0 for none.
    pub code: Option<u32>,
    /// The server's words.
    pub message: &'static str,
}

impl Verdict {
    const ACCEPTED: Self = Self { accepted: Some(true), code: Some(0), message: "" };
    /// It cannot be told.
    pub const UNKNOWN: Self = Self { accepted: None, code: None, message: "" };
    const FORMAT: Self = Self::refused(15123, "Invalid Formula Format");
    const KEYWORD: Self = Self::refused(15124, "Formula contains invalid keyword");
    const RESOURCE: Self = Self::refused(15125, "Formula contains a resource of an invalid type");

    const fn refused(code: u32, message: &'static str) -> Self {
        Self { accepted: Some(false), code: Some(code), message }
    }

    /// The answer to a text that is no expression. `;` and `=` make statements of it, which the server takes.
    pub fn on_syntax_error(error: &SyntaxError) -> Self {
        match error.kind {
            SyntaxErrorKind::Statement(_) | SyntaxErrorKind::TooLong => Self::UNKNOWN,
            _ => Self::FORMAT,
        }
    }

    /// The answer to a formula. The server evaluates it once with every name at 1 and looks for `NameError` only,
    /// so names in a branch that is not taken then are not seen.
    pub fn on_formula(formula: &Formula, schema: &Schema) -> Self {
        if formula.expr().foreign().is_some() {
            return Self::UNKNOWN;
        }
        let everything = with_every_name_numeric(schema);
        match (raises_name_error(formula, &everything), raises_name_error(formula, schema)) {
            (Some(false), Some(false)) => Self::ACCEPTED,
            (Some(true), _) => Self::KEYWORD,
            (Some(false), Some(true)) => Self::RESOURCE,
            _ => Self::UNKNOWN,
        }
    }
}

fn raises_name_error(formula: &Formula, schema: &Schema) -> Option<bool> {
    let program: Program = formula.compile(schema).ok()?;
    let ones = vec![Value::Int(1); program.inputs().len()];
    Some(program.evaluate(&ones).is_err_and(|error| error.raised.kind == ErrorKind::Name))
}

fn with_every_name_numeric(schema: &Schema) -> Schema {
    let mut everything = Schema::empty();
    for (name, _) in schema.iter() {
        everything.add(name, crate::schema::Kind::Count);
    }
    everything
}

/// The answer to any text.
pub fn verdict(text: &str, schema: &Schema) -> Verdict {
    match Formula::parse(text) {
        Ok(formula) => Verdict::on_formula(&formula, schema),
        Err(error) => Verdict::on_syntax_error(&error),
    }
}
