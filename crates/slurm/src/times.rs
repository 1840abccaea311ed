//! The times that Slurm's tools and files write: a moment ([`parse_time`]), a length of time
//! ([`parse_minutes`]), and how long a job may run ([`TimeLimit`]).

use jsf_json::dates::seconds_of_date_and_time;

/// How long a job may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeLimit {
    /// The job has none of its own: that of its partition.
    #[default]
    OfPartition,
    /// `UNLIMITED`
    Unlimited,
    /// So many minutes.
    Minutes(u32),
}

impl TimeLimit {
    /// Parses what Slurm's tools print, such as `1-00:00:00` or `UNLIMITED`.
    pub fn parse(text: &str) -> Self {
        match text {
            // before 23.02, JSON has the greatest number
            "UNLIMITED" | "INFINITE" | "4294967295" => Self::Unlimited,
            // `squeue` prints `30:00` for half an hour, where `slurm.conf` has minutes before seconds
            // too, and `1:00:00` for an hour
            _ => match parse_minutes(text).map(u32::try_from) {
                Some(Ok(minutes)) => Self::Minutes(minutes),
                _ => Self::OfPartition,
            },
        }
    }
}

/// Seconds since 1970 of `2026-11-27T08:54:58`, on the clock of the document; `None` for words such
/// as `Unknown` and `N/A`.
pub fn parse_time(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let date = three_numbers(date, '-')?;
    seconds_of_date_and_time(date, three_numbers(time, ':')?).filter(|seconds| *seconds >= 0)
}

fn three_numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut numbers = Vec::new();
    for part in text.split(separator) {
        numbers.push(part.parse().ok()?);
    }
    numbers.try_into().ok()
}

/// The daemon's value for an infinite time, in minutes.
const INFINITE: i64 = -1;

/// Parses a time into minutes, rounded up; `None` if the text is not a time.
///
/// `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes` or
/// `days-hours:minutes:seconds`.
pub fn parse_minutes(text: &str) -> Option<i64> {
    if text == "-1" || is_infinite(text) {
        return Some(INFINITE);
    }
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(short_number(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<i64> = rest.split(':').map(short_number).collect::<Option<_>>()?;
    let seconds = match (days, parts.as_slice()) {
        (None, &[minutes]) => minutes * 60,
        (None, &[minutes, seconds]) => minutes * 60 + seconds,
        (None, &[hours, minutes, seconds]) => (hours * 60 + minutes) * 60 + seconds,
        (Some(days), &[hours]) => (days * 24 + hours) * 3600,
        (Some(days), &[hours, minutes]) => ((days * 24 + hours) * 60 + minutes) * 60,
        (Some(days), &[hours, minutes, seconds]) => {
            ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        }
        _ => return None,
    };
    Some((seconds + 59) / 60)
}

/// Whether a text is one of the words for a number without a bound.
pub fn is_infinite(text: &str) -> bool {
    text.eq_ignore_ascii_case("infinite") || text.eq_ignore_ascii_case("unlimited")
}

/// A number of at most nine digits.
fn short_number(text: &str) -> Option<i64> {
    if text.len() > 9 || text.contains(|c: char| !c.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        assert_eq!(parse_time("1970-01-01T00:00:00"), Some(0));
        assert_eq!(parse_time("2026-11-27T08:54:58"), Some(1_795_769_698));
        assert_eq!(parse_time("2024-02-29T00:00:01"), Some(1_709_164_801));
        assert_eq!(parse_time("Unknown"), None);
    }

    #[test]
    fn limits_are_minutes() {
        assert_eq!(TimeLimit::parse("5:00"), TimeLimit::Minutes(5));
        assert_eq!(TimeLimit::parse("1-00:00:00"), TimeLimit::Minutes(1440));
        assert_eq!(TimeLimit::parse("00:05:00"), TimeLimit::Minutes(5));
        assert_eq!(TimeLimit::parse("UNLIMITED"), TimeLimit::Unlimited);
        assert_eq!(TimeLimit::parse("Partition_Limit"), TimeLimit::OfPartition);
    }

    #[test]
    fn every_form_of_a_length_is_read() {
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
            assert_eq!(parse_minutes(text), expected, "{text}");
        }
    }
}
