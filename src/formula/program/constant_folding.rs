//! What the compiler of Python 3.7 to 3.9 computes before it walks a tree (`Python/ast_opt.c`): from then on, a constant is a
//! leaf.

use crate::formula::program::lowering::literal_value;
use crate::formula::syntax::{ExprId, ExprKind};
use crate::python::{Arithmetic, BinaryOperator, Python, PythonVersion, Value};

/// The longest integer that is computed, in bits.
const MAX_INTEGER_BITS: u64 = 128;

/// The most items of a tuple that is multiplied.
const MAX_ITEMS: usize = 256;

/// The most items of such a tuple, with those of the tuples in it.
const MAX_ALL_ITEMS: usize = 1024;

/// The constant that a node is, from those of the nodes before it.
pub(super) fn constant(kind: &ExprKind, constants: &[Option<Value>], python: PythonVersion) -> Option<Value> {
    let of = |id: &ExprId| constants.get(id.index())?.as_ref();
    let arithmetic = Python::new().of_version(python);
    match kind {
        ExprKind::Literal { kind, text } => literal_value(*kind, text, python).ok(),
        ExprKind::Name(name) => match &**name {
            "None" => Some(Value::None),
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            _ => None,
        },
        ExprKind::Parenthesized(inner) => of(inner).cloned(),
        ExprKind::Tuple { items, .. } => {
            let items: Option<Vec<Value>> = items.iter().map(|item| of(item).cloned()).collect();
            items.map(Value::tuple)
        }
        ExprKind::Unary { op, operand } => arithmetic.unary(*op, of(operand)?).ok(),
        ExprKind::Binary { op, left, right } => {
            let left = of(left)?;
            let right = of(right)?;
            is_small(*op, left, right).then(|| arithmetic.binary(*op, left, right).ok())?
        }
        _ => None,
    }
}

/// Whether the result is computed at all: one that takes much memory is not.
fn is_small(op: BinaryOperator, x: &Value, y: &Value) -> bool {
    let count = || usize::try_from(integer(y)?).ok();
    match op {
        BinaryOperator::MatrixMultiply => false,
        BinaryOperator::Multiply => match (x, y) {
            (Value::Tuple(items), _) if bits(y).is_some() => items.is_empty() || may_repeat(x, items.len(), count()),
            (_, Value::Tuple(_)) if bits(x).is_some() => is_small(op, y, x),
            _ => bits(x).zip(bits(y)).is_none_or(|(x, y)| x == 0 || y == 0 || x + y <= MAX_INTEGER_BITS),
        },
        BinaryOperator::Power => match (bits(x), bits(y), integer(y)) {
            (Some(0) | None, _, _) | (_, Some(0) | None, _) => true,
            (_, _, Some(exponent)) => {
                exponent < 0 || bits(x).is_some_and(|bits| bits <= MAX_INTEGER_BITS / exponent.unsigned_abs())
            }
            // an exponent of more than 64 bits
            _ => matches!(y, Value::Big(exponent) if exponent.is_negative()),
        },
        BinaryOperator::ShiftLeft => match (bits(x), bits(y)) {
            (Some(0) | None, _) | (_, Some(0) | None) => true,
            (Some(bits), _) => {
                count().is_some_and(|count| (count as u64).checked_add(bits).is_some_and(|all| all <= MAX_INTEGER_BITS))
            }
        },
        _ => true,
    }
}

/// Whether a tuple is repeated as often as that.
fn may_repeat(tuple: &Value, len: usize, count: Option<usize>) -> bool {
    count.is_some_and(|count| {
        count <= MAX_ITEMS / len && MAX_ALL_ITEMS.checked_div(count).is_none_or(|most| all_items(tuple) <= most)
    })
}

fn all_items(value: &Value) -> usize {
    match value {
        Value::Tuple(items) => items.len() + items.iter().map(all_items).sum::<usize>(),
        _ => 0,
    }
}

/// The value of an integer of at most 64 bits.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(value) => Some(i64::from(*value)),
        Value::Int(value) => Some(*value),
        _ => None,
    }
}

/// The number of bits of an integer.
fn bits(value: &Value) -> Option<u64> {
    match value {
        Value::Big(value) => Some(value.digits().bits()),
        _ => integer(value).map(|value| u64::from(u64::BITS - value.unsigned_abs().leading_zeros())),
    }
}
