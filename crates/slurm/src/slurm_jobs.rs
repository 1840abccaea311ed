//! The jobs of a queue, as `squeue` and `scontrol show job` print them: in JSON, in records of several
//! lines or one (`-o`), or in a table with a header and cells separated by `|`.

use std::collections::{HashMap, HashSet};

use job_sort_formula::diagnostic::limit_each_kind;
use jsf_json::clipped;

use crate::records::{JsonDocument, Record, RecordKind, record_of};
use crate::tables::Table;
use crate::values::{Form, TimeLimit, TresAmounts, nice, parse_amount, parse_time, processors};

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

    /// Whether the scheduler considers it: it is pending and not held.
    pub fn is_waiting_for_start(&self) -> bool {
        self.is_pending() && self.priority != Some(0)
    }

    /// Whether the scheduler does not start it yet, as it waits for another job or for a time.
    pub fn is_dependent(&self) -> bool {
        matches!(
            self.reason.as_str(),
            "Dependency" | "BeginTime" | "DependencyNeverSatisfied"
        )
    }

    /// Its number, without the index of its task.
    pub fn number(&self) -> Option<i64> {
        let mut parts = self.id.split(|c: char| !c.is_ascii_digit());
        parts.next()?.parse().ok()
    }

    /// The user in the account, by whose shares it is ranked.
    pub fn entity(&self) -> String {
        format!("{}/{}", self.account, self.user)
    }

    /// Whether the job has ended.
    fn has_ended(&self) -> bool {
        const ACTIVE: &str = "PENDING PD RUNNING R SUSPENDED S CONFIGURING CF COMPLETING CG STAGE_OUT SO SIGNALING SI \
                              STOPPED ST";
        let mut active = ACTIVE.split_ascii_whitespace();
        !active.any(|state| state.eq_ignore_ascii_case(&self.state))
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
            let (records, warnings) = JOB.read(text);
            Ok(Self {
                jobs: records.iter().map(job_of_record).collect(),
                warnings,
                ..Self::default()
            })
        } else {
            read_table(text)
        };
        let mut read = read.map_err(|error| format!("`{}`: {error}", clipped(name)))?;
        let mut jobs = std::mem::take(&mut read.jobs);
        // without a state, whether it is pending is not known
        for job in jobs.extract_if(.., |job| job.state.is_empty()) {
            let fault = format!("job `{}` is left out: it has no state", clipped(&job.id));
            read.warnings.push(fault);
        }
        if let Some(first) = read.warnings.first()
            && jobs.is_empty()
        {
            return Err(format!(
                "`{}`: none of its jobs can be read: {first}",
                clipped(name)
            ));
        }
        let mut known = HashSet::new();
        for job in jobs {
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
        read.warnings = limit_each_kind(read.warnings);
        for warning in &mut read.warnings {
            warning.insert_str(0, &format!("`{name}`: "));
        }
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

/// What is read of a job, by the keys that `scontrol` has for it.
const JOB: RecordKind = RecordKind {
    what: "job",
    name: "JobId",
    command: "scontrol show job",
    forms: &[
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
    ],
};

fn job_of_record(record: &Record) -> SlurmJob {
    let text = |key| record.text(key).to_owned();
    // `squeue` has several columns with ids, of which one is that of the array's tasks; the number
    // alone is what the other commands call the job
    let ids: Vec<&str> = record.all(JOB.name).collect();
    let mut numbers = ids.iter().filter(|id| id.parse::<i64>().is_ok());
    let id = numbers.next().or(ids.first()).copied();
    // JSON has seconds since 1970, and 0 for none
    let seconds = |key| record.number(key).filter(|seconds: &i64| *seconds > 0);
    let time = |key| record.get(key).and_then(parse_time).or(seconds(key));
    // since 23.02, JSON has a list with flags behind the state
    let state = record
        .text("JobState")
        .split(',')
        .next()
        .unwrap_or_default()
        .to_owned();
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
    let mut task = ids
        .into_iter()
        .find(|id| id.contains('_'))
        .map(str::to_owned);
    if let (Some(array), Some(tasks)) = (record.get("ArrayJobId"), record.get("ArrayTaskId"))
        && array != "0"
    {
        task = Some(array_task(array, tasks));
    }
    SlurmJob {
        id: id.unwrap_or_default().to_owned(),
        user: record
            .text("UserId")
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
    let table = Table::parse(text).ok_or(expected)?;
    if !table.has("PRIORITY") {
        return Err(expected.to_owned());
    }
    if !table.has("TRES_ALLOC") {
        return Err("the table of `squeue` has no column TRES_ALLOC (`tres-alloc`)".to_owned());
    }
    let mut jobs = Vec::new();
    let warnings = JOB.read_table(&table, &COLUMNS, |record| jobs.push(job_of_record(&record)));
    Ok(SlurmJobs {
        jobs,
        warnings,
        ..SlurmJobs::default()
    })
}

/// The keys of a job in JSON, each with the one that `scontrol` has for it.
const JSON_KEYS: [(&str, &str); 22] = [
    ("user_name", "UserId"),
    ("account", "Account"),
    ("partition", "Partition"),
    ("qos", "QOS"),
    ("job_state", "JobState"),
    ("state_reason", "Reason"),
    ("tres_req_str", "ReqTRES"),
    ("tres_alloc_str", "AllocTRES"),
    ("cluster", "Cluster"),
    ("array_task_string", "ArrayTaskId"),
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
    let document = JsonDocument::read(text, "jobs")
        .map_err(|found| format!("expected the output of `squeue --json`, found {found}"))?;
    let mut read = SlurmJobs {
        version: document.version,
        ..SlurmJobs::default()
    };
    for (number, item) in (1..).zip(document.items) {
        match record_of(item, &JSON_KEYS) {
            Ok(record) if record.number::<u64>(JOB.name).is_none() => read.warnings.push(format!(
                "job {number} is left out: it has no `job_id` that is a number"
            )),
            Ok(mut record) => {
                // before 23.02, a negative number is printed as one of 32 bits without a sign
                if let Some(nice @ 0x8000_0000..0x1_0000_0000) = record.number::<i64>("Nice") {
                    record.set("Nice", &(nice - 0x1_0000_0000).to_string(), 0);
                }
                read.warnings.extend(JOB.faults(&record));
                read.jobs.push(job_of_record(&record));
            }
            Err(error) => {
                let problem = format!("job {number} is left out: {error}");
                read.warnings.push(problem);
            }
        }
    }
    Ok(read)
}
