//! What Python's values and those of decimal arithmetic have in common: the functions and operators
//! that do not depend on how a number is represented.

use std::borrow::Cow;

use crate::python::{
    ComparisonOperator, ErrorKind, Function, PythonVersion, Raised, Value, operators,
};

/// The error of `trunc` or `round` for what is no number.
pub(super) fn missing_method(type_name: &str, method: &str) -> Raised {
    Raised::type_error(format!("type {type_name} doesn't define {method} method"))
}

/// The error of a call of what is no function.
pub(super) fn not_callable(callee: &Value) -> Raised {
    Raised::type_error(format!("'{}' object is not callable", callee.type_name()))
}

/// `min` and `max`. Of equal values, the first is returned. `call(key, value)` calls the function
/// `key` with a value.
pub(super) fn extreme(
    function: Function,
    values: &[Value],
    [key, default]: [Option<&Value>; 2],
    python: PythonVersion,
    call: impl Fn(&Value, &Value) -> Result<Value, Raised>,
    compare: impl Fn(ComparisonOperator, &Value, &Value) -> Result<bool, Raised>,
) -> Result<Value, Raised> {
    let op = if function == Function::Max {
        ComparisonOperator::Greater
    } else {
        ComparisonOperator::Less
    };
    let values = match values {
        [single] => single.iterable_argument()?,
        several => several,
    };
    let key = key.filter(|key| !python.has_none_as_a_key() || !matches!(key, Value::None));
    let mut best: Option<(Cow<'_, Value>, &Value)> = None;
    for value in values {
        let value_key = match key {
            Some(key) => Cow::Owned(call(key, value)?),
            None => Cow::Borrowed(value),
        };
        let is_better = match &best {
            None => true,
            // the item on the left, as in CPython's `min_max`: with a nan the side decides
            Some((best_key, _)) => compare(op, &value_key, best_key)?,
        };
        if is_better {
            best = Some((value_key, value));
        }
    }
    let best = best.map(|(_, value)| value).or(default);
    best.cloned().ok_or_else(|| {
        Raised::new(
            ErrorKind::Value,
            format!("{}() arg is an empty sequence", function.name()),
        )
    })
}

/// Folds an operator over the items, from the left.
pub(super) fn accumulate(
    items: &Value,
    start: Value,
    operator: impl Fn(&Value, &Value) -> Result<Value, Raised>,
) -> Result<Value, Raised> {
    let mut result = start;
    for item in items.iterable_argument()? {
        result = operator(&result, item)?;
    }
    Ok(result)
}

/// The pairs of coordinates of two points.
pub(super) fn coordinates<'v>(
    p: &'v Value,
    q: &'v Value,
) -> Result<impl Iterator<Item = (&'v Value, &'v Value)>, Raised> {
    let (p, q) = (p.iterable_argument()?, q.iterable_argument()?);
    if p.len() != q.len() {
        return Err(Raised::value(
            "both points must have the same number of dimensions",
        ));
    }
    Ok(p.iter().zip(q))
}

/// `item in sequence`.
pub(super) fn contains(
    sequence: &Value,
    item: &Value,
    is_equal: impl Fn(&Value, &Value) -> Result<bool, Raised>,
) -> Result<bool, Raised> {
    let Some(items) = sequence.items() else {
        return Err(Raised::type_error(format!(
            "argument of type '{}' is not iterable",
            sequence.type_name()
        )));
    };
    for candidate in items {
        if is_equal(candidate, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `x op y` of two tuples or two lists: the first pair of unequal items decides; without one, the
/// lengths do.
pub(super) fn compare_sequences(
    op: ComparisonOperator,
    x: &[Value],
    y: &[Value],
    is_equal: impl Fn(&Value, &Value) -> Result<bool, Raised>,
    compare: impl Fn(&Value, &Value) -> Result<bool, Raised>,
) -> Result<bool, Raised> {
    let only_equality = matches!(op, ComparisonOperator::Equal | ComparisonOperator::NotEqual);
    // sequences of different lengths are never equal, whatever their items are
    if only_equality && x.len() != y.len() {
        return Ok(op == ComparisonOperator::NotEqual);
    }
    for (a, b) in x.iter().zip(y) {
        if !is_equal(a, b)? {
            return if only_equality {
                Ok(op == ComparisonOperator::NotEqual)
            } else {
                compare(a, b)
            };
        }
    }
    Ok(operators::holds(op, Some(x.len().cmp(&y.len()))))
}
