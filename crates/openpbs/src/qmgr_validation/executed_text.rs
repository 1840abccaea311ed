//! Derives, from the text of a formula, the text that the server's script executes after `ans=` to
//! validate it.
//!
//! The script contains the formula in a single-quoted string, so Python first decodes its escapes,
//! and a single quote in it ends the string.

use job_sort_formula::formula::Formula;
use job_sort_formula::formula::syntax::SyntaxErrorKind;

use super::Uncertainty;
use crate::python_string_literal::{InvalidLiteralKind, PythonStringLiteral};

/// What the server's script executes.
#[derive(Debug, PartialEq, Eq)]
pub enum ExecutedText {
    /// Nothing: an empty formula unsets the attribute.
    Nothing,
    /// Nothing: the script is not valid Python.
    InvalidScript,
    /// A text with a surrogate, which cannot be encoded and so not compiled; the script ignores
    /// that error.
    Unencodable,
    /// This text, after `ans=`.
    Text(String),
}

/// Derives what the script executes for this formula.
pub fn executed(source: &str) -> Result<ExecutedText, Uncertainty> {
    let source = source.split('\0').next().unwrap_or("");
    if source.is_empty() {
        return Ok(ExecutedText::Nothing);
    }
    match source.split('\n').next() {
        None | Some("") => Ok(ExecutedText::InvalidScript),
        Some(line) => executed_line(line),
    }
}

fn executed_line(line: &str) -> Result<ExecutedText, Uncertainty> {
    let invalid = match PythonStringLiteral::parse_between(line, '\'') {
        // releases of CPython 3.11 differ on it
        Ok(literal) if literal.text().contains('\0') => return Err(Uncertainty::Escape),
        Ok(literal) => return Ok(ExecutedText::Text(literal.text().to_owned())),
        Err(invalid) => invalid,
    };
    let after_fault = &line[invalid.span.end as usize..];
    match invalid.kind {
        InvalidLiteralKind::Quote | InvalidLiteralKind::CarriageReturn => ended_string(line),
        InvalidLiteralKind::TrailingBackslash | InvalidLiteralKind::Escape => {
            Ok(ExecutedText::InvalidScript)
        }
        InvalidLiteralKind::NamedCharacter
            if after_fault.starts_with('{') && after_fault.contains('}') =>
        {
            Err(Uncertainty::Escape)
        }
        InvalidLiteralKind::NamedCharacter => Ok(ExecutedText::InvalidScript),
        InvalidLiteralKind::Surrogate => match executed_line(after_fault)? {
            ExecutedText::Text(_) | ExecutedText::Nothing => Ok(ExecutedText::Unencodable),
            other => Ok(other),
        },
    }
}

/// The grammar reads neither the fields of f-strings nor every form of lambdas and comprehensions.
const MAY_BE_VALID: [&str; 3] = ["{", "lambda", "for"];

/// The formula ends the string around it: usually the script is then not valid Python, as with
/// `len('abc')`.
fn ended_string(line: &str) -> Result<ExecutedText, Uncertainty> {
    let call = format!("exec('ans={line}', globals1, locals())");
    match Formula::parse(&call).map_err(|error| error.kind().clone()) {
        Err(
            SyntaxErrorKind::Statement(_) | SyntaxErrorKind::TooLong | SyntaxErrorKind::NoStack,
        ) => Err(Uncertainty::ScriptChanged),
        Err(_) if !MAY_BE_VALID.iter().any(|part| line.contains(part)) => {
            Ok(ExecutedText::InvalidScript)
        }
        _ => Err(Uncertainty::ScriptChanged),
    }
}
