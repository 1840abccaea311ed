//! Converts a scalar of a document into the number that a formula gets.

use job_sort_formula::python::Value;
use jsf_json::JsonScalar;
use jsf_openpbs::duration;
use jsf_openpbs::resource_amount::{AmountSource, NumberMode, number};

/// The value of an input that the document gives as it is: a number, or one of the strings `inf`,
/// `-inf` and `nan`, which JSON cannot express as numbers.
pub(super) fn input(scalar: &JsonScalar<'_>) -> Option<Value> {
    match scalar {
        JsonScalar::Number(text) => number(text),
        JsonScalar::String(text) => match &**text {
            "inf" => Some(Value::Float(f64::INFINITY)),
            "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
            "nan" => Some(Value::Float(f64::NAN)),
            _ => None,
        },
        JsonScalar::Other(_) => None,
    }
}

/// The value of a whole number of at most 64 bits, as a number or a string.
pub(super) fn integer(scalar: &JsonScalar<'_>) -> Option<i64> {
    match number(scalar.text()?.trim())? {
        Value::Int(integer) => Some(integer),
        // The JSON of qstat prints integers from 1e15 on with an exponent.
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 9.0e18 => Some(x as i64),
        _ => None,
    }
}

/// The value of any finite number of at most 64 bits or with a fraction, as a number or a string.
pub(super) fn ratio(scalar: &JsonScalar<'_>) -> Option<f64> {
    match number(scalar.text()?.trim())? {
        Value::Int(integer) => Some(integer as f64),
        Value::Float(x) => Some(x),
        _ => None,
    }
}

/// The seconds in a duration in the syntax of PBS, or a whole number of seconds, which may be
/// negative.
pub(super) fn seconds(scalar: &JsonScalar<'_>) -> Option<i64> {
    let text = scalar.text()?.trim();
    // digits alone are the most frequent, and a duration takes several times as long to read
    let seconds = text.parse().ok().or_else(|| duration::seconds(text));
    seconds.or_else(|| integer(scalar))
}

/// The value of a resource amount, and what was lost on the way to it.
#[derive(Debug)]
pub(super) struct FormulaAmount {
    pub value: Value,
    /// Whether qstat may have removed digits.
    pub is_shortened: bool,
    /// Whether an amount other than 0 has become 0.
    pub is_truncated_to_zero: bool,
    /// Whether an integer of more than 64 bits has become the nearest one of 64 bits.
    pub is_saturated: bool,
}

impl FormulaAmount {
    /// Converts the `amount` that was parsed from `scalar`.
    pub(super) fn new(
        amount: Value,
        scalar: &JsonScalar<'_>,
        numbers: NumberMode,
        source: AmountSource,
    ) -> Self {
        let beyond_64_bits = matches!(amount, Value::Big(_)).then(|| amount.repr());
        let value = numbers.resource(amount);
        let is_saturated = beyond_64_bits.is_some_and(|given| given != value.repr());
        let is_shortened = matches!((source, scalar), (AmountSource::Server, JsonScalar::Number(text)) if is_shortened(text));
        let is_truncated_to_zero =
            matches!(value, Value::Int(0)) && ratio(scalar).is_some_and(|given| given != 0.0);
        Self {
            value,
            is_shortened,
            is_truncated_to_zero,
            is_saturated,
        }
    }
}

/// Whether qstat may have removed digits of an integer. Its JSON has only 15 digits if these are
/// within one part in 2^52 of the amount, so that from 2^52 on two different integers may be
/// printed alike.
fn is_shortened(text: &str) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or("");
    text.len() > mantissa.len()
        && mantissa.bytes().filter(u8::is_ascii_digit).count() <= 15
        && text
            .parse::<f64>()
            .is_ok_and(|x| x.abs() >= 4_503_599_627_370_496.0)
}
