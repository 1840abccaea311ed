//! A value as Python's `repr` writes it.

use std::fmt::{self, Write};

use super::Value;

impl Value {
    /// What `repr` gives: `1e+22`, `-0.0`, `(1,)`, `<built-in function sqrt>`.
    ///
    /// Python refuses to write an integer of more than 4300 digits; this does not.
    pub fn repr(&self) -> String {
        self.to_string()
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
            Self::Float(value) => f.write_str(&float(*value)),
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

/// The fewest digits that read back as the same double, with an exponent below 1e-4 and from 1e16 on.
pub(super) fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((digits, Ok(exponent))) = scientific.split_once('e').map(|(digits, e)| (digits, e.parse::<i32>())) else {
        return scientific;
    };
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}
