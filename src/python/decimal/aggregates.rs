//! Functions over many values in base ten.

use rust_decimal::Decimal;

use crate::python::decimal::value::{DecimalValue, held};
use crate::python::decimal::{compare, functions, operate, scaled};
use crate::python::{BinaryOperator, ComparisonOperator, ErrorKind, Function, Python, Raised};

/// `min` and `max`: a later value replaces an earlier one only when it is strictly beyond it.
pub(super) fn extreme(
    function: Function,
    values: &[DecimalValue],
    key: Option<&DecimalValue>,
    default: Option<&DecimalValue>,
    python: &Python,
) -> Result<DecimalValue, Raised> {
    let op = if function == Function::Max { ComparisonOperator::Greater } else { ComparisonOperator::Less };
    let values = match values {
        [single] => single.iterate()?,
        several => several,
    };
    let key = key.filter(|key| !matches!(key, DecimalValue::None));
    let rank = |value: &DecimalValue| match key {
        Some(key) => functions::call(key, std::slice::from_ref(value), &[], python),
        None => Ok(value.clone()),
    };
    let mut best: Option<(DecimalValue, &DecimalValue)> = None;
    for value in values {
        let rank = rank(value)?;
        let better = match &best {
            None => true,
            Some((leading, _)) => compare::compare(op, &rank, leading)?,
        };
        if better {
            best = Some((rank, value));
        }
    }
    best.map(|(_, value)| value)
        .or(default)
        .cloned()
        .ok_or_else(|| Raised::new(ErrorKind::Value, format!("{}() arg is an empty sequence", function.name())))
}

/// The items after one another under `+` or `*`.
pub(super) fn accumulate(
    op: BinaryOperator,
    items: &DecimalValue,
    start: DecimalValue,
    python: &Python,
) -> Result<DecimalValue, Raised> {
    items.iterate()?.iter().try_fold(start, |result, item| operate::binary(op, &result, item, python))
}

/// `dist(p, q)`.
pub(super) fn dist(p: &DecimalValue, q: &DecimalValue) -> Result<DecimalValue, Raised> {
    let (p, q) = (p.iterate()?, q.iterate()?);
    if p.len() != q.len() {
        return Err(Raised::value("both points must have the same number of dimensions"));
    }
    let length =
        |(a, b): (&DecimalValue, &DecimalValue)| a.real()?.checked_sub(b.real()?).ok_or_else(scaled::too_large);
    let lengths = p.iter().zip(q).map(length).collect::<Result<Vec<_>, Raised>>()?;
    norm(&lengths)
}

/// The root of the sum of squares.
pub(super) fn norm(lengths: &[Decimal]) -> Result<DecimalValue, Raised> {
    held(scaled::norm(lengths))
}
