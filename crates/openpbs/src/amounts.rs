//! What OpenPBS writes of amounts of resources as text.
//!
//! In: the text of an amount, the type of its resource, and who wrote it. Out: a Python number.
//! Sizes in the syntax of PBS, such as `4gb` or `16kw`, are converted to kb as the scheduler does.
//! Amounts and logged formula values are printed with the number of [`decimals`] that OpenPBS
//! chooses, at most four; fair-share numbers with six.

use job_sort_formula::python::{MAX_EXACT_FLOAT, MAX_EXACT_INT, Value};
use job_sort_formula::schema::InputType;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};

use crate::times::seconds;

/// The longest number that is read, in characters: CPython's limit for the digits of an integer
/// literal.
pub const MAX_DIGITS: usize = 4300;

/// How amounts are converted into the numbers of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum NumberMode {
    /// As OpenPBS converts them: to a double, then printed with at most four decimals.
    #[default]
    #[cfg_attr(
        feature = "clap",
        value(name = "openpbs", help = "As OpenPBS passes and keeps them")
    )]
    OpenPbs,
    /// Unchanged: integers of any size, and doubles.
    #[cfg_attr(feature = "clap", value(help = "Doubles, unrounded"))]
    Exact,
    /// Unchanged, for decimal arithmetic.
    #[cfg_attr(feature = "clap", value(help = "Base ten, 28 digits"))]
    Decimal,
}

/// Who wrote an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AmountSource {
    /// The server, which has already converted the amount to its type.
    Server,
    /// A user: the server has yet to convert the amount to its type.
    User,
}

impl NumberMode {
    /// The number that the formula sees for an amount that was read by [`amount`](Self::amount).
    pub fn resource(self, amount: Value) -> Value {
        match (self, &amount) {
            // OpenPBS prints an integer that a double holds exactly without change
            (Self::OpenPbs, Value::Int(whole))
                if whole.unsigned_abs() < MAX_EXACT_INT.unsigned_abs() =>
            {
                amount
            }
            (Self::OpenPbs, _) => resource(to_double(&amount)),
            (Self::Exact | Self::Decimal, _) => amount,
        }
    }

    /// The number that the formula sees for a fair-share number.
    pub fn fairshare(self, ratio: f64) -> Value {
        match self {
            Self::OpenPbs => Value::Float(fairshare(ratio)),
            Self::Exact | Self::Decimal => Value::Float(ratio),
        }
    }

    /// Reads the amount of a numeric resource: a number, a size or a duration, depending on its
    /// form. A plain number is in bytes if the resource is a size. A size is returned in kb, a
    /// duration in seconds. `None` if the scheduler cannot read the amount and ignores the job:
    /// petabytes, `inf`, `nan` and any other text; also a float beyond 3.4e38 written by a user.
    pub fn amount(
        self,
        text: &str,
        kind: Option<InputType>,
        source: AmountSource,
    ) -> Option<Value> {
        let has_unit = !text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
        if !has_unit && text.contains(':') {
            return Some(Value::Int(seconds(text)?));
        }
        if kind == Some(InputType::Size) || has_unit {
            let kb = kilobytes(text)?;
            // an integer if a double holds it exactly
            return Some(if kb.abs() < MAX_EXACT_FLOAT {
                Value::Int(kb as i64)
            } else {
                Value::Float(kb)
            });
        }
        let amount = number(text)?;
        if source == AmountSource::Server {
            return Some(amount);
        }
        match kind {
            Some(InputType::Duration) if matches!(amount, Value::Float(_)) => {
                Some(Value::Int(seconds(text)?))
            }
            Some(InputType::Float) if self == Self::OpenPbs => {
                let kept = server_float(to_double(&amount));
                kept.is_finite().then_some(Value::Float(kept))
            }
            _ => Some(amount),
        }
    }
}

/// The double that the scheduler keeps: an integer saturates at 64 bits first.
fn to_double(amount: &Value) -> f64 {
    match amount {
        Value::Int(i) => *i as f64,
        Value::Big(big) => big.digits().to_i64().unwrap_or(if big.is_negative() {
            i64::MIN
        } else {
            i64::MAX
        }) as f64,
        Value::Float(x) => *x,
        _ => f64::NAN,
    }
}

/// Parses a number in the syntax that JSON and Python share: an integer of any size if it has no
/// point and no exponent (`-0` is 0), else a finite float. `None` for any other text, and beyond
/// [`MAX_DIGITS`].
///
/// ```
/// use job_sort_formula::python::Value;
/// use jsf_openpbs::amounts::number;
///
/// assert!(matches!(number("-0"), Some(Value::Int(0))));
/// assert!(matches!(number("1e5"), Some(Value::Float(100000.0))));
/// assert!(matches!(number("18446744073709551616"), Some(Value::Big(_))));
/// assert!(number("inf").is_none());
/// ```
pub fn number(text: &str) -> Option<Value> {
    // most numbers are small
    if text.len() <= 20
        && let Ok(small) = text.parse()
    {
        return Some(Value::Int(small));
    }
    let mut bytes = text.bytes();
    if text.len() > MAX_DIGITS
        || !bytes.all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
    {
        return None;
    }
    if text.contains(['.', 'e', 'E']) {
        let float: f64 = text.parse().ok()?;
        return float.is_finite().then_some(Value::Float(float));
    }
    Some(Value::int(text.parse::<BigInt>().ok()?))
}

/// The type of an undeclared resource, inferred from one amount. `is_number` says whether the
/// document gives the amount as a number, not as a string.
pub fn inferred_type(text: &str, is_number: bool) -> InputType {
    match text {
        _ if text.contains(':') && seconds(text).is_some() => InputType::Duration,
        _ if is_size_with_unit(text) => InputType::Size,
        "True" | "False" => InputType::Bool,
        "inf" | "-inf" | "nan" | "-nan" => InputType::Float,
        _ if !is_number => InputType::Text,
        _ => match number(text) {
            Some(Value::Float(x)) if x.fract() != 0.0 => InputType::Float,
            Some(_) => InputType::Count,
            None => InputType::Text,
        },
    }
}

/// A whole amount of a resource of a type: in kb for a size, in seconds for a duration. `None` for
/// one that is not a number.
pub fn whole_amount(text: &str, kind: Option<InputType>, source: AmountSource) -> Option<i64> {
    if let Some(kind) = kind
        && !kind.is_numeric()
    {
        return None;
    }
    match NumberMode::Exact.amount(text, kind, source)? {
        Value::Int(amount) => Some(amount),
        // the JSON of qstat prints large integers with an exponent
        Value::Float(amount) if amount.fract() == 0.0 && amount.abs() < 9.3e18 => {
            Some(amount as i64)
        }
        _ => None,
    }
}

/// A number from this one on is rejected: far beyond the server's limit, and still finite in kb in
/// every unit.
const MAX_AMOUNT: f64 = 1e200;

/// The number of kb in a size: a whole number with `b`, `kb`, `mb`, `gb` or `tb`, or with `kw`,
/// `mw`, … for words of 8 bytes, in any case. Bytes are rounded up to whole kb; a plain number is
/// in bytes.
///
/// The scheduler does not read `w` as a unit: `8w` is 8 kb, as recorded, not 64 bytes.
///
/// `None` for another text, and for petabytes, which the server accepts and the scheduler cannot
/// read: it then ignores the job.
///
/// ```
/// use jsf_openpbs::amounts::kilobytes;
///
/// assert_eq!(kilobytes("4gb"), Some(4.0 * 1024.0 * 1024.0));
/// assert_eq!(kilobytes("1025b"), Some(2.0));
/// assert_eq!(kilobytes("16kw"), Some(128.0));
/// ```
pub fn kilobytes(text: &str) -> Option<f64> {
    let (amount, unit) = split_unit(text)?;
    match unit.to_ascii_lowercase().as_bytes() {
        [] | [b'b'] => Some((amount / 1024.0).ceil()),
        [b'w'] => Some(amount),
        [prefix, byte_or_word @ (b'b' | b'w')] => {
            let power = b"kmgt".iter().position(|known| known == prefix)?;
            let bytes = if *byte_or_word == b'w' { 8.0 } else { 1.0 };
            Some(amount * bytes * 1024_f64.powi(power as i32))
        }
        _ => None,
    }
}

/// Whether a text is a size with a unit: digits, then one of the units, including `pb`.
fn is_size_with_unit(text: &str) -> bool {
    let Some((_, unit)) = split_unit(text) else {
        return false;
    };
    let is_in_petabytes = matches!(unit.to_ascii_lowercase().as_str(), "pb" | "pw");
    !unit.is_empty() && (is_in_petabytes || kilobytes(text).is_some())
}

/// The leading digits as a number, and the rest; `None` if the text does not begin with a digit.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let amount = text[..text.len() - unit.len()].parse().ok()?;
    (amount < MAX_AMOUNT).then_some((amount, unit))
}

pub use job_sort_formula::printing::{
    decimals, fairshare, fixed, logged, printed, read_resource, resource,
};

/// The amount of a float resource as the scheduler reads it: the server rounds it to a C `float`
/// and prints that.
pub fn server_float(v: f64) -> f64 {
    let rounded = f64::from(v as f32);
    if rounded.is_finite() {
        printed(rounded).parse().unwrap_or(rounded)
    } else {
        rounded
    }
}

/// A fair-share number as the scheduler prints it, with `%f`: six decimals.
///
/// ```
/// use jsf_openpbs::amounts::printed_fairshare;
///
/// assert_eq!(printed_fairshare(f64::from(0.135_135_14_f32)), "0.135135");
/// ```
pub fn printed_fairshare(value: f64) -> String {
    fixed(value, 6)
}

#[cfg(test)]
mod tests {
    use job_sort_formula::Value;
    use num_bigint::BigInt;

    use super::*;

    fn seen(text: &str, kind: InputType, source: AmountSource) -> String {
        let numbers = NumberMode::OpenPbs;
        match numbers
            .amount(text, Some(kind), source)
            .map(|amount| numbers.resource(amount))
        {
            Some(Value::Int(i)) => i.to_string(),
            Some(Value::Big(big)) => big.to_string(),
            Some(Value::Float(x)) => format!("{x:?}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_server_converts_what_a_user_writes() {
        assert_eq!(
            seen("99999999999999999999", InputType::Count, AmountSource::User),
            "9223372036854775808"
        );
        assert_eq!(
            seen(
                "9.2233720368547758e+18",
                InputType::Count,
                AmountSource::Server
            ),
            "9223372036854775808"
        );
        assert_eq!(
            seen("9007199254740993", InputType::Count, AmountSource::User),
            "9007199254740992"
        );
        assert_eq!(
            seen("123456.123456", InputType::Float, AmountSource::User),
            "123456.125"
        );
        assert_eq!(seen("1e300", InputType::Float, AmountSource::User), "None");
        assert_eq!(seen("inf", InputType::Float, AmountSource::Server), "None");
        assert_eq!(seen("3pb", InputType::Size, AmountSource::Server), "None");
        assert_eq!(seen("4096", InputType::Size, AmountSource::User), "4");
        assert_eq!(seen("1.5", InputType::Duration, AmountSource::User), "2");
    }

    #[test]
    fn exact_numbers_are_unchanged() {
        let [whole, decimal] = ["9007199254740993", "0.00002"].map(|text| {
            let amount = NumberMode::Exact.amount(text, Some(InputType::Count), AmountSource::User);
            NumberMode::Exact.resource(amount.unwrap())
        });
        assert!(matches!(whole, Value::Int(9_007_199_254_740_993)));
        assert!(matches!(decimal, Value::Float(0.000_02)));
    }

    #[test]
    fn the_type_is_inferred_from_the_amount() {
        assert_eq!(inferred_type("3", true), InputType::Count);
        assert_eq!(inferred_type("3", false), InputType::Text);
        assert_eq!(inferred_type("0.5", true), InputType::Float);
        assert_eq!(inferred_type("4gb", false), InputType::Size);
        assert_eq!(inferred_type("01:00:00", false), InputType::Duration);
        assert_eq!(inferred_type("True", false), InputType::Bool);
    }

    #[test]
    fn reads_as_recorded() {
        for (text, kb) in [
            ("10b", 1.0),
            ("1023b", 1.0),
            ("1025b", 2.0),
            ("0b", 0.0),
            ("8w", 8.0),
            ("7gw", 58_720_256.0),
            ("5Kb", 5.0),
            ("999999tb", 1_073_740_750_258_176.0),
            ("123456789b", 120_564.0),
            ("10", 1.0),
        ] {
            assert_eq!(kilobytes(text), Some(kb), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "3pb",
            "",
            "gb",
            "-4gb",
            "4.5gb",
            "4gbb",
            "4xb",
            "4gx",
            "4bb",
            "4bw",
            "inf",
            "4 gb",
            "٤gb",
            &"9".repeat(400),
        ] {
            assert_eq!(kilobytes(text), None, "{text}");
        }
        assert!(
            is_size_with_unit("3pb")
                && is_size_with_unit("1b")
                && !is_size_with_unit("10")
                && !is_size_with_unit("b")
        );
    }

    /// An amount is the text that is printed, as Python reads it.
    #[test]
    fn a_resource_is_what_is_printed() {
        let mut bits = 0x1234_5678_9abc_def0_u64;
        for round in 0..300_000_u32 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let unit = (bits >> 11) as f64 / job_sort_formula::python::MAX_EXACT_FLOAT;
            let scale = [1.0, 1e-3, -1e3, 1e7, 1e13, 1e22][round as usize % 6];
            let tie = ((bits >> 40) as f64 + 0.5)
                / [1e1, 1e2, 1e3, 1e4, 32.0, 1024.0][round as usize % 6];
            let near = f64::from((unit * scale * 16.0) as i32) + 1e-4;
            for value in [unit * scale, tie, -tie, near, f64::from_bits(bits)] {
                let text = printed(value);
                match resource(value) {
                    Value::Float(read) => {
                        assert!(text.contains('.') || !value.is_finite(), "{value:e}");
                        assert!(
                            value.is_nan()
                                || read.to_bits() == text.parse::<f64>().unwrap().to_bits(),
                            "{value:e}"
                        );
                    }
                    integer => {
                        assert_eq!(
                            integer.repr(),
                            text.replace("-0", "0")
                                .parse::<BigInt>()
                                .unwrap()
                                .to_string()
                        )
                    }
                }
            }
        }
    }

    #[test]
    fn python_reads_an_integer_or_a_float() {
        assert!(matches!(resource(2.0004), Value::Int(2)));
        assert!(matches!(resource(-0.0), Value::Int(0)));
        assert!(matches!(resource(0.00012), Value::Int(0)));
        assert!(matches!(resource(36.9995), Value::Int(37)));
        assert!(matches!(resource(0.12345678), Value::Float(0.1235)));
        assert!(matches!(
            resource(9_007_199_254_740_992.0),
            Value::Int(9_007_199_254_740_992)
        ));
        assert!(matches!(
            resource(-9_223_372_036_854_775_808.0),
            Value::Int(i64::MIN)
        ));
        assert!(
            matches!(resource(9_223_372_036_854_775_807.0), Value::Big(big) if *big.digits() == BigInt::from(1u64 << 63))
        );
        assert!(matches!(
            resource(f64::INFINITY),
            Value::Float(f64::INFINITY)
        ));
    }

    #[test]
    fn the_server_rounds_to_float32() {
        for (given, kept) in [
            (123_456.123_456, 123_456.125),
            (1.0 / 3.0, 0.3333),
            (16_777_217.0, 16_777_216.0),
            (1e15, 999_999_986_991_104.0),
            (0.000_05, 0.0),
            (0.99999, 1.0),
            (1e300, f64::INFINITY),
        ] {
            assert_eq!(server_float(given), kept, "{given}");
        }
    }

    #[test]
    fn prints_infinities_and_nan_as_c_does() {
        assert_eq!(logged(f64::NAN.copysign(-1.0)), "-nan");
        assert_eq!(logged(f64::NAN.copysign(1.0)), "nan");
        assert_eq!(logged(-1e300), "-inf");
    }

    #[test]
    fn ties_go_to_the_even_digit_as_in_c() {
        assert_eq!(format!("{:.4}", 0.031_25), "0.0312");
        assert_eq!(format!("{:.0}", 2.5), "2");
        assert_eq!(format!("{:.0}", 0.5), "0");
    }

    #[test]
    fn six_decimals_ties_to_even() {
        for (value, text) in [
            (0.007_812_5, "0.007812"),
            (0.023_437_5, "0.023438"),
            (-1e-9, "-0.000000"),
            (0.0, "0.000000"),
            (1e15 + 0.5, "1000000000000000.500000"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN.copysign(1.0), "nan"),
            (f64::NAN.copysign(-1.0), "-nan"),
        ] {
            assert_eq!(printed_fairshare(value), text);
        }
        assert!(fairshare(-1e-9).is_sign_negative());
        assert_eq!(fairshare(0.123_456_789).to_bits(), 0.123_457f64.to_bits());
    }

    #[test]
    fn the_fast_path_agrees_with_printing_and_parsing() {
        let mut bits = 0x1234_5678_9abc_def0_u64;
        for round in 0..300_000_u32 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let unit = (bits >> 11) as f64 / job_sort_formula::python::MAX_EXACT_FLOAT;
            let scale = [1.0, 1e-3, 1e-6, 1e3, 1e7, -0.5][round as usize % 6];
            let half = ((bits >> 40) as f64 + 0.5) / 1e6;
            for value in [
                unit * scale,
                f64::from((unit * scale) as f32),
                half,
                -half,
                f64::from(half as f32),
            ] {
                let expected: f64 = printed_fairshare(value).parse().unwrap();
                assert_eq!(fairshare(value).to_bits(), expected.to_bits(), "{value:e}");
            }
        }
    }

    #[test]
    fn logged_floats_have_the_digits_of_other_doubles() {
        for bits in (0..=u32::MAX).step_by(65_521) {
            let value = f64::from(f32::from_bits(bits));
            assert_eq!(logged(value), printed(value), "{bits:#x}");
        }
        // ties of the last digit, which are rounded to even, and what is near them
        for half in 0..50_000 {
            let value = f64::from(half as f32 / 10_000.0);
            assert_eq!(logged(value), printed(value), "{value}");
            assert_eq!(logged(-value * 1024.0), printed(-value * 1024.0), "{value}");
        }
    }
}
