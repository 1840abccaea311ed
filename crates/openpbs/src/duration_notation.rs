//! Durations in the notations of PBS and of Slurm, and with a unit.

use crate::duration::seconds;

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
