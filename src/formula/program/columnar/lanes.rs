//! The stack entries of the columnar executor, the operators on them, and what it returns.
//!
//! A loop over lanes is one pass without branches, so that the compiler vectorizes it. Its closure
//! captures nothing: a number behind a reference would be loaded again for every lane.

use std::ops::{Add, Div, Mul, Sub};

use crate::formula::program::columnar::Run;
use crate::python::vector_math::VectorMath;
use crate::python::{BinaryOperator, ComparisonOperator, MAX_EXACT_FLOAT, UnaryOperator, Value};
use crate::simd::dispatch;

/// The number of rows in a block, whose lanes fit in the level 2 cache: with half as many, columns
/// of a million rows are read more slowly.
pub const LANES: usize = 2048;

/// The type of a number. In arithmetic, every type after `Float` is an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LaneType {
    /// A float.
    Float = 0,
    /// An integer.
    Int = 1,
    /// A truth value.
    Bool = 2,
}

impl LaneType {
    fn from_tag(tag: u8) -> Self {
        match tag {
            0 => Self::Float,
            1 => Self::Int,
            _ => Self::Bool,
        }
    }

    /// The Python value of this type and number.
    pub(super) fn value(self, number: f64) -> Value {
        match self {
            Self::Float => Value::Float(number),
            // exact: in lanes that do not fall back, integers are below 2^53
            Self::Int => Value::Int(number as i64),
            Self::Bool => Value::Bool(number != 0.0),
        }
    }
}

/// A truth value for each lane.
pub(super) type Mask = [bool; LANES];

/// An entry of the stack.
#[derive(Debug)]
pub(super) enum Entry {
    /// The same value for every lane, of any type and size.
    Scalar(Value),
    /// A number for each lane, in the lanes of the entry. An integer is less than 2^53 in
    /// magnitude, or its lane falls back.
    Lanes(LaneTypes),
    /// The doubles of an input, which are all of one type.
    // read where they are, without a copy
    Input(usize, LaneType),
}

/// The types of the numbers of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneTypes {
    All(LaneType),
    /// A type for each lane.
    Each,
}

/// The types of all lanes that are floats.
pub(super) const FLOATS: LaneTypes = LaneTypes::All(LaneType::Float);

/// The lanes of an entry.
#[derive(Debug)]
pub(super) struct Lanes {
    /// In a box, so that a result takes the place of an operand without being copied.
    pub(super) numbers: Box<[f64; LANES]>,
    /// What [`LaneTypes::Each`] means: a [`LaneType`] for each lane.
    pub(super) types: [u8; LANES],
}

impl Entry {
    /// The value of all lanes, if it is the same.
    pub(super) fn scalar(&self) -> Option<&Value> {
        if let Self::Scalar(value) = self {
            Some(value)
        } else {
            None
        }
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            numbers: Box::new([0.0; LANES]),
            types: [0; LANES],
        }
    }
}

impl Lanes {
    /// Makes the types those of each lane.
    pub(super) fn set_each(&mut self, types: LaneTypes) {
        if let LaneTypes::All(kind) = types {
            self.types = [kind as u8; LANES];
        }
    }

    fn kind(&self, types: LaneTypes, lane: usize) -> LaneType {
        match types {
            LaneTypes::All(kind) => kind,
            LaneTypes::Each => LaneType::from_tag(self.types[lane]),
        }
    }

    /// The Python value of a lane.
    pub(super) fn value(&self, types: LaneTypes, lane: usize) -> Value {
        self.kind(types, lane).value(self.numbers[lane])
    }
}

/// The lane that holds a value, if one can.
pub(super) fn lane_of(value: &Value) -> Option<(f64, LaneType)> {
    match value {
        Value::Float(float) => Some((*float, LaneType::Float)),
        // an integer that a double does not represent is left to the interpreter
        Value::Int(integer) if is_exact(*integer as f64) => Some((*integer as f64, LaneType::Int)),
        Value::Bool(truth) => Some((f64::from(u8::from(*truth)), LaneType::Bool)),
        _ => None,
    }
}

/// Whether all integers near this one are doubles; false for NaN.
#[inline(always)]
pub(super) fn is_exact(integer: f64) -> bool {
    integer.abs() < MAX_EXACT_FLOAT
}

/// The results of a formula for one block of jobs, one lane for each job.
#[derive(Debug, Clone, Copy)]
pub struct LaneResults<'r> {
    pub(super) lanes: &'r Lanes,
    pub(super) types: LaneTypes,
    pub(super) fallback: &'r [bool],
}

impl<'r> LaneResults<'r> {
    /// The numbers; those of lanes that fall back are meaningless.
    pub fn lanes(&self) -> &'r [f64] {
        &self.lanes.numbers[..self.fallback.len()]
    }

    /// The type of all lanes, if one is known of all.
    pub(crate) fn uniform_type(&self) -> Option<LaneType> {
        match self.types {
            LaneTypes::All(kind) => Some(kind),
            LaneTypes::Each => None,
        }
    }

    /// The type of a lane.
    pub fn lane_type(&self, lane: usize) -> LaneType {
        self.lanes.kind(self.types, lane)
    }

    /// The lanes that fall back to the interpreter, ascending.
    pub fn fallback_lanes(&self) -> impl Iterator<Item = usize> + use<'r> {
        // most blocks have none, which is found in lanes
        let fallback = if self.fallback.contains(&true) {
            self.fallback
        } else {
            &[]
        };
        fallback
            .iter()
            .enumerate()
            .filter(|(_, falls_back)| **falls_back)
            .map(|(lane, _)| lane)
    }

    /// The Python value of a lane; `None` if it falls back or does not exist.
    pub fn value(&self, lane: usize) -> Option<Value> {
        match self.fallback.get(lane) {
            Some(false) => Some(self.lanes.value(self.types, lane)),
            _ => None,
        }
    }
}

/// One number for all lanes, or one for each.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operand<'a> {
    Same(f64),
    Each(&'a [f64]),
}

/// Of a function that fails for no numbers.
#[inline(always)]
pub(super) fn never(_: f64, _: f64, _: f64) -> bool {
    false
}

/// Whether a number is infinite or NaN.
#[inline(always)]
pub(super) fn is_not_finite(number: f64) -> bool {
    !number.is_finite()
}

/// Whether a double may not represent the integer.
#[inline(always)]
pub(super) fn is_inexact(integer: f64) -> bool {
    !is_exact(integer)
}

/// `out = f(x, y)` in every lane; returns whether `fails(x, y, out)` is true in any.
#[inline]
pub(super) fn zip(
    out: &mut [f64],
    x: Operand<'_>,
    y: Operand<'_>,
    f: impl Fn(f64, f64) -> f64 + Copy,
    fails: impl Fn(f64, f64, f64) -> bool + Copy,
) -> bool {
    let step = move |out: &mut f64, x, y| {
        *out = f(x, y);
        u64::from(fails(x, y, *out))
    };
    for_each(out, x, y, step) != 0
}

/// Sets the mask where `test(x, y)` is true.
#[inline]
pub(super) fn compare(
    mask: &mut [bool],
    x: Operand<'_>,
    y: Operand<'_>,
    test: impl Fn(&f64, &f64) -> bool + Copy,
) {
    let step = move |mask: &mut bool, x: f64, y: f64| {
        *mask = test(&x, &y);
        0
    };
    for_each(mask, x, y, step);
}

#[inline]
fn for_each<T>(
    out: &mut [T],
    x: Operand<'_>,
    y: Operand<'_>,
    step: impl Fn(&mut T, f64, f64) -> u64 + Copy,
) -> u64 {
    match (x, y) {
        (Operand::Each(x), Operand::Each(y)) => {
            run(out, x.iter().copied().zip(y.iter().copied()), step)
        }
        (Operand::Each(x), Operand::Same(y)) => run(out, x.iter().map(move |&x| (x, y)), step),
        (Operand::Same(x), Operand::Each(y)) => run(out, y.iter().map(move |&y| (x, y)), step),
        // `max(1, 2, x)` compares two constants first
        (Operand::Same(x), Operand::Same(y)) => run(out, std::iter::repeat((x, y)), step),
    }
}

#[inline]
fn run<T>(
    out: &mut [T],
    pairs: impl Iterator<Item = (f64, f64)>,
    step: impl Fn(&mut T, f64, f64) -> u64 + Copy,
) -> u64 {
    dispatch(
        #[inline(always)]
        move || {
            out.iter_mut()
                .zip(pairs)
                // `|`, because every lane must be computed, without a branch
                .fold(0, |any, (out, (x, y))| any | step(out, x, y))
        },
    )
}

/// Fills lanes with converted numbers; returns how many there are.
#[inline]
pub(super) fn load<T: Copy>(
    numbers: &[T],
    out: &mut [f64],
    convert: impl Fn(T) -> f64 + Copy,
) -> usize {
    let count = out.len().min(numbers.len());
    dispatch(
        #[inline(always)]
        move || {
            for (out, &number) in out.iter_mut().zip(numbers) {
                *out = convert(number);
            }
        },
    );
    count
}

/// Whether `test(x)` is true in any lane.
#[inline]
pub(super) fn any(lanes: &[f64], test: impl Fn(f64) -> bool + Copy) -> bool {
    dispatch(
        #[inline(always)]
        move || {
            let mut any = 0;
            for &lane in lanes {
                any |= u64::from(test(lane));
            }
            any != 0
        },
    )
}

/// Sets the mask where `test(x)` is true in an active lane.
#[inline]
pub(super) fn test(
    x: &[f64],
    active: &[bool],
    mask: &mut [bool],
    test: impl Fn(f64) -> bool + Copy,
) {
    dispatch(
        #[inline(always)]
        move || {
            for (mask, (&x, &active)) in mask.iter_mut().zip(x.iter().zip(active)) {
                *mask = active & test(x);
            }
        },
    );
}

/// Makes the zeros of integers positive; returns whether an integer reaches 2^53 or is NaN.
#[inline]
pub(super) fn check_integers(numbers: &mut [f64], types: &[u8]) -> bool {
    dispatch(
        #[inline(always)]
        move || {
            let mut any = 0;
            for (number, &kind) in numbers.iter_mut().zip(types) {
                let is_integer = kind != LaneType::Float as u8;
                let integer = *number + 0.0;
                // stored in either case, since a conditional store would be a branch
                *number = if is_integer { integer } else { *number };
                any |= u64::from(is_integer) & u64::from(!is_exact(integer));
            }
            any != 0
        },
    )
}

/// `x = y` where the mask is set. An `if` would select between addresses and load each number
/// alone.
#[inline]
pub(super) fn select(mask: &[bool], x: &mut [f64], y: &[f64]) {
    dispatch(
        #[inline(always)]
        move || {
            for ((x, y), &is_selected) in x.iter_mut().zip(y).zip(mask) {
                let bits = (x.to_bits() ^ y.to_bits()) & u64::from(is_selected).wrapping_neg();
                *x = f64::from_bits(x.to_bits() ^ bits);
            }
        },
    );
}

/// [`select`] on types.
#[inline]
pub(super) fn select_types(mask: &[bool], x: &mut [u8], y: &[u8]) {
    dispatch(
        #[inline(always)]
        move || {
            for ((x, y), &is_selected) in x.iter_mut().zip(y).zip(mask) {
                *x ^= (*x ^ y) & u8::from(is_selected).wrapping_neg();
            }
        },
    );
}

impl Run<'_, '_> {
    pub(super) fn unary(&mut self, op: UnaryOperator) -> Option<()> {
        let x = self.index_of_top(1)?;
        if let Entry::Scalar(value) = &self.stack[x] {
            let result = self.python.unary(op, value);
            return self.replace(x, result.ok().map(Entry::Scalar));
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
        self.replace(x, types.map(Entry::Lanes))
    }

    pub(super) fn binary(&mut self, op: BinaryOperator) -> Option<()> {
        let x = self.index_of_top(2)?;
        if let [Entry::Scalar(left), Entry::Scalar(right)] = &self.stack[x..] {
            let result = self.python.binary(op, left, right);
            return self.replace(x, result.ok().map(Entry::Scalar));
        }
        let types = self.binary_lanes(op, x, x + 1);
        self.replace(x, types.map(Entry::Lanes))
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
            // not reached: `binary` and `call` compute what has only scalars
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
            // membership in a number is a TypeError, and no lane holds a sequence
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
        match result {
            Some(entry) => self.stack[x] = entry,
            None => {
                self.stack[x] = Entry::Scalar(Value::Bool(false));
                self.fail_active()?;
            }
        }
        Some(())
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
