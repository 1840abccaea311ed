//! What lies on the stack of the columnar executor: one value for all lanes, or a number for each.

use crate::formula::program::columnar::Scratch;
use crate::formula::program::columnar::loops::Arm;
use crate::python::MAX_EXACT_FLOAT;
use crate::python::Value;

/// The type of a number. The order counts: everything above a float is an integer to arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A float.
    Float = 0,
    /// An integer.
    Int = 1,
    /// A truth value, which counts as an integer.
    Bool = 2,
}

impl Kind {
    pub(super) fn of(tag: u8) -> Self {
        match tag {
            0 => Self::Float,
            1 => Self::Int,
            _ => Self::Bool,
        }
    }

    /// The Python value of this kind that the lane holds.
    #[inline]
    pub fn value(self, lane: f64) -> Value {
        match self {
            Self::Float => Value::Float(lane),
            Self::Int => Value::Int(lane as i64),
            Self::Bool => Value::Bool(lane != 0.0),
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
    /// A tuple or a list, of which a function takes the items.
    Sequence {
        /// The items.
        items: Vec<Entry<'i>>,
        /// Whether it is a list.
        is_list: bool,
    },
}

/// A number for each lane; integers are below 2^53 in magnitude.
#[derive(Debug)]
pub(super) struct Vector<'i> {
    pub(super) lanes: Lent<'i>,
    pub(super) kinds: Kinds,
    /// No integer among the lanes is larger than this in magnitude.
    pub(super) most: f64,
}

/// The lanes of an input, or some of the executor's own.
#[derive(Debug)]
pub(super) enum Lent<'i> {
    Given(&'i [f64]),
    Own(Vec<f64>),
}

/// One kind for all lanes, or a [`Kind`] as a number for each.
#[derive(Debug)]
pub(super) enum Kinds {
    All(Kind),
    Each(Vec<u8>),
}

/// A number, or a number per lane, on its way into a loop.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) arm: Arm<'a>,
    pub(super) kinds: KindArm<'a>,
    pub(super) most: f64,
}

/// The kinds of an operand.
#[derive(Clone, Copy)]
pub(super) enum KindArm<'a> {
    All(Kind),
    Each(&'a [u8]),
}

impl KindArm<'_> {
    pub(super) fn is_all(self, kind: Kind) -> bool {
        matches!(self, Self::All(all) if all == kind)
    }

    /// Whether no lane is a float.
    pub(super) fn is_integer(self) -> bool {
        matches!(self, Self::All(Kind::Int | Kind::Bool))
    }

    #[inline]
    pub(super) fn at(self, lane: usize) -> Kind {
        match self {
            Self::All(kind) => kind,
            Self::Each(kinds) => Kind::of(kinds.get(lane).copied().unwrap_or(0)),
        }
    }
}

impl<'i> Entry<'i> {
    /// The numbers of a scalar or a vector; `None` of what no lane holds.
    pub(super) fn operand(&self) -> Option<Operand<'_>> {
        match self {
            Self::Scalar(value) => {
                let (lane, kind) = match value {
                    Value::Float(x) => (*x, Kind::Float),
                    Value::Int(i) if i.unsigned_abs() <= MAX_EXACT_FLOAT as u64 => (*i as f64, Kind::Int),
                    Value::Bool(truth) => (f64::from(u8::from(*truth)), Kind::Bool),
                    _ => return None,
                };
                Some(Operand { arm: Arm::Same(lane), kinds: KindArm::All(kind), most: lane.abs() })
            }
            Self::Vector(vector) => Some(vector.operand()),
            Self::Sequence { .. } => None,
        }
    }

    /// The value of one lane.
    pub(super) fn value(&self, lane: usize) -> Value {
        match self {
            Self::Scalar(value) => value.clone(),
            Self::Vector(vector) => vector.value(lane),
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

    /// Gives the memory back.
    pub(super) fn recycle(self, scratch: &mut Scratch) {
        match self {
            Self::Scalar(_) => {}
            Self::Vector(vector) => {
                if let Lent::Own(lanes) = vector.lanes {
                    scratch.give_lanes(lanes);
                }
                if let Kinds::Each(kinds) = vector.kinds {
                    scratch.give_bytes(kinds);
                }
            }
            Self::Sequence { items, .. } => items.into_iter().for_each(|item| item.recycle(scratch)),
        }
    }
}

impl Vector<'_> {
    pub(super) fn operand(&self) -> Operand<'_> {
        let kinds = match &self.kinds {
            Kinds::All(kind) => KindArm::All(*kind),
            Kinds::Each(kinds) => KindArm::Each(kinds),
        };
        Operand { arm: Arm::Each(self.lanes.as_slice()), kinds, most: self.most }
    }

    fn value(&self, lane: usize) -> Value {
        let number = self.lanes.as_slice().get(lane).copied().unwrap_or(f64::NAN);
        self.operand().kinds.at(lane).value(number)
    }
}

impl Lent<'_> {
    pub(super) fn as_slice(&self) -> &[f64] {
        match self {
            Self::Given(lanes) => lanes,
            Self::Own(lanes) => lanes,
        }
    }
}
