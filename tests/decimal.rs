//! Decimal arithmetic against Python's numbers: the same operations, and results that differ only
//! by rounding.

use job_sort_formula::python::{ErrorKind, Function, Python, PythonVersion, Raised, Value};
use jsf_testing::random::{Generator, Operation};
use jsf_testing::setting;

/// The result in decimal arithmetic; `None` where it cannot represent the operands.
fn in_decimal(operation: &Operation, decimal: &Python) -> Option<Result<Value, Raised>> {
    let number = |value: &Value| decimal.number(value).ok();
    let result = match operation {
        Operation::Unary(op, x) => decimal.unary(*op, &number(x)?),
        Operation::Binary(op, x, y) => decimal.binary(*op, &number(x)?, &number(y)?),
        Operation::Compare(op, x, y) => decimal
            .compare(*op, &number(x)?, &number(y)?)
            .map(Value::Bool),
        Operation::Call(callee, positional, keywords) => {
            let positional: Vec<_> = positional.iter().map(number).collect::<Option<_>>()?;
            let keywords: Vec<_> = keywords
                .iter()
                .map(|(name, value)| Some((*name, number(value)?)))
                .collect::<Option<_>>()?;
            decimal.call(&number(callee)?, &positional, &keywords)
        }
    };
    Some(result.map(|value| decimal.to_python(&value)))
}

fn as_float(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(value) => Some(*value as f64),
        Value::Big(value) => value.to_string().parse().ok(),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

/// Whether two numbers are nearly equal. Other values are not compared.
fn agree(ours: &Value, python: &Value) -> bool {
    match (as_float(ours), as_float(python)) {
        (Some(a), Some(b)) => !b.is_finite() || (a - b).abs() <= 1e-9 * b.abs() + 1e-15,
        _ => true,
    }
}

/// Whether a value has an ordinary magnitude, which 28 digits represent well.
fn ordinary(value: &Value) -> bool {
    match value {
        Value::Float(value) => value.abs() < 1e6 && (*value == 0.0 || value.abs() > 1e-6),
        Value::Int(value) => value.unsigned_abs() < 1_000_000,
        Value::Big(_) => false,
        Value::Tuple(items) | Value::List(items) => items.iter().all(ordinary),
        _ => true,
    }
}

fn is_ordinary(operation: &Operation) -> bool {
    match operation {
        Operation::Unary(_, x) => ordinary(x),
        Operation::Binary(_, x, y) | Operation::Compare(_, x, y) => ordinary(x) && ordinary(y),
        Operation::Call(_, positional, keywords) => {
            positional.iter().all(ordinary) && keywords.iter().all(|(_, value)| ordinary(value))
        }
    }
}

/// Whether binary rounding can change the result by more than its size: where it decides between
/// two integers or how far a base is from 1, or where the sign of a zero counts.
fn is_sensitive_to_rounding(operation: &Operation) -> bool {
    let text = operation.expression();
    [
        "//",
        "%",
        "fmod",
        "divmod",
        "remainder",
        "modf",
        "tan",
        "isclose",
        "round",
        "ceil",
        "copysign",
        "log(",
        "==",
        "!=",
    ]
    .iter()
    .any(|name| text.contains(name))
}

#[test]
fn decimal_agrees_with_python() {
    let (python, decimal) = (Python::new(), Python::new().with_decimals());
    let mut generator = Generator(setting("JSF_REFEREE_SEED", 4));
    let mut wrong = Vec::new();
    let mut compared = 0;
    for _ in 0..setting("JSF_REFEREE_CASES", 50_000) {
        let operation = generator.operation();
        decimal.begin();
        let Some(answer) = in_decimal(&operation, &decimal) else {
            continue;
        };
        if !is_ordinary(&operation) || is_sensitive_to_rounding(&operation) {
            continue;
        }
        let same = match (&answer, &operation.result(&python)) {
            (Ok(ours), Ok(theirs)) => agree(ours, theirs),
            (Err(ours), Err(theirs)) => {
                let without_types = matches!(theirs.kind, ErrorKind::Type | ErrorKind::Overflow);
                ours.kind == ErrorKind::Decimal || ours.kind == theirs.kind || without_types
            }
            (Err(ours), Ok(_)) => ours.kind == ErrorKind::Decimal,
            // A number without a fraction is an integer here, whatever it is in Python.
            (Ok(_), Err(theirs)) => matches!(
                theirs.kind,
                ErrorKind::Type | ErrorKind::Overflow | ErrorKind::Limit
            ),
        };
        compared += 1;
        if !same {
            wrong.push(format!(
                "{}\n    decimal: {answer:?}\n    Python: {:?}",
                operation.expression(),
                operation.result(&python)
            ));
        }
    }
    wrong.truncate(30);
    assert!(wrong.is_empty(), "of {compared}:\n{}", wrong.join("\n"));
}

#[test]
fn none_is_a_key_from_python_3_8_on() {
    for (version, is_key) in [("3.7", false), ("3.8", true)] {
        let python = version.parse::<PythonVersion>().expect("a version");
        let decimal = Python::new().of_version(python).with_decimals();
        let items = [1, 2].map(|item| decimal.number(&Value::Int(item)).expect("a number"));
        let max = Value::Function(Function::Max);
        let result = decimal.call(&max, &items, &[("key", Value::None)]);
        assert_eq!(result.is_ok(), is_key, "{version}: {result:?}");
    }
}
