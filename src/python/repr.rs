//! The text of a value: Python's `repr`.

use std::fmt::{self, Write};

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use serde::{Serialize, Serializer};

use crate::python::Value;

const LOG10_2: f64 = std::f64::consts::LOG10_2;
/// The most characters of a serialised value: as many as the digits of the longest integer that
/// Python writes.
const MAX_SERIALISED: usize = 4300;

/// As a text: JSON has neither infinities nor integers of any length.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.repr_within(MAX_SERIALISED))
    }
}

impl Value {
    /// Python's `repr`: `1e+22`, `-0.0`, `(1,)`, `<built-in function sqrt>`.
    ///
    /// Python refuses to convert an integer of more than 4300 digits to text; this does not.
    pub fn repr(&self) -> String {
        self.repr_within(usize::MAX)
    }

    /// Python's `repr` up to about so many characters: an integer of more digits is rounded,
    /// `about 1.234e+24082`, and a longer sequence is cut.
    pub fn repr_within(&self, limit: usize) -> String {
        let mut text = String::new();
        self.write_repr(limit, &mut text);
        text
    }

    fn write_repr(&self, limit: usize, text: &mut String) {
        match self {
            Self::None => text.push_str("None"),
            Self::Bool(true) => text.push_str("True"),
            Self::Bool(false) => text.push_str("False"),
            // writing to a `String` cannot fail
            Self::Int(value) => _ = write!(text, "{value}"),
            // the digits are not counted, because converting them takes quadratic time
            Self::Big(value) if value.digits().bits() as f64 * LOG10_2 > limit as f64 => {
                write_rounded(value.digits(), text);
            }
            Self::Big(value) => _ = write!(text, "{value}"),
            Self::Float(value) => write_float(*value, text),
            Self::Decimal(value) => _ = write!(text, "{value}"),
            Self::Tuple(items) => {
                text.push('(');
                write_items(limit, items, text);
                text.push_str(if items.len() == 1 { ",)" } else { ")" });
            }
            Self::List(items) => {
                text.push('[');
                write_items(limit, items, text);
                text.push(']');
            }
            Self::Function(function) if function.is_type() => {
                _ = write!(text, "<class '{}'>", function.name());
            }
            Self::Function(function) => _ = write!(text, "<built-in function {}>", function.name()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repr())
    }
}

fn write_items(limit: usize, items: &[Value], text: &mut String) {
    for (index, item) in items.iter().enumerate() {
        text.push_str(if index > 0 { ", " } else { "" });
        if text.len() > limit {
            return text.push('…');
        }
        item.write_repr(limit, text);
    }
}

/// The four leading digits of a long integer, and its magnitude.
fn write_rounded(value: &BigInt, text: &mut String) {
    let shift = value.bits().saturating_sub(64);
    let leading = (value.magnitude() >> shift).to_f64().unwrap_or_default();
    let magnitude = leading.log10() + shift as f64 * LOG10_2;
    // the digits may round up to 10.000
    let thousandths = (10_f64.powf(magnitude.fract()) * 1e3).round();
    let (thousandths, exponent) = if thousandths < 1e4 {
        (thousandths, 0.0)
    } else {
        (1e3, 1.0)
    };
    let sign = if value.is_negative() { "-" } else { "" };
    let _ = write!(
        text,
        "about {sign}{:.3}e+{}",
        thousandths / 1e3,
        magnitude.trunc() + exponent
    );
}

/// Appends the shortest digits that read back as the same double, with an exponent below 1e-4 and
/// from 1e16 on.
///
/// Of two shortest digit strings that are equally near to the double, CPython and zmij both take
/// the one that ends in an even digit. The standard library's `{:e}` does not.
pub(super) fn write_float(value: f64, text: &mut String) {
    if value.is_nan() {
        return text.push_str("nan");
    }
    if value.is_infinite() {
        return text.push_str(if value > 0.0 { "inf" } else { "-inf" });
    }
    let mut buffer = zmij::Buffer::new();
    let digits = buffer.format_finite(value);
    // in this range zmij writes no exponent either
    if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        text.push_str(digits);
    } else {
        write_scientific(digits, text);
    }
}

/// Appends a finite nonzero number in Python's form `d.ddde±XX`, from digits with or without an
/// exponent.
fn write_scientific(digits: &str, text: &mut String) {
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (negative, mantissa) = mantissa
        .strip_prefix('-')
        .map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    // the first significant digit may be in either part
    let exponent = exponent + whole.len() as i32 - 1 - (all.len() - significant.len()) as i32;
    let (first, rest) = significant.trim_end_matches('0').split_at(1);
    _ = write!(text, "{}{first}", if negative { "-" } else { "" });
    if !rest.is_empty() {
        _ = write!(text, ".{rest}");
    }
    _ = write!(
        text,
        "e{}{:02}",
        if exponent < 0 { '-' } else { '+' },
        exponent.abs()
    );
}
