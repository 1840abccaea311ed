//! Operators on lanes.

use crate::formula::program::columnar::loops::Arm;
use crate::formula::program::columnar::vector::{Entry, Kind, KindArm, Kinds, Lent, Operand, Vector};
use crate::formula::program::columnar::{AllMarked, Columnar, loops};
use crate::python::MAX_EXACT_FLOAT;
use crate::python::{Arithmetic, BinaryOperator, ComparisonOperator, Python, Raised, UnaryOperator, Value};
use crate::simd::{Level, has_fused_multiply_add};

impl<'i> Columnar<'_, 'i> {
    pub(super) fn unary(&mut self, op: UnaryOperator) -> Result<(), AllMarked> {
        let x = self.pop()?;
        let result = match &x {
            Entry::Scalar(value) => {
                let result = self.python.unary(op, value);
                return self.push_scalar(result);
            }
            Entry::Vector(_) => x.operand().map(|operand| self.unary_of(op, operand)),
            Entry::Sequence { .. } => None,
        };
        x.recycle(&mut self.scratch);
        self.push_vector(result)
    }

    fn unary_of(&mut self, op: UnaryOperator, x: Operand<'_>) -> Vector<'i> {
        let zero = Operand { arm: Arm::Same(0.0), kinds: KindArm::All(Kind::Int), most: 0.0 };
        match op {
            UnaryOperator::Not => self.truths(x.arm, Arm::Same(0.0), |x, zero| x == zero),
            // a negated float is no difference: 0.0 - 0.0 is not -0.0
            UnaryOperator::Minus if x.kinds.is_all(Kind::Float) => self.floats(x.arm, |x| -x),
            UnaryOperator::Minus if x.kinds.is_integer() => self.ring(zero, x, x.most, |zero, x| zero - x),
            UnaryOperator::Plus if x.kinds.is_all(Kind::Float) => self.floats(x.arm, |x| x),
            UnaryOperator::Plus => self.ring(zero, x, x.most, |_, x| x),
            UnaryOperator::Invert if x.kinds.is_integer() => self.ring(zero, x, x.most + 1.0, |_, x| -1.0 - x),
            _ => self.lane_by_lane(|python, lane| python.unary(op, &x.kinds.at(lane).value(x.arm.at(lane)))),
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOperator) -> Result<(), AllMarked> {
        let y = self.pop()?;
        let x = self.pop()?;
        if let (Entry::Scalar(x), Entry::Scalar(y)) = (&x, &y) {
            let result = self.python.binary(op, x, y);
            return self.push_scalar(result);
        }
        let result = match (x.operand(), y.operand()) {
            (Some(x), Some(y)) => Some(self.binary_of(op, x, y)),
            _ => None,
        };
        x.recycle(&mut self.scratch);
        y.recycle(&mut self.scratch);
        self.push_vector(result)
    }

    fn binary_of(&mut self, op: BinaryOperator, x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        match op {
            BinaryOperator::Add => self.ring(x, y, x.most + y.most, |x, y| x + y),
            BinaryOperator::Subtract => self.ring(x, y, x.most + y.most, |x, y| x - y),
            BinaryOperator::Multiply => self.ring(x, y, x.most * y.most, |x, y| x * y),
            BinaryOperator::Divide => self.quotient(x, y),
            BinaryOperator::Power => self.power(x, y),
            _ => self.lane_by_lane(|python, lane| {
                let value = |operand: Operand<'_>| operand.kinds.at(lane).value(operand.arm.at(lane));
                python.binary(op, &value(x), &value(y))
            }),
        }
    }

    fn quotient(&mut self, x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        match y.arm {
            Arm::Same(divisor) if divisor != 0.0 => {
                if let Some(factor) = reciprocal(divisor) {
                    loops::zip(x.arm, Arm::Same(factor), &mut lanes, |x, y| x * y, |_, _, _| false);
                } else if let Some((high, low)) = two_reciprocals(divisor).filter(|_| x.kinds.is_integer()) {
                    loops::dot(x.arm, [high, low], &mut lanes);
                } else {
                    loops::zip(x.arm, y.arm, &mut lanes, |x, y| x / y, |_, _, _| false);
                }
            }
            _ => {
                if loops::zip(x.arm, y.arm, &mut lanes, |x, y| x / y, |_, y, _| y == 0.0) {
                    self.mark_where(y.arm, Arm::Same(0.0), |y, zero| y == zero);
                }
            }
        }
        Vector { lanes: Lent::Own(lanes), kinds: Kinds::All(Kind::Float), most: MAX_EXACT_FLOAT }
    }

    pub(super) fn compare(&mut self, op: ComparisonOperator) -> Result<(), AllMarked> {
        let y = self.pop()?;
        let x = self.pop()?;
        let result = self.compared(op, &x, &y);
        x.recycle(&mut self.scratch);
        y.recycle(&mut self.scratch);
        match result {
            Some(entry) => self.stack.push(entry),
            None => self.fail()?,
        }
        Ok(())
    }

    /// `x op y`; `None` when it fails everywhere.
    pub(super) fn compared(&mut self, op: ComparisonOperator, x: &Entry<'i>, y: &Entry<'i>) -> Option<Entry<'i>> {
        if let (Entry::Scalar(x), Entry::Scalar(y)) = (x, y) {
            return self.python.compare(op, x, y).ok().map(|holds| Entry::Scalar(Value::Bool(holds)));
        }
        let (x, y) = (x.operand()?.arm, y.operand()?.arm);
        Some(Entry::Vector(match op {
            ComparisonOperator::Equal => self.truths(x, y, |x, y| x == y),
            ComparisonOperator::NotEqual => self.truths(x, y, |x, y| x != y),
            ComparisonOperator::Less => self.truths(x, y, |x, y| x < y),
            ComparisonOperator::LessOrEqual => self.truths(x, y, |x, y| x <= y),
            ComparisonOperator::Greater => self.truths(x, y, |x, y| x > y),
            ComparisonOperator::GreaterOrEqual => self.truths(x, y, |x, y| x >= y),
            ComparisonOperator::In | ComparisonOperator::NotIn => return None,
        }))
    }

    fn truths(&mut self, x: Arm<'_>, y: Arm<'_>, holds: impl Fn(f64, f64) -> bool + Copy) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        loops::zip(x, y, &mut lanes, move |x, y| if holds(x, y) { 1.0 } else { 0.0 }, |_, _, _| false);
        Vector { lanes: Lent::Own(lanes), kinds: Kinds::All(Kind::Bool), most: 1.0 }
    }

    /// A function that makes floats of floats and never fails.
    pub(super) fn floats(&mut self, x: Arm<'_>, f: impl Fn(f64) -> f64 + Copy) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        loops::zip(x, Arm::Same(0.0), &mut lanes, move |x, _| f(x), |_, _, _| false);
        Vector { lanes: Lent::Own(lanes), kinds: Kinds::All(Kind::Float), most: MAX_EXACT_FLOAT }
    }

    /// An operation that makes an integer of two integers and otherwise a float. `most` is what it makes at most of
    /// integers; one that may reach 2^53 is looked at. Adding zero makes the zero of integers of -0.0.
    pub(super) fn ring(
        &mut self,
        x: Operand<'_>,
        y: Operand<'_>,
        most: f64,
        f: impl Fn(f64, f64) -> f64 + Copy,
    ) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        let too_large = |lane: f64| lane.abs() >= MAX_EXACT_FLOAT;
        let kinds = if x.kinds.is_all(Kind::Float) || y.kinds.is_all(Kind::Float) {
            loops::zip(x.arm, y.arm, &mut lanes, f, |_, _, _| false);
            Kinds::All(Kind::Float)
        } else if x.kinds.is_integer() && y.kinds.is_integer() {
            if most < MAX_EXACT_FLOAT {
                loops::zip(x.arm, y.arm, &mut lanes, move |x, y| f(x, y) + 0.0, |_, _, _| false);
            } else if loops::zip(x.arm, y.arm, &mut lanes, move |x, y| f(x, y) + 0.0, |_, _, r| too_large(r)) {
                self.mark_where(Arm::Each(&lanes), Arm::Same(0.0), |r, _| too_large(r));
            }
            Kinds::All(Kind::Int)
        } else {
            loops::zip(x.arm, y.arm, &mut lanes, f, |_, _, _| false);
            let kinds = self.common_kinds(x.kinds, y.kinds);
            self.settle_integers(&mut lanes, &kinds);
            Kinds::Each(kinds)
        };
        Vector { lanes: Lent::Own(lanes), kinds, most: most.min(MAX_EXACT_FLOAT) }
    }

    /// An integer where both are integers, else a float.
    pub(super) fn common_kinds(&mut self, x: KindArm<'_>, y: KindArm<'_>) -> Vec<u8> {
        let (x, y) = (self.kind_bytes(x), self.kind_bytes(y));
        let mut kinds = self.scratch.bytes(self.rows);
        loops::zip_bytes(&x, &y, &mut kinds, |x, y| u8::from(x != 0) & u8::from(y != 0));
        self.scratch.give_bytes(x);
        self.scratch.give_bytes(y);
        kinds
    }

    /// Makes the zeros of the integers positive, and marks integers that are too large.
    pub(super) fn settle_integers(&mut self, lanes: &mut [f64], kinds: &[u8]) {
        if loops::settle(lanes, kinds, MAX_EXACT_FLOAT) {
            let mut mask = self.scratch.bytes(self.rows);
            loops::test(Arm::Each(lanes), Arm::Same(MAX_EXACT_FLOAT), &mut mask, |x, exact| x.abs() >= exact);
            loops::zip_into(&mut mask, kinds, |large, kind| large & u8::from(kind != 0));
            self.mark(mask);
        }
    }

    /// Marks the lanes where `fails` holds, as far as they go this way.
    pub(super) fn mark_where(&mut self, x: Arm<'_>, y: Arm<'_>, fails: impl Fn(f64, f64) -> bool + Copy) {
        let mut mask = self.scratch.bytes(self.rows);
        loops::test(x, y, &mut mask, fails);
        self.mark(mask);
    }

    /// Marks the lanes of a mask, as far as they go this way.
    fn mark(&mut self, mut mask: Vec<u8>) {
        if let Some(guard) = &self.guard {
            loops::zip_into(&mut mask, guard, |mask, guard| mask & guard);
        }
        self.outcome.mark(&mask);
        self.scratch.give_bytes(mask);
    }

    /// Asks Python for each lane that goes this way; what it refuses, and what no lane holds, is marked.
    pub(super) fn lane_by_lane(&mut self, evaluate: impl Fn(&Python, usize) -> Result<Value, Raised>) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        let mut kinds = self.scratch.bytes(self.rows);
        let mut mask = self.scratch.bytes(self.rows);
        for lane in 0..self.rows {
            (lanes[lane], kinds[lane], mask[lane]) = (0.0, 0, 0);
            if self.guard.as_ref().is_some_and(|guard| guard[lane] == 0) {
                continue;
            }
            self.python.begin();
            let result = evaluate(&self.python, lane).map(Entry::Scalar);
            match result.as_ref().ok().and_then(Entry::operand) {
                Some(Operand { arm, kinds: kind, most }) if most < MAX_EXACT_FLOAT || kind.is_all(Kind::Float) => {
                    (lanes[lane], kinds[lane]) = (arm.at(0), kind.at(0) as u8);
                }
                _ => mask[lane] = 1,
            }
        }
        self.outcome.mark(&mask);
        self.scratch.give_bytes(mask);
        Vector { lanes: Lent::Own(lanes), kinds: Kinds::Each(kinds), most: MAX_EXACT_FLOAT }
    }

    /// Pushes a result; none is a failure of every lane that goes this way.
    pub(super) fn push_vector(&mut self, vector: Option<Vector<'i>>) -> Result<(), AllMarked> {
        match vector {
            Some(vector) => self.stack.push(Entry::Vector(vector)),
            None => self.fail()?,
        }
        Ok(())
    }
}

/// What to multiply by instead of dividing by this number: a power of two, by which both come to the same real number
/// and so to the same double.
fn reciprocal(divisor: f64) -> Option<f64> {
    let is_power_of_two = divisor.is_normal() && divisor.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1;
    Some(1.0 / divisor).filter(|factor| is_power_of_two && factor.is_normal())
}

/// The reciprocal of a positive whole number below 2^40 in two doubles: what an integer times the first is, with the
/// product with the second added before it is rounded, is the quotient. For that sum is within 2^-104 of it, relative,
/// and no quotient of an integer by such a number is as near to the middle between two doubles: 2^-94 is the least.
fn two_reciprocals(divisor: f64) -> Option<(f64, f64)> {
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
    fn a_factor_gives_what_the_divisor_does() {
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

    #[test]
    fn two_factors_give_what_the_divisor_does() {
        let Some(_) = two_reciprocals(3.0) else { return };
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |bits: u32| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> (64 - bits)) as f64
        };
        for turn in 0..200_000 {
            let divisor = 1.0 + next(1 + turn % 39);
            let (high, low) = two_reciprocals(divisor).unwrap();
            let near = divisor * next(13);
            for x in [next(1 + turn % 53), -next(53), near, near + 1.0, near - 1.0, 0.0, 1.0, MAX_EXACT_FLOAT] {
                let found = x.mul_add(high, x * low);
                assert_eq!(found.to_bits(), (x / divisor).to_bits(), "{x} / {divisor}");
            }
        }
        assert!([-3.0, 0.5, 2e12, f64::NAN].into_iter().all(|divisor| two_reciprocals(divisor).is_none()));
    }
}
