//! What each name can be, and what each part of the formula can be then.
//!
//! Enters: a tree, a schema, and perhaps narrower ranges of the inputs ([`Ranges`]). Leaves: [`Facts`], for each
//! node the [`Values`] it can have and the [`Errors`] it can raise. They are never too narrow: what Python can
//! compute from inputs within their ranges lies within the values, and what it can raise is in the errors.

mod arithmetic;
mod assume;
mod bits;
mod chain;
mod compare;
mod facts;
mod fold;
mod functions;
mod inputs;
mod kinds;
mod outcome;
mod power;
mod sameness;
mod values;
mod walk;
mod words;

pub use crate::formula::lint::ranges::facts::{Fact, Facts};
pub use crate::formula::lint::ranges::inputs::Ranges;
pub use crate::formula::lint::ranges::kinds::{Errors, Kinds};
pub use crate::formula::lint::ranges::values::Values;
pub(super) use crate::formula::lint::ranges::walk::inside;
pub(super) use crate::formula::lint::ranges::words::Bound;

use crate::formula::syntax::Expr;
use crate::schema::Schema;

/// What every part of a formula can be, for all jobs whose inputs are within their ranges.
///
/// ```
/// use job_sort_formula::formula::{Formula, lint};
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "100 * fairshare_factor + min(ncpus, 64)".parse()?;
/// let facts = lint::ranges(formula.expr(), &Schema::openpbs(), &lint::Ranges::default());
/// assert_eq!(facts.result().to_string(), "a float from 0 to 164");
/// assert!(facts.errors().is_empty());
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn ranges(expr: &Expr, schema: &Schema, ranges: &Ranges) -> Facts {
    walk::walk(expr, schema, ranges)
}

#[cfg(test)]
mod tests;
