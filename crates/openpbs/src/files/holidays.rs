//! The files in `sched_priv` that say when the scheduler runs jobs.
//!
//! `holidays` says when it is prime time, and `dedicated_time` when only the jobs of dedicated queues
//! run. Out: [`Holidays`], or the [`dedicated_times`], on the clock of the server's host, as if it were
//! in UTC, and what is said of the lines that have no effect. Source: `pbs_holidays(5)`, the scheduler's
//! chapter of PBS's administrator's guide, and the cycles recorded in `tests/golden/cycles2`.

use std::collections::BTreeSet;
use std::ops::Range;

use jsf_json::{numbers, seconds_of_date_and_time};

use crate::c_text::{c_string, is_blank_or_comment, name_text};
use crate::times::{DAY, day_of_year};

/// When it is prime time. Times are in seconds on the clock of the server's host, as if it were in
/// UTC. The default is prime time at all times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holidays {
    /// A file without a year, or with the year 0, has no effect.
    has_year: bool,
    /// By weekday, from Sunday on.
    days: [Day; 7],
    /// The days of a year, from 1, on which it is never prime time.
    holidays: BTreeSet<i64>,
}

/// When it is prime time on a day: from one second of the day to another one, round the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Day {
    prime: i64,
    non_prime: i64,
}

/// Begins at no second of a day.
const NEVER: i64 = DAY + 1;
/// Stands for the whole day.
const ALL: i64 = -1;

impl Day {
    const PRIME: Self = Self {
        prime: 0,
        non_prime: NEVER,
    };
    const NON_PRIME: Self = Self {
        prime: NEVER,
        non_prime: 0,
    };

    fn is_prime_at(self, second: i64) -> bool {
        if self.prime < self.non_prime {
            (self.prime..self.non_prime).contains(&second)
        } else {
            !(self.non_prime..self.prime).contains(&second)
        }
    }
}

impl Default for Day {
    fn default() -> Self {
        Self::PRIME
    }
}

/// For how many days a change is looked for, as the scheduler does.
const MAX_DAYS: i64 = 7;

impl Holidays {
    /// Reads the file.
    ///
    /// ```
    /// use jsf_openpbs::files::holidays::Holidays;
    ///
    /// let (holidays, unused) = Holidays::read(b"YEAR 2026\nweekday 0600 1730\nsunday none all\n359 Dec 25 Christmas\n");
    /// // Friday, 2026-11-27, 12:00
    /// assert!(unused.is_empty() && holidays.is_prime_at(1_795_780_800));
    /// assert_eq!(holidays.next_change(1_795_780_800), Some(1_795_800_600));
    /// ```
    pub fn read(file: &[u8]) -> (Self, Vec<String>) {
        let mut holidays = Self::default();
        let unused = unused_lines(
            file,
            "a line is `YEAR 2026`, `weekday 0600 1730` or a day of the year",
            |words| holidays.apply(words),
        );
        (holidays, unused)
    }

    fn apply(&mut self, words: &[&str]) -> Option<()> {
        let days = match *words.first()? {
            "HOLIDAYFILE_VERSION1" => return Some(()),
            "YEAR" => {
                self.has_year = words.get(1)?.parse::<u32>().ok()? != 0;
                return Some(());
            }
            "weekday" => 1..6,
            "sunday" => 0..1,
            "monday" => 1..2,
            "tuesday" => 2..3,
            "wednesday" => 3..4,
            "thursday" => 4..5,
            "friday" => 5..6,
            "saturday" => 6..7,
            number => {
                let day = number.parse().ok().filter(|day| (1..=366).contains(day))?;
                self.holidays.insert(day);
                return Some(());
            }
        };
        self.days[days].fill(day(words.get(1)?, words.get(2)?)?);
        Some(())
    }

    /// Whether it is prime time.
    pub fn is_prime_at(&self, time: i64) -> bool {
        self.day(time).is_prime_at(time.rem_euclid(DAY))
    }

    fn day(&self, time: i64) -> Day {
        if !self.has_year {
            Day::PRIME
        } else if self.holidays.contains(&day_of_year(time)) {
            Day::NON_PRIME
        } else {
            // 1970-01-01 was a Thursday
            self.days[(time.div_euclid(DAY) + 4).rem_euclid(7) as usize]
        }
    }

    /// When prime time or the time outside it ends; `None` if it does not within a week.
    pub fn next_change(&self, time: i64) -> Option<i64> {
        let is_prime = self.is_prime_at(time);
        let mut begin = time.saturating_sub(time.rem_euclid(DAY));
        for _ in 0..=MAX_DAYS {
            let Day { prime, non_prime } = self.day(begin);
            for second in [0, prime.min(non_prime), prime.max(non_prime)] {
                let at = begin.saturating_add(second);
                if second != NEVER && at > time && self.is_prime_at(at) != is_prime {
                    return Some(at);
                }
            }
            begin = begin.saturating_add(DAY);
        }
        None
    }
}

/// When it is prime time on a day, by the beginnings of prime time and of the time outside it.
fn day(prime: &str, non_prime: &str) -> Option<Day> {
    // in the order of the scheduler's questions; with `none` twice it assumes prime time all day
    Some(match (second(prime)?, second(non_prime)?) {
        (ALL, _) | (_, NEVER) => Day::PRIME,
        (_, ALL) | (NEVER, _) => Day::NON_PRIME,
        (prime, non_prime) => Day { prime, non_prime },
    })
}

/// The second of the day at which prime time, or the time outside it, begins.
fn second(word: &str) -> Option<i64> {
    match word {
        "all" | "ALL" => return Some(ALL),
        "none" | "NONE" => return Some(NEVER),
        _ => {}
    }
    let number: i64 = word.parse().ok()?;
    let (hours, minutes) = (number / 100, number % 100);
    let is_time = (0..=2400).contains(&number) && minutes < 60;
    is_time.then_some((hours * 60 + minutes) * 60)
}

/// Applies the words of each line that is neither blank nor a comment. Returns what is said of the
/// lines for which that fails.
fn unused_lines(
    file: &[u8],
    expected: &str,
    mut apply: impl FnMut(&[&str]) -> Option<()>,
) -> Vec<String> {
    let mut unused = Vec::new();
    for (line, text) in (1..).zip(file.split(|&byte| byte == b'\n').map(c_string)) {
        if is_blank_or_comment(text) {
            continue;
        }
        let text = name_text(text);
        let words: Vec<&str> = text.split_whitespace().collect();
        if apply(&words).is_none() {
            let text = text.trim();
            unused.push(format!("line {line} has no effect, {expected}: `{text}`"));
        }
    }
    unused
}

/// Reads `dedicated_time`: `MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM` per line, the begin and the end. The
/// times are in the order of their begins.
///
/// ```
/// use jsf_openpbs::files::holidays::dedicated_times;
///
/// let (times, unused) = dedicated_times(b"# maintenance\n11/27/2026 10:26 11/27/2026 12:26\n");
/// assert!(unused.is_empty() && times == [1_795_775_160..1_795_782_360]);
/// ```
pub fn dedicated_times(file: &[u8]) -> (Vec<Range<i64>>, Vec<String>) {
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
    let [month, day, year] = numbers(date, '/')?;
    // the scheduler takes the years from 90 on to be of the last century
    let century = match year {
        0..90 => 2000,
        90..100 => 1900,
        _ => 0,
    };
    let [hour, minute] = numbers(time, ':')?;
    seconds_of_date_and_time([year + century, month, day], [hour, minute, 0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::times::seconds_of_ctime;

    fn at(text: &str) -> i64 {
        seconds_of_ctime(text).unwrap()
    }

    #[test]
    fn prime_time_begins_and_ends_as_each_day_says() {
        let (holidays, unused) = Holidays::read(
            b"* a comment\nYEAR\t2026\n  weekday\t0600\t1730\n saturday none all\nsunday 2000 0400\n\
            wednesday none none\n  359  Dec 25  Christmas Day\n",
        );
        assert_eq!(unused, [""; 0]);
        for (time, is_prime) in [
            ("Fri Nov 27 05:59:59 2026", false),
            ("Fri Nov 27 06:00:00 2026", true),
            ("Fri Nov 27 17:29:59 2026", true),
            ("Fri Nov 27 17:30:00 2026", false),
            ("Sat Nov 28 12:00:00 2026", false),
            ("Sun Nov 29 03:59:59 2026", true),
            ("Sun Nov 29 04:00:00 2026", false),
            ("Sun Nov 29 20:00:00 2026", true),
            ("Wed Nov 25 03:00:00 2026", true),
            ("Fri Dec 25 12:00:00 2026", false),
            // of a leap year, the day 359 is another date
            ("Tue Dec 24 12:00:00 2024", false),
        ] {
            assert_eq!(holidays.is_prime_at(at(time)), is_prime, "{time}");
        }
        for (time, change) in [
            ("Fri Nov 27 12:00:00 2026", "Fri Nov 27 17:30:00 2026"),
            ("Fri Nov 27 17:30:00 2026", "Sun Nov 29 00:00:00 2026"),
            ("Sun Nov 29 21:00:00 2026", "Mon Nov 30 00:00:00 2026"),
            ("Fri Dec 25 00:00:00 2026", "Sun Dec 27 00:00:00 2026"),
        ] {
            assert_eq!(holidays.next_change(at(time)), Some(at(change)), "{time}");
        }
    }

    #[test]
    fn what_is_not_said_is_prime_time() {
        let friday = at("Fri Nov 27 23:00:00 2026");
        for text in [
            "",
            "weekday none all\n",
            "YEAR 0\nweekday none all\n",
            "YEAR 2026\nsunday none all\n",
        ] {
            let (holidays, unused) = Holidays::read(text.as_bytes());
            assert!(unused.is_empty() && holidays.is_prime_at(friday), "{text}");
        }
        let (holidays, _) = Holidays::read(b"YEAR 2026\nweekday all 1200\n");
        assert_eq!(holidays.next_change(friday), None);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        let (holidays, unused) = Holidays::read(
            b"YEAR 2026\nweekday 0600\nweekday 0660 1700\nChristmas 359\n367\nmonday 0 2500\n",
        );
        let lines: Vec<&str> = unused.iter().map(|unused| &unused[..7]).collect();
        assert_eq!(
            lines,
            ["line 2 ", "line 3 ", "line 4 ", "line 5 ", "line 6 "]
        );
        assert_eq!(
            unused[1],
            "line 3 has no effect, a line is `YEAR 2026`, `weekday 0600 1730` or a day of the year: `weekday 0660 1700`"
        );
        assert_eq!(holidays.days, [Day::PRIME; 7]);
    }

    #[test]
    fn times_are_in_their_order_and_other_lines_are_named() {
        let (times, unused) = dedicated_times(
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
