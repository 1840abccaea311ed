//! Durations in seconds: in the syntax of PBS, such as `12:34:56`, and in the notations of PBS and of
//! Slurm, or with a unit.

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

/// The units that a number may have, in seconds.
const UNITS: [(char, u64); 5] = [
    ('s', 1),
    ('m', 60),
    ('h', 3600),
    ('d', 86_400),
    ('w', 604_800),
];

/// The seconds of a duration: PBS's `[[HH:]MM:]SS`, Slurm's `D-HH`, `D-HH:MM` and `D-HH:MM:SS`, or
/// a whole number with a unit, `90s`, `15m`, `24h`, `7d`, `2w`.
///
/// # Errors
/// The text has none of these forms, or the duration is too long.
pub fn parse_duration(text: &str) -> Result<u64, String> {
    match parse(text) {
        Some(seconds) => Ok(seconds),
        None => Err(format!(
            "`{text}` is not a duration, expected [[HH:]MM:]SS, D-HH:MM:SS, or a whole number with s, m, h, d or w, \
             such as `24h`"
        )),
    }
}

fn parse(text: &str) -> Option<u64> {
    for (unit, length) in UNITS {
        if let Some(digits) = text.strip_suffix(unit) {
            return number(digits)?.checked_mul(length);
        }
    }
    let Some((days, rest)) = text.split_once('-') else {
        return u64::try_from(seconds(text)?).ok();
    };
    let mut total = number(days)?.checked_mul(86_400)?;
    let mut units = [3600, 60, 1].into_iter();
    for part in rest.split(':') {
        let part = number(part)?.checked_mul(units.next()?)?;
        total = total.checked_add(part)?;
    }
    Some(total)
}

fn number(digits: &str) -> Option<u64> {
    if digits.starts_with('+') {
        return None;
    }
    digits.parse().ok()
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

    #[test]
    fn all_notations_are_read() {
        for (text, expected) in [
            ("0", Some(0)),
            ("90", Some(90)),
            ("90s", Some(90)),
            ("15m", Some(900)),
            ("24h", Some(86_400)),
            ("7d", Some(604_800)),
            ("10:00", Some(600)),
            ("168:00:00", Some(604_800)),
            ("7-0", Some(604_800)),
            ("0-00:15", Some(900)),
            ("7-00:00:00", Some(604_800)),
            ("", None),
            ("-1", None),
            ("1-", None),
            ("1-2:3:4:5", None),
            ("1.5h", None),
            ("+5s", None),
            ("1h30m", None),
            ("99999999999999999999d", None),
            ("99999999999999999999-0", None),
        ] {
            assert_eq!(parse_duration(text).ok(), expected, "{text}");
        }
    }
}
