//! What the referee cannot be asked: the limits, the texts of values, and the tables.

use std::time::{Duration, Instant};

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

/// Asserts that each answers with the limit, and all of them at once.
fn assert_limited(questions: Vec<Result<Value, Raised>>, begun: Instant) {
    for (index, result) in questions.into_iter().enumerate() {
        assert_eq!(kind(result), Some(ErrorKind::Limit), "question {index}");
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "took {:?}", begun.elapsed());
}

#[test]
fn huge_integers_are_refused_before_they_are_computed() {
    let begun = Instant::now();
    let python = Python::new();
    let int = Value::Int;
    let binary = |op, x: Value, y: Value| python.binary(op, &x, &y);
    let nine = binary(Op::Power, int(9), int(9)).unwrap();
    let questions = vec![
        binary(Op::Power, int(9), nine),
        binary(Op::Power, int(2), int(131_072)),
        binary(Op::Power, int(-3), big(30)),
        binary(Op::ShiftLeft, int(1), big(10)),
        binary(Op::ShiftLeft, int(1), int(131_072)),
        binary(Op::ShiftLeft, int(-5), big(19)),
        call(Function::Factorial, &[big(9)]),
        call(Function::Factorial, &[int(20_000)]),
        call(Function::Comb, &[big(9), int(500_000_000)]),
        call(Function::Comb, &[big(400), big(6)]),
        call(Function::Perm, &[big(30), big(12)]),
        call(Function::Perm, &[big(6)]),
        call(Function::Prod, &[Value::list(vec![big(10_000); 20])]),
        call(Function::Lcm, &[int(1).clone(), big(20_000), binary(Op::Add, big(20_000), int(1)).unwrap()]),
    ];
    assert_limited(questions, begun);
}

#[test]
fn the_largest_integer_is_just_allowed() {
    let python = Python::new();
    let largest = python.binary(Op::ShiftLeft, &Value::Int(1), &Value::Int(131_071)).unwrap();
    assert_eq!(kind(python.binary(Op::Add, &largest, &largest)), Some(ErrorKind::Limit));
    assert!(python.binary(Op::Subtract, &largest, &Value::Int(1)).is_ok());
    assert!(python.binary(Op::Power, &Value::Int(2), &Value::Int(131_071)).unwrap().is_same(&largest));
}

#[test]
fn work_runs_out_and_is_given_back() {
    let begun = Instant::now();
    let python = Python::new();
    let x = python.binary(Op::Power, &Value::Int(3), &Value::Int(80_000)).unwrap();
    let y = python.binary(Op::Power, &Value::Int(7), &Value::Int(46_000)).unwrap();
    let gcd = || python.call(&Value::Function(Function::Gcd), &[x.clone(), y.clone()], &[]);
    let mut tries = 0;
    let raised = loop {
        tries += 1;
        match gcd() {
            Ok(one) => assert!(one.is_same(&Value::Int(1))),
            Err(raised) => break raised,
        }
        assert!(tries < 1000, "the work has no end");
    };
    assert_eq!(raised.kind, ErrorKind::Limit);
    python.reset();
    assert!(gcd().is_ok());
    assert!(begun.elapsed() < Duration::from_secs(30), "took {:?}", begun.elapsed());
}

#[test]
fn sequences_are_bounded_by_what_they_hold_in_all() {
    let python = Python::new();
    let list = |count| python.binary(Op::Multiply, &Value::list(vec![Value::Int(1)]), &Value::Int(count));
    assert_eq!(kind(list(100_001)), Some(ErrorKind::Limit));
    let rows = list(50_000).unwrap();
    let nested = Value::list(vec![rows.clone()]);
    assert_eq!(kind(python.binary(Op::Multiply, &nested, &Value::Int(2))), Some(ErrorKind::Limit));
    assert_eq!(
        kind(python.binary(Op::Multiply, &Value::list(vec![big(30_000)]), &Value::Int(100))),
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
fn rounding_to_absurd_places_is_zero_at_once() {
    let places = [Value::Int(-1_000_000_000), Value::int(-BigInt::from(10).pow(30)), Value::Int(i64::MIN)];
    for places in places {
        assert!(call(Function::Round, &[Value::Int(5), places.clone()]).unwrap().is_same(&Value::Int(0)));
        assert!(call(Function::Round, &[big(300), places.clone()]).unwrap().is_same(&Value::Int(0)));
        assert!(call(Function::Round, &[Value::Float(2.5), places]).unwrap().is_same(&Value::Float(0.0)));
    }
}

#[test]
fn values_are_written_as_python_writes_them() {
    let cases = [
        (Value::Float(1e22), "1e+22"),
        (Value::Float(1e16), "1e+16"),
        (Value::Float(1e15), "1000000000000000.0"),
        (Value::Float(123_456_789_012_345_680.0), "1.2345678901234568e+17"),
        (Value::Float(1e-5), "1e-05"),
        (Value::Float(0.0001), "0.0001"),
        (Value::Float(0.1), "0.1"),
        (Value::Float(-0.0), "-0.0"),
        (Value::Float(5e-324), "5e-324"),
        (Value::Float(1.5e300), "1.5e+300"),
        (Value::Float(f64::INFINITY), "inf"),
        (Value::Float(f64::NEG_INFINITY), "-inf"),
        (Value::Float(-f64::NAN), "nan"),
        (Value::Bool(true), "True"),
        (Value::None, "None"),
        (Value::int(-BigInt::from(1u64 << 63) * 2), "-18446744073709551616"),
        (Value::tuple(vec![]), "()"),
        (Value::tuple(vec![Value::Int(1)]), "(1,)"),
        (Value::tuple(vec![Value::Int(1), Value::Float(0.0)]), "(1, 0.0)"),
        (Value::list(vec![Value::list(vec![]), Value::None]), "[[], None]"),
        (Value::Function(Function::Sqrt), "<built-in function sqrt>"),
        (Value::Function(Function::Int), "<class 'int'>"),
    ];
    for (value, text) in cases {
        assert_eq!(value.repr(), text);
    }
}

#[test]
fn functions_are_found_by_their_names() {
    for function in Function::ALL {
        assert_eq!(Function::from_name(function.name()), Some(*function));
    }
    assert_eq!(Function::from_name("print"), None);
    assert!(Function::Pow.is_math() && !Function::Abs.is_math() && Function::Bool.is_type());
    assert_eq!((Function::Log.arity(), Function::Max.arity()), ((1, Some(2)), (1, None)));
    assert_eq!(Function::Round.keywords(), ["number", "ndigits"]);
    assert_eq!(Function::Sum.keywords(), ["start"]);
}

#[test]
fn constants_are_those_of_math() {
    for (name, text) in [("e", "2.718281828459045"), ("pi", "3.141592653589793"), ("tau", "6.283185307179586")] {
        assert_eq!(constant(name).map(|value| value.repr()).as_deref(), Some(text));
    }
    assert!(constant("inf").is_some() && constant("nan").is_some() && constant("phi").is_none());
}

#[test]
fn inverse_hyperbolics_have_the_bits_of_the_c_library() {
    let asinh = |x| real_function(Function::Asinh, x);
    assert_eq!(asinh(1.0), Ok(0.881_373_587_019_543));
    assert_eq!(asinh(8.0), Ok(2.776_472_280_723_717_7));
    assert_eq!(asinh(128.0), Ok(5.545_192_702_919_391));
}

#[test]
fn values_stay_small() {
    assert!(size_of::<Value>() <= 24, "{}", size_of::<Value>());
}
