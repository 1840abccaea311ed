//! Slurm's times.

/// What the daemon has for a time without end, in minutes.
const INFINITE: i64 = -1;

/// The minutes that a text stands for, rounded up; `None` if it is no time, [`INFINITE`] if it has no end.
///
/// `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes` or
/// `days-hours:minutes:seconds`.
pub(super) fn minutes(text: &str) -> Option<i64> {
    if ["-1", "infinite", "unlimited"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(INFINITE);
    }
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { text.parse::<i64>().ok() } else { None }
    };
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(number(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<i64> = rest.split(':').map(number).collect::<Option<_>>()?;
    let seconds = match (days, parts.as_slice()) {
        (None, &[minutes]) => minutes * 60,
        (None, &[minutes, seconds]) => minutes * 60 + seconds,
        (None, &[hours, minutes, seconds]) => (hours * 60 + minutes) * 60 + seconds,
        (Some(days), &[hours]) => (days * 24 + hours) * 3600,
        (Some(days), &[hours, minutes]) => ((days * 24 + hours) * 60 + minutes) * 60,
        (Some(days), &[hours, minutes, seconds]) => ((days * 24 + hours) * 60 + minutes) * 60 + seconds,
        _ => return None,
    };
    Some((seconds + 59) / 60)
}

/// The seconds that the daemon holds for a number of minutes: an unsigned 32-bit number, so that a time without end
/// comes out as one of 136 years.
pub(super) fn seconds(minutes: i64) -> u32 {
    if minutes < 0 { (minutes * 60) as u32 } else { u32::try_from(minutes * 60).unwrap_or(u32::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_read() {
        for (text, expected) in [
            ("0", Some(0)),
            ("10", Some(10)),
            ("10:01", Some(11)),
            ("1:00:00", Some(60)),
            ("7-0", Some(10_080)),
            ("1-2:3", Some(1563)),
            ("1-2:3:1", Some(1564)),
            ("INFINITE", Some(-1)),
            ("-1", Some(-1)),
            ("", None),
            ("a", None),
            ("1:2:3:4", None),
            ("-2", None),
            ("1.5", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(minutes(text), expected, "{text}");
        }
        assert_eq!(seconds(minutes("unlimited").expect("a time")), 4_294_967_236);
    }
}
