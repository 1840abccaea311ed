//! Slope analysis: how steeply the value of a formula changes while one input varies over a range,
//! and so whether it increases or decreases.
//!
//! Enters: a tree, the [`Facts`] about it over that range, and the name of the input. Leaves: a
//! [`Slope`], which bounds the difference between any two values of the formula over the range,
//! including the rounding errors of its operations.

use crate::aggregated;
use crate::ranges::{Facts, Interval, NumberType, monotonic, widened};
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind};
use job_sort_formula::python::{
    BinaryOperator, ComparisonOperator, Function, MAX_EXACT_FLOAT, UnaryOperator,
};
use job_sort_formula::schema::Range;

/// Half the distance between 1 and the next double: the relative error of a correctly rounded
/// operation.
const ROUNDING: f64 = f64::EPSILON / 2.0;

/// The relative error of a function of the C library; glibc documents at most two units in the last
/// place.
const LIBRARY_ERROR: f64 = 4.0 * f64::EPSILON;

/// Covers the rounding errors of this analysis itself.
const MARGIN: f64 = 1e-9;

/// Bounds of the change of a value while one input varies over a range.
///
/// For any two inputs `x` and `y` within the range for which the formula does not fail, there is a
/// slope `s` from `least` to `most` such that the computed values differ by `s * (x - y)`, up to
/// twice the error. A value that jumps has an infinite slope.
///
/// ```
/// use job_sort_formula::Formula;
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "pow(2, -(fairshare_tree_usage / max(fairshare_perc, 0.1)))".parse()?;
/// let facts = jsf_lint::analyze_ranges(formula.expr(), &Schema::openpbs(), &jsf_lint::Ranges::default());
/// let slope = |name| jsf_lint::slope(formula.expr(), &facts, name).unwrap();
/// assert!(slope("fairshare_tree_usage").decreases());
/// assert!(slope("fairshare_perc").increases());
/// assert_eq!(slope("ncpus"), jsf_lint::Slope::CONSTANT);
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// The least slope.
    pub least: f64,
    /// The greatest slope.
    pub most: f64,
    /// The greatest distance of a computed value from the value in exact arithmetic.
    pub error: f64,
}

/// The slope of the value of a formula in the input `name`; `None` where no bound is known.
pub fn slope(expr: &Expr, facts: &Facts, name: &str) -> Option<Slope> {
    let mut analysis = Analysis {
        expr,
        facts,
        name,
        slopes: Vec::with_capacity(expr.nodes().len()),
    };
    for (id, node) in expr.iter() {
        analysis.slopes.push(match analysis.node(id, &node.kind) {
            // the product of an infinity and 0, or their difference, is no bound
            Some(slope) if slope.least.is_nan() || slope.most.is_nan() => None,
            slope => slope,
        });
    }
    analysis.slopes.last().copied().flatten()
}

impl Slope {
    /// The slope of a value that does not change.
    pub const CONSTANT: Self = Self {
        least: 0.0,
        most: 0.0,
        error: 0.0,
    };

    /// Whether all its bounds are numbers.
    pub fn is_finite(&self) -> bool {
        self.least.is_finite() && self.most.is_finite() && self.error.is_finite()
    }

    /// Whether the value never decreases, up to its last bits, and may increase.
    pub fn increases(&self) -> bool {
        self.most > 0.0 && self.least >= 0.0
    }

    /// Whether the value never increases, up to its last bits, and may decrease.
    pub fn decreases(&self) -> bool {
        self.negated().increases()
    }

    fn is_constant(&self) -> bool {
        *self == Self::CONSTANT
    }

    fn plus(self, other: Self) -> Self {
        Self {
            least: self.least + other.least,
            most: self.most + other.most,
            error: self.error + other.error,
        }
    }

    /// The slope of the negated value, or of the value as the input varies in the opposite
    /// direction.
    #[must_use]
    pub fn negated(self) -> Self {
        Self {
            least: -self.most,
            most: -self.least,
            error: self.error,
        }
    }

    /// The slope after multiplication by a factor between two bounds.
    fn times(self, least: f64, most: f64) -> Self {
        let products = Range::hull([
            product(self.least, least),
            product(self.least, most),
            product(self.most, least),
            product(self.most, most),
        ]);
        Self {
            least: products.least,
            most: products.most,
            error: product(self.error, least.abs().max(most.abs())),
        }
    }

    /// The slope of a function of the value whose derivative lies between the least and the
    /// greatest of `derivatives`, by the chain rule.
    fn chained<const N: usize>(self, derivatives: [f64; N]) -> Self {
        let Range { least, most } = with_margin(Range::hull(derivatives));
        self.times(least, most)
    }

    /// The slope of a function of the value that never decreases.
    fn in_steps(self) -> Self {
        if self.is_constant() {
            return self;
        }
        Self {
            error: f64::INFINITY,
            ..self.times(0.0, f64::INFINITY)
        }
    }

    /// The slope of a value that has one of the two slopes at every input.
    fn hull(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            error: self.error.max(other.error),
        }
    }

    /// Adds the error of rounding a result with a relative error.
    fn rounded(self, result: Option<Interval>, relative: f64) -> Self {
        let size = result.as_ref().map_or(f64::INFINITY, Interval::size);
        let Self { least, most, error } = self;
        let Range { least, most } = with_margin(Range { least, most });
        Self {
            least,
            most,
            // the least normal number covers the rounding of subnormals
            error: error * (1.0 + MARGIN) + size * relative + f64::MIN_POSITIVE,
        }
    }
}

/// Bounds that cover the rounding errors of this analysis.
fn with_margin(bounds: Range) -> Range {
    let margin = MARGIN * bounds.least.abs().max(bounds.most.abs());
    // an infinite bound needs none, and would make the other one infinite
    let margin = if margin.is_finite() { margin } else { 0.0 };
    widened(bounds, margin, margin)
}

/// The product, which is 0 if a factor is.
fn product(x: f64, y: f64) -> f64 {
    // 0 times infinity: a value that does not change, however steep the function is
    if x == 0.0 || y == 0.0 { 0.0 } else { x * y }
}

/// An operand: its slope, and the bounds of its value and of the real number that it approximates.
#[derive(Debug, Clone, Copy)]
struct Operand {
    slope: Slope,
    least: f64,
    most: f64,
}

struct Analysis<'e> {
    expr: &'e Expr,
    facts: &'e Facts,
    name: &'e str,
    slopes: Vec<Option<Slope>>,
}

impl Analysis<'_> {
    fn slope(&self, node: ExprId) -> Option<Slope> {
        self.slopes[node.index()]
    }

    fn operand(&self, node: ExprId) -> Option<Operand> {
        let slope = self.slope(node)?;
        let error = if slope.error.is_finite() {
            slope.error
        } else {
            0.0
        };
        let bounds = match self.facts.number(node) {
            Some(number) => number.range(),
            None => Range::ANY,
        };
        let Range { least, most } = widened(bounds, error, error);
        Some(Operand { slope, least, most })
    }

    /// The slopes of all these nodes, joined; `None` if one is not known.
    fn joined(&self, nodes: &[ExprId], join: fn(Slope, Slope) -> Slope) -> Option<Slope> {
        let (first, others) = nodes.split_first()?;
        let mut joined = self.slope(*first)?;
        for node in others {
            joined = join(joined, self.slope(*node)?);
        }
        Some(joined)
    }

    fn is_constant(&self, nodes: &[ExprId]) -> bool {
        nodes
            .iter()
            .all(|&node| self.slope(node) == Some(Slope::CONSTANT))
    }

    fn node(&self, id: ExprId, kind: &ExprKind) -> Option<Slope> {
        let children = kind.children();
        match kind {
            // not evaluated, so it changes nothing
            _ if !self.facts.at(id).reachable => Some(Slope::CONSTANT),
            ExprKind::Name(name) if **name == *self.name => Some(Slope {
                least: 1.0,
                most: 1.0,
                error: 0.0,
            }),
            _ if self.is_constant(&children) => Some(Slope::CONSTANT),
            // a range of one value, for instance behind a `min`
            _ if self.facts.number(id).is_some_and(is_one_value) => Some(Slope::CONSTANT),
            ExprKind::Parenthesized(inner) => self.slope(*inner),
            ExprKind::Unary {
                op: UnaryOperator::Plus,
                operand,
            } => self.slope(*operand),
            ExprKind::Unary {
                op: UnaryOperator::Minus,
                operand,
            } => self.slope(*operand).map(Slope::negated),
            _ if self.is_rounded_unevenly(id, &children) => None,
            ExprKind::Binary { op, left, right } => self.binary(*op, *left, *right, id),
            ExprKind::Comparison {
                operators,
                operands,
            } => self.comparison(operators, operands),
            ExprKind::Conditional {
                then,
                condition,
                otherwise,
            } if self.is_constant(&[*condition]) => {
                let mut branches = vec![*then, *otherwise];
                branches.retain(|branch| self.facts.at(*branch).reachable);
                self.joined(&branches, Slope::hull)
            }
            ExprKind::Call {
                callee,
                positional,
                keywords,
            } if keywords.is_empty() => self.call(self.facts.function(*callee)?, positional, id),
            _ => None,
        }
    }

    /// Whether an operand that varies may be an integer for one value of the input and a float for
    /// another, and both may be so large that only the float is rounded.
    fn is_rounded_unevenly(&self, id: ExprId, operands: &[ExprId]) -> bool {
        let mut is_mixed = false;
        let mut is_large = false;
        for &node in operands.iter().chain([&id]) {
            let Some(number) = self.facts.number(node) else {
                is_mixed |= node != id && !self.is_constant(&[node]);
                continue;
            };
            is_large |= number.size() > MAX_EXACT_FLOAT;
            is_mixed |=
                node != id && number.kind() == NumberType::Either && !self.is_constant(&[node]);
        }
        is_mixed && is_large
    }

    fn binary(&self, op: BinaryOperator, left: ExprId, right: ExprId, id: ExprId) -> Option<Slope> {
        use BinaryOperator as Op;
        let a = self.operand(left)?;
        let b = self.operand(right)?;
        let exact = match op {
            Op::Add => a.slope.plus(b.slope),
            Op::Subtract => a.slope.plus(b.slope.negated()),
            Op::Multiply => a
                .slope
                .times(b.least, b.most)
                .plus(b.slope.times(a.least, a.most)),
            Op::Divide => quotient(a, b)?,
            Op::FloorDivide if b.slope.is_constant() => quotient(a, b)?.in_steps(),
            Op::Power => return self.power(left, right, id),
            _ => return None,
        };
        let result = self.facts.number(id);
        match result {
            Some(integer) if integer.kind() == NumberType::Int && exact.error == 0.0 => {
                // an integer beyond 2^53 is exact, until it meets a float
                let is_large = integer.size() > MAX_EXACT_FLOAT;
                let error = if is_large { f64::INFINITY } else { 0.0 };
                Some(Slope { error, ..exact })
            }
            _ => Some(exact.rounded(result, ROUNDING)),
        }
    }

    fn comparison(&self, operators: &[ComparisonOperator], operands: &[ExprId]) -> Option<Slope> {
        let (&[op], &[left, right]) = (operators, operands) else {
            return None;
        };
        let difference = self.slope(left)?.plus(self.slope(right)?.negated());
        match op {
            ComparisonOperator::Greater | ComparisonOperator::GreaterOrEqual => {
                Some(difference.in_steps())
            }
            ComparisonOperator::Less | ComparisonOperator::LessOrEqual => {
                Some(difference.negated().in_steps())
            }
            _ => None,
        }
    }

    /// A power with a constant exponent or a constant base.
    fn power(&self, base: ExprId, exponent: ExprId, id: ExprId) -> Option<Slope> {
        let a = self.operand(base)?;
        let b = self.operand(exponent)?;
        let slope = if b.slope.is_constant() {
            let exponent = self.facts.number(exponent)?.single()?;
            // whole, and so is the exponent of the derivative, which is not rounded
            let is_whole = (1.0..=MAX_EXACT_FLOAT).contains(&exponent) && exponent.fract() == 0.0;
            if a.least < 0.0 && !is_whole {
                return None;
            }
            // the derivative is monotonic on each side of 0
            let extremes = [a.least, a.most, a.least.max(0.0)];
            a.slope
                .chained(extremes.map(|x| exponent * x.powf(exponent - 1.0)))
        } else if a.slope.is_constant() {
            // the logarithm of the base needs a positive one
            let base = self.facts.number(base)?.single()?;
            if base <= 0.0 {
                return None;
            }
            b.slope
                .chained([b.least, b.most].map(|y| product(base.ln(), base.powf(y))))
        } else {
            return None;
        };
        Some(slope.rounded(self.facts.number(id), LIBRARY_ERROR))
    }

    fn call(&self, function: Function, arguments: &[ExprId], id: ExprId) -> Option<Slope> {
        use Function as F;
        let result = self.facts.number(id);
        let items = aggregated(self.expr, arguments);
        match (function, arguments) {
            (F::Pow, [base, exponent]) => self.power(*base, *exponent, id),
            (F::Max | F::Min, _) => {
                // only numbers are compared one by one
                let result = result?;
                let mut items = items.to_vec();
                // an item that is never the result does not move it
                items.retain(|&item| match self.facts.number(item) {
                    Some(number) => number.low <= result.high && number.high >= result.low,
                    None => true,
                });
                self.joined(&items, Slope::hull)
            }
            (F::Sum | F::Fsum, [_]) if items != arguments => {
                let sum = self.joined(items, Slope::plus)?;
                Some(sum.rounded(result, ROUNDING * items.len() as f64))
            }
            (F::Float, [x]) => self.slope(*x),
            (F::Abs | F::Fabs, [x]) => {
                let x = self.operand(*x)?;
                Some(match x.slope {
                    slope if x.least >= 0.0 => slope,
                    slope if x.most <= 0.0 => slope.negated(),
                    slope => slope.hull(slope.negated()),
                })
            }
            (F::Log, [x, base]) if self.is_constant(&[*base]) => {
                let x = self.operand(*x)?;
                let base = self.facts.number(*base)?.single()?;
                // a smaller base has no positive logarithm, and would reverse the slope
                if base <= 1.0 {
                    return None;
                }
                let derivatives = derivatives(F::Log, x)?.map(|slope| slope / base.ln());
                Some(
                    x.slope
                        .chained(derivatives)
                        // both logarithms have an error
                        .rounded(result, 2.0 * LIBRARY_ERROR),
                )
            }
            (F::Round, [x, digits]) if self.is_constant(&[*digits]) => {
                Some(self.slope(*x)?.in_steps())
            }
            (F::Acos | F::Erfc, [x]) => Some(self.slope(*x)?.in_steps().negated()),
            // they never decrease; the two that never increase are above
            (F::Ceil | F::Floor | F::Trunc | F::Int | F::Round | F::Isqrt | F::Factorial, [x]) => {
                Some(self.slope(*x)?.in_steps())
            }
            (function, [x]) => {
                monotonic(function)?;
                let x = self.operand(*x)?;
                Some(match derivatives(function, x) {
                    Some(derivatives) => {
                        x.slope.chained(derivatives).rounded(result, LIBRARY_ERROR)
                    }
                    None => x.slope.in_steps(),
                })
            }
            _ => None,
        }
    }
}

/// Whether there is a single number, of one type, and not a float zero, which has two signs.
fn is_one_value(number: Interval) -> bool {
    let is_one = match number.kind() {
        NumberType::Int => true,
        NumberType::Float => number.low != 0.0,
        NumberType::Either => false,
    };
    is_one && number.single().is_some()
}

/// The slope of `a / b`, before rounding; `None` if the divisor may have either sign.
fn quotient(a: Operand, b: Operand) -> Option<Slope> {
    // 0 included: an input for which the formula fails does not count
    let is_positive = b.least >= 0.0;
    if !is_positive && b.most > 0.0 {
        return None;
    }
    let (nearest, farthest) = if is_positive {
        (b.least, b.most)
    } else {
        (-b.most, -b.least)
    };
    let sign = if is_positive { 1.0 } else { -1.0 };
    let size = a.least.abs().max(a.most.abs());
    // divided twice, because the square of a small divisor may underflow
    let steepest = product(size, 1.0 / nearest / nearest);
    let by_divisor = match (a.least >= 0.0, a.most <= 0.0) {
        // -a / b² is of one sign
        (true, _) => b.slope.times(-steepest, 0.0),
        (_, true) => b.slope.times(0.0, steepest),
        _ => b.slope.times(-steepest, steepest),
    };
    Some(
        a.slope
            .times(sign / farthest, sign / nearest)
            .plus(by_divisor),
    )
}

/// The derivatives of a function at the bounds of its argument, between which they are monotonic;
/// `None` if they are not known, or infinite.
fn derivatives(function: Function, argument: Operand) -> Option<[f64; 2]> {
    let (domain, derivative) = monotonic(function)?;
    let derivatives = [argument.least, argument.most].map(derivative?);
    let is_defined = argument.least >= domain.least && derivatives[0].is_finite();
    is_defined.then_some(derivatives)
}
