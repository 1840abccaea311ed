//! Ranges in words.

use std::fmt;

use crate::formula::lint::ranges::kinds::Kinds;
use crate::formula::lint::ranges::values::Values;
use crate::schema::Range;

impl fmt::Display for Values {
    /// In words: `a float from 0 to 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_never() {
            return f.write_str("no value");
        }
        f.write_str(&self.kinds().words().join(" or "))?;
        match self.bounds() {
            Some(Range { least, most }) if self.kinds().within(Kinds::BOOL) && least < most => Ok(()),
            Some(Range { least, most }) if least == most => write!(f, ", {}", Bound(least)),
            Some(Range { least, most }) if Bound(least).to_string() == Bound(most).to_string() => {
                write!(f, ", about {}", Bound(least))
            }
            Some(Range { least, most }) if least.is_finite() && most.is_finite() => {
                write!(f, " from {} to {}", Bound(least), Bound(most))
            }
            Some(Range { least, .. }) if least.is_finite() => write!(f, " of at least {}", Bound(least)),
            Some(Range { most, .. }) if most.is_finite() => write!(f, " of at most {}", Bound(most)),
            _ => Ok(()),
        }?;
        if self.may_be_nan() { f.write_str(", or nan") } else { Ok(()) }
    }
}

/// A bound as a person writes it: an integer, or at most six digits.
pub(in crate::formula::lint) struct Bound(pub f64);

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let rounded: f64 = format!("{:.5e}", self.0).parse().unwrap_or(self.0);
        match size {
            0.0 => f.write_str("0"),
            ..1e15 if self.0.fract() == 0.0 => write!(f, "{}", self.0),
            1e-4..1e15 => write!(f, "{rounded}"),
            _ => write!(f, "{rounded:e}"),
        }
    }
}
