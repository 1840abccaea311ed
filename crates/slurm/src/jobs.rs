//! The jobs of a queue, as `squeue` and `scontrol show job` print them: in JSON, in records of several
//! lines or one (`-o`), or in a table with a header and cells separated by `|`.

use std::collections::{HashMap, HashSet};

use job_sort_formula::diagnostic::limit_each_kind;
use jsf_json::{JsonScalar, clipped, entries};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::records::{
    Form, Place, Record, Row, Table, nice, parse_amount, processors, whole_records,
};
use crate::times::{TimeLimit, parse_time};

pub use crate::records::TresAmounts;

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
    /// The tasks of an array that it represents, as `squeue` prints them: `16_1` or `16_[1-4]`.
    pub array_task: Option<String>,
    /// The cluster; empty if the document does not name it.
    pub cluster: String,
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
    fn has_ended(&self) -> bool {
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
            read_json(text)
        } else if text.trim_start().starts_with("JobId=") {
            Ok(read_records(text))
        } else {
            read_table(text)
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

/// The tasks of an array as `squeue` prints them.
fn array_task(array: &str, tasks: &str) -> String {
    if tasks.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{array}_{tasks}")
    } else {
        format!("{array}_[{tasks}]")
    }
}

/// The forms of values by the keys that `scontrol` has for them.
const FORMS: [(&str, Form); 13] = [
    ("Priority", Form::Count),
    ("Nice", Form::Nice),
    ("TimeLimit", Form::Limit),
    ("SubmitTime", Form::Time),
    ("EligibleTime", Form::Time),
    ("AccrueTime", Form::Time),
    ("NumCPUs", Form::Processors),
    ("TRES", Form::Amounts),
    ("ReqTRES", Form::Amounts),
    ("AllocTRES", Form::Amounts),
    ("MinMemoryNode", Form::Memory),
    ("MinMemoryCPU", Form::Memory),
    // a column of `squeue`, which does not say of what it is
    ("MinMemory", Form::Memory),
];

fn read_records(text: &str) -> SlurmJobs {
    let (records, cut) = whole_records(text, "JobId", "job", "scontrol show job");
    let mut read = SlurmJobs {
        warnings: Vec::from_iter(cut),
        ..SlurmJobs::default()
    };
    for record in records {
        if record.get("JobState").is_some() {
            read.add(&record);
        } else {
            let line = record.line;
            let fault = format!("line {line}: the job is left out: it has no `JobState`");
            read.warnings.push(fault);
        }
    }
    read
}

impl SlurmJobs {
    /// Adds the job of a record, and what is said of values that have another form than their keys.
    fn add(&mut self, record: &Record) {
        let job = job_of_record(record);
        let of = format!("job `{}`", job.id);
        self.warnings.extend(record.faults(&FORMS, &of));
        self.jobs.push(job);
    }
}

fn job_of_record(record: &Record) -> SlurmJob {
    let text = |key| record.get(key).unwrap_or_default().to_owned();
    // JSON has seconds since 1970, and 0 for none
    let seconds = |key| record.number(key).filter(|seconds: &i64| *seconds > 0);
    let time = |key| record.get(key).and_then(parse_time).or(seconds(key));
    let state = text("JobState");
    // since 23.02 a pending job has `ReqTRES`, and a running one `AllocTRES` too
    let mut tres = record.get("TRES").or(record.get("ReqTRES"));
    if state != "PENDING" {
        tres = record.get("AllocTRES").or(tres);
    }
    let mut tres = TresAmounts::parse(tres.unwrap_or_default());
    // `squeue` does not say whether it is that of a node or of a processor
    for (key, of) in [
        ("MinMemoryNode", "node"),
        ("MinMemoryCPU", "cpu"),
        ("MinMemory", "node"),
        ("MinMemory", "cpu"),
    ] {
        if let Some(memory) = record.get(key)
            && let Some(memory @ 0.001..) = parse_amount(memory, true)
            && let Some(count) = tres.get(of)
        {
            tres.refine_memory(memory * count);
        }
    }
    let mut task = record.get("ArrayTask").map(str::to_owned);
    if let (Some(array), Some(tasks)) = (record.get("ArrayJobId"), record.get("ArrayTaskId"))
        && array != "0"
    {
        task = Some(array_task(array, tasks));
    }
    SlurmJob {
        id: text("JobId"),
        user: text("UserId")
            .split('(')
            .next()
            .unwrap_or_default()
            .to_owned(),
        account: text("Account"),
        partition: text("Partition"),
        qos: text("QOS"),
        state,
        reason: text("Reason"),
        priority: record.number("Priority"),
        nice: record.get("Nice").and_then(nice).unwrap_or(0),
        submitted: time("SubmitTime"),
        eligible: time("EligibleTime"),
        accrues_from: time("AccrueTime"),
        time_limit: record
            .get("TimeLimit")
            .map_or_else(TimeLimit::default, TimeLimit::parse),
        cpus: record.get("NumCPUs").and_then(processors).unwrap_or(0),
        tres,
        array_task: task,
        cluster: text("Cluster"),
    }
}

/// The columns in the order in which they are looked for, each with the key that `scontrol` has for
/// it.
const COLUMNS: [(&str, &str); 19] = [
    ("JOBID", "JobId"),
    ("USER", "UserId"),
    ("ACCOUNT", "Account"),
    ("PARTITION", "Partition"),
    ("QOS", "QOS"),
    ("STATE", "JobState"),
    ("ST", "JobState"),
    ("REASON", "Reason"),
    ("PRIORITY", "Priority"),
    ("NICE", "Nice"),
    ("TIME_LIMIT", "TimeLimit"),
    ("SUBMIT_TIME", "SubmitTime"),
    ("ELIGIBLE_TIME", "EligibleTime"),
    ("ACCRUE_TIME", "AccrueTime"),
    ("CPUS", "NumCPUs"),
    ("TRES_ALLOC", "TRES"),
    ("MIN_MEMORY", "MinMemory"),
    ("CLUSTER", "Cluster"),
    ("JOB_ID", "JobId"),
];

fn read_table(text: &str) -> Result<SlurmJobs, String> {
    let expected = "expected `squeue --json`, `scontrol show job`, or `squeue -O` with a header and `|` between the columns";
    let table = Table::parse_with(text, "PRIORITY").ok_or(expected)?;
    if table.column("TRES_ALLOC").is_none() {
        return Err("the table of `squeue` has no column TRES_ALLOC (`tres-alloc`)".to_owned());
    }
    let mut columns = Vec::new();
    for (name, key) in COLUMNS {
        columns.extend(table.columns(name).map(|index| (index, key)));
    }
    let ids: Vec<usize> = table.columns("JOBID").collect();
    let mut read = SlurmJobs::default();
    for row in table.rows() {
        match row {
            Ok(row) => read.add(&record(&columns, &ids, &row)),
            Err(fault) => read.warnings.push(format!("a job is left out{fault}")),
        }
    }
    read.warnings.extend(table.unended());
    Ok(read)
}

/// A row as `scontrol` prints the job. `squeue` gives several columns the same name: of the ids one
/// is that of the array's tasks, `PRIORITY` is also that of the priority divided by the largest one.
fn record(columns: &[(usize, &str)], ids: &[usize], row: &Row<'_>) -> Record {
    let (Place::Line(line) | Place::Entry(line)) = row.place;
    let mut record = Record::at(line);
    let mut ids: Vec<&str> = ids.iter().map(|id| row.cell(Some(*id))).collect();
    if let Some(task) = ids.iter().find(|id| id.contains('_')) {
        record.set("ArrayTask", task, line);
    }
    // the number alone is what the other commands call the job
    ids.sort_by_key(|id| id.parse::<i64>().is_err());
    for id in ids {
        record.set_first("JobId", id, line);
    }
    for (index, key) in columns {
        let cell = row.cell(Some(*index));
        if *key != "Priority" || !cell.contains('.') {
            record.set_first(key, cell, line);
        }
    }
    record
}

/// What `squeue --json` prints. Numbers are plain before 23.02, and objects with `set`, `infinite` and
/// `number` since; states are texts, then lists of texts.
#[derive(Deserialize)]
struct Document<'t> {
    #[serde(borrow)]
    jobs: Vec<&'t RawValue>,
    #[serde(default)]
    meta: Value,
}

impl Document<'_> {
    /// The version of Slurm: the key `Slurm` is `slurm` since 23.11.
    fn version(&self) -> Option<String> {
        let slurm = self.meta.get("Slurm").or(self.meta.get("slurm"))?;
        slurm.get("release")?.as_str().map(str::to_owned)
    }
}

/// The keys of a job with texts, each with the one that `scontrol` has for it.
const TEXT_KEYS: [(&str, &str); 9] = [
    ("user_name", "UserId"),
    ("account", "Account"),
    ("partition", "Partition"),
    ("qos", "QOS"),
    ("state_reason", "Reason"),
    ("tres_req_str", "ReqTRES"),
    ("tres_alloc_str", "AllocTRES"),
    ("cluster", "Cluster"),
    ("array_task_string", "ArrayTaskId"),
];

/// Those with numbers.
const NUMBER_KEYS: [(&str, &str); 12] = [
    ("job_id", "JobId"),
    ("priority", "Priority"),
    ("nice", "Nice"),
    ("submit_time", "SubmitTime"),
    ("eligible_time", "EligibleTime"),
    ("accrue_time", "AccrueTime"),
    ("time_limit", "TimeLimit"),
    ("cpus", "NumCPUs"),
    ("memory_per_node", "MinMemoryNode"),
    ("memory_per_cpu", "MinMemoryCPU"),
    ("array_job_id", "ArrayJobId"),
    ("array_task_id", "ArrayTaskId"),
];

fn read_json(text: &str) -> Result<SlurmJobs, String> {
    let document: Document<'_> = serde_json::from_str(text)
        .map_err(|error| format!("expected the output of `squeue --json`: {error}"))?;
    let mut read = SlurmJobs {
        version: document.version(),
        ..SlurmJobs::default()
    };
    for (index, raw) in document.jobs.into_iter().enumerate() {
        match record_of_json(raw.get()) {
            Ok(record) => read.add(&record),
            Err(error) => {
                let problem = format!("job {} is left out: {error}", index + 1);
                read.warnings.push(problem);
            }
        }
    }
    Ok(read)
}

/// A job as `scontrol` prints it.
fn record_of_json(text: &str) -> Result<Record, String> {
    let mut record = Record::default();
    for (key, raw) in entries(text).map_err(|error| error.to_string())? {
        let raw = raw.get();
        if let Some((_, name)) = TEXT_KEYS.iter().find(|(known, _)| *known == key) {
            match JsonScalar::from_text(raw) {
                JsonScalar::String(text) => record.set_first(name, &text, 0),
                JsonScalar::NULL => {}
                other => return Err(format!("`{key}` is {}, expected a string", other.found())),
            }
        } else if let Some((_, name)) = NUMBER_KEYS.iter().find(|(known, _)| *known == key) {
            if let Some(number) = number_text(raw) {
                record.set_first(name, number, 0);
            }
        } else if key == "job_state" {
            let states = serde_json::from_str::<Vec<String>>(raw).unwrap_or_default();
            let state = serde_json::from_str(raw).ok().or(states.into_iter().next());
            record.set("JobState", &state.unwrap_or_default(), 0);
        }
    }
    match record.number::<u64>("JobId") {
        Some(_) => Ok(record),
        None => Err("it has no `job_id` that is a number".to_owned()),
    }
}

/// A number since 23.02.
#[derive(Deserialize)]
struct Flagged<'t> {
    set: bool,
    infinite: bool,
    #[serde(borrow)]
    number: &'t RawValue,
}

/// The text of a number that is set, or the word for an infinite one.
fn number_text(raw: &str) -> Option<&str> {
    match serde_json::from_str(raw) {
        Ok(Flagged { infinite: true, .. }) => Some("UNLIMITED"),
        Ok(Flagged { set, number, .. }) => set.then(|| number.get()),
        Err(_) => Some(raw).filter(|raw| *raw != "null"),
    }
}
