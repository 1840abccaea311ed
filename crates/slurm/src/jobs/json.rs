//! Reads `squeue --json` as the records that `scontrol show job` prints. Numbers are plain before
//! 23.02, and objects with `set`, `infinite` and `number` since; states are texts, then lists of
//! texts.

use jsf_json::entries;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::form::Form;
use crate::jobs::{Read, scontrol};
use crate::records::Record;

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

/// The keys that are read, each with the one that `scontrol` has for it, and the form of its
/// values. Of two keys with one name the first counts.
const KEYS: [(&str, &str, Option<Form>); 23] = [
    ("job_id", "JobId", None),
    ("user_name", "UserId", None),
    ("account", "Account", None),
    ("partition", "Partition", None),
    ("qos", "QOS", None),
    ("job_state", "JobState", None),
    ("state_reason", "Reason", None),
    ("priority", "Priority", Some(Form::Count)),
    ("nice", "Nice", Some(Form::Nice)),
    ("submit_time", "SubmitTime", Some(Form::Whole)),
    ("eligible_time", "EligibleTime", Some(Form::Whole)),
    ("accrue_time", "AccrueTime", Some(Form::Whole)),
    ("time_limit", "TimeLimit", Some(Form::Limit)),
    ("cpus", "NumCPUs", Some(Form::Count)),
    ("memory_per_node", "MinMemoryNode", None),
    ("memory_per_cpu", "MinMemoryCPU", None),
    ("tres_req_str", "ReqTRES", None),
    ("tres_alloc_str", "AllocTRES", None),
    ("dependency", "Dependency", None),
    ("cluster", "Cluster", None),
    ("array_job_id", "ArrayJobId", None),
    ("array_task_string", "ArrayTaskId", None),
    ("array_task_id", "ArrayTaskId", None),
];

pub fn read(text: &str) -> Result<Read, String> {
    let document: Document<'_> = serde_json::from_str(text)
        .map_err(|error| format!("expected the output of `squeue --json`: {error}"))?;
    let mut read = Read {
        version: document.version(),
        ..Read::default()
    };
    for (index, job) in document.jobs.iter().enumerate() {
        let record = record(job.get()).unwrap_or_default();
        let (Some(id), Some(state)) = (record.get("JobId"), record.get("JobState")) else {
            let number = index + 1;
            read.problems.push(format!(
                "job {number} is left out: expected an object with `job_id` and `job_state`"
            ));
            continue;
        };
        for (key, name, form) in KEYS {
            if let (Some(form), Some(value)) = (form, record.get(name)) {
                let of = format!("job `{id}`");
                read.problems.extend(form.fault(key, &of, value));
            }
        }
        let mut job = scontrol::job(&record, state);
        job.submitted = time(&record, "SubmitTime");
        job.eligible = time(&record, "EligibleTime");
        job.accrues_from = time(&record, "AccrueTime");
        read.jobs.push(job);
    }
    Ok(read)
}

/// A job as `scontrol` prints it.
fn record(job: &str) -> serde_json::Result<Record> {
    let given = entries(job)?;
    let mut record = Record::default();
    for (key, name, _) in KEYS {
        let Some((_, value)) = given.iter().find(|(given, _)| given == key) else {
            continue;
        };
        let Some(text) = text(&serde_json::from_str(value.get())?) else {
            continue;
        };
        let text = match (name, text.as_str()) {
            ("TimeLimit", NO_LIMIT) => UNLIMITED.to_owned(),
            // only a limit may be infinite, and no array has the number 0
            ("TimeLimit", _) => text,
            (_, UNLIMITED) | ("ArrayJobId", "0") => continue,
            ("Nice", _) => signed(text),
            _ => text,
        };
        record.set_first(name, &text, 0);
    }
    Ok(record)
}

/// A limit without a bound, as `scontrol` prints it.
const UNLIMITED: &str = "UNLIMITED";
/// The same as a number, before 23.02.
const NO_LIMIT: &str = "4294967295";

/// A time in seconds since 1970; 0 means that it is not set.
fn time(record: &Record, key: &str) -> Option<i64> {
    record.number(key).filter(|seconds| *seconds > 0)
}

/// The text of a value; `None` for a number that is not set.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => text(items.first()?),
        Value::Object(number) if number.get("set") == Some(&Value::Bool(false)) => None,
        Value::Object(number) if number.get("infinite") == Some(&Value::Bool(true)) => {
            Some(UNLIMITED.to_owned())
        }
        _ => Some(value.get("number").unwrap_or(value).to_string()),
    }
}

/// Before 23.02 a negative number is printed as one of 32 bits without a sign.
fn signed(text: String) -> String {
    match text.parse::<u32>() {
        Ok(number) if number > i32::MAX as u32 => (number as i32).to_string(),
        _ => text,
    }
}
