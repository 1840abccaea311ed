//! The limits, the tables of names, and the text of values: what is not compared with CPython in
//! `tests/`.

use num_bigint::BigInt;

use crate::python::{BinaryOperator as Op, *};

fn big(exponent: u32) -> Value {
    Value::int(BigInt::from(10).pow(exponent))
}

fn call(function: Function, arguments: &[Value]) -> Result<Value, Raised> {
    Python::new().call(&Value::Function(function), arguments, &[])
}

fn kind(result: Result<Value, Raised>) -> Option<ErrorKind> {
    result.err().map(|raised| raised.kind)
}

#[test]
fn huge_integers_are_refused_before_they_are_computed() {
    let int = Value::Int;
    let operators = [
        (Op::Power, int(9), int(387_420_489)),
        (Op::Power, int(2), int(131_072)),
        (Op::Power, int(-3), big(30)),
        (Op::ShiftLeft, int(1), big(10)),
        (Op::ShiftLeft, int(1), int(131_072)),
        (Op::ShiftLeft, int(-5), big(19)),
    ];
    for (op, x, y) in operators {
        assert_refused(&format!("{x} {} {y}", op.symbol()), |python| {
            python.binary(op, &x, &y)
        });
    }
    let calls = [
        (Function::Factorial, vec![big(9)]),
        (Function::Factorial, vec![int(20_000)]),
        (Function::Comb, vec![big(9), int(500_000_000)]),
        (Function::Comb, vec![big(400), big(6)]),
        (Function::Perm, vec![big(30), big(12)]),
        (Function::Perm, vec![big(6)]),
        (Function::Prod, vec![Value::list(vec![big(10_000); 20])]),
        (
            Function::Lcm,
            vec![big(20_000), Value::int(BigInt::from(10).pow(20_000) + 1)],
        ),
    ];
    for (function, arguments) in calls {
        let callee = Value::Function(function);
        assert_refused(function.name(), |python| {
            python.call(&callee, &arguments, &[])
        });
    }
}

/// Asserts that an operation raises the limit error and consumes at most a quarter of the fuel
/// before.
fn assert_refused(name: &str, operation: impl FnOnce(&Python) -> Result<Value, Raised>) {
    let python = Python::new();
    assert_eq!(kind(operation(&python)), Some(ErrorKind::Limit), "{name}");
    assert!(
        python.fuel.left() >= limits::FUEL / 4 * 3,
        "{name} leaves {}",
        python.fuel.left()
    );
}

#[test]
fn the_largest_integer_is_just_allowed() {
    let python = Python::new();
    let largest = python
        .binary(Op::ShiftLeft, &Value::Int(1), &Value::Int(131_071))
        .unwrap();
    assert_eq!(
        kind(python.binary(Op::Add, &largest, &largest)),
        Some(ErrorKind::Limit)
    );
    assert!(
        python
            .binary(Op::Subtract, &largest, &Value::Int(1))
            .is_ok()
    );
    assert!(
        python
            .binary(Op::Power, &Value::Int(2), &Value::Int(131_071))
            .unwrap()
            .is_identical(&largest)
    );
}

#[test]
fn fuel_runs_out_and_is_refilled() {
    // 1001 digits are 52 words, with one pass over all of them for each.
    let x = big(1000);
    let python = Python::with_fuel(3 * 52 * 52);
    for left in [2, 1, 0] {
        assert!(python.binary(Op::Multiply, &x, &x).is_ok());
        assert_eq!(python.fuel.left(), left * 52 * 52);
    }
    assert_eq!(
        kind(python.binary(Op::Multiply, &x, &x)),
        Some(ErrorKind::Limit)
    );
    python.begin();
    assert!(python.binary(Op::Multiply, &x, &x).is_ok());
    assert_eq!(Python::with_fuel(u64::MAX).fuel.left(), limits::FUEL);
}

#[test]
fn sequences_are_limited_by_their_total_size() {
    let python = Python::new();
    let one = Value::list(vec![Value::Int(1)]);
    assert_eq!(
        kind(python.binary(Op::Multiply, &one, &Value::Int(100_001))),
        Some(ErrorKind::Limit)
    );
    let rows = python
        .binary(Op::Multiply, &one, &Value::Int(50_000))
        .unwrap();
    let nested = Value::list(vec![rows.clone()]);
    assert_eq!(
        kind(python.binary(Op::Multiply, &nested, &Value::Int(2))),
        Some(ErrorKind::Limit)
    );
    assert_eq!(
        kind(python.binary(
            Op::Multiply,
            &Value::list(vec![big(30_000)]),
            &Value::Int(100)
        )),
        Some(ErrorKind::Limit)
    );
    let mut concatenated = rows.clone();
    let raised = loop {
        match python.binary(Op::Add, &concatenated, &rows) {
            Ok(longer) => concatenated = longer,
            Err(raised) => break raised,
        }
    };
    assert_eq!(raised.kind, ErrorKind::Limit);
}

#[test]
fn rounding_to_huge_places_is_zero() {
    let places = [
        Value::Int(-1_000_000_000),
        Value::int(-BigInt::from(10).pow(30)),
        Value::Int(i64::MIN),
    ];
    for places in places {
        assert!(
            call(Function::Round, &[Value::Int(5), places.clone()])
                .unwrap()
                .is_identical(&Value::Int(0))
        );
        assert!(
            call(Function::Round, &[big(300), places.clone()])
                .unwrap()
                .is_identical(&Value::Int(0))
        );
        assert!(
            call(Function::Round, &[Value::Float(2.5), places])
                .unwrap()
                .is_identical(&Value::Float(0.0))
        );
    }
}

#[test]
fn repr_is_pythons() {
    let cases = [
        (Value::Float(1e22), "1e+22"),
        (Value::Float(1e16), "1e+16"),
        (Value::Float(1e15), "1000000000000000.0"),
        (
            Value::Float(123_456_789_012_345_680.0),
            "1.2345678901234568e+17",
        ),
        (Value::Float(1e-5), "1e-05"),
        (Value::Float(0.0001), "0.0001"),
        (Value::Float(0.1), "0.1"),
        (Value::Float(-0.0), "-0.0"),
        (Value::Float(5e-324), "5e-324"),
        (Value::Float(0.5_f64.powi(25)), "2.9802322387695312e-08"),
        (
            Value::Float(0.000_099_999_999_999_999_99),
            "9.999999999999999e-05",
        ),
        (Value::Float(1.5e300), "1.5e+300"),
        (Value::Float(f64::INFINITY), "inf"),
        (Value::Float(f64::NEG_INFINITY), "-inf"),
        (Value::Float(-f64::NAN), "nan"),
        (Value::Bool(true), "True"),
        (Value::None, "None"),
        (
            Value::int(-BigInt::from(1u64 << 63) * 2),
            "-18446744073709551616",
        ),
        (Value::tuple(vec![]), "()"),
        (Value::tuple(vec![Value::Int(1)]), "(1,)"),
        (
            Value::tuple(vec![Value::Int(1), Value::Float(0.0)]),
            "(1, 0.0)",
        ),
        (
            Value::list(vec![Value::list(vec![]), Value::None]),
            "[[], None]",
        ),
        (Value::Function(Function::Sqrt), "<built-in function sqrt>"),
        (Value::Function(Function::Int), "<class 'int'>"),
    ];
    for (value, text) in cases {
        assert_eq!(value.repr(), text);
    }
}

/// Doubles `m / 2^k` whose exact decimal expansion has 18 digits. The last is a 5, so two decimals
/// of 17 digits are equally near. CPython takes the one with the even last digit.
#[test]
fn repr_breaks_ties_towards_the_even_digit() {
    let mut ties = 0;
    for k in 1..=25 {
        let unit = 5_u64.pow(k as u32);
        let first = (10_u64.pow(17) / unit + 1) | 1;
        let last = (10_u64.pow(18) / unit).min(MAX_EXACT_INT as u64);
        let step = 2 * (last.saturating_sub(first) / 1000 + 1);
        for m in (first..last).step_by(step as usize) {
            let x = m as f64 / 2.0_f64.powi(k);
            let exact = m * unit;
            let has_shorter =
                reads_as(exact / 100, 2 - k, x) || reads_as(exact / 100 + 1, 2 - k, x);
            if has_shorter || !reads_as(exact / 10, 1 - k, x) || !reads_as(exact / 10 + 1, 1 - k, x)
            {
                continue;
            }
            let even = exact / 10 + exact / 10 % 2;
            assert_eq!(
                significant_digits(&Value::Float(x).repr()),
                even.to_string().trim_end_matches('0')
            );
            assert_eq!(Value::Float(-x).repr(), format!("-{}", Value::Float(x)));
            ties += 1;
        }
    }
    assert!(ties > 2000, "only {ties}");
}

fn significant_digits(repr: &str) -> String {
    let (mantissa, _) = repr.split_once('e').unwrap_or((repr, ""));
    mantissa.replace('.', "").trim_matches('0').to_owned()
}

#[test]
fn functions_are_found_by_their_names() {
    for function in Function::ALL {
        assert_eq!(Function::from_name(function.name()), Some(*function));
    }
    assert_eq!(Function::from_name("print"), None);
    assert!(Function::Pow.is_math() && !Function::Abs.is_math() && Function::Bool.is_type());
    assert_eq!(
        (
            Function::Log.arity(PythonVersion::default()),
            Function::Max.arity(PythonVersion::default())
        ),
        ((1, Some(2)), (1, None))
    );
    assert_eq!(
        Function::Round.keywords(PythonVersion::default()),
        ["number", "ndigits"]
    );
    assert_eq!(Function::Sum.keywords(PythonVersion::default()), ["start"]);
}

#[test]
fn constants_are_those_of_math() {
    for (name, text) in [
        ("e", "2.718281828459045"),
        ("pi", "3.141592653589793"),
        ("tau", "6.283185307179586"),
    ] {
        assert_eq!(
            constant(name).map(|value| value.repr()).as_deref(),
            Some(text)
        );
    }
    assert!(constant("inf").is_some() && constant("nan").is_some() && constant("phi").is_none());
}

fn reads_as(digits: u64, exponent: i32, value: f64) -> bool {
    format!("{digits}e{exponent}").parse() == Ok(value)
}

#[test]
fn inverse_hyperbolic_functions_have_the_bits_of_the_c_library() {
    for (x, expected) in [
        (1.0, 0.881_373_587_019_543),
        (8.0, 2.776_472_280_723_717_7),
        (128.0, 5.545_192_702_919_391),
    ] {
        assert_eq!(real_function(Function::Asinh, x), Ok(expected));
    }
}

#[test]
fn a_value_has_at_most_24_bytes() {
    assert!(size_of::<Value>() <= 24, "{}", size_of::<Value>());
}

#[test]
fn a_long_value_is_rounded_or_cut() {
    assert_eq!(big(99).repr_within(100), big(99).repr());
    for (value, text) in [
        (big(120), "about 1.000e+120"),
        (Value::int(BigInt::from(7).pow(300)), "about 3.384e+253"),
        (
            Value::int(BigInt::from(10).pow(120) - 1),
            "about 1.000e+120",
        ),
        (Value::int(-BigInt::from(2).pow(1000)), "about -1.072e+301"),
    ] {
        assert_eq!(value.repr_within(100), text);
    }
    let items = vec![big(120); 1000];
    let shown = Value::Tuple(items.into()).repr_within(100);
    assert!(
        shown.starts_with("(about 1.000e+120, about")
            && shown.ends_with(", …)")
            && shown.len() < 150,
        "{shown}"
    );
    assert_eq!(
        Value::Tuple(vec![Value::Int(1)].into()).repr_within(100),
        "(1,)"
    );
}
