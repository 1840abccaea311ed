//! Durations in the syntax of PBS, such as `12:34:56`, in seconds.

/// The number of seconds in `HH:MM:SS`, `MM:SS` or `SS`, each part with any number of digits; a
/// fraction of a second is rounded to the nearest second, a half up. `None` for a text of another
/// form, and for more than 64 bits of seconds.
///
/// ```
/// use jsf_openpbs::duration::seconds;
///
/// assert_eq!(seconds("2400:00:37"), Some(8_640_037));
/// assert_eq!(seconds("01:00:00.5"), Some(3601));
/// ```
pub fn seconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || whole.split(':').count() > 3 {
        return None;
    }
    let mut total = i64::from(fraction.starts_with(['5', '6', '7', '8', '9']));
    for (part, unit) in whole.rsplit(':').zip([1, 60, 3600]) {
        if part.starts_with(['+', '-']) {
            return None;
        }
        let amount: i64 = part.parse().ok()?;
        total = amount.checked_mul(unit)?.checked_add(total)?;
    }
    Some(total)
}

/// Whether a text is a duration of at least two parts, separated by a colon.
pub fn is_clock_duration(text: &str) -> bool {
    text.contains(':') && seconds(text).is_some()
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
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "",
            ":",
            "1:",
            ":1",
            "1:2:3:4",
            "-1",
            "a:b",
            "1.x",
            "1e3",
            "1..2",
            "inf",
            "9223372036854775807:00:00",
            &"9".repeat(400),
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
