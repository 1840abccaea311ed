//! The stack entries of the columnar executor, and the pool of their memory.

use crate::formula::program::columnar::double_double::{DoubleDouble, LEAST_LARGE_BOUND};
use crate::formula::program::columnar::kernels::Broadcast;
use crate::python::{MAX_EXACT_FLOAT, Value};

/// The number of rows in a block, whose vectors fit in the level 1 cache.
pub const LANES: usize = 1024;

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
    pub(super) fn from_tag(tag: u8) -> Self {
        match tag {
            0 => Self::Float,
            1 => Self::Int,
            _ => Self::Bool,
        }
    }

    /// The Python value of this type and number.
    #[inline]
    pub(super) fn value(self, number: DoubleDouble) -> Value {
        match self {
            Self::Float => Value::Float(number.high),
            Self::Int if number.high.abs() < MAX_EXACT_FLOAT => Value::Int(number.high as i64),
            Self::Int => number.to_value(),
            Self::Bool => Value::Bool(number.high != 0.0),
        }
    }
}

/// An entry of the stack.
#[derive(Debug)]
pub(super) enum Entry<'i> {
    /// The same value for every lane, of any type and size.
    Scalar(Value),
    /// A number for each lane.
    Vector(Vector<'i>),
    /// A tuple or a list, whose items a function can take.
    Sequence {
        /// The items.
        items: Vec<Entry<'i>>,
        /// Whether it is a list.
        is_list: bool,
    },
}

/// A number for each lane.
#[derive(Debug)]
pub(super) struct Vector<'i> {
    /// The numbers. If an integer can be beyond 2^53, the nearest doubles, and then what each of them lacks.
    pub(super) lanes: LaneBuffer<'i>,
    pub(super) types: LaneTypes,
    /// The magnitude that no integer of the lanes exceeds.
    pub(super) bound: f64,
}

/// The lanes of an input, or lanes from the pool.
#[derive(Debug)]
pub(super) enum LaneBuffer<'i> {
    Borrowed(&'i [f64]),
    Owned(Vec<f64>),
}

/// One type for all lanes, or a [`LaneType`] as a number for each.
#[derive(Debug)]
pub(super) enum LaneTypes {
    All(LaneType),
    Each(Vec<u8>),
}

/// An operand of a kernel: one number for all lanes, or one for each.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) lanes: Broadcast<'a>,
    pub(super) low: Broadcast<'a>,
    pub(super) types: LaneTypesRef<'a>,
    pub(super) bound: f64,
}

impl Operand<'_> {
    /// The integer 0.
    pub(super) const ZERO: Self = Self {
        lanes: Broadcast::Same(0.0),
        low: Broadcast::Same(0.0),
        types: LaneTypesRef::All(LaneType::Int),
        bound: 0.0,
    };

    /// Whether an integer can be beyond 2^53, so that its double alone is not exact.
    pub(super) fn is_large(&self) -> bool {
        self.bound >= LEAST_LARGE_BOUND
    }

    /// The value of one lane.
    pub(super) fn value(&self, lane: usize) -> Value {
        self.types.at(lane).value(DoubleDouble { high: self.lanes.at(lane), low: self.low.at(lane) })
    }
}

/// The types of an operand.
#[derive(Clone, Copy)]
pub(super) enum LaneTypesRef<'a> {
    All(LaneType),
    Each(&'a [u8]),
}

impl LaneTypesRef<'_> {
    pub(super) fn is_all(self, kind: LaneType) -> bool {
        matches!(self, Self::All(all) if all == kind)
    }

    /// Whether no lane is a float.
    pub(super) fn is_integer(self) -> bool {
        matches!(self, Self::All(LaneType::Int | LaneType::Bool))
    }

    #[inline]
    pub(super) fn at(self, lane: usize) -> LaneType {
        match self {
            Self::All(kind) => kind,
            Self::Each(types) => LaneType::from_tag(types.get(lane).copied().unwrap_or(0)),
        }
    }
}

impl<'i> Entry<'i> {
    /// The numbers of a scalar or a vector; `None` if a lane cannot hold the value.
    #[inline]
    pub(super) fn operand(&self) -> Option<Operand<'_>> {
        match self {
            Self::Scalar(value) => {
                let (lane, low, kind, bound) = match value {
                    Value::Float(x) => (*x, 0.0, LaneType::Float, 0.0),
                    Value::Int(i) if i.unsigned_abs() <= MAX_EXACT_FLOAT as u64 => {
                        (*i as f64, 0.0, LaneType::Int, i.unsigned_abs() as f64)
                    }
                    Value::Bool(truth) => (f64::from(u8::from(*truth)), 0.0, LaneType::Bool, 1.0),
                    _ => {
                        let DoubleDouble { high, low } = DoubleDouble::from_value(value)?;
                        (high, low, LaneType::Int, high.abs().max(LEAST_LARGE_BOUND))
                    }
                };
                let types = LaneTypesRef::All(kind);
                Some(Operand { lanes: Broadcast::Same(lane), low: Broadcast::Same(low), types, bound })
            }
            Self::Vector(vector) => Some(vector.operand()),
            Self::Sequence { .. } => None,
        }
    }

    /// The value of one lane.
    pub(super) fn value(&self, lane: usize) -> Value {
        match self {
            Self::Scalar(value) => value.clone(),
            Self::Vector(vector) => vector.operand().value(lane),
            Self::Sequence { items, is_list } => {
                let items = items.iter().map(|item| item.value(lane)).collect();
                if *is_list { Value::list(items) } else { Value::tuple(items) }
            }
        }
    }

    /// The value of all lanes, if it is the same.
    pub(super) fn scalar(&self) -> Option<Value> {
        match self {
            Self::Scalar(value) => Some(value.clone()),
            Self::Vector(_) => None,
            Self::Sequence { items, is_list } => {
                let items = items.iter().map(Entry::scalar).collect::<Option<Vec<_>>>()?;
                Some(if *is_list { Value::list(items) } else { Value::tuple(items) })
            }
        }
    }

    /// Returns the memory to the pool.
    pub(super) fn recycle(self, scratch: &mut Scratch) {
        match self {
            Self::Scalar(_) => {}
            Self::Vector(vector) => vector.recycle(scratch),
            Self::Sequence { items, .. } => items.into_iter().for_each(|item| item.recycle(scratch)),
        }
    }
}

impl Vector<'_> {
    pub(super) fn new(lanes: Vec<f64>, types: LaneTypes, bound: f64) -> Self {
        Self { lanes: LaneBuffer::Owned(lanes), types, bound }
    }

    pub(super) fn from_floats(lanes: Vec<f64>) -> Self {
        Self::new(lanes, LaneTypes::All(LaneType::Float), MAX_EXACT_FLOAT)
    }

    #[inline]
    pub(super) fn operand(&self) -> Operand<'_> {
        let types = match &self.types {
            LaneTypes::All(kind) => LaneTypesRef::All(*kind),
            LaneTypes::Each(types) => LaneTypesRef::Each(types),
        };
        let lanes = self.lanes.as_slice();
        if self.bound >= LEAST_LARGE_BOUND {
            let (high, low) = lanes.split_at(lanes.len() / 2);
            return Operand { lanes: Broadcast::Each(high), low: Broadcast::Each(low), types, bound: self.bound };
        }
        Operand { lanes: Broadcast::Each(lanes), low: Broadcast::Same(0.0), types, bound: self.bound }
    }

    /// Returns the memory to the pool.
    #[inline]
    pub(super) fn recycle(self, scratch: &mut Scratch) {
        if let LaneBuffer::Owned(lanes) = self.lanes {
            scratch.recycle_lanes(lanes);
        }
        if let LaneTypes::Each(types) = self.types {
            scratch.recycle_bytes(types);
        }
    }
}

impl LaneBuffer<'_> {
    pub(super) fn as_slice(&self) -> &[f64] {
        match self {
            Self::Borrowed(lanes) => lanes,
            Self::Owned(lanes) => lanes,
        }
    }
}

/// A pool of vectors, so that only the first block allocates.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    lanes: Vec<Vec<f64>>,
    bytes: Vec<Vec<u8>>,
}

impl Scratch {
    /// A vector of this many lanes with unspecified content.
    pub(super) fn lanes(&mut self, count: usize) -> Vec<f64> {
        let mut lanes = self.lanes.pop().unwrap_or_else(|| Vec::with_capacity(LANES));
        lanes.resize(count, 0.0);
        lanes
    }

    /// A vector of this many bytes with unspecified content.
    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = self.bytes.pop().unwrap_or_else(|| Vec::with_capacity(LANES));
        bytes.resize(count, 0);
        bytes
    }

    pub(super) fn recycle_lanes(&mut self, lanes: Vec<f64>) {
        self.lanes.push(lanes);
    }

    pub(super) fn recycle_bytes(&mut self, bytes: Vec<u8>) {
        self.bytes.push(bytes);
    }
}
