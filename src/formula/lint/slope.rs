//! Slope analysis: how steeply the value of a formula changes while one input varies over a range.
//!
//! Enters: a tree, the [`Facts`] about it over that range, and the name of the input. Leaves: a [`Slope`], which bounds the
//! difference between any two values of the formula over the range, including the rounding errors of its operations.

use crate::formula::lint::parents::aggregated;
use crate::formula::lint::ranges::{Facts, ValueSet};
use crate::formula::syntax::{Expr, ExprId, ExprKind};
use crate::python::{BinaryOperator, Function, MAX_EXACT_FLOAT, UnaryOperator};
use crate::schema::Range;

/// Half the distance between 1 and the next double: the relative error of a correctly rounded operation.
const ROUNDING: f64 = f64::EPSILON / 2.0;

/// The relative error of a function of the C library; glibc documents at most two units in the last place.
const LIBRARY_ERROR: f64 = 4.0 * f64::EPSILON;

/// Covers the rounding errors of this analysis itself.
const MARGIN: f64 = 1e-9;

/// Bounds of the change of a value while one input varies over a range.
///
/// For any two inputs `x` and `y` within the range there is a slope `s` from `least` to `most` such that the computed
/// values differ by `s * (x - y)`, up to twice the error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// The least slope.
    pub least: f64,
    /// The greatest slope.
    pub most: f64,
    /// The greatest distance of a computed value from the value in exact arithmetic.
    pub error: f64,
}

/// The slope of the value of a formula in the input `name`; `None` where no bound is known, for instance because the
/// value jumps or an evaluation may fail.
pub fn slope(expr: &Expr, facts: &Facts, name: &str) -> Option<Slope> {
    let mut analysis = Analysis { expr, facts, name, slopes: Vec::with_capacity(expr.nodes().len()) };
    for (id, node) in expr.iter() {
        let slope = if facts.at(id).reachable { analysis.analyze_node(id, &node.kind) } else { None };
        analysis.slopes.push(slope.filter(|slope| slope.is_finite()));
    }
    analysis.slopes.last().copied().flatten().filter(|_| facts.errors().is_empty())
}

impl Slope {
    /// The slope of a value that does not change.
    pub const CONSTANT: Self = Self { least: 0.0, most: 0.0, error: 0.0 };

    fn is_finite(&self) -> bool {
        self.least.is_finite() && self.most.is_finite() && self.error.is_finite()
    }

    fn is_constant(&self) -> bool {
        *self == Self::CONSTANT
    }

    fn plus(self, other: Self) -> Self {
        Self { least: self.least + other.least, most: self.most + other.most, error: self.error + other.error }
    }

    /// The slope of the negated value, or of the value as the input varies in the opposite direction.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { least: -self.most, most: -self.least, error: self.error }
    }

    /// The slope after multiplication by a factor between two bounds.
    fn times(self, least: f64, most: f64) -> Self {
        let products = Range::hull([self.least * least, self.least * most, self.most * least, self.most * most]);
        let size = least.abs().max(most.abs());
        Self { least: products.least, most: products.most, error: self.error * size }
    }

    /// The slope of a function of the value whose derivative lies between the least and the greatest of `derivatives`, by
    /// the chain rule.
    fn chained<const N: usize>(self, derivatives: [f64; N]) -> Self {
        let Range { least, most } = Range::hull(derivatives);
        let widening = MARGIN * least.abs().max(most.abs());
        self.times(least - widening, most + widening)
    }

    /// The slope of a value that has one of the two slopes at every input.
    fn hull(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most), error: self.error.max(other.error) }
    }

    /// Adds the error of rounding a result with a relative error.
    fn rounded(self, result: ValueSet, relative: f64) -> Self {
        let size = result.least().abs().max(result.most().abs());
        let widening = MARGIN * self.least.abs().max(self.most.abs());
        let error = self.error * (1.0 + MARGIN) + size * relative + f64::MIN_POSITIVE;
        Self { least: self.least - widening, most: self.most + widening, error }
    }
}

/// An operand: its slope, and the bounds of its value and of the real number that it approximates.
#[derive(Debug, Clone, Copy)]
struct Operand {
    slope: Slope,
    least: f64,
    most: f64,
}

impl Operand {
    fn size(self) -> f64 {
        self.least.abs().max(self.most.abs())
    }

    /// The least magnitude; 0 if there are values of both signs.
    fn distance_from_zero(self) -> f64 {
        if self.least > 0.0 || self.most < 0.0 { self.least.abs().min(self.most.abs()) } else { 0.0 }
    }
}

struct Analysis<'e> {
    expr: &'e Expr,
    facts: &'e Facts,
    name: &'e str,
    slopes: Vec<Option<Slope>>,
}

impl Analysis<'_> {
    fn values(&self, node: ExprId) -> ValueSet {
        self.facts.at(node).values
    }

    fn slope(&self, node: ExprId) -> Option<Slope> {
        self.slopes[node.index()]
    }

    fn operand(&self, node: ExprId) -> Option<Operand> {
        let slope = self.slope(node)?;
        let values = self.values(node);
        Some(Operand { slope, least: values.least() - slope.error, most: values.most() + slope.error })
    }

    fn analyze_node(&self, id: ExprId, kind: &ExprKind) -> Option<Slope> {
        let values = self.values(id);
        if self.facts.constant(id).is_some() && !values.is_number() {
            // a function
            return Some(Slope::CONSTANT);
        }
        if !values.is_number() || values.may_be_nan() {
            return None;
        }
        if values.single().is_some() {
            return Some(Slope::CONSTANT);
        }
        // integers beyond 2^53 are rounded when they meet a float
        if values.is_integral() && values.least().abs().max(values.most().abs()) > MAX_EXACT_FLOAT {
            return None;
        }
        match kind {
            ExprKind::Name(name) if **name == *self.name => Some(Slope { least: 1.0, most: 1.0, error: 0.0 }),
            ExprKind::Literal { .. } | ExprKind::Name(_) => Some(Slope::CONSTANT),
            ExprKind::Parenthesized(inner) => self.slope(*inner),
            ExprKind::Unary { op: UnaryOperator::Plus, operand } => self.slope(*operand),
            ExprKind::Unary { op: UnaryOperator::Minus, operand } => self.slope(*operand).map(Slope::negated),
            ExprKind::Binary { op, left, right } => self.binary(*op, *left, *right, values),
            ExprKind::Conditional { then, otherwise, .. } => {
                match (self.if_reachable(*then), self.if_reachable(*otherwise)) {
                    (Some(only), None) | (None, Some(only)) => self.slope(only),
                    _ => None,
                }
            }
            ExprKind::Call { callee, positional, keywords } if keywords.is_empty() => {
                self.call(self.facts.function(*callee)?, positional, values)
            }
            _ => self.constant_operation(&kind.children()),
        }
    }

    /// The node if it may be evaluated for some value of the input.
    fn if_reachable(&self, node: ExprId) -> Option<ExprId> {
        Some(node).filter(|node| self.facts.at(*node).reachable)
    }

    /// The slope of an operation if all its operands are constant; otherwise `None`.
    fn constant_operation(&self, operands: &[ExprId]) -> Option<Slope> {
        let are_constant = operands.iter().all(|&node| self.slope(node).is_some_and(|slope| slope.is_constant()));
        are_constant.then_some(Slope::CONSTANT)
    }

    fn binary(&self, op: BinaryOperator, left: ExprId, right: ExprId, result: ValueSet) -> Option<Slope> {
        use BinaryOperator as Op;
        if let Some(constant) = self.constant_operation(&[left, right]) {
            return Some(constant);
        }
        let a = self.operand(left)?;
        let b = self.operand(right)?;
        let exact = match op {
            Op::Add => a.slope.plus(b.slope),
            Op::Subtract => a.slope.plus(b.slope.negated()),
            Op::Multiply => a.slope.times(b.least, b.most).plus(b.slope.times(a.least, a.most)),
            Op::Divide => quotient(a, b)?,
            Op::Power => return self.power(left, right, result),
            _ => return None,
        };
        let is_exact = result.is_integral() && exact.error == 0.0;
        Some(if is_exact { exact } else { exact.rounded(result, ROUNDING) })
    }

    /// A power with a constant exponent or a constant base.
    fn power(&self, base: ExprId, exponent: ExprId, result: ValueSet) -> Option<Slope> {
        let a = self.operand(base)?;
        let b = self.operand(exponent)?;
        let slope = if b.slope.is_constant() {
            let exponent = self.values(exponent).single()?;
            if a.least <= 0.0 && !(exponent >= 1.0 && (a.least >= 0.0 || exponent.fract() == 0.0)) {
                return None;
            }
            // the derivative is monotonic on each side of 0
            let extremes = [a.least, a.most, a.least.max(0.0)];
            a.slope.chained(extremes.map(|x| exponent * x.powf(exponent - 1.0)))
        } else if a.slope.is_constant() {
            let base = self.values(base).single().filter(|base| *base > 0.0)?;
            b.slope.chained([b.least, b.most].map(|y| base.ln() * base.powf(y)))
        } else {
            return None;
        };
        Some(slope.rounded(result, LIBRARY_ERROR))
    }

    fn call(&self, function: Function, arguments: &[ExprId], result: ValueSet) -> Option<Slope> {
        use Function as F;
        if let Some(constant) = self.constant_operation(arguments) {
            return Some(constant);
        }
        match (function, arguments) {
            (F::Pow, [base, exponent]) => self.power(*base, *exponent, result),
            (F::Max | F::Min, _) => {
                let items = aggregated(self.expr, arguments).iter();
                let mut slopes = items.filter(|&&item| self.may_be_result(item, result)).map(|&item| self.slope(item));
                let first = slopes.next()??;
                slopes.try_fold(first, |hull, slope| Some(hull.hull(slope?)))
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
            (function, [x]) => {
                let x = self.operand(*x)?;
                let derivatives = [x.least, x.most].map(derivative(function, x)?);
                Some(x.slope.chained(derivatives).rounded(result, LIBRARY_ERROR))
            }
            (F::Log, [x, base]) if self.slope(*base)?.is_constant() => {
                let x = self.operand(*x)?;
                let base = self.values(*base).single()?;
                let derivatives = [x.least, x.most].map(derivative(F::Log, x)?).map(|d| d / base.ln());
                Some(x.slope.chained(derivatives).rounded(result, 2.0 * LIBRARY_ERROR))
            }
            _ => None,
        }
    }

    /// Whether an argument of `max` or `min` can be the result.
    fn may_be_result(&self, item: ExprId, result: ValueSet) -> bool {
        let values = self.values(item);
        values.least() <= result.most() && values.most() >= result.least()
    }
}

/// The slope of `a / b`, before rounding.
fn quotient(a: Operand, b: Operand) -> Option<Slope> {
    let nearest = b.distance_from_zero();
    if nearest == 0.0 {
        return None;
    }
    let inverses = Range::hull([1.0 / b.least, 1.0 / b.most]);
    let steepest = a.size() / nearest / nearest;
    let by_divisor = match (a.least >= 0.0, a.most <= 0.0) {
        // -a / b² is of one sign
        (true, _) => b.slope.times(-steepest, 0.0),
        (_, true) => b.slope.times(0.0, steepest),
        _ => b.slope.times(-steepest, steepest),
    };
    Some(a.slope.times(inverses.least, inverses.most).plus(by_divisor))
}

/// The derivative of a function, which is monotonic over the bounds of the argument; `None` if the function is not one of
/// those below or the bounds are not within its domain.
fn derivative(function: Function, argument: Operand) -> Option<fn(f64) -> f64> {
    use std::f64::consts::{LN_2, LN_10};
    let derivative: fn(f64) -> f64 = match function {
        Function::Sqrt => |x| 0.5 / x.sqrt(),
        Function::Log => |x| 1.0 / x,
        Function::Log2 => |x| 1.0 / (x * LN_2),
        Function::Log10 => |x| 1.0 / (x * LN_10),
        Function::Log1p => |x| 1.0 / (1.0 + x),
        Function::Exp | Function::Expm1 => f64::exp,
        Function::Exp2 => |x| LN_2 * x.exp2(),
        _ => return None,
    };
    let is_defined = match function {
        Function::Sqrt | Function::Log | Function::Log2 | Function::Log10 => argument.least > 0.0,
        Function::Log1p => argument.least > -1.0,
        _ => true,
    };
    is_defined.then_some(derivative)
}
