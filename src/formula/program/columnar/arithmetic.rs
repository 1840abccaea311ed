//! Operators on lanes.

use crate::formula::program::columnar::double_double::{DoubleDouble, MAX_EXPONENT, ONE};
use crate::formula::program::columnar::kernels::Broadcast;
use crate::formula::program::columnar::vector::{
    Entry, LaneBuffer, LaneType, LaneTypes, LaneTypesRef, Operand, Vector,
};
use crate::formula::program::columnar::{AllLanesFallBack, ColumnarExecutor, kernels};
use crate::python::vector_math::VectorMath;
use crate::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, MAX_EXACT_FLOAT, Python, Raised, UnaryOperator, Value,
};
use crate::simd::{Level, has_fused_multiply_add};

impl<'i> ColumnarExecutor<'_, 'i> {
    pub(super) fn unary(&mut self, op: UnaryOperator) -> Result<(), AllLanesFallBack> {
        let x = self.pop()?;
        let result = match &x {
            Entry::Scalar(value) => {
                let result = self.python.unary(op, value);
                return self.push_scalar(result);
            }
            Entry::Vector(_) => x.operand().map(|operand| self.unary_kernel(op, operand)),
            Entry::Sequence { .. } => None,
        };
        x.recycle(&mut self.scratch);
        self.push_vector(result)
    }

    fn unary_kernel(&mut self, op: UnaryOperator, x: Operand<'_>) -> Vector<'i> {
        let zero = Operand::ZERO;
        match op {
            UnaryOperator::Not => self.comparison(x.lanes, Broadcast::Same(0.0), |x, zero| x == zero),
            _ if x.is_large() => self.large_unary(op, x),
            // the negation of a float is not a difference: 0.0 - 0.0 is 0.0, not -0.0
            UnaryOperator::Minus if x.types.is_all(LaneType::Float) => self.float_function(x.lanes, |x| -x),
            UnaryOperator::Minus if x.types.is_integer() => {
                self.integer_preserving(zero, x, x.bound, |zero, x| zero - x, DoubleDouble::subtract)
            }
            UnaryOperator::Plus if x.types.is_all(LaneType::Float) => self.float_function(x.lanes, |x| x),
            UnaryOperator::Plus => self.integer_preserving(zero, x, x.bound, |_, x| x, |_, x| x),
            UnaryOperator::Invert if x.types.is_integer() => {
                self.integer_preserving(zero, x, x.bound + 1.0, |_, x| -1.0 - x, |_, x| ONE.add(x).negate())
            }
            _ => self.each_lane(|python, lane| python.unary(op, &x.value(lane))),
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOperator) -> Result<(), AllLanesFallBack> {
        let y = self.pop()?;
        let x = self.pop()?;
        if let (Entry::Scalar(x), Entry::Scalar(y)) = (&x, &y) {
            let result = self.python.binary(op, x, y);
            return self.push_scalar(result);
        }
        let result = match (x.operand(), y.operand()) {
            (Some(x), Some(y)) => Some(self.binary_kernel(op, x, y)),
            _ => None,
        };
        x.recycle(&mut self.scratch);
        y.recycle(&mut self.scratch);
        self.push_vector(result)
    }

    fn binary_kernel(&mut self, op: BinaryOperator, x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        if x.is_large() || y.is_large() { self.large_binary(op, x, y) } else { self.small_binary(op, x, y) }
    }

    /// `x op y` without integers beyond 2^53 in the operands.
    pub(super) fn small_binary(&mut self, op: BinaryOperator, x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        match op {
            BinaryOperator::Add => self.integer_preserving(x, y, x.bound + y.bound, |x, y| x + y, DoubleDouble::add),
            BinaryOperator::Subtract => {
                self.integer_preserving(x, y, x.bound + y.bound, |x, y| x - y, DoubleDouble::subtract)
            }
            BinaryOperator::Multiply => {
                self.integer_preserving(x, y, x.bound * y.bound, |x, y| x * y, DoubleDouble::multiply)
            }
            BinaryOperator::Divide => self.division(x, y),
            BinaryOperator::Power => self.power(x, y),
            _ => self.each_lane(|python, lane| python.binary(op, &x.value(lane), &y.value(lane))),
        }
    }

    fn division(&mut self, x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        match y.lanes {
            Broadcast::Same(divisor) if divisor != 0.0 => {
                if let Some(factor) = reciprocal(divisor) {
                    kernels::zip(x.lanes, Broadcast::Same(factor), &mut lanes, |x, y| x * y, |_, _, _| false);
                } else if let Some((high, low)) = double_double_reciprocal(divisor).filter(|_| x.types.is_integer()) {
                    kernels::dot(x.lanes, [high, low], &mut lanes);
                } else {
                    kernels::zip(x.lanes, y.lanes, &mut lanes, |x, y| x / y, |_, _, _| false);
                }
            }
            _ => {
                if kernels::zip(x.lanes, y.lanes, &mut lanes, |x, y| x / y, |_, y, _| y == 0.0) {
                    self.fall_back_where(y.lanes, Broadcast::Same(0.0), |y, zero| y == zero);
                }
            }
        }
        Vector::from_floats(lanes)
    }

    pub(super) fn compare(&mut self, op: ComparisonOperator) -> Result<(), AllLanesFallBack> {
        let y = self.pop()?;
        let x = self.pop()?;
        let result = self.compare_entries(op, &x, &y);
        x.recycle(&mut self.scratch);
        y.recycle(&mut self.scratch);
        match result {
            Some(entry) => self.stack.push(entry),
            None => self.fail_active_lanes()?,
        }
        Ok(())
    }

    /// `x op y`; `None` if it fails in every lane.
    pub(super) fn compare_entries(
        &mut self,
        op: ComparisonOperator,
        x: &Entry<'i>,
        y: &Entry<'i>,
    ) -> Option<Entry<'i>> {
        if let (Entry::Scalar(x), Entry::Scalar(y)) = (x, y) {
            return self.python.compare(op, x, y).ok().map(|holds| Entry::Scalar(Value::Bool(holds)));
        }
        let x = x.operand()?;
        let y = y.operand()?;
        if x.is_large() || y.is_large() {
            let order = self.large_function(x, y, DoubleDouble::order);
            let result = self.compare_lanes(op, Broadcast::Each(&order), Broadcast::Same(0.0));
            self.scratch.recycle_lanes(order);
            return result;
        }
        self.compare_lanes(op, x.lanes, y.lanes)
    }

    fn compare_lanes(&mut self, op: ComparisonOperator, x: Broadcast<'_>, y: Broadcast<'_>) -> Option<Entry<'i>> {
        Some(Entry::Vector(match op {
            ComparisonOperator::Equal => self.comparison(x, y, |x, y| x == y),
            ComparisonOperator::NotEqual => self.comparison(x, y, |x, y| x != y),
            ComparisonOperator::Less => self.comparison(x, y, |x, y| x < y),
            ComparisonOperator::LessOrEqual => self.comparison(x, y, |x, y| x <= y),
            ComparisonOperator::Greater => self.comparison(x, y, |x, y| x > y),
            ComparisonOperator::GreaterOrEqual => self.comparison(x, y, |x, y| x >= y),
            ComparisonOperator::In | ComparisonOperator::NotIn => return None,
        }))
    }

    fn comparison(
        &mut self,
        x: Broadcast<'_>,
        y: Broadcast<'_>,
        holds: impl Fn(f64, f64) -> bool + Copy,
    ) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        kernels::zip(x, y, &mut lanes, move |x, y| if holds(x, y) { 1.0 } else { 0.0 }, |_, _, _| false);
        Vector::new(lanes, LaneTypes::All(LaneType::Bool), 1.0)
    }

    /// A function from floats to floats that cannot fail.
    pub(super) fn float_function(&mut self, x: Broadcast<'_>, f: impl Fn(f64) -> f64 + Copy) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        kernels::zip(x, Broadcast::Same(0.0), &mut lanes, move |x, _| f(x), |_, _, _| false);
        Vector::from_floats(lanes)
    }

    /// An operation that is an integer for two integers and otherwise a float. `bound` is the greatest magnitude of an
    /// integer result; results that can reach 2^53 are checked, and computed by `large` if one does. Adding zero turns an
    /// integer -0.0 into 0.0.
    pub(super) fn integer_preserving(
        &mut self,
        x: Operand<'_>,
        y: Operand<'_>,
        bound: f64,
        f: impl Fn(f64, f64) -> f64 + Copy,
        large: impl Fn(DoubleDouble, DoubleDouble) -> DoubleDouble + Copy,
    ) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        let types = if x.types.is_all(LaneType::Float) || y.types.is_all(LaneType::Float) {
            kernels::zip(x.lanes, y.lanes, &mut lanes, f, |_, _, _| false);
            LaneTypes::All(LaneType::Float)
        } else if x.types.is_integer() && y.types.is_integer() {
            if bound < MAX_EXACT_FLOAT {
                kernels::zip(x.lanes, y.lanes, &mut lanes, move |x, y| f(x, y) + 0.0, |_, _, _| false);
            } else if kernels::zip(x.lanes, y.lanes, &mut lanes, move |x, y| f(x, y) + 0.0, |_, _, r| is_too_large(r)) {
                self.scratch.recycle_lanes(lanes);
                return self.large_integers(x, y, large);
            }
            LaneTypes::All(LaneType::Int)
        } else {
            kernels::zip(x.lanes, y.lanes, &mut lanes, f, |_, _, _| false);
            let types = self.common_types(x.types, y.types);
            self.normalize_integers(&mut lanes, &types);
            LaneTypes::Each(types)
        };
        Vector::new(lanes, types, bound.min(MAX_EXACT_FLOAT))
    }

    /// Integer where both are integers, else float.
    pub(super) fn common_types(&mut self, x: LaneTypesRef<'_>, y: LaneTypesRef<'_>) -> Vec<u8> {
        let x = self.type_bytes(x);
        let y = self.type_bytes(y);
        let mut types = self.scratch.bytes(self.rows);
        kernels::zip_bytes(&x, &y, &mut types, |x, y| u8::from(x != 0) & u8::from(y != 0));
        self.scratch.recycle_bytes(x);
        self.scratch.recycle_bytes(y);
        types
    }

    /// Makes the zeros of integers positive; integers that reach 2^53 fall back.
    pub(super) fn normalize_integers(&mut self, lanes: &mut [f64], types: &[u8]) {
        if kernels::normalize_zeros(lanes, types, MAX_EXACT_FLOAT) {
            let mut mask = self.scratch.bytes(self.rows);
            kernels::test(Broadcast::Each(lanes), Broadcast::Same(MAX_EXACT_FLOAT), &mut mask, |x, exact| {
                x.abs() >= exact
            });
            kernels::zip_into(&mut mask, types, |large, kind| large & u8::from(kind != 0));
            self.fall_back(mask);
        }
    }

    /// Lanes of the present branch where `fails` is true fall back.
    pub(super) fn fall_back_where(
        &mut self,
        x: Broadcast<'_>,
        y: Broadcast<'_>,
        fails: impl Fn(f64, f64) -> bool + Copy,
    ) {
        let mut mask = self.scratch.bytes(self.rows);
        kernels::test(x, y, &mut mask, fails);
        self.fall_back(mask);
    }

    /// Lanes of the present branch that are set in the mask fall back.
    fn fall_back(&mut self, mut mask: Vec<u8>) {
        if let Some(active) = &self.active {
            kernels::zip_into(&mut mask, active, |mask, active| mask & active);
        }
        self.results.fall_back(&mask);
        self.scratch.recycle_bytes(mask);
    }

    /// Evaluates each lane of the present branch in Python; errors and values that no lane can hold fall back.
    pub(super) fn each_lane(&mut self, evaluate: impl Fn(&Python, usize) -> Result<Value, Raised>) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        let mut types = self.scratch.bytes(self.rows);
        let mut mask = self.scratch.bytes(self.rows);
        for lane in 0..self.rows {
            (lanes[lane], types[lane], mask[lane]) = (0.0, 0, 0);
            if self.active.as_ref().is_some_and(|active| active[lane] == 0) {
                continue;
            }
            self.lane_python.begin();
            let result = evaluate(&self.lane_python, lane).map(Entry::Scalar);
            match result.as_ref().ok().and_then(Entry::operand) {
                Some(value) if value.bound < MAX_EXACT_FLOAT || value.types.is_all(LaneType::Float) => {
                    (lanes[lane], types[lane]) = (value.lanes.at(0), value.types.at(0) as u8);
                }
                _ => mask[lane] = 1,
            }
        }
        self.results.fall_back(&mask);
        self.scratch.recycle_bytes(mask);
        Vector::new(lanes, LaneTypes::Each(types), MAX_EXACT_FLOAT)
    }

    /// Pushes a result; without one every lane of the present branch falls back.
    pub(super) fn push_vector(&mut self, vector: Option<Vector<'i>>) -> Result<(), AllLanesFallBack> {
        match vector {
            Some(vector) => self.stack.push(Entry::Vector(vector)),
            None => self.fail_active_lanes()?,
        }
        Ok(())
    }
}

impl<'i> ColumnarExecutor<'_, 'i> {
    /// `x ** y`: integer where both are integers and `y` is not negative, else float.
    fn power(&mut self, x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        if x.types.is_integer() && y.types.is_integer() {
            match y.lanes {
                Broadcast::Same(2.0) => {
                    return self.integer_preserving(x, x, x.bound * x.bound, |x, y| x * y, DoubleDouble::multiply);
                }
                Broadcast::Same(3.0) => {
                    let bound = x.bound * x.bound * x.bound;
                    return self.integer_preserving(x, x, bound, |x, _| x * x * x, |x, _| x.multiply(x).multiply(x));
                }
                Broadcast::Same(exponent)
                    if (4.0..=MAX_EXPONENT).contains(&exponent) && x.bound.powi(exponent as i32) >= MAX_EXACT_FLOAT =>
                {
                    return self.large_power(x, exponent as u32);
                }
                _ => {}
            }
        }
        let mut vector = self.float_power(x.lanes, y.lanes);
        if !(x.types.is_all(LaneType::Float) || y.types.is_all(LaneType::Float)) {
            let mut types = self.common_types(x.types, y.types);
            let mut mask = self.scratch.bytes(self.rows);
            kernels::test(y.lanes, Broadcast::Same(0.0), &mut mask, |y, zero| y >= zero);
            kernels::zip_into(&mut types, &mask, |kind, mask| kind & mask);
            self.scratch.recycle_bytes(mask);
            if let LaneBuffer::Owned(lanes) = &mut vector.lanes {
                self.normalize_integers(lanes, &types);
            }
            vector.types = LaneTypes::Each(types);
        }
        vector
    }

    /// The power of the C library. Infinite and NaN results fall back to the interpreter, which knows which of them are
    /// errors: a power of zero, a power of a negative number, an overflow.
    pub(super) fn float_power(&mut self, x: Broadcast<'_>, y: Broadcast<'_>) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        match (x, y) {
            (Broadcast::Each(x), Broadcast::Each(y)) => VectorMath::new().pow(x, y, &mut lanes),
            (Broadcast::Each(x), Broadcast::Same(y)) => VectorMath::new().pow_scalar_exponent(x, y, &mut lanes),
            (Broadcast::Same(x), Broadcast::Each(y)) => VectorMath::new().pow_scalar_base(x, y, &mut lanes),
            (Broadcast::Same(x), Broadcast::Same(y)) => lanes.fill(x.powf(y)),
        }
        self.fall_back_unless_finite(&lanes);
        Vector::from_floats(lanes)
    }

    /// Infinite and NaN results fall back.
    pub(super) fn fall_back_unless_finite(&mut self, lanes: &[f64]) {
        if kernels::any(lanes, |x| !x.is_finite()) {
            self.fall_back_where(Broadcast::Each(lanes), Broadcast::Same(0.0), |x, _| !x.is_finite());
        }
    }
}

/// Whether a double may not represent this integer exactly; false for NaN.
#[inline(always)]
fn is_too_large(integer: f64) -> bool {
    integer.abs() >= MAX_EXACT_FLOAT
}

/// The exact reciprocal of a power of two, with which multiplication gives the same double as division.
pub(super) fn reciprocal(divisor: f64) -> Option<f64> {
    let is_power_of_two = divisor.is_normal() && divisor.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1;
    Some(1.0 / divisor).filter(|factor| is_power_of_two && factor.is_normal())
}

/// The reciprocal of a positive integer below 2^40 as the sum of two doubles. For an integer `x`, `x * high + x * low`
/// rounded once is the correctly rounded quotient: the sum is within a relative 2^-104 of it, and no such quotient is
/// within 2^-94 of the midpoint between two doubles.
fn double_double_reciprocal(divisor: f64) -> Option<(f64, f64)> {
    const MOST: f64 = 1_099_511_627_776.0;
    let is_whole = divisor > 0.0 && divisor < MOST && divisor.fract() == 0.0;
    let high = 1.0 / divisor;
    let low = (-high).mul_add(divisor, 1.0) / divisor;
    is_whole.then_some((high, low)).filter(|_| has_fused_multiply_add(Level::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplication_by_a_reciprocal_equals_division() {
        let ends = [f64::from_bits(1), f64::MIN_POSITIVE, 3e-308, 1.0, 1e300, f64::MAX, f64::INFINITY];
        let inputs: Vec<f64> = ends.into_iter().flat_map(|x| [x, -x, x / 3.0, x * 0.7]).chain([0.0, -0.0]).collect();
        let mut factors = 0;
        for exponent in -1074..1024 {
            for divisor in [2f64.powi(exponent), -(2f64.powi(exponent))] {
                let Some(factor) = reciprocal(divisor) else { continue };
                factors += 1;
                inputs
                    .iter()
                    .for_each(|x| assert_eq!((x / divisor).to_bits(), (x * factor).to_bits(), "{x} / {divisor}"));
            }
        }
        assert_eq!(factors, 2 * 2045);
        assert!([0.0, 3.0, 0.1, f64::INFINITY, f64::NAN].into_iter().all(|divisor| reciprocal(divisor).is_none()));
    }

    /// A pseudo-random number of this many bits.
    fn next(random: &mut u64, bits: u32) -> f64 {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        (*random >> (64 - bits)) as f64
    }

    #[test]
    fn multiplication_by_a_double_double_reciprocal_equals_division() {
        let Some(_) = double_double_reciprocal(3.0) else { return };
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for turn in 0..200_000 {
            let divisor = 1.0 + next(&mut random, 1 + turn % 39);
            let (high, low) = double_double_reciprocal(divisor).unwrap();
            let near = divisor * next(&mut random, 13);
            let [first, second] = [1 + turn % 53, 53].map(|bits| next(&mut random, bits));
            for x in [first, -second, near, near + 1.0, near - 1.0, 0.0, 1.0, MAX_EXACT_FLOAT] {
                let found = x.mul_add(high, x * low);
                assert_eq!(found.to_bits(), (x / divisor).to_bits(), "{x} / {divisor}");
            }
        }
        assert!([-3.0, 0.5, 2e12, f64::NAN].into_iter().all(|divisor| double_double_reciprocal(divisor).is_none()));
    }
}
