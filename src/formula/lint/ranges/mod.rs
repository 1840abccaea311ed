//! Range analysis: the values that each expression of a formula can have, and the errors that it can raise.
//!
//! Enters: a tree, a schema, and optionally narrower ranges of the inputs ([`Ranges`]). Leaves: [`Facts`], which give
//! for each node its [`ValueSet`] and its [`ErrorSet`]. Both are over-approximations: every value that Python computes
//! from inputs within their ranges is in the set, and so is every error that it raises.

mod abstract_interpreter;
mod constant_folding;
mod facts;
mod functions;
mod input_ranges;
mod operators;
mod real_functions;
mod refinement;
mod type_set;
mod value_set;

pub use crate::formula::lint::ranges::facts::{Fact, Facts};
pub use crate::formula::lint::ranges::input_ranges::Ranges;
pub use crate::formula::lint::ranges::type_set::{ErrorSet, TypeSet};
pub(super) use crate::formula::lint::ranges::value_set::Rounded;
pub use crate::formula::lint::ranges::value_set::ValueSet;

use crate::formula::lint::ranges::abstract_interpreter::AbstractInterpreter;
use crate::formula::syntax::Expr;
use crate::schema::Schema;

/// What is known about every expression of a formula, over all jobs whose inputs are within their ranges.
///
/// ```
/// use job_sort_formula::formula::{Formula, lint};
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "100 * fairshare_factor + min(ncpus, 64)".parse()?;
/// let facts = lint::analyze_ranges(formula.expr(), &Schema::openpbs(), &lint::Ranges::default());
/// assert_eq!(facts.result().to_string(), "a float from 0 to 164");
/// assert!(facts.errors().is_empty());
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn analyze_ranges(expr: &Expr, schema: &Schema, ranges: &Ranges) -> Facts {
    AbstractInterpreter::new(expr, schema, ranges).run()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::InputType;

    fn result(text: &str) -> String {
        let formula = crate::formula::syntax::parse(text).unwrap();
        let mut schema = Schema::openpbs();
        schema.add_listed("rate", InputType::Float);
        let facts = analyze_ranges(&formula, &schema, &Ranges::default());
        facts.result().to_string()
    }

    #[test]
    fn ranges_are_tight() {
        let cases = [
            ("fairshare_factor", "a float from 0 to 1"),
            ("2 * fairshare_factor - 1", "a float from -1 to 1"),
            ("job_priority * queue_priority", "an int from -1047552 to 1048576"),
            ("job_priority ** 2", "an int from 0 to 1048576"),
            ("job_priority ** 3", "an int from -1073741824 to 1070599167"),
            ("1 / (1 + fairshare_factor)", "a float from 0.5 to 1"),
            ("pow(2, -fairshare_factor)", "a float from 0.5 to 1"),
            ("abs(job_priority)", "an int from 0 to 1024"),
            ("min(max(job_priority, 0), 100)", "an int from 0 to 100"),
            ("floor(10 * fairshare_factor)", "an int from 0 to 10"),
            ("accrue_type % 3", "an int from 0 to 2"),
            ("job_priority % 7", "an int from 0 to 6"),
            ("job_priority // 100", "an int from -11 to 10"),
            ("accrue_type > 2", "a bool"),
            ("accrue_type > 4", "a bool, 0"),
            ("1 if accrue_type > 4 else 2", "an int, 2"),
            ("accrue_type if accrue_type > 2 else 10", "an int from 3 to 10"),
            ("accrue_type if 1 < accrue_type < 4 else 3", "an int from 2 to 3"),
            ("accrue_type and 7", "an int from 0 to 7"),
            ("accrue_type or 7", "an int from 1 to 7"),
            ("sum((accrue_type, 1, 2))", "an int from 3 to 7"),
            ("round(fairshare_factor, 1)", "a float from 0 to 1.05"),
            ("sqrt(accrue_type)", "a float from 0 to 2"),
            ("accrue_type & 1", "an int from 0 to 1"),
            ("3 ** 50", "an int, about 7.17898e23"),
            ("10 ** 400 / 10 ** 399", "a float, 10"),
            ("atan2(rate, 1)", "a float from -3.14159 to 3.14159"),
            ("len((1, 2, 3))", "an int, 3"),
            ("1 / 0", "no value"),
            ("(accrue_type, 1)", "a tuple"),
            // the lower bound must not be -0.0, whose power is minus infinity
            ("(100 % (1 + fairshare_factor)) ** -1", "a float from 0.5 to 1.79769e308"),
            ("None", "`None`"),
            ("nan", "a float, or nan"),
        ];
        for (text, expected) in cases {
            assert_eq!(result(text), expected, "{text}");
        }
    }
}
