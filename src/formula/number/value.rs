//! A Python value, as far as a formula can meet one.

use std::sync::Arc;

use num_bigint::BigInt;

use super::Function;

/// A value that a formula computes with. Integers that fit in 64 bits are always [`Value::Int`].
#[derive(Debug, Clone)]
pub enum Value {
    /// `None`
    None,
    /// `True` or `False`; counts as 1 or 0.
    Bool(bool),
    /// An integer of at most 64 bits.
    Int(i64),
    /// An integer of more than 64 bits.
    Big(Arc<BigInt>),
    /// A double.
    Float(f64),
    /// A tuple.
    Tuple(Arc<[Value]>),
    /// A list.
    List(Arc<[Value]>),
    /// A function that is named without being called.
    Function(Function),
}
