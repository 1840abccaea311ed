//! Reads a scheduler's log: the values in it, cycle by cycle, and the formulas that a server's log
//! in it names.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::wall_clock::seconds_of_date_and_time;

/// The most formulas that are taken from a log.
const MAX_FORMULAS: usize = 8;

/// A value in a scheduler's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedValue<'l> {
    /// The line, counted from 1.
    pub line: usize,
    /// The id of the job.
    pub job: Cow<'l, str>,
    /// The value, as it is printed in the log.
    pub digits: Cow<'l, str>,
}

/// The values in a log of `pbs_sched`, in its order. Lines may have a date and other fields before
/// `Job`; other lines are skipped.
///
/// ```
/// use jsf_openpbs::replay::logged_values;
///
/// let log = b"11/22/2026 04:17:59;0400;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843\nanother line\n";
/// let values: Vec<_> = logged_values(log).collect();
/// assert_eq!((values.len(), &*values[0].job, &*values[0].digits), (1, "12.vm", "0.8843"));
/// ```
pub fn logged_values(log: &[u8]) -> impl Iterator<Item = LoggedValue<'_>> {
    lines(log).filter_map(|(text, line)| value_in(text, line))
}

fn lines(log: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    log.split(|&byte| byte == b'\n').zip(1..)
}

fn value_in(text: &[u8], line: usize) -> Option<LoggedValue<'_>> {
    let (before, digits) = split_at(text, b";Formula Evaluation = ")?;
    let job = before.rsplit(|&byte| byte == b';').next()?;
    let digits = digits.trim_ascii();
    if job.is_empty() || digits.is_empty() || !before[..before.len() - job.len()].ends_with(b"Job;")
    {
        return None;
    }
    Some(LoggedValue {
        line,
        job: String::from_utf8_lossy(job),
        digits: String::from_utf8_lossy(digits),
    })
}

/// The values of one cycle.
#[derive(Default)]
pub struct Cycle<'l> {
    pub values: Vec<LoggedValue<'l>>,
    /// The time of the first value in seconds, if its line has one; only differences of such times
    /// mean anything.
    pub time: Option<i64>,
}

/// Visits the values of one cycle after the other: all that follow a line
/// `Starting Scheduling Cycle`, or, in a log without such lines, those of one second. A job is
/// evaluated once in a cycle, so its next value begins another one. Returns the number of lines
/// with a value that cannot be read.
pub fn for_each_cycle<'l>(log: &'l [u8], mut visit: impl FnMut(Cycle<'l>)) -> usize {
    const START: &[u8] = b";Starting Scheduling Cycle";
    let has_starts = lines(log).any(|(text, _)| split_at(text, START).is_some());
    let mut cycle = Cycle::default();
    let mut jobs = HashSet::new();
    let mut second = &log[..0];
    let mut damaged = 0;
    for (text, line) in lines(log) {
        let value = value_in(text, line);
        let begins = match &value {
            Some(value) => jobs.contains(&value.job) || (!has_starts && second_of(text) != second),
            None => has_starts && split_at(text, START).is_some(),
        };
        if begins {
            visit(std::mem::take(&mut cycle));
            jobs.clear();
        }
        match value {
            Some(value) => {
                second = second_of(text);
                if cycle.values.is_empty() {
                    cycle.time = time_of(second);
                }
                jobs.insert(value.job.clone());
                cycle.values.push(value);
            }
            None => damaged += usize::from(split_at(text, b";Formula Evaluation").is_some()),
        }
    }
    visit(cycle);
    damaged
}

/// The date and time of a line, without fractions of a second.
fn second_of(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| matches!(byte, b';' | b'.'));
    &line[..end.unwrap_or(line.len())]
}

/// The seconds of `MM/DD/YYYY HH:MM:SS` since 1970, on the clock of the log.
fn time_of(second: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(second).ok()?;
    if text.len() != 19 {
        return None;
    }
    let mut numbers = Vec::new();
    for number in text.split(['/', ' ', ':']).take(6) {
        numbers.push(number.parse::<u32>().ok()?.into());
    }
    let [month, day, year, hours, minutes, seconds] = numbers[..] else {
        return None;
    };
    seconds_of_date_and_time([year, month, day], [hours, minutes, seconds])
}

/// The formulas that lines of a server's log say were set, each once, the latest first. A
/// scheduler's log has no such lines.
pub fn formulas_set(log: &[u8]) -> Vec<String> {
    let mut formulas: Vec<String> = Vec::new();
    for (text, _) in lines(log) {
        let Some((_, formula)) = split_at(text, b";attributes set: job_sort_formula = ") else {
            continue;
        };
        let formula = String::from_utf8_lossy(formula.trim_ascii());
        formulas.retain(|known| *known != formula);
        formulas.insert(0, formula.into_owned());
        formulas.truncate(MAX_FORMULAS);
    }
    formulas
}

/// Whether the scheduler can have printed a text as a value: a number, `inf` or `nan`.
pub fn is_value(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    matches!(unsigned, "inf" | "nan") || is_digits(whole) && is_digits(decimals)
}

/// Whether a text is digits, at least one.
fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn split_at<'t>(text: &'t [u8], separator: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let mut windows = text.windows(separator.len());
    let at = windows.position(|window| window == separator)?;
    Some((&text[..at], &text[at + separator.len()..]))
}
