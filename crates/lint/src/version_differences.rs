//! Where a formula depends on the version of Python.

use crate::ranges::{Facts, Interval, NumberType, is_taken};
use job_sort_formula::Span;
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind, Keyword};
use job_sort_formula::python::{BinaryOperator, Function, PythonVersion};

/// A shift by more bits does not fit into 64 of them.
const MAX_SHIFT: f64 = (1_u64 << 63) as f64;

/// A part of a formula that gives another value from one version of Python on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionDifference {
    /// The part.
    pub span: Span,
    /// The first version with the other value.
    pub since: PythonVersion,
    /// What differs, in words.
    pub text: String,
    /// Whether it is an error before or since; else only the last digit differs.
    pub is_error: bool,
}

/// What the versions of Python give different values for, each difference once, with its first
/// place.
///
/// ```
/// use job_sort_formula::Formula;
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "sum((fairshare_factor, job_priority / 1024, 0.1))".parse()?;
/// let facts = jsf_lint::analyze_ranges(formula.expr(), &Schema::openpbs(), &jsf_lint::Ranges::default());
/// let found = jsf_lint::version_differences(formula.expr(), &facts);
/// assert_eq!(found[0].text, "`sum` of floats gives another last digit since Python 3.12");
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn version_differences(expr: &Expr, facts: &Facts) -> Vec<VersionDifference> {
    let mut found: Vec<VersionDifference> = Vec::new();
    for (id, node) in expr.iter() {
        if !facts.at(id).reachable {
            continue;
        }
        for (since, text, is_error) in differences(expr, facts, &node.kind) {
            let span = node.span;
            match found.iter_mut().find(|known| known.text == text) {
                // a call comes after those in its arguments, though it begins before them
                Some(known) => known.span = known.span.min(span),
                None => found.push(VersionDifference {
                    span,
                    since,
                    text,
                    is_error,
                }),
            }
        }
    }
    found
}

/// The differences at one node: since when, what, and whether it is an error.
fn differences(expr: &Expr, facts: &Facts, kind: &ExprKind) -> Vec<(PythonVersion, String, bool)> {
    let mut found = Vec::new();
    match kind {
        ExprKind::Binary {
            op: BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight,
            right,
            ..
        } => {
            let bits = facts.number(*right);
            if bits.is_none_or(|bits| bits.high > MAX_SHIFT) {
                let text = "a shift by more than 2^63 bits is an `OverflowError` before Python 3.7";
                found.push((PythonVersion::V3_7, text.to_owned(), true));
            }
        }
        ExprKind::Call {
            callee,
            positional,
            keywords,
        } => {
            let Some(function) = facts.function(*callee) else {
                return found;
            };
            let call = Call {
                expr,
                facts,
                function,
                positional,
                keywords,
            };
            for since in PythonVersion::all() {
                if let Some((text, is_error)) = call.difference(since) {
                    found.push((since, text, is_error));
                }
            }
        }
        _ => {}
    }
    found
}

/// Whether one of the numbers, or anything else, may have this type.
fn may_be(numbers: Option<Interval>, kind: NumberType) -> bool {
    match numbers {
        Some(numbers) => numbers.kind() == kind || numbers.kind() == NumberType::Either,
        None => true,
    }
}

/// A call of a function whose name is not hidden.
struct Call<'a> {
    expr: &'a Expr,
    facts: &'a Facts,
    function: Function,
    positional: &'a [ExprId],
    keywords: &'a [Keyword],
}

impl Call<'_> {
    /// What this version computes in another way than the one before, and whether it is an error.
    fn difference(&self, since: PythonVersion) -> Option<(String, bool)> {
        // the oldest known version has nothing before it
        let before = since.minor().checked_sub(1).and_then(PythonVersion::new)?;
        // a function that is new has a finding of its own
        if !self.function.exists_in(before) {
            return None;
        }
        let when = match (self.is_taken_by(before), self.is_taken_by(since)) {
            (false, true) => "before",
            (true, false) => "since",
            (true, true) if self.function.changed_in().contains(&since) => {
                return self.changed_value(since);
            }
            _ => return None,
        };
        let name = self.function.name();
        let text = format!("`{name}` with these arguments is a `TypeError` {when} Python {since}");
        Some((text, true))
    }

    fn is_taken_by(&self, python: PythonVersion) -> bool {
        is_taken(self.function, python, self.positional, self.keywords)
    }

    /// The change of [`Function::changed_in`] in words, if it can concern these arguments, and
    /// whether it is an error.
    fn changed_value(&self, since: PythonVersion) -> Option<(String, bool)> {
        use Function as F;
        let name = self.function.name();
        let last_digit = |of: &str| {
            let text = format!("`{name}`{of} gives another last digit since Python {since}");
            Some((text, false))
        };
        let text = match self.function {
            F::Sum if since < PythonVersion::V3_14 && self.adds_floats() => {
                return last_digit(" of floats");
            }
            F::Sum if self.adds_floats() && self.adds(NumberType::Int) => {
                return last_digit(" of floats and integers");
            }
            F::Factorial | F::Perm if may_be(self.argument(0), NumberType::Float) => {
                format!("`{name}` of a float is a `TypeError` since Python {since}")
            }
            F::Max | F::Min if self.has_key_none() => {
                format!("`key=None` of `{name}` is a `TypeError` before Python {since}")
            }
            // an interval holds no infinity: only an unknown exponent may be one
            F::Pow
                if self.argument(1).is_none()
                    && self.argument(0).is_none_or(|base| base.contains_zero()) =>
            {
                format!("`pow(0.0, -inf)` is a `ValueError` before Python {since}")
            }
            F::Sum | F::Factorial | F::Perm | F::Max | F::Min | F::Pow => return None,
            // one coordinate is returned as it is in every version
            F::Hypot if self.positional.len() < 2 => return None,
            _ => return last_digit(""),
        };
        Some((text, true))
    }

    fn has_key_none(&self) -> bool {
        let mut keywords = self.keywords.iter();
        keywords.any(|keyword| {
            &*keyword.name == "key" && self.expr.node(keyword.value).name() == Some("None")
        })
    }

    /// The numbers that an argument can have; `None` if it may be anything else.
    fn argument(&self, index: usize) -> Option<Interval> {
        self.facts.number(*self.positional.get(index)?)
    }

    /// Whether the sum of two terms can be rounded and then added to: with fewer than three terms
    /// it is rounded once.
    fn adds_floats(&self) -> bool {
        let is_short = matches!(self.terms(), Some(terms) if terms.len() <= 2);
        self.adds(NumberType::Float) && !is_short
    }

    /// Whether a value of this type can be among what `sum` adds.
    fn adds(&self, kind: NumberType) -> bool {
        match self.terms() {
            Some(terms) => {
                let mut numbers = terms.iter().map(|term| self.facts.number(*term));
                numbers.any(|number| may_be(number, kind))
            }
            None => true,
        }
    }

    /// What `sum` adds, with the start; `None` if the items are not known.
    fn terms(&self) -> Option<Vec<ExprId>> {
        let (items, start) = self.positional.split_first()?;
        let items = match &self.expr.node(self.expr.without_parentheses(*items)).kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => items,
            _ => return None,
        };
        let mut terms = start.to_vec();
        for keyword in self.keywords {
            terms.push(keyword.value);
        }
        terms.extend(items);
        Some(terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::{Ranges, analyze_ranges};
    use job_sort_formula::formula::syntax::parse;
    use job_sort_formula::schema::{InputType, Schema};

    fn found(text: &str) -> Vec<String> {
        let mut schema = Schema::openpbs();
        schema.add_listed("rate", InputType::Float);
        let expr = parse(text).unwrap();
        let found = version_differences(&expr, &analyze_ranges(&expr, &schema, &Ranges::default()));
        found
            .into_iter()
            .map(|difference| difference.text)
            .collect()
    }

    #[test]
    fn a_call_whose_value_has_changed_is_found() {
        for (text, expected) in [
            (
                "sum((rate, 0.5, fairshare_factor))",
                "`sum` of floats gives another last digit since Python 3.12",
            ),
            (
                "sum((rate, 0.5), 1.5)",
                "`sum` of floats gives another last digit since Python 3.12",
            ),
            (
                "hypot(rate, 2)",
                "`hypot` gives another last digit since Python 3.8",
            ),
            (
                "dist((rate, 2), (1, 1))",
                "`dist` gives another last digit since Python 3.10",
            ),
            (
                "erf(rate)",
                "`erf` gives another last digit since Python 3.7",
            ),
            (
                "factorial(ncpus / 2)",
                "`factorial` of a float is a `TypeError` since Python 3.10",
            ),
            (
                "max((ncpus, 2), key=None)",
                "`key=None` of `max` is a `TypeError` before Python 3.8",
            ),
            (
                "gcd(ncpus, 2, 3)",
                "`gcd` with these arguments is a `TypeError` before Python 3.9",
            ),
            (
                "hypot(rate)",
                "`hypot` with these arguments is a `TypeError` before Python 3.8",
            ),
            (
                "int(x=ncpus)",
                "`int` with these arguments is a `TypeError` since Python 3.7",
            ),
            (
                "pow(rate, -inf)",
                "`pow(0.0, -inf)` is a `ValueError` before Python 3.11",
            ),
            (
                "0 >> 2**64",
                "a shift by more than 2^63 bits is an `OverflowError` before Python 3.7",
            ),
        ] {
            assert!(
                found(text).contains(&expected.to_owned()),
                "{text}: {:?}",
                found(text)
            );
        }
        assert_eq!(
            found("sum((rate, ncpus, 1)) + sum((1.5, ncpus, 2))").len(),
            2
        );
        assert_eq!(found("hypot(rate)").len(), 1);
    }

    #[test]
    fn a_call_that_cannot_differ_is_not_found() {
        for text in [
            "sum((ncpus, walltime, 1))",
            "sum((rate, 0.5))",
            "sum([rate], 0.5)",
            "factorial(ncpus)",
            "max(ncpus, rate)",
            "max((ncpus, 2), key=abs)",
            "gcd(ncpus, 2)",
            "pow(2, -fairshare_factor)",
            "1 << ncpus % 8",
            "1 if True else erf(rate)",
            "cbrt(ncpus)",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
