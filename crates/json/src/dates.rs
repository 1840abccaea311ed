//! Seconds since 1970 of the dates and times in documents.

/// The seconds since 1970 of a date, the year first, and a time of the day on a clock in UTC;
/// `None` if there is no such date or time.
pub fn seconds_of_date_and_time(date: [i64; 3], time: [i64; 3]) -> Option<i64> {
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

/// The number of days from 1970-01-01 to a date of the Gregorian calendar.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // years that begin in March have their leap day at the end
    let year = if month > 2 { year } else { year - 1 };
    let days_before_month = (153 * ((month + 9) % 12) + 2) / 5;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + days_before_month + day - 1 - 719_468
}
