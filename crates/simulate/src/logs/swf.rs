//! Reads the Standard Workload Format (SWF) of the Parallel Workloads Archive.
//!
//! SWF has 18 numbers a line, -1 for what is not known, and comments after `;`. Further columns are not
//! read. Times may have fractions: the moments at which a job is submitted, starts and ends are rounded
//! to the nearest second, and its wait and its run time are the differences; the time that it asks
//! for is rounded up, so that rounding cuts no run. A job with the status 5 and no run time was
//! cancelled while it waited. Lines with the status 2 to 4 describe parts of an execution, of which only
//! the first has a time of submission. The line with the status 0 or 1 is their sum; without it they
//! are joined.
//!
//! Source: D. G. Feitelson, "The Standard Workload Format",
//! <https://www.cs.huji.ac.il/labs/parallel/workload/swf.html>.

use crate::faults::{Fault, LeftOutReason};
use crate::workload::UNKNOWN;
use crate::workload::builder::{Extent, LoggedJob, STARTS, WorkloadBuilder};

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
    /// Fewer numbers may be of another format; the fields up to the status are enough for a job.
    const LEAST_FIELDS: usize = 11;
    let fields = line.split_ascii_whitespace().take(LEAST_FIELDS);
    let numbers = fields.filter(|field| field.parse::<f64>().is_ok());
    numbers.count() == LEAST_FIELDS
}

/// The number of columns of a log with this first line.
pub fn columns(line: &str) -> usize {
    line.split_ascii_whitespace().count().max(FIELDS)
}

/// Adds the job of a line; a blank line and a comment have none. `columns` is the number of columns
/// of the log.
pub fn read_swf_line(
    line: &str,
    columns: usize,
    builder: &mut WorkloadBuilder,
) -> Result<(), Fault> {
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
    let number = |field| decimal(field).ok_or("a field is not a number");
    // not needed, but a word in its place shows a damaged line
    number(id)?;
    let submit = known(number(submit)?);
    let run = known(number(run)?);
    let requested = number(requested)? as i64;
    let allocated = number(allocated)? as i64;
    let walltime = libm::ceil(number(requested_time)?) as i64;
    let status = number(status)? as i64;
    let mut started = None;
    if let (Some(submit), Some(wait)) = (submit, decimal(wait).and_then(known)) {
        started = Some(submit + wait);
    }
    let start = started.or(submit).unwrap_or(0.0);
    let run = run.map(|run| rounded_run(start, run));
    let extent = if PARTIAL.contains(&status) {
        Extent::Part
    } else {
        Extent::Whole
    };
    if submit.is_none() && extent == Extent::Whole {
        return Err(Fault::from("no time of submission"));
    }
    let is_cancelled = status == CANCELLED && matches!(run, None | Some(0));
    if is_cancelled && builder.leaves_out_cancelled() {
        return Err(LeftOutReason::Cancelled.into());
    }
    let run = match run {
        None if is_cancelled => 0,
        run => run.ok_or("no run time")?,
    };
    let processors = builder.processors(Ok(positive(requested)), Ok(positive(allocated)))?;
    let known_name = |name| if name == "-1" { "" } else { name };
    let [user, group, queue] = [user, group, queue].map(known_name);
    let job = LoggedJob {
        id,
        entity: user,
        user,
        group,
        unix_group: group,
        queue,
        submit: submit.map_or(UNKNOWN, nearest),
        run,
        walltime: positive(walltime),
        processors,
        started: started.filter(|_| !is_cancelled).map(nearest),
        extent,
        ..LoggedJob::default()
    };
    builder.push(&job)
}

/// How long a job runs, from its rounded start to its rounded end.
pub fn rounded_run(start: f64, run: f64) -> i64 {
    // beyond the range of starts, which are not used, a sum of floats may lose the run
    let start = if STARTS.contains(&nearest(start)) {
        start
    } else {
        0.0
    };
    nearest(start + run).saturating_sub(nearest(start))
}

/// A number that is not negative, as one is that is not known.
fn known(number: f64) -> Option<f64> {
    (number >= 0.0).then_some(number)
}

fn positive(number: i64) -> Option<i64> {
    (number > 0).then_some(number)
}

/// The nearest whole number; of two the larger one.
pub fn nearest(number: f64) -> i64 {
    libm::floor(number + 0.5) as i64
}

/// Notes what a line of the header says of the machine and the clock, such as `; MaxProcs: 128`.
/// Returns whether it is one that says of which machine and time the log is.
pub fn read_header_line(line: &str, builder: &mut WorkloadBuilder) -> bool {
    let comment = line.strip_prefix(';').unwrap_or_default();
    let comment = comment.trim_start_matches([';', ' ', '\t']);
    let Some((key, value)) = comment.split_once(':') else {
        return false;
    };
    if CLOCK.contains(&key) {
        builder.note_clock(key, value.trim());
    }
    if key == "MaxProcs"
        && let Ok(processors @ 1..) = value.trim().parse()
    {
        let known = &mut builder.read.machine_processors;
        *known = (*known).max(Some(processors));
    }
    [
        "Version",
        "MaxJobs",
        "MaxRecords",
        "MaxNodes",
        "MaxProcs",
        CLOCK[0],
    ]
    .contains(&key)
}

/// A number without an exponent.
fn decimal(field: &str) -> Option<f64> {
    // Rust's parser would take `inf` and `nan` too
    if field.contains(|c: char| !c.is_ascii_digit() && !"+-.".contains(c)) {
        return None;
    }
    field.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_the_size_and_the_clock() {
        let mut builder = WorkloadBuilder::new();
        for (line, is_header) in [
            ("MaxProcs: 128", false),
            ("; MaxProcs: 0", true),
            ("; MaxNodes: 4", true),
            (";UnixStartTime: 870\r", true),
            (";\tTimeZoneString: Europe/Berlin", false),
            ("; Note: TimeZone", false),
            ("UnixStartTime: 1", false),
            (";", false),
        ] {
            let found = read_header_line(line, &mut builder);
            assert_eq!(found, is_header, "{line}");
        }
        assert!(read_header_line("; MaxProcs: 16", &mut builder));
        let workload = builder.finish();
        assert_eq!(workload.machine_processors, Some(16));
        let clock = ["UnixStartTime: 870", "TimeZoneString: Europe/Berlin"];
        assert_eq!(workload.clock, clock.map(Box::from));
    }

    #[test]
    fn fractions_are_rounded_as_moments() {
        let times = |submit: &str, wait: &str, run: &str| {
            let mut builder = WorkloadBuilder::new();
            let line = format!("1 {submit} {wait} {run} 4 -1 -1 4 99.1 -1 1 1 1 -1 1 -1 -1 -1");
            read_swf_line(&line, FIELDS, &mut builder)?;
            let job = builder.finish().jobs()[0];
            assert_eq!(job.walltime, 100);
            Ok::<_, Fault>((job.submit, job.started, job.run))
        };
        assert_eq!(times("10", "5", "60"), Ok((10, Some(15), 60)));
        // 10.6 to 11, 12.2 to 12, 15.1 to 15
        assert_eq!(times("10.6", "1.6", "2.9"), Ok((11, Some(12), 3)));
        assert_eq!(times("0.5", "-1", "0.4"), Ok((1, None, 0)));
        assert_eq!(times("+5", "1", "2"), Ok((5, Some(6), 2)));
        for [submit, wait, run] in [
            ["1.25", "0.25", "-1"],
            ["-1", "7.5", "3.5"],
            ["1", "1", "x"],
            ["1e3", "1", "1"],
            ["9007199254740993", "1", "2"],
        ] {
            assert!(times(submit, wait, run).is_err(), "{submit} {wait} {run}");
        }
    }
}
