//! Durations and times as text, in seconds.
//!
//! Durations are in the syntax of PBS, such as `12:34:56`, in the notations of PBS and of Slurm, or
//! with a unit. Times are those that qstat and `date` print; those of qstat are without the time zone
//! of its clock.

use jiff::Timestamp;
use jiff::tz::Offset;
use jsf_json::seconds_of_date_and_time;

/// The number of seconds in `HH:MM:SS`, `MM:SS` or `SS`, each part with any number of digits; a
/// fraction of a second is rounded to the nearest second, a half up. `None` for a text of another
/// form, and for more than 64 bits of seconds.
///
/// ```
/// use jsf_openpbs::times::seconds;
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
            return whole(digits)?.checked_mul(length);
        }
    }
    let Some((days, rest)) = text.split_once('-') else {
        return u64::try_from(seconds(text)?).ok();
    };
    let mut total = whole(days)?.checked_mul(86_400)?;
    let mut units = [3600, 60, 1].into_iter();
    for part in rest.split(':') {
        let part = whole(part)?.checked_mul(units.next()?)?;
        total = total.checked_add(part)?;
    }
    Some(total)
}

fn whole(digits: &str) -> Option<u64> {
    if digits.starts_with('+') {
        return None;
    }
    digits.parse().ok()
}

/// A time, as a document or a user gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// In seconds since 1970.
    Utc(i64),
    /// On the clock of the host of qstat, as if it were in UTC.
    Wall(i64),
}

/// The seconds since 1970 on a clock that shows `Fri Nov 20 18:05:02 2026`, as C's `ctime` writes
/// it, as if the clock were in UTC; `None` for another text.
///
/// ```
/// use jsf_openpbs::times::seconds_of_ctime;
///
/// assert_eq!(seconds_of_ctime("Fri Nov 20 18:05:02 2026"), Some(1_795_197_902));
/// assert_eq!(seconds_of_ctime("tomorrow"), None);
/// assert_eq!(seconds_of_ctime("Fri Dec 31 23:59:59 9999"), Some(253_402_300_799));
/// assert_eq!(seconds_of_ctime("Tue Jan  1 00:00:00 1801"), None);
/// ```
pub fn seconds_of_ctime(text: &str) -> Option<i64> {
    const MONTHS: &str = "jan feb mar apr may jun jul aug sep oct nov dec";
    // the weekday follows from the date
    let (_, date) = text.trim_start().split_once(char::is_whitespace)?;
    let (month, mut rest) = date.trim_start().split_at_checked(3)?;
    let mut months = (1..).zip(MONTHS.split(' '));
    let (month, _) = months.find(|(_, name)| name.eq_ignore_ascii_case(month))?;
    // as C's `strptime` reads a date: white space may precede a number or be missing
    let mut numbers = [0; 5];
    for (number, (separator, digits)) in
        numbers
            .iter_mut()
            .zip([("", 2), ("", 2), (":", 2), (":", 2), ("", 4)])
    {
        let text = rest.strip_prefix(separator)?.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit());
        let (written, after) = text.split_at(end.unwrap_or(text.len()).min(digits));
        *number = written.parse().ok()?;
        rest = after;
    }
    if !rest.trim().is_empty() {
        return None;
    }
    let [day, hour, minute, second, year] = numbers;
    seconds_of_date_and_time([year, month, day], [hour, minute, second])
}

/// The day of its year, from 1, of seconds since 1970 in UTC.
pub(crate) fn day_of_year(time: i64) -> i64 {
    // the calendar repeats itself
    match Timestamp::from_second(time.rem_euclid(DAYS_OF_400_YEARS * DAY)) {
        Ok(time) => Offset::UTC.to_datetime(time).day_of_year().into(),
        Err(_) => 0,
    }
}

/// In seconds.
pub(crate) const DAY: i64 = 86400;
const HALF_A_DAY: i64 = DAY / 2;

const DAYS_OF_400_YEARS: i64 = 146_097;

/// The seconds since 1970 of what `date` prints of a clock in UTC, such as
/// `Wed Nov 25 22:53:32 UTC 2026`, with the hours of a day or of half a day; `None` for another
/// text, or a time zone that is not certain.
///
/// ```
/// use jsf_openpbs::times::seconds_of_date;
///
/// assert_eq!(seconds_of_date("Fri Nov 20 18:05:02 UTC 2026"), Some(1_795_197_902));
/// assert_eq!(seconds_of_date("Fri Nov 20 06:05:02 PM UTC 2026"), Some(1_795_197_902));
/// assert_eq!(seconds_of_date("Fri Nov 20 18:05:02 CET 2026"), None);
/// ```
pub fn seconds_of_date(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let &[
        weekday,
        month,
        day,
        time,
        ref half @ ..,
        "UTC" | "GMT" | "Z",
        year,
    ] = words.as_slice()
    else {
        return None;
    };
    let seconds = seconds_of_ctime(&[weekday, month, day, time, year].join(" "))?;
    let hour: i64 = time.split(':').next()?.parse().ok()?;
    let half_begins = match half {
        [] => return Some(seconds),
        _ if !(1..=12).contains(&hour) => return None,
        [half] if half.eq_ignore_ascii_case("am") => 0,
        [half] if half.eq_ignore_ascii_case("pm") => HALF_A_DAY,
        _ => return None,
    };
    // each half of a day begins with the hour 12
    let written = if hour == 12 { HALF_A_DAY } else { 0 };
    Some(seconds + half_begins - written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_recorded() {
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
    fn other_texts_are_no_durations() {
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

    /// What glibc's `strptime("%a %b %d %H:%M:%S %Y")` and `timegm` make of each text decides, but for
    /// days that no calendar has (31 November), which they count on into the next month: a typing
    /// error. A weekday in another language than C's is accepted, as the date says it too.
    #[test]
    fn times_are_read_as_by_the_c_library() {
        let usual = Some(1_795_197_902);
        for (text, expected) in [
            ("Fri Nov 20 18:05:02 2026", usual),
            // a leap second is the first one of the next minute
            ("Fri Nov 20 18:05:60 2026", Some(1_795_197_960)),
            ("Sat Dec 31 23:59:60 2016", Some(1_483_228_800)),
            ("Fri Nov 20 18:05:62 2026", None),
            // a blank of the format is any white space, also none
            ("Fri Nov20 18:05:02 2026", usual),
            ("Fri Nov 2018:05:022026", usual),
            ("  Fri  Nov\t20  18:05:02  2026\n", usual),
            ("Fri Nov 20 18: 05:02 2026", usual),
            ("Fri Nov 20 18 :05:02 2026", None),
            // a number has at most as many digits as its part of a date
            ("Fri Nov 2 18:05:02 2026", Some(1_793_642_702)),
            ("Fri Nov 02 18:05:02 2026", Some(1_793_642_702)),
            ("Fri Nov 020 18:05:02 2026", None),
            ("Fri Nov 20 8:5:2 2026", Some(1_795_161_902)),
            ("Fri Nov 20 18:05:02 20261", None),
            ("Fri Nov 20 +8:05:02 2026", None),
            ("fri nov 20 18:05:02 2026", usual),
            ("Fr Nov 20 18:05:02 2026", usual),
            ("Fri Sept 20 18:05:02 2026", None),
            ("Fri Nov 31 18:05:02 2026", None),
            ("Fri Nov 0 18:05:02 2026", None),
            ("Fri Nov 20 24:05:02 2026", None),
            ("Fri Nov 20 18:05:02 2026 x", None),
            ("Fri Nov 20 18:05:02 26", None),
        ] {
            assert_eq!(seconds_of_ctime(text), expected, "{text}");
        }
        for (text, expected) in [
            ("Fri Nov 20 12:05:02 AM UTC 2026", Some(1_795_133_102)),
            ("Fri Nov 20 12:05:02 PM UTC 2026", Some(1_795_176_302)),
            ("Fri Nov 20 06:05:02 pm UTC 2026", usual),
            ("Fri Nov 20 18:05:02 PM UTC 2026", None),
            ("Fri Nov 20 06:05:02 MM UTC 2026", None),
        ] {
            assert_eq!(seconds_of_date(text), expected, "{text}");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (text, seconds) in [
            ("Thu Jan  1 00:00:00 1970", 0),
            ("Tue Feb 29 23:59:59 2000", 951_868_799),
            ("Wed Mar  1 00:00:00 2000", 951_868_800),
            ("Thu Dec 31 23:59:59 2099", 4_102_444_799),
            ("Wed Dec 31 23:59:59 1969", -1),
        ] {
            assert_eq!(seconds_of_ctime(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "Fri Nov 20 18:05 2026",
            "Fri Nov 31 18:05:02 2026",
            "Mon Feb 29 18:05:02 2100",
            "Fri Dec 32 18:05:02 2026",
            "Fri Foo 20 18:05:02 2026",
            "Fri Nov 20 25:00:00 2026",
        ] {
            assert_eq!(seconds_of_ctime(text), None, "{text}");
        }
    }
}
