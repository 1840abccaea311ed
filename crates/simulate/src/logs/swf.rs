//! Reads the Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, -1 for
//! what is not known, and comments after `;`. Further columns are not read.
//!
//! Times may have fractions: the moments at which a job is submitted, starts and ends are rounded
//! to the nearest second, and its wait and its run time are the differences; the time that it asks
//! for is rounded up, so that rounding cuts no run.
//!
//! A job with the status 5 and no run time was cancelled while it waited. Lines with the status 2
//! to 4 describe parts of an execution, of which only the first has a time of submission. The line
//! with the status 0 or 1 is their sum; without it they are joined.
//!
//! Source: D. G. Feitelson, "The Standard Workload Format",
//! <https://www.cs.huji.ac.il/labs/parallel/workload/swf.html>.

use super::left_out::{Fault, LeftOutReason};
use crate::workload::UNKNOWN;
use crate::workload::builder::WorkloadBuilder;
use crate::workload::logged_job::{Extent, LoggedJob};

/// The number of fields that are read of a line.
pub const FIELDS: usize = 18;
/// The values of the field "status" that mark a part of a job's execution.
const PARTIAL: std::ops::RangeInclusive<i64> = 2..=4;
/// The status of a job that was cancelled.
const CANCELLED: i64 = 5;
/// The keys of the header that say which moment a time is.
const CLOCK: [&str; 3] = ["UnixStartTime", "TimeZone", "TimeZoneString"];

/// Whether a line that is not a comment is in this format: at least eleven numbers.
pub fn is_swf(line: &str) -> bool {
    let fields = line.split_ascii_whitespace().take(11);
    let numbers = fields.filter(|field| field.parse::<f64>().is_ok());
    numbers.count() == 11
}

/// The number of columns of a log with this first line.
pub fn columns(line: &str) -> usize {
    line.split_ascii_whitespace().count().max(FIELDS)
}

/// Adds the job of a line; a blank line and a comment have none. `columns` is the number of columns
/// of the log.
pub fn read_line(line: &str, columns: usize, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    let mut fields = [""; FIELDS];
    let mut count = 0;
    for field in line.split_ascii_whitespace() {
        if count == 0 && field.starts_with(';') {
            return Ok(());
        }
        if count == columns {
            return Err(Fault::from(
                "more than 18 fields, expected 18 numbers (`cut -d ' ' -f 1-18` keeps these)",
            ));
        }
        if let Some(place) = fields.get_mut(count) {
            *place = field;
        }
        count += 1;
    }
    match count {
        0 => return Ok(()),
        FIELDS.. => {}
        _ => return Err(Fault::from("fewer than 18 fields, expected 18 numbers")),
    }
    let [
        id,
        submit,
        wait,
        run,
        allocated,
        _,
        _,
        requested,
        requested_time,
        _,
        status,
        user,
        group,
        _,
        queue,
        ..,
    ] = fields;
    let not_a_number = "a field is not a number";
    let times = Times::new(submit, wait, run).ok_or(not_a_number)?;
    let requested = whole_number(requested).ok_or(not_a_number)?;
    let allocated = whole_number(allocated).ok_or(not_a_number)?;
    let walltime = rounded_up(requested_time).ok_or(not_a_number)?;
    let status = whole_number(status).ok_or(not_a_number)?;
    // not needed, but a word in its place shows a damaged line
    decimal(id).ok_or(not_a_number)?;
    let extent = if PARTIAL.contains(&status) {
        Extent::Part
    } else {
        Extent::Whole
    };
    if times.submit.is_none() && extent == Extent::Whole {
        return Err(Fault::from("no time of submission"));
    }
    let is_cancelled = status == CANCELLED && matches!(times.run, None | Some(0));
    if is_cancelled && builder.leaves_out_cancelled() {
        return Err(LeftOutReason::Cancelled.into());
    }
    let run = match times.run {
        None if is_cancelled => 0,
        run => run.ok_or("no run time")?,
    };
    let processors = builder.processors(Ok(positive(requested)), Ok(positive(allocated)))?;
    let [user, group, queue] = [user, group, queue].map(known_name);
    let job = LoggedJob {
        id,
        entity: user,
        user,
        group,
        unix_group: group,
        queue,
        submit: times.submit.unwrap_or(UNKNOWN),
        run,
        walltime: positive(walltime),
        processors,
        started: if is_cancelled { None } else { times.started },
        extent,
        ..LoggedJob::default()
    };
    builder.push(&job)
}

/// When a job is submitted and starts, and how long it runs, in whole seconds.
struct Times {
    submit: Option<i64>,
    started: Option<i64>,
    run: Option<i64>,
}

impl Times {
    /// Reads the fields; `None` if the submission or the run time is not a number.
    fn new(submit: &str, wait: &str, run: &str) -> Option<Self> {
        // whole numbers are exact, also those beyond 2^53
        if let (Ok(submit), Ok(wait), Ok(run)) = (submit.parse(), wait.parse(), run.parse()) {
            let mut started = None;
            if let (Some(submit), Some(wait)) = (known(submit), known(wait)) {
                started = i64::checked_add(submit, wait);
            }
            return Some(Self {
                submit: known(submit),
                started,
                run: known(run),
            });
        }
        let submit = known(decimal(submit)?);
        let mut started = None;
        if let (Some(submit), Some(wait)) = (submit, decimal(wait).and_then(known)) {
            started = Some(submit + wait);
        }
        let start = started.or(submit).unwrap_or(0.0);
        Some(Self {
            submit: submit.map(nearest),
            started: started.map(nearest),
            run: known(decimal(run)?).map(|run| nearest(start + run) - nearest(start)),
        })
    }
}

/// A number that is not negative, as one is that is not known.
fn known<N: PartialOrd + Default>(number: N) -> Option<N> {
    (number >= N::default()).then_some(number)
}

fn known_name(name: &str) -> &str {
    if name == "-1" { "" } else { name }
}

fn positive(number: i64) -> Option<i64> {
    (number > 0).then_some(number)
}

/// The nearest whole number; of two the larger one.
pub fn nearest(number: f64) -> i64 {
    libm::floor(number + 0.5) as i64
}

/// The processors of the machine in a line of the header, `; MaxProcs: 128`.
pub fn max_procs(line: &str) -> Option<u32> {
    match header_entry(line)? {
        ("MaxProcs", value) => value.parse().ok().filter(|processors| *processors > 0),
        _ => None,
    }
}

/// What a line of the header says of the clock, `; UnixStartTime: 0`: the key and the value.
pub fn clock(line: &str) -> Option<(&str, &str)> {
    let (key, value) = header_entry(line)?;
    CLOCK.contains(&key).then_some((key, value))
}

/// Whether a line is one of the header that says of which machine and time the log is.
pub fn is_header(line: &str) -> bool {
    const KEYS: [&str; 6] = [
        "Version",
        "MaxJobs",
        "MaxRecords",
        "UnixStartTime",
        "MaxNodes",
        "MaxProcs",
    ];
    match header_entry(line) {
        Some((key, _)) => KEYS.contains(&key),
        None => false,
    }
}

/// The key and the value of a line of the header.
fn header_entry(line: &str) -> Option<(&str, &str)> {
    let comment = line.strip_prefix(';')?;
    let (key, value) = comment
        .trim_start_matches([';', ' ', '\t'])
        .split_once(':')?;
    Some((key, value.trim()))
}

/// A whole number; the whole part of a decimal one.
fn whole_number(field: &str) -> Option<i64> {
    match field.parse() {
        Ok(whole) => Some(whole),
        Err(_) => Some(decimal(field)? as i64),
    }
}

/// The least whole number that is not below a number.
fn rounded_up(field: &str) -> Option<i64> {
    match field.parse() {
        Ok(whole) => Some(whole),
        Err(_) => Some(libm::ceil(decimal(field)?) as i64),
    }
}

/// A number without an exponent.
fn decimal(field: &str) -> Option<f64> {
    if field.contains(|c: char| !c.is_ascii_digit() && c != '.' && c != '-') {
        return None;
    }
    field.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_the_size_and_the_clock() {
        assert_eq!(max_procs("; MaxProcs: 128"), Some(128));
        assert_eq!(
            [
                max_procs("MaxProcs: 128"),
                max_procs("; MaxProcs: 0"),
                max_procs("; MaxNodes: 4")
            ],
            [None; 3]
        );
        assert_eq!(
            clock(";UnixStartTime: 870\r"),
            Some(("UnixStartTime", "870"))
        );
        assert_eq!(
            clock(";\tTimeZoneString: Europe/Berlin"),
            Some(("TimeZoneString", "Europe/Berlin"))
        );
        assert_eq!(
            [
                clock("; Note: TimeZone"),
                clock("UnixStartTime: 1"),
                clock(";")
            ],
            [None; 3]
        );
    }

    #[test]
    fn fractions_are_rounded_as_moments() {
        let times = |submit, wait, run| {
            let Times {
                submit,
                started,
                run,
            } = Times::new(submit, wait, run).expect("numbers");
            (submit, started, run)
        };
        assert_eq!(times("10", "5", "60"), (Some(10), Some(15), Some(60)));
        // 10.6 to 11, 12.2 to 12, 15.1 to 15
        assert_eq!(times("10.6", "1.6", "2.9"), (Some(11), Some(12), Some(3)));
        assert_eq!(times("0.5", "-1", "0.4"), (Some(1), None, Some(0)));
        assert_eq!(times("1.25", "0.25", "-1"), (Some(1), Some(2), None));
        assert_eq!(times("-1", "7.5", "3.5"), (None, None, Some(4)));
        assert_eq!(times("+5", "1", "2"), (Some(5), Some(6), Some(2)));
        let beyond_doubles = 9_007_199_254_740_993;
        assert_eq!(
            times(&beyond_doubles.to_string(), "1", "2"),
            (Some(beyond_doubles), Some(beyond_doubles + 1), Some(2))
        );
        assert_eq!(
            [rounded_up("99.1"), rounded_up("99"), rounded_up("-1")],
            [Some(100), Some(99), Some(-1)]
        );
        assert!(Times::new("1", "1", "x").is_none() && Times::new("1e3", "1", "1").is_none());
    }
}
