//! Durations in seconds: in the syntax of PBS, such as `12:34:56`, and in the notations of PBS and of
//! Slurm, or with a unit. Times as qstat prints them, without the time zone of the clock.

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
/// ```
pub fn seconds_of_ctime(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let &[_, month, day, time, year] = words.as_slice() else {
        return None;
    };
    let month = (1..).zip(MONTHS).find(|(_, name)| *name == month)?.0;
    let mut parts = Vec::new();
    for part in time.split(':') {
        parts.push(part.parse().ok()?);
    }
    let &[hour, minute, second] = parts.as_slice() else {
        return None;
    };
    let date = [year.parse().ok()?, month, day.parse().ok()?];
    seconds_of_date_and_time(date, [hour, minute, second])
}

/// The seconds since 1970 of a date, the year first, and a time of the day on a clock in UTC;
/// `None` if there is no such date or time.
pub(crate) fn seconds_of_date_and_time(date: [i64; 3], time: [i64; 3]) -> Option<i64> {
    let [year @ 1900..10_000, month @ 1..=12, day] = date else {
        return None;
    };
    let [hour @ 0..24, minute @ 0..60, second @ 0..=60] = time else {
        return None;
    };
    let (year_of_next, next_month) = if month == 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    let first = days_since_1970(year, month, 1);
    let days_of_month = days_since_1970(year_of_next, next_month, 1) - first;
    if !(1..=days_of_month).contains(&day) {
        return None;
    }
    Some((((first + day - 1) * 24 + hour) * 60 + minute) * 60 + second)
}

/// The day of its year, from 1, of seconds since 1970 in UTC.
pub(crate) fn day_of_year(time: i64) -> i64 {
    // the calendar repeats itself
    let days = time.div_euclid(DAY).rem_euclid(DAYS_OF_400_YEARS);
    let mut year = 1970 + days / 366;
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    days - days_since_1970(year, 1, 1) + 1
}

/// In seconds.
pub(crate) const DAY: i64 = 86400;
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
    let &[weekday, month, day, time, ref half @ .., zone, year] = words.as_slice() else {
        return None;
    };
    if !matches!(zone, "UTC" | "GMT" | "Z") {
        return None;
    }
    let seconds = seconds_of_ctime(&[weekday, month, day, time, year].join(" "))?;
    let is_twelve = time.starts_with("12:");
    match half {
        [] => Some(seconds),
        ["AM"] if is_twelve => Some(seconds - HALF_A_DAY),
        ["PM"] if !is_twelve => Some(seconds + HALF_A_DAY),
        ["AM" | "PM"] => Some(seconds),
        _ => None,
    }
}

/// In seconds.
const HALF_A_DAY: i64 = 12 * 3600;

/// The number of days from 1970-01-01 to a date of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // years that begin in March have their leap day at the end
    let year = if month > 2 { year } else { year - 1 };
    let days_before_month = (153 * ((month + 9) % 12) + 2) / 5;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + days_before_month + day - 1 - 719_468
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
