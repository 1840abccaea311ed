//! Durations in the syntax of PBS, such as `12:34:56`, in seconds.

use thiserror::Error;

/// A text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DurationError {
    /// The text does not have the form of a duration.
    #[error("`{0}` is not a duration, expected `HH:MM:SS`, `MM:SS` or seconds")]
    NotADuration(String),
    /// The number of seconds exceeds 64 bits.
    #[error("the duration `{0}` is too long")]
    TooLong(String),
}

/// The number of seconds in `HH:MM:SS`, `MM:SS` or `SS`, each part with any number of digits; a
/// fraction of a second is rounded to the nearest second, a half up.
///
/// # Errors
/// The text does not have this form, or the number of seconds exceeds 64 bits.
///
/// ```
/// use jsf_openpbs::duration::seconds;
///
/// assert_eq!(seconds("2400:00:37"), Ok(8_640_037));
/// assert_eq!(seconds("01:00:00.5"), Ok(3601));
/// ```
pub fn seconds(text: &str) -> Result<i64, DurationError> {
    parse_two_digit_parts(text).map_or_else(|| parse_any_form(text), Ok)
}

/// The fast path for `HH:MM:SS` with two digits per part, as the server writes almost all
/// durations.
#[inline]
fn parse_two_digit_parts(text: &str) -> Option<i64> {
    let &[a, b, b':', c, d, b':', e, f] = text.as_bytes() else {
        return None;
    };
    let has_digits = [a, b, c, d, e, f].iter().all(u8::is_ascii_digit);
    has_digits.then(|| two_digits(a, b) * 3600 + two_digits(c, d) * 60 + two_digits(e, f))
}

#[inline]
fn two_digits(tens: u8, ones: u8) -> i64 {
    i64::from(tens - b'0') * 10 + i64::from(ones - b'0')
}

fn parse_any_form(text: &str) -> Result<i64, DurationError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || whole.split(':').count() > 3 {
        return Err(DurationError::NotADuration(text.to_owned()));
    }
    let mut total: i64 = i64::from(
        fraction
            .as_bytes()
            .first()
            .is_some_and(|&digit| digit >= b'5'),
    );
    for (part, unit) in whole.rsplit(':').zip([1, 60, 3600]) {
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(DurationError::NotADuration(text.to_owned()));
        }
        total = part
            .parse::<i64>()
            .ok()
            .and_then(|amount| amount.checked_mul(unit)?.checked_add(total))
            .ok_or_else(|| DurationError::TooLong(text.to_owned()))?;
    }
    Ok(total)
}

/// Whether a text is a duration of at least two parts, separated by a colon.
pub fn is_clock_duration(text: &str) -> bool {
    text.contains(':') && seconds(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_recorded() {
        for (text, expected) in [
            ("00:00:37", 37),
            ("1:1:1", 3661),
            ("1.5", 2),
            ("1.4", 1),
            ("27777777:46:39", 99_999_999_999),
            ("8199:09:40", 29_516_980),
            ("1:30", 90),
            ("60", 60),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "", ":", "1:", ":1", "1:2:3:4", "-1", "a:b", "1.x", "1e3", "1..2", "inf",
        ] {
            assert!(
                matches!(seconds(text), Err(DurationError::NotADuration(_))),
                "{text}"
            );
        }
        assert!(matches!(
            seconds("9223372036854775807:00:00"),
            Err(DurationError::TooLong(_))
        ));
        assert!(matches!(
            seconds(&"9".repeat(400)),
            Err(DurationError::TooLong(_))
        ));
    }
}
