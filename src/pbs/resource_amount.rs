//! From the amounts of a job to the numbers that the formula sees.

use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::pbs::{duration, fairshare_format as six_decimals, number_format as digits, size};
use crate::python::Value;
use crate::schema::InputType;

/// The longest number that is read, in characters: as many digits as CPython takes in an integer literal.
pub const MAX_DIGITS: usize = 4300;

/// How amounts become the numbers of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Numbers {
    /// Printed as OpenPBS prints them, so with at most four decimals, and as doubles before.
    #[default]
    OpenPbs,
    /// Untouched: whole numbers of any size, and doubles.
    Exact,
    /// Untouched, for arithmetic in base ten.
    Decimal,
}

/// Who wrote an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AmountSource {
    /// The server, after it had made of it what its type holds.
    Server,
    /// Anyone: the server has yet to make of it what its type holds.
    User,
}

/// An amount that the scheduler cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

impl Numbers {
    /// What the formula sees of an amount as it was read.
    pub fn resource(self, amount: Value) -> Value {
        match (self, &amount) {
            // A whole number that a double holds is printed as it is.
            (Self::OpenPbs, Value::Int(whole))
                if whole.unsigned_abs() < crate::python::MAX_EXACT_INT.unsigned_abs() =>
            {
                amount
            }
            (Self::OpenPbs, _) => digits::resource(double(&amount)),
            (Self::Exact | Self::Decimal, _) => amount,
        }
    }

    /// What the formula sees of a fair-share number.
    pub fn fairshare(self, ratio: f64) -> Value {
        match self {
            Self::OpenPbs => Value::Float(six_decimals::as_formula_sees(ratio)),
            Self::Exact | Self::Decimal => Value::Float(ratio),
        }
    }

    /// Reads the amount of a numeric resource: a number, a size or a duration, by its looks. A number alone is
    /// in bytes if the resource is a size.
    ///
    /// # Errors
    /// The scheduler cannot read it, and ignores the job: petabytes, `inf`, `nan`, words; also a float beyond
    /// 3.4e38 that has yet to pass through the server.
    pub fn amount(self, text: &str, kind: Option<InputType>, source: AmountSource) -> Result<Value, Unreadable> {
        let bare = text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
        if bare && text.contains(':') {
            return duration::seconds(text).map(Value::Int).map_err(|_| Unreadable);
        }
        if kind == Some(InputType::Size) || !bare {
            return size::kilobytes(text).map(whole).map_err(|_| Unreadable);
        }
        let amount = number(text).ok_or(Unreadable)?;
        match (source, kind) {
            (AmountSource::User, Some(InputType::Duration)) if matches!(amount, Value::Float(_)) => {
                duration::seconds(text).map(Value::Int).map_err(|_| Unreadable)
            }
            (AmountSource::User, Some(InputType::Float)) if self == Self::OpenPbs => {
                let kept = digits::server_float(double(&amount));
                if kept.is_finite() { Ok(Value::Float(kept)) } else { Err(Unreadable) }
            }
            _ => Ok(amount),
        }
    }
}

/// Kilobytes as an integer where a double holds them exactly.
fn whole(kb: f64) -> Value {
    if kb.abs() < crate::python::MAX_EXACT_FLOAT { Value::Int(kb as i64) } else { Value::Float(kb) }
}

/// The double that the scheduler keeps: a long is one of 64 bits first, and whatever is beyond stops there.
fn double(amount: &Value) -> f64 {
    match amount {
        Value::Int(i) => *i as f64,
        Value::Big(big) => {
            big.to_i64().unwrap_or(if big.sign() == num_bigint::Sign::Minus { i64::MIN } else { i64::MAX }) as f64
        }
        Value::Float(x) => *x,
        _ => f64::NAN,
    }
}

/// A number as JSON and Python both spell it: without point and exponent an integer of any size (`-0` is 0), else
/// a finite float. `None` for any other text and beyond [`MAX_DIGITS`].
///
/// ```
/// use job_sort_formula::python::Value;
/// use job_sort_formula::pbs::resource_amount::number;
///
/// assert!(matches!(number("-0"), Some(Value::Int(0))));
/// assert!(matches!(number("1e5"), Some(Value::Float(100000.0))));
/// assert!(matches!(number("18446744073709551616"), Some(Value::Big(_))));
/// assert!(number("inf").is_none());
/// ```
pub fn number(text: &str) -> Option<Value> {
    let spelled = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    if text.len() > MAX_DIGITS || !text.bytes().all(spelled) {
        return None;
    }
    if text.contains(['.', 'e', 'E']) {
        return text.parse().ok().filter(|x: &f64| x.is_finite()).map(Value::Float);
    }
    if let Ok(small) = text.parse() {
        return Some(Value::Int(small));
    }
    text.parse::<BigInt>().ok().map(|big| Value::Big(Arc::new(big)))
}

/// What the amount of an undeclared resource looks like, if it is a number at all. `bare` says that the document
/// wrote it as a number and not as a text.
pub(crate) fn looks(text: &str, bare: bool) -> InputType {
    match text {
        _ if duration::looks_like_duration(text) => InputType::Duration,
        _ if size::looks_like_size(text) => InputType::Size,
        "True" | "False" => InputType::Bool,
        "inf" | "-inf" | "nan" | "-nan" => InputType::Float,
        _ if !bare => InputType::Text,
        _ => match number(text) {
            Some(Value::Float(x)) if x.fract() != 0.0 => InputType::Float,
            Some(_) => InputType::Count,
            None => InputType::Text,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str, kind: InputType, source: AmountSource) -> String {
        let numbers = Numbers::OpenPbs;
        match numbers.amount(text, Some(kind), source).map(|amount| numbers.resource(amount)) {
            Ok(Value::Int(i)) => i.to_string(),
            Ok(Value::Big(big)) => big.to_string(),
            Ok(Value::Float(x)) => format!("{x:?}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_server_stands_between_the_hand_and_the_formula() {
        assert_eq!(seen("99999999999999999999", InputType::Count, AmountSource::User), "9223372036854775808");
        assert_eq!(seen("9.2233720368547758e+18", InputType::Count, AmountSource::Server), "9223372036854775808");
        assert_eq!(seen("9007199254740993", InputType::Count, AmountSource::User), "9007199254740992");
        assert_eq!(seen("123456.123456", InputType::Float, AmountSource::User), "123456.125");
        assert_eq!(seen("1e300", InputType::Float, AmountSource::User), "Err(Unreadable)");
        assert_eq!(seen("inf", InputType::Float, AmountSource::Server), "Err(Unreadable)");
        assert_eq!(seen("3pb", InputType::Size, AmountSource::Server), "Err(Unreadable)");
        assert_eq!(seen("4096", InputType::Size, AmountSource::User), "4");
        assert_eq!(seen("1.5", InputType::Duration, AmountSource::User), "2");
    }

    #[test]
    fn exact_numbers_stay_as_they_are() {
        let read = |text| {
            Numbers::Exact.amount(text, Some(InputType::Count), AmountSource::User).map(|v| Numbers::Exact.resource(v))
        };
        assert!(matches!(read("9007199254740993"), Ok(Value::Int(9_007_199_254_740_993))));
        assert!(matches!(read("0.00002"), Ok(Value::Float(0.000_02))));
    }

    #[test]
    fn looks_tell_the_kind() {
        assert_eq!(looks("3", true), InputType::Count);
        assert_eq!(looks("3", false), InputType::Text);
        assert_eq!(looks("0.5", true), InputType::Float);
        assert_eq!(looks("4gb", false), InputType::Size);
        assert_eq!(looks("01:00:00", false), InputType::Duration);
        assert_eq!(looks("True", false), InputType::Bool);
    }
}
