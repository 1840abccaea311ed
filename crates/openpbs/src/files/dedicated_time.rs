//! The file `sched_priv/dedicated_time`: when only the jobs of dedicated queues run.
//!
//! In: the bytes of the file. Out: the times, on the clock of the server's host, as if it were in
//! UTC, and the lines that have no effect.
//!
//! Source: the scheduler's chapter of PBS's administrator's guide, and the cycles recorded in
//! `tests/golden/cycles2`.

use std::ops::Range;

use crate::files::holidays::unused_lines;
use crate::wall_clock::seconds_of_date_and_time;

/// Reads the file: `MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM` per line, the begin and the end. The times
/// are in the order of their begins.
///
/// ```
/// use jsf_openpbs::files::dedicated_time::read;
///
/// let (times, unused) = read(b"# maintenance\n11/27/2026 10:26 11/27/2026 12:26\n");
/// assert!(unused.is_empty() && times == [1_795_775_160..1_795_782_360]);
/// ```
pub fn read(file: &[u8]) -> (Vec<Range<i64>>, Vec<String>) {
    let mut times = Vec::new();
    let expected = "a line is `MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM`, begin and end";
    let unused = unused_lines(file, expected, |words| {
        times.push(dedicated(words)?);
        Some(())
    });
    times.sort_unstable_by_key(|time: &Range<i64>| (time.start, time.end));
    (times, unused)
}

fn dedicated(words: &[&str]) -> Option<Range<i64>> {
    let &[first_date, begin, last_date, end, ..] = words else {
        return None;
    };
    let time = time_of(first_date, begin)?..time_of(last_date, end)?;
    Some(time).filter(|time| !time.is_empty())
}

/// The time of `11/27/2026` or `11/27/26`, and `10:26`.
pub fn time_of(date: &str, time: &str) -> Option<i64> {
    let (month, rest) = date.split_once('/')?;
    let (day, year) = rest.split_once('/')?;
    let year: i64 = year.parse().ok()?;
    // the scheduler takes the years from 90 on to be of the last century
    let century = match year {
        0..90 => 2000,
        90..100 => 1900,
        _ => 0,
    };
    let date = [year + century, month.parse().ok()?, day.parse().ok()?];
    let (hour, minute) = time.split_once(':')?;
    seconds_of_date_and_time(date, [hour.parse().ok()?, minute.parse().ok()?, 0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_their_order_and_other_lines_are_named() {
        let (times, unused) = read(
            b"12/01/2026 00:00 12/02/26 00:00\n* comment\n11/27/2026 10:26 11/27/2026 12:26\n11/27/2026 10:26\n\
            11/31/2026 10:26 12/01/2026 12:26\n11/27/2026 12:26 11/27/2026 10:26\n",
        );
        assert_eq!(
            times,
            [1_795_775_160..1_795_782_360, 1_796_083_200..1_796_169_600]
        );
        let lines: Vec<&str> = unused.iter().map(|unused| &unused[..7]).collect();
        assert_eq!(lines, ["line 4 ", "line 5 ", "line 6 "]);
        assert_eq!(
            unused[0],
            "line 4 has no effect, a line is `MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM`, begin and end: `11/27/2026 10:26`"
        );
    }
}
