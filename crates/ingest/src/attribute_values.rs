//! Converts a scalar of a document into the number that a formula gets.

use job_sort_formula::python::Value;
use jsf_json::JsonScalar;
use jsf_openpbs::duration;
use jsf_openpbs::resource_amount::number;

/// The value of an input that the document gives as it is: a number, or one of the strings `inf`,
/// `-inf` and `nan`, which JSON cannot express as numbers.
pub fn input(scalar: &JsonScalar<'_>) -> Option<Value> {
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
pub fn integer(scalar: &JsonScalar<'_>) -> Option<i64> {
    match number(scalar.text()?.trim())? {
        Value::Int(integer) => Some(integer),
        // The JSON of qstat prints integers from 1e15 on with an exponent.
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 9.0e18 => Some(x as i64),
        _ => None,
    }
}

/// The value of any finite number of at most 64 bits or with a fraction, as a number or a string.
pub fn ratio(scalar: &JsonScalar<'_>) -> Option<f64> {
    match number(scalar.text()?.trim())? {
        Value::Int(integer) => Some(integer as f64),
        Value::Float(x) => Some(x),
        _ => None,
    }
}

/// The seconds in a duration in the syntax of PBS, or a whole number of seconds, which may be
/// negative.
pub fn seconds(scalar: &JsonScalar<'_>) -> Option<i64> {
    let text = scalar.text()?.trim();
    // digits alone are the most frequent, and a duration takes several times as long to read
    let seconds = text.parse().ok().or_else(|| duration::seconds(text));
    seconds.or_else(|| integer(scalar))
}

/// Whether qstat may have removed digits of an integer. Its JSON has only 15 digits if these are
/// within one part in 2^52 of the amount, so that from 2^52 on two different integers may be
/// printed alike.
pub fn is_shortened(text: &str) -> bool {
    let Some((mantissa, _)) = text.split_once(['e', 'E']) else {
        return false;
    };
    mantissa.bytes().filter(u8::is_ascii_digit).count() <= 15
        && text.parse().unwrap_or(0.0_f64).abs() >= 4_503_599_627_370_496.0
}
