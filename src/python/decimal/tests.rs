//! Decimal results digit by digit.

use crate::python::BinaryOperator as Op;
use crate::python::decimal::*;

fn literal(text: &str) -> Value {
    Python::new()
        .with_decimals()
        .literal(text, &Value::Float(0.0))
        .unwrap()
}

fn text(result: Result<Value, Raised>) -> String {
    match result {
        Ok(Value::Decimal(value)) => value.normalize().to_string(),
        Ok(other) => to_python(&other).repr(),
        Err(raised) => raised.to_string(),
    }
}

fn binary(x: &str, op: Op, y: &str) -> String {
    text(
        Python::new()
            .with_decimals()
            .binary(op, &literal(x), &literal(y)),
    )
}

fn call(function: Function, arguments: &[&str]) -> String {
    let arguments: Vec<_> = arguments.iter().map(|text| literal(text)).collect();
    text(
        Python::new()
            .with_decimals()
            .call(&Value::Function(function), &arguments, &[]),
    )
}

#[test]
fn literals_keep_the_digits_of_their_text() {
    for (written, kept) in [
        ("0.30000000000000000004", "0.30000000000000000004"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1_000.2_5", "1000.25"),
        ("1.5e3", "1500"),
        ("25e-2", "0.25"),
        ("1e28", "10000000000000000000000000000"),
        ("1E+2", "100"),
        ("0e99999999999", "0"),
        (
            "0.12345678901234567890123456785",
            "0.1234567890123456789012345678",
        ),
    ] {
        assert_eq!(text(Ok(literal(written))), kept, "{written}");
    }
    for impossible in [
        "1e29",
        "1e999999999999",
        "1e-29",
        "1e-99999999999999999999",
        "1j",
        "e5",
        "1e",
        "1e+",
    ] {
        let raised = Python::new()
            .with_decimals()
            .literal(impossible, &Value::Float(1.0))
            .unwrap_err();
        assert_eq!(raised.kind, ErrorKind::Decimal, "{impossible}");
    }
}

#[test]
fn literals_other_than_floats_convert_by_value() {
    let decimal = Python::new().with_decimals();
    assert_eq!(text(decimal.literal("0x1f", &Value::Int(31))), "31");
    assert_eq!(text(decimal.literal("True", &Value::Bool(true))), "True");
}

#[test]
fn floats_convert_by_their_shortest_repr() {
    let decimal = Python::new().with_decimals();
    assert_eq!(text(decimal.number(&Value::Float(0.1))), "0.1");
    assert_eq!(
        text(decimal.number(&Value::Float(-1e22))),
        "-10000000000000000000000"
    );
    for impossible in [f64::NAN, f64::INFINITY, 1e300, 1e-300] {
        assert_eq!(
            decimal.number(&Value::Float(impossible)).unwrap_err().kind,
            ErrorKind::Decimal
        );
    }
}

#[test]
fn operators_have_the_meaning_of_pythons() {
    assert_eq!(binary("0.1", Op::Add, "0.2"), "0.3");
    assert_eq!(binary("7", Op::Divide, "2"), "3.5");
    assert_eq!(
        binary("1", Op::Divide, "3"),
        "0.3333333333333333333333333333"
    );
    assert_eq!(binary("-7.5", Op::FloorDivide, "2"), "-4");
    assert_eq!(binary("-7.5", Op::Modulo, "2"), "0.5");
    assert_eq!(binary("7.5", Op::Modulo, "-2"), "-0.5");
    assert_eq!(binary("1", Op::Modulo, "0.1"), "0");
    assert_eq!(binary("2", Op::Power, "-2"), "0.25");
    assert_eq!(
        binary("2", Op::Power, "0.5"),
        "1.4142135623730950488016887242"
    );
    assert_eq!(binary("-1", Op::Power, "99999999999"), "-1");
    assert_eq!(binary("6", Op::BitXor, "3"), "5");
    assert_eq!(binary("1", Op::ShiftLeft, "10"), "1024");
}

#[test]
fn errors_are_pythons_or_decimal() {
    assert_eq!(
        binary("1", Op::Divide, "0"),
        "ZeroDivisionError: division by zero"
    );
    assert_eq!(
        binary("1", Op::Modulo, "0"),
        "ZeroDivisionError: division by zero"
    );
    assert_eq!(
        binary("0", Op::Power, "-1"),
        "ZeroDivisionError: 0.0 cannot be raised to a negative power"
    );
    assert!(binary("-8", Op::Power, "0.5").starts_with("complex number: "));
    assert!(
        binary("1.5", Op::BitOr, "1")
            .starts_with("TypeError: unsupported operand type(s) for |: 'float' and 'int'")
    );
    assert!(binary("1e28", Op::Multiply, "10").starts_with("decimal: "));
    assert!(binary("1", Op::ShiftLeft, "200").starts_with("decimal: "));
    assert!(binary("10", Op::Power, "1000").starts_with("decimal: "));
    assert_eq!(
        call(Function::Sqrt, &["-1"]),
        "ValueError: math domain error"
    );
    assert_eq!(
        call(Function::Gamma, &["2"]),
        "decimal: `gamma`, which decimal arithmetic does not have"
    );
    assert_eq!(
        call(Function::Sqrt, &[]),
        "TypeError: math.sqrt() takes exactly one argument (0 given)"
    );
}

#[test]
fn functions_round_half_to_even_in_decimal() {
    assert_eq!(call(Function::Round, &["2.5"]), "2");
    assert_eq!(call(Function::Round, &["2.675", "2"]), "2.68");
    assert_eq!(call(Function::Round, &["-15", "-1"]), "-20");
    assert_eq!(call(Function::Round, &["25", "-1"]), "20");
    assert_eq!(call(Function::Round, &["25", "-99"]), "0");
    assert_eq!(call(Function::Floor, &["-0.1"]), "-1");
    assert_eq!(call(Function::Int, &["-0.9"]), "0");
}

#[test]
fn functions_have_twenty_eight_digits() {
    assert_eq!(
        call(Function::Sqrt, &["2"]),
        "1.4142135623730950488016887242"
    );
    assert_eq!(
        call(Function::Sqrt, &["0.0000000000000000000000000001"]),
        "0.00000000000001"
    );
    assert_eq!(call(Function::Hypot, &["3", "4"]), "5");
    assert!(call(Function::Exp, &["1"]).starts_with("2.71828182845904523536028747"));
    assert!(call(Function::Log, &["10"]).starts_with("2.302585092994045684017991454"));
    assert!(call(Function::Sin, &["1"]).starts_with("0.84147098480789650665250232"));
    assert!(call(Function::Tan, &["1"]).starts_with("1.5574077246549022305069748"));
}
