//! What can be said of a formula without running it: passes over the tree, each giving findings.
//!
//! [`examine`] looks at the tree and the names alone. [`ranges`] finds what each part of the formula can be, [`direction`] which
//! way it moves with an input, and [`findings`] what follows for the jobs.

mod calls;
mod constructs;
mod dangerous;
mod direction;
mod findings;
mod names;
mod objects;
mod ranges;
mod roles;
mod separators;

use crate::diagnostic::{Diagnostic, sort_by_place};
use crate::formula::lint::roles::Roles;
use crate::formula::syntax::Expr;
use crate::schema::Schema;

pub(crate) use crate::formula::lint::dangerous::{is_dangerous_attribute, is_dangerous_builtin};
pub use crate::formula::lint::direction::{Direction, direction};
pub use crate::formula::lint::findings::findings;
pub use crate::formula::lint::ranges::{Errors, Fact, Facts, Kinds, Ranges, Values, ranges};
pub(crate) use crate::formula::lint::roles::attribute_of;

/// Every finding that the tree and the names alone give, in the order of their places.
///
/// ```
/// use job_sort_formula::formula::{Formula, lint};
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "math.log(NCPUS) + walltme".parse()?;
/// let codes: Vec<_> = lint::examine(formula.expr(), &Schema::openpbs()).iter().map(|found| found.code).collect();
/// assert_eq!(codes, ["JSF208", "JSF206", "JSF201"]);
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn examine(expr: &Expr, schema: &Schema) -> Vec<Diagnostic> {
    let roles = Roles::of(expr);
    let mut findings = names::names(expr, schema, &roles);
    findings.extend(calls::calls(expr, schema));
    let objects = objects::objects(expr, schema);
    let mut constructs = constructs::constructs(expr, schema);
    // what it does to the scheduler says more than what it is
    constructs.retain(|found| found.code != "JSF104" || objects.iter().all(|object| object.span != found.span));
    findings.extend(constructs);
    findings.extend(objects);
    findings.extend(separators::separators(expr, &roles));
    sort_by_place(&mut findings);
    findings
}

#[cfg(test)]
mod tests;
