//! Times as qstat prints them, without the time zone of the clock.

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
/// use jsf_openpbs::wall_clock::seconds_of_ctime;
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
/// use jsf_openpbs::wall_clock::seconds_of_date;
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
