//! Operators on lanes.

use std::ops::{Add, Div, Mul, Sub};

use crate::formula::program::columnar::Run;
use crate::formula::program::columnar::kernels::{Operand, is_inexact, is_not_finite, never};
use crate::formula::program::columnar::lanes::{Entry, FLOATS, LaneType, LaneTypes, lane_of};
use crate::python::vector_math::VectorMath;
use crate::python::{Arithmetic, BinaryOperator, ComparisonOperator, UnaryOperator, Value};

impl Run<'_, '_> {
    pub(super) fn unary(&mut self, op: UnaryOperator) -> Option<()> {
        let x = self.index_of_top(1)?;
        if let Entry::Scalar(value) = &self.stack[x] {
            let result = self.python.unary(op, value);
            return self.replace_by_scalar(x, result);
        }
        let are_integers = matches!(
            self.types(x)?,
            LaneTypes::All(LaneType::Int | LaneType::Bool)
        );
        let types = match op {
            UnaryOperator::Not => {
                self.map(x, x, |x| truth(x == 0.0))?;
                Some(LaneTypes::All(LaneType::Bool))
            }
            UnaryOperator::Minus => self.arithmetic(x, x, x, |x, _| -x),
            UnaryOperator::Plus => self.arithmetic(x, x, x, |x, _| x),
            // `~x` is `-x - 1`, exact below 2^53
            UnaryOperator::Invert if are_integers => self.arithmetic(x, x, x, |x, _| -1.0 - x),
            UnaryOperator::Invert => Some(self.each_lane(x, |run, lane| {
                run.lane_python.unary(op, &run.value(x, lane))
            })),
        };
        self.replace_by_lanes(x, types)
    }

    pub(super) fn binary(&mut self, op: BinaryOperator) -> Option<()> {
        let x = self.index_of_top(2)?;
        if let [Entry::Scalar(left), Entry::Scalar(right)] = &self.stack[x..] {
            let result = self.python.binary(op, left, right);
            return self.replace_by_scalar(x, result);
        }
        let types = self.binary_lanes(op, x, x + 1);
        self.replace_by_lanes(x, types)
    }

    /// `None` if it fails in every lane.
    fn binary_lanes(&mut self, op: BinaryOperator, x: usize, y: usize) -> Option<LaneTypes> {
        self.types(x)?;
        self.types(y)?;
        match op {
            BinaryOperator::Add => self.arithmetic(x, x, y, Add::add),
            BinaryOperator::Subtract => self.arithmetic(x, x, y, Sub::sub),
            BinaryOperator::Multiply => self.arithmetic(x, x, y, Mul::mul),
            BinaryOperator::Divide => self.division(x, y),
            BinaryOperator::Power => self.power(x, y),
            _ => Some(self.each_lane(x, |run, lane| {
                run.lane_python
                    .binary(op, &run.value(x, lane), &run.value(y, lane))
            })),
        }
    }

    /// An operation that is an integer for two integers and otherwise a float.
    pub(super) fn arithmetic(
        &mut self,
        out: usize,
        x: usize,
        y: usize,
        f: impl Fn(f64, f64) -> f64 + Copy,
    ) -> Option<LaneTypes> {
        let types = self.common_types(out, x, y)?;
        if types == LaneTypes::All(LaneType::Int) {
            // the sum makes a zero positive
            let integer = move |x, y| f(x, y) + 0.0;
            if self.zip(out, x, y, integer, |_, _, integer| is_inexact(integer))? {
                self.fall_back_where(out, is_inexact);
            }
            return Some(types);
        }
        self.zip(out, x, y, f, never)?;
        self.check_integers(out, types);
        Some(types)
    }

    /// Integer where both are integers, else float; the types of each lane become those at `out`.
    fn common_types(&mut self, out: usize, x: usize, y: usize) -> Option<LaneTypes> {
        let x_types = self.types(x)?;
        let y_types = self.types(y)?;
        if x_types == FLOATS || y_types == FLOATS {
            return Some(FLOATS);
        }
        if x_types != LaneTypes::Each && y_types != LaneTypes::Each {
            return Some(LaneTypes::All(LaneType::Int));
        }
        self.lanes[x].set_each(x_types);
        self.lanes[y].set_each(y_types);
        let mut types = self.lanes[x].types;
        for (x, y) in types.iter_mut().zip(&self.lanes[y].types) {
            // 0 is `LaneType::Float`, 1 is `Int`: two truth values make an integer as well
            *x = u8::from(*x != 0) & u8::from(*y != 0);
        }
        self.lanes[out].types = types;
        Some(LaneTypes::Each)
    }

    fn division(&mut self, x: usize, y: usize) -> Option<LaneTypes> {
        if let Operand::Same(divisor) = self.operand(y)
            && let Some(factor) = reciprocal(divisor)
        {
            self.map(x, x, move |x| x * factor)?;
            return Some(FLOATS);
        }
        // a divisor of zero gives an infinity or NaN; infinities that are no error fall back
        // without need
        if self.zip(x, x, y, Div::div, |_, y, _| y == 0.0)? {
            self.fall_back_where(x, is_not_finite);
        }
        Some(FLOATS)
    }

    /// `x ** y`: integer where both are integers and `y` is not negative, else float.
    fn power(&mut self, x: usize, y: usize) -> Option<LaneTypes> {
        let exponent = self.stack[y].scalar().and_then(lane_of);
        // for integers only: C's `pow` of a float and 2 may differ from the product
        if let (LaneTypes::All(LaneType::Int), Some((2.0, LaneType::Int))) =
            (self.types(x)?, exponent)
        {
            return self.arithmetic(x, x, x, Mul::mul);
        }
        let mut types = self.common_types(x, x, y)?;
        // exact for integers below 2^53: the library errs by less than their distance
        self.float_power(x, x, y)?;
        if types == FLOATS || matches!(exponent, Some((exponent, _)) if exponent < 0.0) {
            return Some(FLOATS);
        }
        if exponent.is_none() {
            self.lanes[x].set_each(types);
            types = LaneTypes::Each;
            let rows = self.rows;
            let mut kinds = self.lanes[x].types;
            if let Operand::Each(exponents) = self.operand(y) {
                for (kind, y) in kinds[..rows].iter_mut().zip(exponents) {
                    // Python's integer to a negative power is a float
                    *kind &= u8::from(*y >= 0.0);
                }
            }
            self.lanes[x].types = kinds;
        }
        self.check_integers(x, types);
        Some(types)
    }

    /// The power of the C library. Infinite and NaN results fall back to the interpreter, which
    /// knows which of them are errors: a power of zero, a power of a negative number, an overflow.
    pub(super) fn float_power(&mut self, out: usize, x: usize, y: usize) -> Option<LaneTypes> {
        self.types(x)?;
        self.types(y)?;
        let math = VectorMath::new();
        self.compute(out, |run, power| match (run.operand(x), run.operand(y)) {
            (Operand::Each(x), Operand::Each(y)) => math.pow(x, y, power),
            (Operand::Each(x), Operand::Same(y)) => math.pow_scalar_exponent(x, y, power),
            (Operand::Same(x), Operand::Each(y)) => math.pow_scalar_base(x, y, power),
            (Operand::Same(x), Operand::Same(y)) => power.fill(x.powf(y)),
        })?;
        self.fall_back_where(out, is_not_finite);
        Some(FLOATS)
    }

    /// `x op y`, in place of `x`; `y` keeps its place.
    pub(super) fn compare(&mut self, op: ComparisonOperator, x: usize) -> Option<()> {
        let y = x + 1;
        if let [Entry::Scalar(left), Entry::Scalar(right)] = &self.stack[x..] {
            let holds = self.python.compare(op, left, right).ok();
            return self.set_compared(x, holds.map(|holds| Entry::Scalar(Value::Bool(holds))));
        }
        if self.types(x).is_none() || self.types(y).is_none() {
            return self.set_compared(x, None);
        }
        match op {
            ComparisonOperator::Equal => self.compare_lanes(x, f64::eq)?,
            ComparisonOperator::NotEqual => self.compare_lanes(x, f64::ne)?,
            ComparisonOperator::Less => self.compare_lanes(x, f64::lt)?,
            ComparisonOperator::LessOrEqual => self.compare_lanes(x, f64::le)?,
            ComparisonOperator::Greater => self.compare_lanes(x, f64::gt)?,
            ComparisonOperator::GreaterOrEqual => self.compare_lanes(x, f64::ge)?,
            ComparisonOperator::In | ComparisonOperator::NotIn => {
                return self.set_compared(x, None);
            }
        };
        self.set_compared(x, Some(Entry::Lanes(LaneTypes::All(LaneType::Bool))))
    }

    /// The truth of `test` in every lane, in place of `x`.
    fn compare_lanes(
        &mut self,
        x: usize,
        test: impl Fn(&f64, &f64) -> bool + Copy,
    ) -> Option<bool> {
        self.zip(x, x, x + 1, move |x, y| truth(test(&x, &y)), never)
    }

    /// Without a result, all active lanes fall back.
    fn set_compared(&mut self, x: usize, result: Option<Entry>) -> Option<()> {
        let is_missing = result.is_none();
        self.stack[x] = result.unwrap_or(Entry::Scalar(Value::Bool(false)));
        if is_missing {
            self.fail_active()
        } else {
            Some(())
        }
    }
}

#[inline(always)]
fn truth(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// The exact reciprocal of a power of two, with which multiplication gives the same double as
/// division.
fn reciprocal(divisor: f64) -> Option<f64> {
    let is_power_of_two =
        divisor.is_normal() && divisor.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1;
    // a subnormal reciprocal has lost bits
    let factor = 1.0 / divisor;
    (is_power_of_two && factor.is_normal()).then_some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplication_by_a_reciprocal_equals_division() {
        let ends = [
            f64::from_bits(1),
            f64::MIN_POSITIVE,
            3e-308,
            1.0,
            1e300,
            f64::MAX,
            f64::INFINITY,
        ];
        let inputs: Vec<f64> = ends
            .into_iter()
            .flat_map(|x| [x, -x, x / 3.0, x * 0.7])
            .chain([0.0, -0.0])
            .collect();
        let mut factors = 0;
        for exponent in -1074..1024 {
            for divisor in [2f64.powi(exponent), -(2f64.powi(exponent))] {
                let Some(factor) = reciprocal(divisor) else {
                    continue;
                };
                factors += 1;
                inputs.iter().for_each(|x| {
                    assert_eq!(
                        (x / divisor).to_bits(),
                        (x * factor).to_bits(),
                        "{x} / {divisor}"
                    )
                });
            }
        }
        assert_eq!(factors, 2 * 2045);
        assert!(
            [0.0, 3.0, 0.1, f64::INFINITY, f64::NAN]
                .into_iter()
                .all(|divisor| reciprocal(divisor).is_none())
        );
    }
}
