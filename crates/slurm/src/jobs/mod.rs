//! The jobs of a queue, as `squeue` and `scontrol show job` print them.

mod json;
mod text;

use std::collections::{HashMap, HashSet};

use job_sort_formula::diagnostic::limit_each_kind;
use jsf_json::clipped;

use crate::conf::parse_minutes;
pub use crate::values::TresAmounts;

/// How long a job may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeLimit {
    /// The job has none of its own: that of its partition.
    #[default]
    OfPartition,
    /// `UNLIMITED`
    Unlimited,
    /// So many minutes.
    Minutes(u32),
}

impl TimeLimit {
    /// Parses what Slurm's tools print, such as `1-00:00:00` or `UNLIMITED`.
    pub fn parse(text: &str) -> Self {
        match text {
            "UNLIMITED" | "INFINITE" => Self::Unlimited,
            // `squeue` prints `30:00` for half an hour, where `slurm.conf` has minutes before seconds
            // too, and `1:00:00` for an hour
            _ => match parse_minutes(text).map(u32::try_from) {
                Some(Ok(minutes)) => Self::Minutes(minutes),
                _ => Self::OfPartition,
            },
        }
    }
}

/// A job of Slurm with what its priority depends on. Times are seconds since 1970 on the clock of
/// the document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SlurmJob {
    /// The number of the job.
    pub id: String,
    /// The user.
    pub user: String,
    /// The account.
    pub account: String,
    /// The partition, or several of them with commas.
    pub partition: String,
    /// The quality of service.
    pub qos: String,
    /// The state, such as `PENDING`.
    pub state: String,
    /// Why the job is pending.
    pub reason: String,
    /// The priority that the daemon computed; 0 for a job that is held.
    pub priority: Option<u32>,
    /// `nice`, which is subtracted.
    pub nice: i64,
    /// When the job was submitted.
    pub submitted: Option<i64>,
    /// From when on it may start; in the future for one with `--begin`.
    pub eligible: Option<i64>,
    /// From when on its age counts; `None` while it does not.
    pub accrues_from: Option<i64>,
    /// How long it may run.
    pub time_limit: TimeLimit,
    /// The processors that it asks for, as `squeue` prints them (`%C`).
    pub cpus: u32,
    /// The resources that it asks for.
    pub tres: TresAmounts,
    /// What it waits for, such as `afterok:12(unfulfilled)`.
    pub dependency: String,
    /// The tasks of an array that it represents, as `squeue` prints them: `16_1` or `16_[1-4]`.
    pub array_task: Option<String>,
    /// The cluster; empty if the document does not name it.
    pub cluster: String,
}

/// The tasks of an array as `squeue` prints them.
fn array_task(array: &str, tasks: &str) -> String {
    if tasks.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{array}_{tasks}")
    } else {
        format!("{array}_[{tasks}]")
    }
}

impl SlurmJob {
    /// Whether the job is pending.
    pub fn is_pending(&self) -> bool {
        self.state.eq_ignore_ascii_case("PENDING") || self.state == "PD"
    }

    /// Whether the job is pending and has the priority 0, with which the scheduler does not
    /// consider it.
    pub fn is_held(&self) -> bool {
        self.is_pending() && self.priority == Some(0)
    }

    /// Whether the job has ended.
    pub fn has_ended(&self) -> bool {
        const ACTIVE: [&str; 16] = [
            "PENDING",
            "PD",
            "RUNNING",
            "R",
            "SUSPENDED",
            "S",
            "CONFIGURING",
            "CF",
            "COMPLETING",
            "CG",
            "STAGE_OUT",
            "SO",
            "SIGNALING",
            "SI",
            "STOPPED",
            "ST",
        ];
        !ACTIVE.contains(&self.state.to_ascii_uppercase().as_str())
    }

    /// The first of its partitions.
    pub fn first_partition(&self) -> &str {
        self.partition.split(',').next().unwrap_or_default().trim()
    }

    /// The nodes that it asks for.
    pub fn nodes(&self) -> f64 {
        self.tres.get("node").unwrap_or(1.0)
    }

    /// The GPUs that it asks for.
    pub fn gpus(&self) -> f64 {
        self.tres.get("gres/gpu").unwrap_or(0.0)
    }

    /// The memory that it asks for, in MB.
    pub fn memory(&self) -> f64 {
        self.tres.get("mem").unwrap_or(0.0)
    }
}

/// The jobs of a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SlurmJobs {
    /// The jobs that have not ended, in the order of the document.
    pub jobs: Vec<SlurmJob>,
    /// The jobs that have ended: the number and the state of each.
    pub ended: HashMap<String, String>,
    /// The version of Slurm that printed them, which only JSON says.
    pub version: Option<String>,
    /// What cannot be read, one sentence each.
    pub warnings: Vec<String>,
}

impl SlurmJobs {
    /// Reads `squeue --json`, `scontrol show job`, or the output of `squeue -O` or `squeue -o` with
    /// a header and cells separated by `|`. `name` is that of the document in messages.
    ///
    /// # Errors
    /// It is neither, or lacks a column.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let read = if text.trim_start().starts_with('{') {
            json::read(text)
        } else if text.trim_start().starts_with("JobId=") {
            Ok(text::read_records(text))
        } else {
            text::read_table(text)
        };
        let mut read = read.map_err(|error| format!("`{}`: {error}", clipped(name)))?;
        if let Some(first) = read.warnings.first()
            && read.jobs.is_empty()
        {
            return Err(format!(
                "`{}`: none of its jobs can be read: {first}",
                clipped(name)
            ));
        }
        let mut known = HashSet::new();
        for job in std::mem::take(&mut read.jobs) {
            if job.has_ended() {
                read.ended.insert(job.id, job.state);
            } else if known.insert(job.id.clone()) {
                read.jobs.push(job);
            } else if job.array_task.is_none() {
                // with `-r`, `squeue` has a row for each task of an array that waits
                let problem = format!("job `{}` is there again; the first counts", job.id);
                read.warnings.push(problem);
            }
        }
        let problems = read.warnings.iter();
        let problems = problems.map(|problem| format!("`{name}`: {problem}"));
        read.warnings = limit_each_kind(problems);
        Ok(read)
    }
}

/// Seconds since 1970 of `2026-11-27T08:54:58`, on the clock of the document; `None` for words such
/// as `Unknown` and `N/A`.
pub fn parse_time(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let [year @ 1970..=9999, month @ 1..=12, day @ 1..=31] = three_numbers(date, '-')? else {
        return None;
    };
    // a minute with a leap second has 61
    let [hour @ 0..24, minute @ 0..60, second @ 0..=60] = three_numbers(time, ':')? else {
        return None;
    };
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

fn three_numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut numbers = Vec::new();
    for part in text.split(separator) {
        numbers.push(part.parse().ok()?);
    }
    numbers.try_into().ok()
}

/// The days from 1970-01-01 to a date of the Gregorian calendar, whose years are counted from March
/// so that the leap day is the last one.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        assert_eq!(parse_time("1970-01-01T00:00:00"), Some(0));
        assert_eq!(parse_time("2026-11-27T08:54:58"), Some(1_795_769_698));
        assert_eq!(parse_time("2024-02-29T00:00:01"), Some(1_709_164_801));
        assert_eq!(parse_time("Unknown"), None);
    }

    #[test]
    fn limits_are_minutes() {
        assert_eq!(TimeLimit::parse("5:00"), TimeLimit::Minutes(5));
        assert_eq!(TimeLimit::parse("1-00:00:00"), TimeLimit::Minutes(1440));
        assert_eq!(TimeLimit::parse("00:05:00"), TimeLimit::Minutes(5));
        assert_eq!(TimeLimit::parse("UNLIMITED"), TimeLimit::Unlimited);
        assert_eq!(TimeLimit::parse("Partition_Limit"), TimeLimit::OfPartition);
    }
}
