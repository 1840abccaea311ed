//! The functions of decimal arithmetic: Python's own for functions of integers; for the others, an
//! implementation with 28 digits where there is one.

use num_bigint::BigInt;
use rust_decimal::{Decimal, MathematicalOps, RoundingStrategy};

use crate::python::decimal::{checked, from_python, operators, scaled, to_python};
use crate::python::function::Arguments;
use crate::python::generic::{accumulate, coordinates, extreme, missing_method, not_callable};
use crate::python::{
    Arithmetic, BinaryOperator, ErrorKind, Function, Python, Raised, Value, function, functions,
    integer, operators as python_operators,
};

/// `callee(positional…, keyword=…)`.
pub(super) fn call(
    callee: &Value,
    positional: &[Value],
    keywords: &[(&str, Value)],
    python: &Python,
) -> Result<Value, Raised> {
    let Value::Function(function) = callee else {
        return Err(not_callable(callee));
    };
    match function::bind(*function, python.version, positional, keywords)? {
        // before the arms by count, which would find fault with their arguments
        Arguments::Positional(_) if matches!(function, Function::Fma | Function::Sumprod) => {
            Err(unsupported(*function))
        }
        Arguments::Positional([items, start @ ..])
            // before Python 3.8, `sum` has no named parameters: its start is positional
            if matches!(function, Function::Fsum | Function::Sum) =>
        {
            let start = start.first().cloned().unwrap_or(Decimal::ZERO.into());
            fold(BinaryOperator::Add, items, start, python)
        }
        Arguments::Positional(values) if is_integer_function(*function) => {
            integer_function(*function, values, python)
        }
        Arguments::Positional([x]) => match x.decimal() {
            Some(number) if !is_of_any_value(*function) => real_function(*function, number),
            // of what is no number Python knows the truth, the length or the error
            _ => from_python(&functions::call_with_one(*function, x, python)?),
        },
        Arguments::Positional([x, y]) => call_with_two(*function, x, y),
        Arguments::Positional(values) => call_with_many(*function, values),
        Arguments::Named(slots) => call_with_keywords(*function, slots, python),
        Arguments::Extreme {
            values,
            key,
            default,
        } => extreme(
            *function,
            values,
            [key, default],
            python.version,
            |key, value| call(key, std::slice::from_ref(value), &[], python),
            operators::compare,
        ),
    }
}

/// The error for a function that decimal arithmetic does not have.
fn unsupported(function: Function) -> Raised {
    Raised::new(
        ErrorKind::Decimal,
        format!(
            "`{}`, which decimal arithmetic does not have",
            function.name()
        ),
    )
}

fn is_integer_function(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::Comb | F::Factorial | F::Gcd | F::Isqrt | F::Lcm | F::Perm
    )
}

/// Functions of integers are Python's; a number with a fraction is Python's `TypeError`.
fn integer_function(
    function: Function,
    values: &[Value],
    python: &Python,
) -> Result<Value, Raised> {
    let values: Vec<_> = values.iter().map(to_python).collect();
    from_python(&python.call(&Value::Function(function), &values, &[])?)
}

/// Whether a function of one argument is Python's for numbers too.
fn is_of_any_value(function: Function) -> bool {
    use Function as F;
    matches!(function, F::All | F::Any | F::Bool | F::Len)
}

fn pair(first: Decimal, second: Decimal) -> Value {
    Value::Tuple([first.into(), second.into()].into())
}

fn call_with_two(function: Function, x: &Value, y: &Value) -> Result<Value, Raised> {
    match function {
        Function::Divmod => match (x.decimal(), y.decimal()) {
            (Some(a), Some(b)) => {
                let (quotient, remainder) = operators::divmod(a, b)?;
                Ok(pair(quotient, remainder))
            }
            _ => Err(python_operators::unsupported_types(
                "divmod()",
                x.type_name(),
                y.type_name(),
            )),
        },
        Function::Dist => dist(x, y),
        Function::Hypot => norm(&[x.decimal_argument()?, y.decimal_argument()?]),
        // The first argument is checked before the second.
        Function::Log => operators::divide(
            logarithm(function, x.decimal_argument()?)?,
            logarithm(function, y.decimal_argument()?)?,
        ),
        _ => binary_real_function(function, x.decimal_argument()?, y.decimal_argument()?),
    }
}

fn call_with_many(function: Function, values: &[Value]) -> Result<Value, Raised> {
    match function {
        Function::Hypot => {
            let mut lengths = Vec::with_capacity(values.len());
            for value in values {
                lengths.push(value.decimal_argument()?);
            }
            norm(&lengths)
        }
        // without arguments only types are called: `float()` here, `bool()` below
        Function::Float => Ok(Decimal::ZERO.into()),
        _ => Ok(Value::Bool(false)),
    }
}

fn call_with_keywords(
    function: Function,
    slots: [Option<&Value>; 4],
    python: &Python,
) -> Result<Value, Raised> {
    match (function, slots) {
        (Function::Bool, [x, ..]) => Ok(Value::Bool(x.is_some_and(Value::truth))),
        (Function::Float | Function::Int, [None, None, ..]) => Ok(Decimal::ZERO.into()),
        (Function::Float | Function::Int, [x, base, ..]) => {
            match (x.and_then(Value::decimal), base) {
                (Some(number), None) if function == Function::Int => Ok(number.trunc().into()),
                (Some(number), None) => Ok(number.into()),
                // a base needs a string, so that Python always raises here, with its own texts
                _ => {
                    let positional = Vec::from_iter(x.map(to_python));
                    let keywords = Vec::from_iter(base.map(|base| ("base", to_python(base))));
                    let result = python.call(&Value::Function(function), &positional, &keywords)?;
                    from_python(&result)
                }
            }
        }
        (Function::Round, [Some(x), digits, ..]) => round(x, digits),
        (Function::Sum, [Some(items), start, ..]) => fold(
            BinaryOperator::Add,
            items,
            start.cloned().unwrap_or(Decimal::ZERO.into()),
            python,
        ),
        (Function::Prod, [Some(items), start, ..]) => fold(
            BinaryOperator::Multiply,
            items,
            start.cloned().unwrap_or(Decimal::ONE.into()),
            python,
        ),
        (Function::Isclose, [Some(a), Some(b), relative, absolute]) => {
            isclose(a, b, relative, absolute)
        }
        _ => Err(unsupported(function)),
    }
}

/// Folds `+` or `*` over the items, from the left.
fn fold(op: BinaryOperator, items: &Value, start: Value, python: &Python) -> Result<Value, Raised> {
    accumulate(items, start, |x, y| operators::binary(op, x, y, python))
}

/// `dist(p, q)`.
fn dist(p: &Value, q: &Value) -> Result<Value, Raised> {
    let mut lengths = Vec::new();
    for (a, b) in coordinates(p, q)? {
        let length = a.decimal_argument()?.checked_sub(b.decimal_argument()?);
        lengths.push(length.ok_or_else(scaled::too_large)?);
    }
    norm(&lengths)
}

/// The square root of the sum of squares.
fn norm(lengths: &[Decimal]) -> Result<Value, Raised> {
    checked(scaled::norm(lengths))
}

/// Functions of one number; an error for those without an implementation with 28 digits.
fn real_function(function: Function, x: Decimal) -> Result<Value, Raised> {
    use Function as F;
    match function {
        F::Float => Ok(x.into()),
        F::Ceil => Ok(x.ceil().into()),
        F::Floor => Ok(x.floor().into()),
        F::Trunc => Ok(x.trunc().into()),
        F::Modf => Ok(pair(x.fract(), x.trunc())),
        F::Abs | F::Fabs | F::Hypot => Ok(x.abs().into()),
        F::Isfinite => Ok(Value::Bool(true)),
        F::Isinf | F::Isnan => Ok(Value::Bool(false)),
        // a zero of `rust_decimal` may be negative
        F::Sqrt if x.is_sign_negative() && !x.is_zero() => Err(Raised::domain()),
        F::Sqrt => checked(scaled::square_root(x)),
        F::Log | F::Log2 | F::Log10 | F::Log1p => logarithm(function, x).map(Value::Decimal),
        F::Degrees => ratio(x.checked_mul(Decimal::from(180)), Some(Decimal::PI)),
        F::Radians => ratio(x.checked_mul(Decimal::PI), Some(Decimal::from(180))),
        F::Sin => checked(x.checked_sin()),
        F::Cos => checked(x.checked_cos()),
        F::Tan => ratio(x.checked_sin(), x.checked_cos()),
        _ => exponential(function, x),
    }
}

/// Functions that are computed from `exp`; an error for any other function.
fn exponential(function: Function, x: Decimal) -> Result<Value, Raised> {
    match function {
        Function::Exp => checked(x.checked_exp()),
        Function::Expm1 => {
            let power = x.checked_exp().ok_or_else(scaled::too_large)?;
            checked(power.checked_sub(Decimal::ONE))
        }
        Function::Exp2 => operators::power(Decimal::TWO, x),
        Function::Sinh => ratio(difference_of_powers(x), Some(Decimal::TWO)),
        Function::Cosh => ratio(sum_of_powers(x), Some(Decimal::TWO)),
        Function::Tanh => ratio(difference_of_powers(x), sum_of_powers(x)),
        _ => Err(unsupported(function)),
    }
}

/// `exp(x) + exp(-x)`.
fn sum_of_powers(x: Decimal) -> Option<Decimal> {
    x.checked_exp()?.checked_add((-x).checked_exp()?)
}

/// `exp(x) - exp(-x)`.
fn difference_of_powers(x: Decimal) -> Option<Decimal> {
    x.checked_exp()?.checked_sub((-x).checked_exp()?)
}

/// A quotient; the error of a number that is too large if an operand is `None` or the divisor is
/// zero.
fn ratio(x: Option<Decimal>, y: Option<Decimal>) -> Result<Value, Raised> {
    checked(quotient(x, y))
}

/// A quotient; `None` if an operand is `None`, or the divisor is zero.
fn quotient(x: Option<Decimal>, y: Option<Decimal>) -> Option<Decimal> {
    x?.checked_div(y?)
}

/// `log`, `log2`, `log10`, `log1p`.
fn logarithm(function: Function, x: Decimal) -> Result<Decimal, Raised> {
    let x = if function == Function::Log1p {
        x.checked_add(Decimal::ONE).ok_or_else(scaled::too_large)?
    } else {
        x
    };
    if x <= Decimal::ZERO {
        return Err(Raised::domain());
    }
    let result = match function {
        Function::Log10 => x.checked_log10(),
        // `rust_decimal` has no logarithm to the base 2
        Function::Log2 => quotient(x.checked_ln(), Decimal::TWO.checked_ln()),
        _ => x.checked_ln(),
    };
    result.ok_or_else(scaled::too_large)
}

/// Functions of two numbers; an error for those without an implementation with 28 digits.
fn binary_real_function(function: Function, x: Decimal, y: Decimal) -> Result<Value, Raised> {
    match function {
        Function::Pow => pow(x, y),
        Function::Copysign => Ok(if y.is_sign_negative() {
            -x.abs()
        } else {
            x.abs()
        }
        .into()),
        Function::Fmod | Function::Remainder if y.is_zero() => Err(Raised::domain()),
        Function::Fmod => {
            // C's `fmod` has the sign of the first operand, unlike Python's `%`
            let (_, rest) = operators::divmod(x.abs(), y.abs())?;
            Ok(if x.is_sign_negative() { -rest } else { rest }.into())
        }
        Function::Remainder => {
            let (a, b, scale) = scaled::aligned(x, y.abs());
            let nearest = integer::divide_to_nearest(&a, &b);
            operators::rounded(&(a - nearest * b), scale).map(Value::Decimal)
        }
        _ => Err(unsupported(function)),
    }
}

/// `math.pow`, which has no complex results.
fn pow(x: Decimal, y: Decimal) -> Result<Value, Raised> {
    let is_pole = x.is_zero() && y < Decimal::ZERO;
    let is_root = x < Decimal::ZERO && !y.is_integer();
    if is_pole || is_root {
        Err(Raised::domain())
    } else {
        operators::power(x, y)
    }
}

/// `isclose(a, b, rel_tol=1e-09, abs_tol=0.0)`.
fn isclose(
    a: &Value,
    b: &Value,
    relative: Option<&Value>,
    absolute: Option<&Value>,
) -> Result<Value, Raised> {
    let a = a.decimal_argument()?;
    let b = b.decimal_argument()?;
    let relative = relative.map_or(Ok(Decimal::new(1, 9)), Value::decimal_argument)?;
    let absolute = absolute.map_or(Ok(Decimal::ZERO), Value::decimal_argument)?;
    if relative < Decimal::ZERO || absolute < Decimal::ZERO {
        return Err(Raised::value("tolerances must be non-negative"));
    }
    let distance = b.checked_sub(a).ok_or_else(scaled::too_large)?.abs();
    let tolerance = relative
        .checked_mul(a.abs().max(b.abs()))
        .ok_or_else(scaled::too_large)?;
    Ok(Value::Bool(distance <= tolerance.max(absolute)))
}

/// More integer digits than any decimal has.
const MAX_PLACES: u32 = 30;

/// `round(number, ndigits=None)`, half to even.
fn round(x: &Value, digits: Option<&Value>) -> Result<Value, Raised> {
    let Some(value) = x.decimal() else {
        return Err(missing_method(x.type_name(), "__round__"));
    };
    let digits = match digits {
        None | Some(Value::None) => Decimal::ZERO,
        Some(digits) => match digits.decimal() {
            Some(whole) if whole.is_integer() => whole,
            _ => {
                let name = digits.type_name();
                return Err(Raised::type_error(format!(
                    "'{name}' object cannot be interpreted as an integer"
                )));
            }
        },
    };
    match i64::try_from(digits) {
        // left of the point, where `rust_decimal` does not round
        Ok(places @ ..0) => round_to_tens(value, places.unsigned_abs()).map(Value::Decimal),
        // no decimal has more than 28 decimals
        Ok(decimals @ 0..=28) => Ok(value
            .round_dp_with_strategy(decimals as u32, RoundingStrategy::MidpointNearestEven)
            .into()),
        Ok(_) => Ok(value.into()),
        Err(_) => Ok(if digits.is_sign_negative() {
            Decimal::ZERO
        } else {
            value
        }
        .into()),
    }
}

/// The nearest multiple of `10^places`, ties to even.
fn round_to_tens(value: Decimal, places: u64) -> Result<Decimal, Raised> {
    let places = match u32::try_from(places) {
        Ok(places @ ..=MAX_PLACES) => places,
        _ => return Ok(Decimal::ZERO),
    };
    let unit = scaled::power_of_ten(places + value.scale());
    let multiple = integer::divide_to_nearest(&BigInt::from(value.mantissa()), &unit);
    operators::rounded(&multiple, -i64::from(places))
}
