//! Integers beyond 2^53 as *double-double* numbers: the double nearest to the integer, and the rest.
//!
//! Sums and products are exact, by the error-free transformations of Knuth and Dekker, as long as the result is below
//! [`LIMIT`]: then no sum of the rests reaches 2^53. A function from floats takes the first double, to which Python too
//! rounds the integer.

use num_traits::ToPrimitive;

use crate::formula::program::columnar::arithmetic::reciprocal;
use crate::formula::program::columnar::kernels::Broadcast;
use crate::formula::program::columnar::vector::{LaneType, LaneTypes, LaneTypesRef, Operand, Vector};
use crate::formula::program::columnar::{ColumnarExecutor, kernels};
use crate::python::{Arithmetic, BinaryOperator, MAX_EXACT_FLOAT, UnaryOperator, Value};

/// No integer of a lane reaches this magnitude: 2^104.
const LIMIT: f64 = (1_u128 << 104) as f64;

/// An integer: `high + low`, where `high` is the double nearest to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct DoubleDouble {
    pub(super) high: f64,
    pub(super) low: f64,
}

/// The greatest exponent to which large integers are raised by multiplication.
pub(super) const MAX_EXPONENT: f64 = 16.0;

/// The least bound of numbers among which there can be an integer beyond 2^53.
pub(super) const LEAST_LARGE_BOUND: f64 = MAX_EXACT_FLOAT.next_up();

/// The integer 1.
pub(super) const ONE: DoubleDouble = DoubleDouble { high: 1.0, low: 0.0 };

impl DoubleDouble {
    /// The integer; `None` if lanes do not hold it.
    #[cold]
    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let integer = match value {
            Value::Int(integer) => i128::from(*integer),
            Value::Big(big) => big.digits().to_i128()?,
            _ => return None,
        };
        let high = integer as f64;
        (high.abs() < LIMIT).then(|| Self { high, low: (integer - high as i128) as f64 })
    }

    /// The integer, exactly.
    pub(super) fn to_value(self) -> Value {
        Value::int((self.high as i128).saturating_add(self.low as i128).into())
    }

    /// `x + y`, the sum of two doubles.
    #[inline(always)]
    fn from_sum(x: f64, y: f64) -> Self {
        let high = x + y;
        let part_of_y = high - x;
        Self { high, low: (x - (high - part_of_y)) + (y - part_of_y) }
    }

    /// `x * y`, the product of two doubles.
    #[inline(always)]
    fn from_product(x: f64, y: f64) -> Self {
        let high = x * y;
        Self { high, low: x.mul_add(y, -high) }
    }

    /// NaN in place of an integer that reaches the limit.
    #[inline(always)]
    fn within_limit(self) -> Self {
        Self { high: if self.high.abs() < LIMIT { self.high + 0.0 } else { f64::NAN }, ..self }
    }

    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        let sum = Self::from_sum(self.high, other.high);
        Self::from_sum(sum.high, sum.low + (self.low + other.low)).within_limit()
    }

    #[inline(always)]
    pub(super) fn negate(self) -> Self {
        Self { high: 0.0 - self.high, low: -self.low }
    }

    #[inline(always)]
    pub(super) fn subtract(self, other: Self) -> Self {
        self.add(other.negate())
    }

    #[inline(always)]
    pub(super) fn magnitude(self) -> Self {
        let negated = self.negate();
        let is_negative = self.high < 0.0;
        Self {
            high: if is_negative { negated.high } else { self.high },
            low: if is_negative { negated.low } else { self.low },
        }
    }

    /// The product. Below the limit only one factor has a rest.
    #[inline(always)]
    pub(super) fn multiply(self, other: Self) -> Self {
        let product = Self::from_product(self.high, other.high);
        let rest = product.low + (self.low * other.high + self.high * other.low);
        Self::from_sum(product.high, rest).within_limit()
    }

    /// The quotient, rounded once; NaN if that cannot be told.
    ///
    /// The remainder of the first quotient is exact but for the roundings of its smaller parts, so that the sum of the
    /// two quotients is within a relative 2^-101 of the true one. It is rounded as the true one is if both ends of that
    /// range are rounded to the same double.
    #[inline(always)]
    pub(super) fn quotient(self, other: Self) -> f64 {
        const ERROR: f64 = 1.0 / (1_u128 << 100) as f64;
        let first = self.high / other.high;
        let remainder = (-first).mul_add(other.high, self.high) + (-first).mul_add(other.low, self.low);
        let second = remainder / other.high;
        let margin = first.abs() * ERROR;
        let above = first + (second + margin);
        let below = first + (second - margin);
        let rounded = if second == 0.0 { first } else { above };
        if above == below { rounded } else { f64::NAN }
    }

    /// A double with the sign of the difference of two numbers, each an integer or a float without a rest.
    #[inline(always)]
    pub(super) fn order(self, other: Self) -> f64 {
        let of_rests = self.low - other.low;
        let of_doubles = self.high - other.high;
        if self.high == other.high { of_rests } else { of_doubles }
    }
}

impl<'i> ColumnarExecutor<'_, 'i> {
    /// An operation on integers that gives an integer; lanes whose result reaches the limit fall back.
    #[inline(never)]
    pub(super) fn large_integers(
        &mut self,
        x: Operand<'_>,
        y: Operand<'_>,
        f: impl Fn(DoubleDouble, DoubleDouble) -> DoubleDouble + Copy,
    ) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(2 * self.rows);
        let (high, low) = lanes.split_at_mut(self.rows);
        kernels::zip_double_doubles(x, y, high, low, f);
        let (mut bound, has_nan) = kernels::bound(high);
        if has_nan {
            self.fall_back_where(Broadcast::Each(high), Broadcast::Same(0.0), |high, _| high.is_nan());
        }
        if bound < MAX_EXACT_FLOAT {
            lanes.truncate(self.rows);
        } else {
            bound = bound.max(LEAST_LARGE_BOUND);
        }
        Vector::new(lanes, LaneTypes::All(LaneType::Int), bound)
    }

    /// A function from two numbers, of which at least one can be a large integer, to a double.
    #[inline(never)]
    pub(super) fn large_function(
        &mut self,
        x: Operand<'_>,
        y: Operand<'_>,
        f: impl Fn(DoubleDouble, DoubleDouble) -> f64 + Copy,
    ) -> Vec<f64> {
        let mut lanes = self.scratch.lanes(self.rows);
        let mut unused = self.scratch.lanes(self.rows);
        kernels::zip_double_doubles(x, y, &mut lanes, &mut unused, move |x, y| DoubleDouble {
            high: f(x, y),
            low: 0.0,
        });
        self.scratch.recycle_lanes(unused);
        lanes
    }

    /// `item` where `is_better(item, best)`, else `best`; one of them can be a large integer.
    #[inline(never)]
    pub(super) fn large_preferred(
        &mut self,
        item: Operand<'_>,
        best: Operand<'_>,
        is_better: impl Fn(f64, f64) -> bool + Copy,
    ) -> Vector<'i> {
        let order = self.large_function(item, best, DoubleDouble::order);
        let mut mask = self.scratch.bytes(self.rows);
        kernels::test(Broadcast::Each(&order), Broadcast::Same(0.0), &mut mask, is_better);
        let preferred = self.select_lanes(&mask, item, best);
        self.scratch.recycle_lanes(order);
        self.scratch.recycle_bytes(mask);
        preferred
    }

    /// `x ** exponent`, an integer, by squaring.
    #[inline(never)]
    pub(super) fn large_power(&mut self, x: Operand<'_>, exponent: u32) -> Vector<'i> {
        let mut power = self.large_integers(x, x, |x, _| x);
        for bit in (0..exponent.ilog2()).rev() {
            let square = self.large_integers(power.operand(), power.operand(), DoubleDouble::multiply);
            power.recycle(&mut self.scratch);
            power = square;
            if exponent >> bit & 1 == 1 {
                let product = self.large_integers(power.operand(), x, DoubleDouble::multiply);
                power.recycle(&mut self.scratch);
                power = product;
            }
        }
        power
    }

    /// `op x` of large integers, except `not`.
    #[inline(never)]
    pub(super) fn large_unary(&mut self, op: UnaryOperator, x: Operand<'_>) -> Vector<'i> {
        match op {
            UnaryOperator::Plus if x.types.is_integer() => self.large_integers(Operand::ZERO, x, |_, x| x),
            UnaryOperator::Minus if x.types.is_integer() => {
                self.large_integers(Operand::ZERO, x, DoubleDouble::subtract)
            }
            UnaryOperator::Invert if x.types.is_integer() => {
                self.large_integers(Operand::ZERO, x, |_, x| ONE.add(x).negate())
            }
            _ => self.each_lane(|python, lane| python.unary(op, &x.value(lane))),
        }
    }

    /// `x op y` where one of the operands can be a large integer.
    #[inline(never)]
    pub(super) fn large_binary(&mut self, op: BinaryOperator, x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        use BinaryOperator as Op;
        let are_integers = x.types.is_integer() && y.types.is_integer();
        match (op, y.lanes) {
            (Op::Add, _) if are_integers => self.large_integers(x, y, DoubleDouble::add),
            (Op::Subtract, _) if are_integers => self.large_integers(x, y, DoubleDouble::subtract),
            (Op::Multiply, _) if are_integers => self.large_integers(x, y, DoubleDouble::multiply),
            // the nearest double and a power of two have the correctly rounded quotient
            (Op::Divide, Broadcast::Same(y_lane)) if are_integers && !y.is_large() && reciprocal(y_lane).is_some() => {
                self.small_binary(op, x.as_float(), y)
            }
            (Op::Divide, _) if are_integers => {
                let quotients = self.large_function(x, y, DoubleDouble::quotient);
                self.fall_back_unless_finite(&quotients);
                Vector::from_floats(quotients)
            }
            (Op::Power, Broadcast::Same(exponent)) if are_integers && (1.0..=MAX_EXPONENT).contains(&exponent) => {
                self.large_power(x, exponent as u32)
            }
            (Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Power, _) => self.float_or_small_binary(op, x, y),
            _ => self.each_lane(|python, lane| python.binary(op, &x.value(lane), &y.value(lane))),
        }
    }

    /// `x op y` on the nearest doubles if one operand is a float in all lanes, as Python converts the other one; else
    /// large integers fall back.
    fn float_or_small_binary(&mut self, op: BinaryOperator, x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        if x.types.is_all(LaneType::Float) {
            return self.small_binary(op, x, y.as_float());
        }
        if y.types.is_all(LaneType::Float) {
            return self.small_binary(op, x.as_float(), y);
        }
        for operand in [x, y].into_iter().filter(Operand::is_large) {
            self.fall_back_where(operand.lanes, Broadcast::Same(0.0), |lane, _| lane.abs() >= MAX_EXACT_FLOAT);
        }
        self.small_binary(op, x.as_small(), y.as_small())
    }
}

impl Operand<'_> {
    /// The numbers as floats, which are the nearest doubles of integers.
    fn as_float(self) -> Self {
        Self { types: LaneTypesRef::All(LaneType::Float), ..self.as_small() }
    }

    /// The numbers in the lanes that hold no integer beyond 2^53.
    fn as_small(self) -> Self {
        Self { low: Broadcast::Same(0.0), bound: self.bound.min(MAX_EXACT_FLOAT), ..self }
    }
}
