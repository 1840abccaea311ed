//! Lanes, the numbers of a block of rows: the stack entries of the columnar executor, which have them, the
//! loops over them, and what the executor returns.
//!
//! A loop over lanes is one pass without branches, so that the compiler vectorizes it. Its closure
//! captures nothing: a number behind a reference would be loaded again for every lane.

use crate::python::{MAX_EXACT_FLOAT, Value};
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
        self.fallback
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

/// `out = f(x, y)` in every lane.
#[inline]
pub(super) fn zip<T>(
    out: &mut [T],
    x: Operand<'_>,
    y: Operand<'_>,
    f: impl Fn(f64, f64) -> T + Copy,
) {
    match (x, y) {
        (Operand::Each(x), Operand::Each(y)) => {
            fill(out, x.iter().copied().zip(y.iter().copied()), f);
        }
        (Operand::Each(x), Operand::Same(y)) => fill(out, x.iter().map(move |&x| (x, y)), f),
        (Operand::Same(x), Operand::Each(y)) => fill(out, y.iter().map(move |&y| (x, y)), f),
        // `max(1, 2, x)` compares two constants first
        (Operand::Same(x), Operand::Same(y)) => fill(out, std::iter::repeat((x, y)), f),
    }
}

#[inline]
fn fill<T>(
    out: &mut [T],
    pairs: impl Iterator<Item = (f64, f64)>,
    f: impl Fn(f64, f64) -> T + Copy,
) {
    dispatch(
        #[inline(always)]
        move || {
            for (out, (x, y)) in out.iter_mut().zip(pairs) {
                *out = f(x, y);
            }
        },
    );
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
