//! Tuples and lists under `+` and `*`.

use crate::python::limits::Fuel;
use crate::python::value::Integer;
use crate::python::{Raised, Value, limits};

/// `x + y` where `x` is a tuple or a list.
pub(super) fn concatenate(x: &Value, y: &Value, fuel: &Fuel) -> Result<Value, Raised> {
    let (a, b) = match (x, y) {
        (Value::Tuple(a), Value::Tuple(b)) | (Value::List(a), Value::List(b)) => (a, b),
        _ => {
            let (own, other) = (x.type_name(), y.type_name());
            return Err(Raised::type_error(format!("can only concatenate {own} (not \"{other}\") to {own}")));
        }
    };
    allow(weight(a, fuel)?.saturating_add(weight(b, fuel)?), fuel)?;
    Ok(like(x, a.iter().chain(b.iter()).cloned().collect()))
}

/// `sequence * count`, in either order.
pub(super) fn repeat(sequence: &Value, items: &[Value], count: &Value, fuel: &Fuel) -> Result<Value, Raised> {
    let count = match count.integer() {
        Some(Integer::Small(count)) => usize::try_from(count).unwrap_or(0),
        Some(Integer::Big(_)) => return Err(Raised::overflow("cannot fit 'int' into an index-sized integer")),
        None => {
            let other = count.type_name();
            return Err(Raised::type_error(format!("can't multiply sequence by non-int of type '{other}'")));
        }
    };
    if items.is_empty() || count == 0 {
        return Ok(like(sequence, Vec::new()));
    }
    allow(weight(items, fuel)?.saturating_mul(count), fuel)?;
    Ok(like(sequence, std::iter::repeat_n(items, count).flatten().cloned().collect()))
}

/// A sequence of the same type.
fn like(sequence: &Value, items: Vec<Value>) -> Value {
    if matches!(sequence, Value::Tuple(_)) { Value::tuple(items) } else { Value::list(items) }
}

/// Refuses a sequence of this weight, or charges for it.
fn allow(weight: usize, fuel: &Fuel) -> Result<(), Raised> {
    if weight > limits::SEQUENCE_ITEMS {
        return Err(limits::sequence_too_long());
    }
    fuel.consume(weight as u64 * limits::ITEM)
}

/// How much the items would take written out: shared ones count each time, long integers for their words.
///
/// Repetition shares its items, so a small value could otherwise stand for more of them than can be walked.
fn weight(items: &[Value], fuel: &Fuel) -> Result<usize, Raised> {
    fuel.consume(items.len() as u64)?;
    items.iter().try_fold(0_usize, |sum, item| {
        let own = match item {
            Value::Tuple(nested) | Value::List(nested) => 1 + weight(nested, fuel)?,
            Value::Big(value) => 1 + (value.bits() / 64) as usize,
            _ => 1,
        };
        Ok(sum.saturating_add(own))
    })
}
