//! A value as Python's `repr` writes it.

use std::fmt::{self, Write};

use crate::python::Value;

impl Value {
    /// What `repr` gives: `1e+22`, `-0.0`, `(1,)`, `<built-in function sqrt>`.
    ///
    /// Python refuses to write an integer of more than 4300 digits; this does not.
    pub fn repr(&self) -> String {
        let mut text = String::new();
        self.write_repr(&mut text);
        text
    }

    /// Appends what `repr` gives.
    pub fn write_repr(&self, text: &mut String) {
        match self {
            Self::Int(value) => text.push_str(itoa::Buffer::new().format(*value)),
            Self::Float(value) => float(*value, text),
            other => _ = write!(text, "{other}"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Big(value) => write!(f, "{value}"),
            Self::Float(_) => f.write_str(&self.repr()),
            Self::Tuple(items) => tuple(f, items),
            Self::List(items) => {
                f.write_char('[')?;
                separated(f, items)?;
                f.write_char(']')
            }
            Self::Function(function) if function.is_type() => write!(f, "<class '{}'>", function.name()),
            Self::Function(function) => write!(f, "<built-in function {}>", function.name()),
        }
    }
}

/// `()`, `(1,)`, `(1, 2)`.
fn tuple(f: &mut fmt::Formatter<'_>, items: &[Value]) -> fmt::Result {
    f.write_char('(')?;
    separated(f, items)?;
    f.write_str(if items.len() == 1 { ",)" } else { ")" })
}

fn separated(f: &mut fmt::Formatter<'_>, items: &[Value]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

/// Python's `repr` of a float, where that is digits and a point.
#[inline]
pub(crate) fn plain_digits(value: f64, buffer: &mut zmij::Buffer) -> Option<&str> {
    let magnitude = value.abs();
    // zmij, too, writes these without an exponent
    (magnitude == 0.0 || (1e-4..1e16).contains(&magnitude)).then(|| buffer.format_finite(value))
}

/// The fewest digits that read back as the same double, with an exponent below 1e-4 and from 1e16 on.
pub(super) fn float(value: f64, text: &mut String) {
    if let Some(digits) = plain_digits(value, &mut zmij::Buffer::new()) {
        text.push_str(digits);
    } else if value.is_nan() {
        text.push_str("nan");
    } else if value.is_infinite() {
        text.push_str(if value > 0.0 { "inf" } else { "-inf" });
    } else {
        let scientific = format!("{value:e}");
        let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        _ = write!(text, "{digits}e{sign}{exponent:0>2}");
    }
}
