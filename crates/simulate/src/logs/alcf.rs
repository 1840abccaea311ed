//! Reads the public job data of the Argonne Leadership Computing Facility (`DIM_JOB_COMPOSITE`,
//! <https://reports.alcf.anl.gov/data/>): comma-separated values with a line of column names.
//!
//! Names of users and projects are numbers, and times are in UTC.

use crate::faults::{Fault, LeftOutReason, processor_count};
use crate::logs::Fields;
use crate::logs::sacct::time;
use crate::workload::builder::{LoggedJob, WorkloadBuilder};

/// The columns that a log must have; it may have others.
const ALCF_NEEDED: [&str; 6] = [
    ALCF_ID,
    "QUEUED_TIMESTAMP",
    "START_TIMESTAMP",
    "END_TIMESTAMP",
    "WALLTIME_SECONDS",
    "CORES_REQUESTED",
];

const ALCF_ID: &str = "JOB_NAME";

/// The names of the columns of a log.
#[derive(Debug)]
pub struct AlcfColumns(Vec<String>);

impl AlcfColumns {
    /// The columns that a line names; `None` if it is no such line.
    pub fn from_heading(line: &str) -> Option<Self> {
        let fields = csv_fields(line)?;
        for needed in ALCF_NEEDED {
            fields.iter().find(|name| *name == needed)?;
        }
        Some(Self(fields.iter().map(str::to_owned).collect()))
    }

    /// Adds the job of a line.
    pub fn read_line(&self, line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let values = csv_fields(line).ok_or("not a line of comma-separated values")?;
        let job = Fields::below(&self.0, values.iter().map(str::trim));
        if job.get(ALCF_ID) == ALCF_ID {
            return Ok(());
        }
        let start = timestamp(job.get("START_TIMESTAMP"));
        if start.is_none() && builder.leaves_out_cancelled() {
            return Err(LeftOutReason::Cancelled.into());
        }
        let run = match (whole(job.get("RUNTIME_SECONDS")).parse(), start) {
            (Ok(run), _) => Some(run),
            (Err(_), Some(start)) => timestamp(job.get("END_TIMESTAMP")).map(|end| end - start),
            (Err(_), None) => Some(0),
        };
        let requested = processor_count(
            whole(job.get("CORES_REQUESTED")),
            "`CORES_REQUESTED` is not a whole number",
        );
        let allocated = processor_count(
            whole(job.get("CORES_USED")),
            "`CORES_USED` is not a whole number",
        );
        let limit = whole(job.get("WALLTIME_SECONDS"));
        let walltime = match limit.parse::<i64>() {
            Ok(limit) => (limit > 0).then_some(limit),
            Err(_) if limit.is_empty() => None,
            Err(_) => return Err(Fault::from("`WALLTIME_SECONDS` is not a number").found(limit)),
        };
        let (user, project) = (job.get("USERNAME_GENID"), job.get("PROJECT_NAME_GENID"));
        builder.push(&LoggedJob {
            id: job.get(ALCF_ID),
            entity: user,
            user,
            group: project,
            project,
            queue: job.get("QUEUE_NAME"),
            submit: timestamp(job.get("QUEUED_TIMESTAMP")).ok_or("no time of submission")?,
            run: run.ok_or("no run time")?,
            walltime,
            processors: builder.processors(requested, allocated)?,
            started: start,
            ..LoggedJob::default()
        })
    }
}

fn csv_fields(line: &str) -> Option<csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(line.as_bytes());
    reader.records().next()?.ok()
}

/// A number without the fraction of zeros that a column of floats has.
fn whole(number: &str) -> &str {
    match number.split_once('.') {
        Some((whole, zeros)) if zeros.trim_matches('0').is_empty() => whole,
        _ => number,
    }
}

/// The seconds since 1970 of a time such as `2019-12-10 19:00:00.5`; fractions of a second are left
/// out.
fn timestamp(text: &str) -> Option<i64> {
    time(&text.split('.').next().unwrap_or(text).replacen(' ', "T", 1))
}
