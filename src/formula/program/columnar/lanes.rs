//! The stack entries of the columnar executor, and what it returns.

use crate::python::{MAX_EXACT_FLOAT, Value};

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

    /// The Python value of a lane.
    pub(super) fn value(&self, types: LaneTypes, lane: usize) -> Value {
        let kind = match types {
            LaneTypes::All(kind) => kind,
            LaneTypes::Each => LaneType::from_tag(self.types[lane]),
        };
        kind.value(self.numbers[lane])
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

    /// The type that all lanes share; `None` if they differ.
    pub fn common_type(&self) -> Option<LaneType> {
        match self.types {
            LaneTypes::All(kind) => Some(kind),
            LaneTypes::Each => None,
        }
    }

    /// The type of a lane.
    pub fn lane_type(&self, lane: usize) -> LaneType {
        match self.types {
            LaneTypes::All(kind) => kind,
            LaneTypes::Each => LaneType::from_tag(self.lanes.types[lane]),
        }
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
