//! Reads what `sacct --parsable2` (`-P`) prints: a line of column names, then a line for each job,
//! separated by `|` or by another `--delimiter`.
//!
//! A name that `sacct` prints may contain the separator, so that its line has more fields than there are
//! columns. If one column only is such a text, the fields too many are its own; if such columns come
//! after all others, nothing else moves. Any other line of that kind is left out. Steps, such as
//! `12.batch`, are not jobs. Times are those of the cluster's clock; where it changes to summer time,
//! waits across the change are an hour off.

use jsf_openpbs::ArrayIndices;
use jsf_openpbs::times::seconds;
use jsf_slurm::SlurmJob;
use jsf_slurm::values::{TimeLimit, TresAmounts, parse_time};

use crate::faults::{Fault, LeftOutReason, processor_count};
use crate::logs::Fields;
use crate::workload::builder::{LoggedAmount, LoggedJob, WorkloadBuilder};

/// The columns whose texts users choose.
const TEXTS: [&str; 14] = [
    "jobname",
    "comment",
    "admincomment",
    "systemcomment",
    "workdir",
    "submitline",
    "constraints",
    "extra",
    "stdin",
    "stdout",
    "stderr",
    "container",
    "licenses",
    "wckey",
];

/// What `sacct` prints for a job without a time limit of its own.
const NO_LIMIT: [&str; 5] = ["", "UNLIMITED", "Partition_Limit", "None", "Unknown"];

const TOO_FEW: &str = "not as many fields as the first line has";

const TOO_MANY: &str = "more fields than the first line has, because a name contains the separator: give the columns with \
                        names last (`JobName` at the end of `-o`), or print another separator (option delimiter)";

/// What `sacct` must be told to print a log.
const COMMAND: &str = "`sacct -a -P -X -o JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,\
                       ReqCPUS,AllocCPUS,ReqTRES,State,JobName`";

/// The columns that XDMoD has `sacct` print, without a line of their names; its versions before 10
/// have no `qos`.
///
/// Source: <https://open.xdmod.org/10.0/resource-manager-slurm.html>
const XDMOD: &str = "jobid|jobidraw|cluster|partition|qos|account|group|gid|user|uid|submit|eligible|start|end|elapsed|\
                     exitcode|state|nnodes|ncpus|reqcpus|reqmem|reqtres|alloctres|timelimit|nodelist|jobname";

/// The columns that are read, by their names in small letters.
const COLUMNS: [&str; 23] = [
    "jobid",
    RAW_ID,
    "user",
    "account",
    "partition",
    "submit",
    "eligible",
    "start",
    "end",
    "elapsed",
    "elapsedraw",
    "timelimit",
    "timelimitraw",
    "state",
    "reqcpus",
    "alloccpus",
    "ncpus",
    "qos",
    "reqtres",
    "alloctres",
    "reqnodes",
    "nnodes",
    "nice",
];

/// What of Slurm's priority, by the begin of its name, follows from which column, or from others in its place.
const PRIORITY: [(&str, &[&str]); 9] = [
    ("partition_factor", &["Partition"]),
    ("job_factor", &["Partition"]),
    ("qos_", &["QOS"]),
    ("assoc_", &["Account"]),
    ("assoc_", &["User"]),
    (
        "size_factor",
        &["ReqTRES", "AllocTRES", "ReqNodes", "NNodes"],
    ),
    ("size_factor", &["TimelimitRaw", "Timelimit"]),
    ("tres_", &["Partition"]),
    ("tres_", &["ReqTRES", "AllocTRES"]),
];

/// The column that replaces `jobid` in a log without it.
const RAW_ID: &str = "jobidraw";

/// The columns of a log.
#[derive(Debug, Clone)]
pub struct SacctColumns {
    separator: String,
    /// Their names in small letters.
    names: Vec<String>,
}

impl SacctColumns {
    /// The columns that a line names; `None` if it is no such line, or lacks the id, a time of
    /// submission, a length or the processors.
    pub fn from_heading(line: &str) -> Option<Self> {
        let separator = separator(line)?;
        let names = line.trim_end().split(separator);
        let columns = Self {
            separator: separator.to_owned(),
            names: names.map(str::to_ascii_lowercase).collect(),
        };
        let has_length = columns.has_any(&["elapsed", "elapsedraw"])
            || columns.has("start") && columns.has("end");
        let is_usable = columns.has_any(&["jobid", RAW_ID])
            && columns.has_any(&["submit", "eligible"])
            && has_length
            && columns.has_any(&["reqcpus", "alloccpus", "ncpus"]);
        is_usable.then_some(columns)
    }

    /// The columns of XDMoD, if a line has their form: that of a job, since there is no line of
    /// names.
    pub fn of_xdmod(line: &str) -> Option<Self> {
        for names in [XDMOD, &XDMOD.replace("|qos", "")] {
            if let Some(columns) = Self::from_heading(names)
                && columns.fits(line)
            {
                return Some(columns);
            }
        }
        None
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// Whether a line is that of a job: times, a duration and numbers are where they should be.
    fn fits(&self, line: &str) -> bool {
        let Ok(job) = self.fields(line.trim_end()) else {
            return false;
        };
        for name in ["eligible", "start", "end"] {
            let text = job.get(name);
            if time(text).is_none() && !matches!(text, "Unknown" | "None") {
                return false;
            }
        }
        starts_with_digit(job.get("jobid"))
            && time(job.get("submit")).is_some()
            && duration(job.get("elapsed")).is_some()
            && number(job.get("reqcpus")).is_some()
    }

    /// The fields of a line.
    fn fields<'l>(&'l self, line: &'l str) -> Result<Fields<'l>, &'static str> {
        let mut fields: Vec<&str> = line.split(&*self.separator).collect();
        let surplus = fields.len().checked_sub(self.names.len()).ok_or(TOO_FEW)?;
        if surplus > 0 {
            let mut texts = Vec::new();
            let mut last_read = None;
            for (place, name) in self.names.iter().enumerate() {
                if TEXTS.contains(&name.as_str()) {
                    texts.push(place);
                } else if COLUMNS.contains(&name.as_str()) {
                    last_read = Some(place);
                }
            }
            match texts[..] {
                [first, ..] if Some(first) > last_read => {}
                [text] => _ = fields.drain(text..text + surplus),
                _ => return Err(TOO_MANY),
            }
        }
        Ok(Fields::below(&self.names, fields.into_iter()))
    }

    /// The columns that the log does not have although numbers of Slurm's priority that it is read
    /// for follow from them.
    pub fn missing(&self, builder: &WorkloadBuilder) -> Option<String> {
        let settings = &builder.given.slurm.as_ref()?.conf.priority;
        let (mut missing, mut inputs) = (Vec::new(), Vec::new());
        for (input, columns) in PRIORITY {
            let is_needed = match (input, columns[0]) {
                ("size_factor", "TimelimitRaw") => settings.relative_to_time,
                ("tres_", "Partition") => !settings.raw_tres,
                _ => true,
            };
            let mut columns_in_small_letters = columns.iter().map(|name| name.to_ascii_lowercase());
            if !is_needed || columns_in_small_letters.any(|name| self.has(&name)) {
                continue;
            }
            for name in builder.inputs() {
                if name.starts_with(input) {
                    missing.push(columns[0]);
                    inputs.push(format!("`{name}`"));
                }
            }
        }
        if missing.is_empty() {
            return None;
        }
        missing.dedup();
        inputs.dedup();
        Some(format!(
            "has no column {}, from which {} follows: give what {COMMAND} prints",
            missing.join(", "),
            inputs.join(", ")
        ))
    }

    /// Adds the job of a line.
    pub fn read_line(&self, line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
        // the line end alone, because the separator may be a tab and the last fields may be empty
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            return Ok(());
        }
        let job = self.fields(line)?;
        let id_name = if self.has("jobid") { "jobid" } else { RAW_ID };
        let id = job.get(id_name);
        let is_heading = id.eq_ignore_ascii_case("jobid") || id.eq_ignore_ascii_case(RAW_ID);
        // several outputs may be one file, each with its heading
        if id.contains('.') || is_heading {
            return Ok(());
        }
        // a job that depends on another one, or has a begin time, waits for processors from the time
        // on at which it is eligible
        let submit = time(job.get("eligible")).or(time(job.get("submit")));
        let submit = submit.ok_or("no time of submission")?;
        let start = time(job.get("start"));
        let end = time(job.get("end"));
        let state = job.get("state");
        // in a federation, another cluster has started a sibling of the job
        if state.starts_with("REVOKED") {
            return Err(LeftOutReason::Moved.into());
        }
        let has_started = !self.has("start") || start.is_some();
        if self.has("end") && end.is_none() {
            return Err(if has_started {
                LeftOutReason::Running.into()
            } else {
                Fault::from(LeftOutReason::Waiting).of_jobs(tasks(id))
            });
        }
        if has_started && state.starts_with("REQUEUED") {
            return Err(LeftOutReason::Rerun.into());
        }
        let mut run = number(job.get("elapsedraw")).or(duration(job.get("elapsed")));
        if let (None, Some(start), Some(end)) = (run, start, end) {
            run = Some(end - start);
        }
        let is_cancelled = !has_started || state.starts_with("CANCELLED") && run == Some(0);
        if is_cancelled {
            if builder.leaves_out_cancelled() {
                return Err(Fault::from(LeftOutReason::Cancelled).of_jobs(tasks(id)));
            }
            run = Some(0);
        }
        let amounts = priority_inputs(&job, submit, builder);
        let (user, account) = (job.get("user"), job.get("account"));
        let association = format!("{account}/{user}");
        let is_association =
            builder.given.by_association && !account.is_empty() && !user.is_empty();
        let requested = processor_count(job.get("reqcpus"), "`ReqCPUS` is not a whole number");
        let allocated = match job.get("alloccpus") {
            "" | "0" => job.get("ncpus"),
            allocated => allocated,
        };
        let allocated = processor_count(allocated, "`AllocCPUS` or `NCPUS` is not a whole number");
        builder.push(&LoggedJob {
            id,
            entity: if is_association { &association } else { user },
            user,
            group: account,
            queue: job.get("partition"),
            submit,
            run: run.ok_or("no run time")?,
            walltime: time_limit(job.get("timelimitraw"), job.get("timelimit"))?,
            processors: builder.processors(requested, allocated)?,
            started: if is_cancelled { None } else { start },
            amounts: &amounts,
            ..LoggedJob::default()
        })
    }
}

/// The numbers of Slurm's priority that are taken from the log.
fn priority_inputs(
    job: &Fields<'_>,
    submit: i64,
    builder: &WorkloadBuilder,
) -> Vec<LoggedAmount<'static>> {
    let Some(cluster) = &builder.given.slurm else {
        return Vec::new();
    };
    let job = SlurmJob {
        submitted: Some(submit),
        accrues_from: Some(submit),
        ..slurm_job(job)
    };
    let mut numbers = cluster.priority_inputs(&job, submit);
    for (name, number) in cluster.priorities_of(&job) {
        numbers.push((name.to_owned(), number));
    }
    let mut amounts = Vec::new();
    for (name, number) in numbers {
        if builder.takes(&name) {
            amounts.push(LoggedAmount {
                name: name.into(),
                // all digits, so that the same number is read
                text: format!("{number:?}").into(),
                source: None,
            });
        }
    }
    amounts
}

/// The job of a row with what its priority depends on, as it was when it was submitted.
fn slurm_job(job: &Fields<'_>) -> SlurmJob {
    let cpus = job.first_given(&["reqcpus", "alloccpus", "ncpus"]);
    let nodes = job.first_given(&["reqnodes", "nnodes"]);
    let tres = job.first_given(&["reqtres", "alloctres"]);
    SlurmJob {
        user: job.get("user").to_owned(),
        account: job.get("account").to_owned(),
        partition: job.get("partition").to_owned(),
        qos: job.get("qos").to_owned(),
        state: "PENDING".to_owned(),
        nice: number(job.get("nice")).unwrap_or(0),
        time_limit: TimeLimit::parse(job.first_given(&["timelimitraw", "timelimit"])),
        cpus: cpus.parse().unwrap_or(0),
        tres: TresAmounts::parse(&format!("{tres},node={nodes},cpu={cpus}")),
        ..SlurmJob::default()
    }
}

/// What separates the names in a line of column names: what follows the first one, unless that is
/// blanks.
fn separator(line: &str) -> Option<&str> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let line = line.trim_end();
    let after_name = line.trim_start_matches(is_name);
    let separator = &after_name[..after_name.find(is_name)?];
    let is_blank = separator != "\t" && separator.starts_with(char::is_whitespace);
    (after_name.len() < line.len() && !is_blank).then_some(separator)
}

/// How to get a log from `sacct`, for a text that looks like its output and cannot be used.
pub fn sacct_advice(text: &str) -> Option<String> {
    let line = text.trim_start().lines().next()?;
    let has_names = line.to_ascii_lowercase().starts_with("jobid");
    let has_fields = line.split('|').count() > 5;
    if !has_names && !has_fields {
        return None;
    }
    let missing = if has_fields && starts_with_digit(line) {
        "the line of the column names is missing: "
    } else {
        ""
    };
    Some(format!(
        "{missing}of sacct, give what {COMMAND} prints, with its first line"
    ))
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// The time that a job asks for, in seconds, of minutes or a duration; `None` for 0.
fn time_limit(minutes: &str, text: &str) -> Result<Option<i64>, Fault> {
    let (given, limit) = if is_limit(minutes) {
        let seconds = number(minutes).and_then(|minutes| minutes.checked_mul(60));
        (minutes, seconds)
    } else if is_limit(text) {
        (text, duration(text))
    } else {
        return Ok(None);
    };
    match limit {
        Some(0) => Ok(None),
        Some(limit @ 1..) => Ok(Some(limit)),
        _ => Err(Fault::from("`TimelimitRaw` or `Timelimit` cannot be read").found(given)),
    }
}

/// Whether a field is meant as a time limit.
fn is_limit(field: &str) -> bool {
    !NO_LIMIT.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// The number of tasks that a row describes, such as 8 for `15_[2-9]` and 3 for `15_[0-4:2%1]`; 1
/// for any other id.
fn tasks(id: &str) -> usize {
    if let Some((_, rest)) = id.split_once("_[")
        && let Some(list) = rest.strip_suffix(']')
        && let Some(tasks) = ArrayIndices::parse(list)
    {
        return tasks.len().max(1) as usize;
    }
    1
}

fn number(field: &str) -> Option<i64> {
    field.parse().ok()
}

/// A duration such as `1-02:03:04` or `02:03:04`; `None` for a word such as `UNLIMITED`.
fn duration(field: &str) -> Option<i64> {
    let (days, clock) = field.split_once('-').unwrap_or(("0", field));
    number(days)?
        .checked_mul(86_400)?
        .checked_add(seconds(clock)?)
}

/// The seconds since 1970 of a time such as `2026-11-22T17:05:29`, or a number of seconds.
pub fn time(field: &str) -> Option<i64> {
    number(field).or(parse_time(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_rows() {
        let counts = [
            "15",
            "15_3",
            "15_[2-9]",
            "15_[1,3,5-7%2]",
            "15_[0-4:2]",
            "15_[0-9",
            "15_[2-...]",
            "15_[9-2]",
            "15_[0-4:0]",
        ];
        assert_eq!(counts.map(tasks), [1, 1, 8, 5, 3, 1, 1, 1, 1]);
    }

    #[test]
    fn times_and_durations() {
        assert_eq!(time("1970-01-01T00:00:00"), Some(0));
        assert_eq!(time("2000-03-01T00:00:01"), Some(951_868_801));
        assert_eq!(time("2024-02-29T23:59:59"), Some(1_709_251_199));
        assert_eq!(time("1700000000"), Some(1_700_000_000));
        assert_eq!(
            [time("Unknown"), time("None"), time("2024-13-01T00:00:00")],
            [None; 3]
        );
        assert_eq!(duration("1-02:03:04"), Some(93_784));
        assert_eq!(
            [duration("UNLIMITED"), duration("Partition_Limit")],
            [None; 2]
        );
    }
}
