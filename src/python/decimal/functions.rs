//! The functions in base ten: Python's where they are about whole numbers, 28 digits where they are not.

use rust_decimal::Decimal;

use crate::python::argument::Arguments;
use crate::python::decimal::value::{DecimalValue, held};
use crate::python::decimal::{aggregates, operate, reals, rounding};
use crate::python::{Arithmetic, BinaryOperator, ErrorKind, Function, Python, Raised, argument};

/// `callee(positional…, keyword=…)`.
pub(super) fn call(
    callee: &DecimalValue,
    positional: &[DecimalValue],
    keywords: &[(&str, DecimalValue)],
    python: &Python,
) -> Result<DecimalValue, Raised> {
    let DecimalValue::Function(function) = callee else {
        return Err(Raised::type_error(format!("'{}' object is not callable", callee.type_name())));
    };
    match argument::bind(*function, positional, keywords)? {
        Arguments::Positional(values) if is_about_integers(*function) => integers(*function, values, python),
        Arguments::Positional([x]) => one(*function, x, python),
        Arguments::Positional([x, y]) => two(*function, x, y),
        Arguments::Positional(values) => many(*function, values),
        Arguments::Named(slots) => named(*function, slots, python),
        Arguments::Extreme { values, key, default } => aggregates::extreme(*function, values, key, default, python),
    }
}

/// The error of a function that base ten is without.
pub(super) fn missing(function: Function) -> Raised {
    Raised::new(ErrorKind::Decimal, format!("`{}`, which base ten does not have", function.name()))
}

fn is_about_integers(function: Function) -> bool {
    use Function as F;
    matches!(function, F::Comb | F::Factorial | F::Gcd | F::Isqrt | F::Lcm | F::Perm)
}

/// Functions of integers are Python's; a number with a fraction is refused in Python's words.
fn integers(function: Function, values: &[DecimalValue], python: &Python) -> Result<DecimalValue, Raised> {
    let values: Vec<_> = values.iter().map(DecimalValue::to_python).collect();
    DecimalValue::from_python(&python.call(&crate::python::Value::Function(function), &values, &[])?)
}

fn one(function: Function, x: &DecimalValue, python: &Python) -> Result<DecimalValue, Raised> {
    use Function as F;
    match function {
        F::Abs => match x.decimal() {
            Some(value) => Ok(value.abs().into()),
            None => Err(Raised::type_error(format!("bad operand type for abs(): '{}'", x.type_name()))),
        },
        F::All => Ok(DecimalValue::Bool(x.iterate()?.iter().all(DecimalValue::truth))),
        F::Any => Ok(DecimalValue::Bool(x.iterate()?.iter().any(DecimalValue::truth))),
        F::Bool => Ok(DecimalValue::Bool(x.truth())),
        F::Float => number(x, "float() argument must be a string or a real number"),
        F::Len => match x.items() {
            Some(items) => Ok(Decimal::from(items.len()).into()),
            None => Err(Raised::type_error(format!("object of type '{}' has no len()", x.type_name()))),
        },
        F::Trunc => match x.decimal() {
            Some(value) => Ok(value.trunc().into()),
            None => Err(Raised::type_error(format!("type {} doesn't define __trunc__ method", x.type_name()))),
        },
        F::Fsum => aggregates::accumulate(BinaryOperator::Add, x, Decimal::ZERO.into(), python),
        F::Modf => {
            let value = x.real()?;
            Ok(pair(value.fract(), value.trunc()))
        }
        F::Hypot => Ok(x.real()?.abs().into()),
        _ => reals::one(function, x.real()?),
    }
}

/// The number, or a `TypeError` that begins with these words.
fn number(x: &DecimalValue, wanted: &str) -> Result<DecimalValue, Raised> {
    match x.decimal() {
        Some(value) => Ok(value.into()),
        None => Err(Raised::type_error(format!("{wanted}, not '{}'", x.type_name()))),
    }
}

fn pair(first: Decimal, second: Decimal) -> DecimalValue {
    DecimalValue::Tuple([first.into(), second.into()].into())
}

fn two(function: Function, x: &DecimalValue, y: &DecimalValue) -> Result<DecimalValue, Raised> {
    match function {
        Function::Divmod => match (x.decimal(), y.decimal()) {
            (Some(a), Some(b)) => operate::divmod(a, b).map(|(quotient, remainder)| pair(quotient, remainder)),
            _ => Err(crate::python::operate::mistyped("divmod()", x.type_name(), y.type_name())),
        },
        Function::Dist => aggregates::dist(x, y),
        Function::Hypot => aggregates::norm(&[x.real()?, y.real()?]),
        // The first argument is refused before the second is looked at.
        Function::Log => {
            operate::divide(reals::logarithm(function, x.real()?)?, reals::logarithm(function, y.real()?)?)
        }
        _ => reals::two(function, x.real()?, y.real()?),
    }
}

fn many(function: Function, values: &[DecimalValue]) -> Result<DecimalValue, Raised> {
    match function {
        Function::Hypot => {
            let lengths = values.iter().map(DecimalValue::real).collect::<Result<Vec<_>, _>>()?;
            aggregates::norm(&lengths)
        }
        Function::Float => Ok(Decimal::ZERO.into()),
        _ => Ok(DecimalValue::Bool(false)),
    }
}

fn named(function: Function, slots: [Option<&DecimalValue>; 4], python: &Python) -> Result<DecimalValue, Raised> {
    match (function, slots) {
        (Function::Int, [None, None, ..]) => Ok(Decimal::ZERO.into()),
        (Function::Int, [Some(x), None, ..]) => {
            let value = number(x, "int() argument must be a string, a bytes-like object or a real number")?;
            held(value.decimal().map(|value| value.trunc()))
        }
        (Function::Int, [x, base, ..]) => {
            let (x, base) = (x.map(DecimalValue::to_python), base.map(DecimalValue::to_python));
            let positional: Vec<_> = x.into_iter().collect();
            let keywords: Vec<_> = base.into_iter().map(|base| ("base", base)).collect();
            let result = python.call(&crate::python::Value::Function(function), &positional, &keywords)?;
            DecimalValue::from_python(&result)
        }
        (Function::Round, [Some(x), digits, ..]) => rounding::round(x, digits),
        (Function::Sum, [Some(items), start, ..]) => {
            aggregates::accumulate(BinaryOperator::Add, items, start.cloned().unwrap_or(Decimal::ZERO.into()), python)
        }
        (Function::Prod, [Some(items), start, ..]) => aggregates::accumulate(
            BinaryOperator::Multiply,
            items,
            start.cloned().unwrap_or(Decimal::ONE.into()),
            python,
        ),
        (Function::Isclose, [Some(a), Some(b), relative, absolute]) => reals::isclose(a, b, relative, absolute),
        _ => Err(missing(function)),
    }
}
