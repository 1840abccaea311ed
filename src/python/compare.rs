//! Comparisons: numbers exactly, whatever their types; tuples and lists item by item.

use std::cmp::Ordering;

use num_bigint::BigInt;

use crate::python::limits::Fuel;
use crate::python::value::{Integer, Number};
use crate::python::{ComparisonOperator, MAX_EXACT_INT, Raised, Value, conversion};

/// `x op y`.
#[inline]
pub(super) fn compare(op: ComparisonOperator, x: &Value, y: &Value, fuel: &Fuel) -> Result<bool, Raised> {
    match (x, y) {
        (Value::Int(a), Value::Int(b)) if is_plain(op) => Ok(holds(op, Some(a.cmp(b)))),
        (Value::Float(a), Value::Float(b)) if is_plain(op) => Ok(holds(op, a.partial_cmp(b))),
        _ => general(op, x, y, fuel),
    }
}

fn is_plain(op: ComparisonOperator) -> bool {
    !matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn)
}

/// Whether two values so ordered satisfy the operator; no order is a nan's.
#[inline]
pub(super) fn holds(op: ComparisonOperator, ordering: Option<Ordering>) -> bool {
    use ComparisonOperator as Op;
    match op {
        Op::Equal => ordering == Some(Ordering::Equal),
        Op::NotEqual => ordering != Some(Ordering::Equal),
        Op::Less => ordering == Some(Ordering::Less),
        Op::LessOrEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        Op::Greater => ordering == Some(Ordering::Greater),
        Op::GreaterOrEqual => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        Op::In | Op::NotIn => false,
    }
}

fn general(op: ComparisonOperator, x: &Value, y: &Value, fuel: &Fuel) -> Result<bool, Raised> {
    match op {
        ComparisonOperator::In => contains(y, x, fuel),
        ComparisonOperator::NotIn => contains(y, x, fuel).map(|found| !found),
        _ => match (x, y) {
            (Value::Tuple(a), Value::Tuple(b)) | (Value::List(a), Value::List(b)) => sequences(op, a, b, fuel),
            _ => scalars(op, x, y, fuel),
        },
    }
}

/// Values of which at most one is a sequence.
fn scalars(op: ComparisonOperator, x: &Value, y: &Value, fuel: &Fuel) -> Result<bool, Raised> {
    if let (Some(a), Some(b)) = (x.number(), y.number()) {
        if let (Number::Integer(Integer::Big(big)), _) | (_, Number::Integer(Integer::Big(big))) = (a, b) {
            fuel.consume(big.bits() / 64)?;
        }
        return Ok(holds(op, numbers(a, b)));
    }
    match op {
        ComparisonOperator::Equal => Ok(x.is_same(y)),
        ComparisonOperator::NotEqual => Ok(!x.is_same(y)),
        _ => Err(incomparable(op, x.type_name(), y.type_name())),
    }
}

/// The `TypeError` of types without an order.
pub(super) fn incomparable(op: ComparisonOperator, x: &str, y: &str) -> Raised {
    let symbol = op.symbol();
    Raised::type_error(format!("'{symbol}' not supported between instances of '{x}' and '{y}'"))
}

/// The exact order of two numbers.
fn numbers(x: Number, y: Number) -> Option<Ordering> {
    match (x, y) {
        (Number::Integer(a), Number::Integer(b)) => Some(integers(a, b)),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        (Number::Integer(a), Number::Float(b)) => integer_and_float(a, b),
        (Number::Float(a), Number::Integer(b)) => integer_and_float(b, a).map(Ordering::reverse),
    }
}

fn integers(x: Integer, y: Integer) -> Ordering {
    match (x, y) {
        (Integer::Small(a), Integer::Small(b)) => a.cmp(&b),
        (Integer::Big(a), Integer::Big(b)) => a.cmp(b),
        (Integer::Big(a), Integer::Small(_)) => sign(a),
        (Integer::Small(_), Integer::Big(b)) => sign(b).reverse(),
    }
}

/// How an integer of more than 64 bits compares to all those within.
fn sign(value: &BigInt) -> Ordering {
    if value.sign() == num_bigint::Sign::Minus { Ordering::Less } else { Ordering::Greater }
}

fn integer_and_float(x: Integer, y: f64) -> Option<Ordering> {
    match x {
        _ if y.is_nan() => None,
        _ if y.is_infinite() => 0.0.partial_cmp(&y),
        Integer::Small(value) if value.unsigned_abs() <= MAX_EXACT_INT.unsigned_abs() => (value as f64).partial_cmp(&y),
        // A fraction that is cut off towards zero lies between two doubles below 2^53, far from such an integer.
        _ => Some(x.to_big().cmp(&conversion::truncated(y))),
    }
}

/// The first unequal items decide, or else the lengths.
fn sequences(op: ComparisonOperator, x: &[Value], y: &[Value], fuel: &Fuel) -> Result<bool, Raised> {
    let only_equality = matches!(op, ComparisonOperator::Equal | ComparisonOperator::NotEqual);
    if only_equality && x.len() != y.len() {
        return Ok(op == ComparisonOperator::NotEqual);
    }
    for (a, b) in x.iter().zip(y) {
        if !matches(a, b, fuel)? {
            return if only_equality { Ok(op == ComparisonOperator::NotEqual) } else { compare(op, a, b, fuel) };
        }
    }
    Ok(holds(op, Some(x.len().cmp(&y.len()))))
}

/// Whether an item is found: equal, or the same object, as a `nan` is to itself.
///
/// Values have no identity here. Python's `nan` is one object and other nans are rare, so nans of the same bits
/// count as the same object.
fn matches(x: &Value, y: &Value, fuel: &Fuel) -> Result<bool, Raised> {
    fuel.consume(1)?;
    if let (Value::Float(a), Value::Float(b)) = (x, y)
        && a.to_bits() == b.to_bits()
    {
        return Ok(true);
    }
    compare(ComparisonOperator::Equal, x, y, fuel)
}

fn contains(sequence: &Value, item: &Value, fuel: &Fuel) -> Result<bool, Raised> {
    let Some(items) = sequence.items() else {
        return Err(Raised::type_error(format!("argument of type '{}' is not iterable", sequence.type_name())));
    };
    for candidate in items.iter() {
        if matches(candidate, item, fuel)? {
            return Ok(true);
        }
    }
    Ok(false)
}
