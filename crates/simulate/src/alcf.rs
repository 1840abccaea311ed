//! Reads the public job data of the Argonne Leadership Computing Facility (`DIM_JOB_COMPOSITE`,
//! <https://reports.alcf.anl.gov/data/>): comma-separated values with a line of column names. Names
//! of users and projects are numbers there, and times are in UTC.

use super::left_out::Fault;
use super::log_rules::{Cancelled, processor_count};
use super::sacct::time;
use super::workload::{Extent, LoggedJob, WorkloadBuilder};

/// The columns that are read, and how many of the first ones a log must have.
const COLUMNS: [&str; 11] = [
    "JOB_NAME",
    "QUEUED_TIMESTAMP",
    "START_TIMESTAMP",
    "END_TIMESTAMP",
    "WALLTIME_SECONDS",
    "CORES_REQUESTED",
    "CORES_USED",
    "USERNAME_GENID",
    "PROJECT_NAME_GENID",
    "QUEUE_NAME",
    "RUNTIME_SECONDS",
];
const NEEDED: usize = 6;

/// The places of the columns in a line, in the order of [`COLUMNS`].
#[derive(Debug)]
pub(super) struct AlcfColumns([Option<usize>; COLUMNS.len()]);

impl AlcfColumns {
    /// The columns that a line names; `None` if it is no such line.
    pub(super) fn from_heading(line: &str) -> Option<Self> {
        let names = fields(line)?;
        let columns = COLUMNS.map(|column| names.iter().position(|name| name == column));
        columns[..NEEDED]
            .iter()
            .all(Option::is_some)
            .then_some(Self(columns))
    }

    /// Adds the job of a line.
    pub(super) fn read_line(&self, line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let fields = fields(line).ok_or("not a line of comma-separated values")?;
        let values = self.0.map(|column| {
            column
                .and_then(|column| fields.get(column))
                .unwrap_or("")
                .trim()
        });
        let [
            id,
            queued,
            start,
            end,
            walltime,
            requested,
            allocated,
            user,
            project,
            queue,
            run,
        ] = values;
        if id == COLUMNS[0] {
            return Ok(());
        }
        let [queued, start, end] = [queued, start, end].map(timestamp);
        if start.is_none() && builder.rules.cancelled == Cancelled::LeaveOut {
            return Err(Fault::CANCELLED);
        }
        let run = whole(run)
            .parse()
            .ok()
            .or_else(|| Some(end? - start?))
            .or(start.is_none().then_some(0));
        let requested =
            processor_count(whole(requested), "`CORES_REQUESTED` is not a whole number");
        let allocated = processor_count(whole(allocated), "`CORES_USED` is not a whole number");
        let limit = match whole(walltime) {
            "" => None,
            limit => Some(
                limit
                    .parse()
                    .map_err(|_| Fault::from("`WALLTIME_SECONDS` is not a number").found(limit))?,
            ),
        };
        builder.push(&LoggedJob {
            id,
            entity: user,
            user,
            group: project,
            project,
            queue,
            submit: queued.ok_or("no time of submission")?,
            run: run.ok_or("no run time")?,
            walltime: limit.filter(|limit: &i64| *limit > 0),
            processors: builder
                .rules
                .processors_of
                .choose(requested, allocated)?
                .ok_or(Fault::NO_PROCESSORS)?,
            started: start,
            extent: Extent::Whole,
            ..LoggedJob::default()
        })
    }
}

fn fields(line: &str) -> Option<csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(line.as_bytes());
    reader.records().next()?.ok()
}

/// A number without the fraction of zeros that a column of floats has.
fn whole(number: &str) -> &str {
    number
        .split_once('.')
        .filter(|(_, zeros)| zeros.bytes().all(|digit| digit == b'0'))
        .map_or(number, |(whole, _)| whole)
}

/// The seconds since 1970 of a time such as `2019-12-10 19:00:00.5`; fractions of a second are left
/// out.
fn timestamp(text: &str) -> Option<i64> {
    time(&text.split('.').next().unwrap_or(text).replacen(' ', "T", 1))
}
