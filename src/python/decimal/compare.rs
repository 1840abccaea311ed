//! Comparisons in base ten.

use std::cmp::Ordering;

use crate::python::decimal::value::DecimalValue;
use crate::python::{ComparisonOperator, Raised, compare as python};

/// `x op y`.
pub(super) fn compare(op: ComparisonOperator, x: &DecimalValue, y: &DecimalValue) -> Result<bool, Raised> {
    if let (Some(a), Some(b)) = (x.decimal(), y.decimal())
        && !matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn)
    {
        return Ok(python::holds(op, Some(a.cmp(&b))));
    }
    match (op, x, y) {
        (ComparisonOperator::In, ..) => contains(y, x),
        (ComparisonOperator::NotIn, ..) => Ok(!contains(y, x)?),
        (_, DecimalValue::Tuple(a), DecimalValue::Tuple(b)) | (_, DecimalValue::List(a), DecimalValue::List(b)) => {
            sequences(op, a, b)
        }
        (ComparisonOperator::Equal, ..) => Ok(is_same(x, y)),
        (ComparisonOperator::NotEqual, ..) => Ok(!is_same(x, y)),
        _ => Err(python::incomparable(op, x.type_name(), y.type_name())),
    }
}

/// Whether two values that are not both numbers and not both sequences are one.
fn is_same(x: &DecimalValue, y: &DecimalValue) -> bool {
    match (x, y) {
        (DecimalValue::None, DecimalValue::None) => true,
        (DecimalValue::Function(a), DecimalValue::Function(b)) => a == b,
        _ => false,
    }
}

/// The first unequal items decide, or else the lengths.
fn sequences(op: ComparisonOperator, x: &[DecimalValue], y: &[DecimalValue]) -> Result<bool, Raised> {
    let by_length = python::holds(op, Some(x.len().cmp(&y.len())));
    if matches!(op, ComparisonOperator::Equal | ComparisonOperator::NotEqual) && x.len() != y.len() {
        return Ok(by_length);
    }
    for (a, b) in x.iter().zip(y) {
        if !compare(ComparisonOperator::Equal, a, b)? {
            return match op {
                ComparisonOperator::Equal | ComparisonOperator::NotEqual => Ok(python::holds(op, Some(Ordering::Less))),
                _ => compare(op, a, b),
            };
        }
    }
    Ok(by_length)
}

fn contains(sequence: &DecimalValue, item: &DecimalValue) -> Result<bool, Raised> {
    let Some(items) = sequence.items() else {
        return Err(Raised::type_error(format!("argument of type '{}' is not iterable", sequence.type_name())));
    };
    for candidate in items {
        if compare(ComparisonOperator::Equal, candidate, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}
