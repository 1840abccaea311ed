//! The jobs of a queue, as `squeue` and `scontrol show job` print them: in JSON, in records of several
//! lines or one (`-o`), or in a table with a header and cells separated by `|`.

use std::collections::{HashMap, HashSet};

use job_sort_formula::diagnostic::limit_each_kind;
use jsf_json::clipped;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::printed::{
    Form, Place, Record, Row, Table, accepted_nice, nice, parse_amount, processors, whole_records,
};
use crate::times::{TimeLimit, parse_time};

pub use crate::printed::TresAmounts;

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
    ("Priority", Form::Priority),
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
        match record.get("JobState") {
            Some(state) => {
                let job = job_of_record(&record, state);
                let of = format!("job `{}`", job.id);
                read.warnings.extend(record.faults(&FORMS, &of));
                read.jobs.push(job);
            }
            None => read.warnings.push(format!(
                "line {}: the job is left out: it has no `JobState`",
                record.line
            )),
        }
    }
    read
}

/// The job of a record, in a state.
fn job_of_record(record: &Record, state: &str) -> SlurmJob {
    let text = |key| record.get(key).unwrap_or_default().to_owned();
    let time = |key| record.get(key).and_then(parse_time);
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
    if let (Some(array), Some(tasks)) = (record.get("ArrayJobId"), record.get("ArrayTaskId")) {
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
        state: state.to_owned(),
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
        for index in table.columns(name) {
            columns.push(Column { index, name, key });
        }
    }
    let mut read = SlurmJobs::default();
    for row in table.rows() {
        match row {
            Ok(row) => {
                let record = record(&columns, &row);
                let state = record.get("JobState").unwrap_or_default();
                let job = job_of_record(&record, state);
                add_faults(&columns, &row, &job.id, &mut read.warnings);
                read.jobs.push(job);
            }
            Err(fault) => read.warnings.push(format!("a job is left out{fault}")),
        }
    }
    read.warnings.extend(table.unended());
    Ok(read)
}

/// A row as `scontrol` prints the job. `squeue` gives several columns the same name: of the ids one
/// is that of the array's tasks, `PRIORITY` is also that of the priority divided by the largest one.
fn record(columns: &[Column], row: &Row<'_>) -> Record {
    let (Place::Line(line) | Place::Entry(line)) = row.place;
    let mut record = Record::at(line);
    let mut ids = Vec::new();
    for column in columns {
        if column.name == "JOBID" {
            let id = row.cell(Some(column.index));
            if id.contains('_') {
                record.set_first("ArrayTask", id, line);
            }
            ids.push(id);
        }
    }
    // the number alone is what the other commands call the job
    ids.sort_by_key(|id| id.parse::<i64>().is_err());
    for id in ids {
        record.set_first("JobId", id, line);
    }
    for column in columns {
        let cell = row.cell(Some(column.index));
        if column.key != "Priority" || !cell.contains('.') {
            record.set_first(column.key, cell, line);
        }
    }
    record
}

/// Adds what is said of the values of a job that have another form than their columns.
fn add_faults(columns: &[Column], row: &Row<'_>, job: &str, faults: &mut Vec<String>) {
    for column in columns {
        let mut forms = FORMS.iter();
        let form = forms.find(|(key, _)| *key == column.key);
        let cell = row.cell(Some(column.index));
        if let Some((_, form)) = form
            && !matches!(cell, "" | "N/A" | "(null)")
            && let Some(fault) = form.fault(column.name, &format!("job `{job}`"), cell)
        {
            faults.push(format!("{}: {fault}", row.place));
        }
    }
}

/// A column of a table that is read.
struct Column {
    index: usize,
    name: &'static str,
    key: &'static str,
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

#[derive(Deserialize)]
struct RawJob {
    job_id: u64,
    user_name: Option<String>,
    account: Option<String>,
    partition: Option<String>,
    qos: Option<String>,
    job_state: Value,
    state_reason: Option<String>,
    #[serde(default)]
    priority: Value,
    #[serde(default)]
    nice: Value,
    #[serde(default)]
    submit_time: Value,
    #[serde(default)]
    eligible_time: Value,
    #[serde(default)]
    accrue_time: Value,
    #[serde(default)]
    time_limit: Value,
    #[serde(default)]
    cpus: Value,
    #[serde(default)]
    node_count: Value,
    #[serde(default)]
    memory_per_node: Value,
    #[serde(default)]
    memory_per_cpu: Value,
    tres_req_str: Option<String>,
    tres_alloc_str: Option<String>,
    cluster: Option<String>,
    #[serde(default)]
    array_job_id: Value,
    #[serde(default)]
    array_task_id: Value,
    array_task_string: Option<String>,
}

impl RawJob {
    /// What is said of values that are not numbers, or that Slurm does not have.
    fn faults(&self) -> Vec<String> {
        let numbers = [
            ("priority", &self.priority, Form::Count),
            ("nice", &self.nice, Form::Nice),
            ("submit_time", &self.submit_time, Form::Whole),
            ("eligible_time", &self.eligible_time, Form::Whole),
            ("accrue_time", &self.accrue_time, Form::Whole),
            ("time_limit", &self.time_limit, Form::Count),
            ("cpus", &self.cpus, Form::Count),
        ];
        let of = format!("job `{}`", self.job_id);
        let mut faults = Vec::new();
        for (key, value, form) in numbers {
            if is_unset(value) {
                continue;
            }
            let text = match number(value) {
                Some(number) if form == Form::Nice => signed(number).to_string(),
                _ => value.get("number").unwrap_or(value).to_string(),
            };
            faults.extend(form.fault(key, &of, &text));
        }
        faults
    }

    fn array_task(&self) -> Option<String> {
        let array = positive(&self.array_job_id)?.to_string();
        let tasks = match &self.array_task_string {
            Some(tasks) if !tasks.is_empty() => tasks.clone(),
            _ => number(&self.array_task_id)?.to_string(),
        };
        Some(array_task(&array, &tasks))
    }

    /// The memory that it asks for in MB, exactly.
    fn memory(&self, tres: &TresAmounts) -> Option<f64> {
        if let Some(of_node) = positive(&self.memory_per_node) {
            let nodes = match tres.get("node") {
                Some(nodes) => nodes,
                None => number(&self.node_count)? as f64,
            };
            Some(of_node as f64 * nodes)
        } else {
            Some(positive(&self.memory_per_cpu)? as f64 * tres.get("cpu")?)
        }
    }
}

fn read_json(text: &str) -> Result<SlurmJobs, String> {
    let document: Document<'_> = serde_json::from_str(text)
        .map_err(|error| format!("expected the output of `squeue --json`: {error}"))?;
    let mut read = SlurmJobs {
        version: document.version(),
        ..SlurmJobs::default()
    };
    for (index, raw) in document.jobs.into_iter().enumerate() {
        match serde_json::from_str::<RawJob>(raw.get()) {
            Ok(raw) => {
                read.warnings.extend(raw.faults());
                read.jobs.push(job_of_json(raw));
            }
            Err(error) => {
                let problem = format!("job {} is left out: {error}", index + 1);
                read.warnings.push(problem);
            }
        }
    }
    Ok(read)
}

fn job_of_json(raw: RawJob) -> SlurmJob {
    let state = match &raw.job_state {
        Value::Array(states) => states.first().and_then(Value::as_str),
        state => state.as_str(),
    };
    let state = state.unwrap_or_default().to_owned();
    let tres = match &raw.tres_alloc_str {
        Some(allocated) if state != "PENDING" && !allocated.is_empty() => allocated,
        _ => raw.tres_req_str.as_deref().unwrap_or_default(),
    };
    let mut tres = TresAmounts::parse(tres);
    if let Some(megabytes) = raw.memory(&tres) {
        tres.refine_memory(megabytes);
    }
    SlurmJob {
        id: raw.job_id.to_string(),
        array_task: raw.array_task(),
        user: raw.user_name.unwrap_or_default(),
        account: raw.account.unwrap_or_default(),
        partition: raw.partition.unwrap_or_default(),
        qos: raw.qos.unwrap_or_default(),
        state,
        reason: raw.state_reason.unwrap_or_default(),
        priority: count(&raw.priority),
        nice: number(&raw.nice)
            .map(signed)
            .and_then(accepted_nice)
            .unwrap_or(0),
        submitted: positive(&raw.submit_time),
        eligible: positive(&raw.eligible_time),
        accrues_from: positive(&raw.accrue_time),
        time_limit: time_limit(&raw.time_limit),
        cpus: count(&raw.cpus).unwrap_or(0),
        tres,
        cluster: raw.cluster.unwrap_or_default(),
    }
}

/// A number that is set and finite.
fn number(value: &Value) -> Option<i64> {
    if is_unset(value) {
        return None;
    }
    value.get("number").unwrap_or(value).as_i64()
}

fn count(value: &Value) -> Option<u32> {
    u32::try_from(number(value)?).ok()
}

/// A number above 0, such as a time: 0 means that it is not set.
fn positive(value: &Value) -> Option<i64> {
    number(value).filter(|&number| number > 0)
}

/// Whether there is no number, or an infinite one.
fn is_unset(value: &Value) -> bool {
    value.is_null() || flag(value, "set") == Some(false) || is_infinite(value)
}

fn is_infinite(value: &Value) -> bool {
    flag(value, "infinite") == Some(true)
}

fn flag(value: &Value, key: &str) -> Option<bool> {
    value.get(key)?.as_bool()
}

/// Before 23.02 a negative number is printed as one of 32 bits without a sign.
fn signed(number: i64) -> i64 {
    let is_unsigned = (i64::from(i32::MAX) + 1..1 << 32).contains(&number);
    if is_unsigned {
        number - (1 << 32)
    } else {
        number
    }
}

fn time_limit(value: &Value) -> TimeLimit {
    match count(value) {
        _ if is_infinite(value) => TimeLimit::Unlimited,
        Some(u32::MAX) => TimeLimit::Unlimited,
        Some(minutes) => TimeLimit::Minutes(minutes),
        None => TimeLimit::OfPartition,
    }
}
