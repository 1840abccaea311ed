//! Where a formula depends on the version of Python.

use crate::diagnostic::Span;
use crate::formula::lint::ranges::{Facts, Interval, NumberType, Ranges, analyze_ranges};
use crate::formula::syntax::{Expr, ExprId, ExprKind, Keyword, Node};
use crate::python::{BinaryOperator, Function, PythonVersion, bind};
use crate::schema::Schema;

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

fn is_shift(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::Binary {
            op: BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight,
            ..
        }
    )
}

/// What the versions of Python give different values for, each difference once, with its first
/// place.
///
/// ```
/// use job_sort_formula::formula::{Formula, lint};
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "sum((fairshare_factor, job_priority / 1024, 0.1))".parse()?;
/// let found = lint::version_differences(formula.expr(), &Schema::openpbs(), &lint::Ranges::default());
/// assert_eq!(found[0].text, "`sum` of floats gives another last digit since Python 3.12");
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn version_differences(
    expr: &Expr,
    schema: &Schema,
    ranges: &Ranges,
) -> Vec<VersionDifference> {
    let facts = analyze_ranges(expr, schema, ranges);
    let mut found: Vec<VersionDifference> = Vec::new();
    for (id, node) in expr.iter().filter(|(id, _)| facts.at(*id).reachable) {
        for difference in differences(expr, &facts, id, node) {
            match found.iter_mut().find(|known| known.text == difference.text) {
                Some(known) => known.span = known.span.min(difference.span),
                None => found.push(difference),
            }
        }
    }
    found
}

fn differences(expr: &Expr, facts: &Facts, id: ExprId, node: &Node) -> Vec<VersionDifference> {
    match &node.kind {
        ExprKind::Binary { right, .. } if is_shift(&node.kind) => {
            let is_long = facts
                .number(*right)
                .is_none_or(|number| number.high > MAX_SHIFT);
            let text = "a shift by more than 2^63 bits is an `OverflowError` before Python 3.7";
            let difference = VersionDifference {
                span: node.span,
                since: PythonVersion::V3_7,
                text: text.to_owned(),
                is_error: true,
            };
            is_long.then_some(difference).into_iter().collect()
        }
        ExprKind::Call {
            callee,
            positional,
            keywords,
        } => {
            let Some(function) = facts.function(*callee) else {
                return Vec::new();
            };
            let call = Call {
                expr,
                facts,
                function,
                positional,
                keywords,
                span: expr.node(id).span,
            };
            PythonVersion::all()
                .filter_map(|since| call.difference(since))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Whether one of the numbers, or anything else, may have this type.
fn may_be(numbers: Option<Interval>, kind: NumberType) -> bool {
    numbers.is_none_or(|numbers| numbers.kind() == kind || numbers.kind() == NumberType::Either)
}

/// A call of a function whose name is not hidden.
struct Call<'a> {
    expr: &'a Expr,
    facts: &'a Facts,
    function: Function,
    positional: &'a [ExprId],
    keywords: &'a [Keyword],
    span: Span,
}

impl Call<'_> {
    /// What this version computes in another way than the one before.
    fn difference(&self, since: PythonVersion) -> Option<VersionDifference> {
        // the oldest known version has nothing before it
        let before = since.minor().checked_sub(1).and_then(PythonVersion::new)?;
        // a function that is new has a finding of its own
        if !self.function.exists_in(before) {
            return None;
        }
        let name = self.function.name();
        let (text, is_error) = match (self.is_taken_by(before), self.is_taken_by(since)) {
            (false, true) => (
                format!("`{name}` with these arguments is a `TypeError` before Python {since}"),
                true,
            ),
            (true, false) => (
                format!("`{name}` with these arguments is a `TypeError` since Python {since}"),
                true,
            ),
            (true, true) if self.function.changed_in().contains(&since) => {
                self.changed_value(since)?
            }
            _ => return None,
        };
        Some(VersionDifference {
            span: self.span,
            since,
            text,
            is_error,
        })
    }

    fn is_taken_by(&self, python: PythonVersion) -> bool {
        let positional = vec![(); self.positional.len()];
        let keywords: Vec<(&str, ())> = self
            .keywords
            .iter()
            .map(|keyword| (&*keyword.name, ()))
            .collect();
        bind(self.function, python, &positional, &keywords).is_ok()
    }

    /// The change of [`Function::changed_in`] in words, if it can concern these arguments, and
    /// whether it is an error.
    fn changed_value(&self, since: PythonVersion) -> Option<(String, bool)> {
        let name = self.function.name();
        let last_digit = |of: &str| {
            (
                format!("`{name}`{of} gives another last digit since Python {since}"),
                false,
            )
        };
        let error = |text: String| (text, true);
        match self.function {
            Function::Sum if since < PythonVersion::V3_14 => {
                self.adds_floats().then(|| last_digit(" of floats"))
            }
            Function::Sum => {
                let has_integers = self.adds(NumberType::Int);
                (self.adds_floats() && has_integers).then(|| last_digit(" of floats and integers"))
            }
            Function::Factorial | Function::Perm => {
                let may_be_float = may_be(self.argument(0), NumberType::Float);
                let text = format!("`{name}` of a float is a `TypeError` since Python {since}");
                may_be_float.then(|| error(text))
            }
            Function::Max | Function::Min => {
                let key = self
                    .keywords
                    .iter()
                    .find(|keyword| &*keyword.name == "key")?;
                let is_none = self.expr.node(key.value).name() == Some("None");
                is_none.then(|| {
                    error(format!(
                        "`key=None` of `{name}` is a `TypeError` before Python {since}"
                    ))
                })
            }
            Function::Pow => {
                let is_pole = self.argument(0).is_none_or(|base| base.contains_zero())
                    // an interval holds no infinity: only an unknown exponent may be one
                    && self.argument(1).is_none();
                is_pole.then(|| {
                    error(format!(
                        "`pow(0.0, -inf)` is a `ValueError` before Python {since}"
                    ))
                })
            }
            // one coordinate is returned as it is in every version
            Function::Hypot if self.positional.len() < 2 => None,
            _ => Some(last_digit("")),
        }
    }

    /// The numbers that an argument can have; `None` if it may be anything else.
    fn argument(&self, index: usize) -> Option<Interval> {
        self.positional
            .get(index)
            .and_then(|argument| self.facts.number(*argument))
    }

    /// Whether the sum of two terms can be rounded and then added to: with fewer than three terms
    /// it is rounded once.
    fn adds_floats(&self) -> bool {
        self.adds(NumberType::Float) && self.terms().is_none_or(|terms| terms.len() > 2)
    }

    /// Whether a value of this type can be among what `sum` adds.
    fn adds(&self, kind: NumberType) -> bool {
        self.terms().is_none_or(|terms| {
            terms
                .iter()
                .any(|term| may_be(self.facts.number(*term), kind))
        })
    }

    /// What `sum` adds, with the start; `None` if the items are not known.
    fn terms(&self) -> Option<Vec<ExprId>> {
        let (items, start) = self.positional.split_first()?;
        let items = match &self.expr.node(self.expr.without_parentheses(*items)).kind {
            ExprKind::Tuple { items, .. } | ExprKind::List(items) => items,
            _ => return None,
        };
        let start = start
            .iter()
            .copied()
            .chain(self.keywords.iter().map(|keyword| keyword.value));
        Some(start.chain(items.iter().copied()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::syntax::parse;
    use crate::schema::InputType;

    fn found(text: &str) -> Vec<String> {
        let mut schema = Schema::openpbs();
        schema.add_listed("rate", InputType::Float);
        let found = version_differences(&parse(text).unwrap(), &schema, &Ranges::default());
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
