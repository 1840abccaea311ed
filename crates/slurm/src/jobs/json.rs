//! Reads `squeue --json`. Numbers are plain before 23.02, and objects with `set`, `infinite` and
//! `number` since; states are texts, then lists of texts.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::jobs::{SlurmJob, SlurmJobs, TimeLimit, array_task};
use crate::values::{Form, TresAmounts, accepted_nice};

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
    dependency: Option<String>,
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

pub fn read(text: &str) -> Result<SlurmJobs, String> {
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
                read.jobs.push(job(raw));
            }
            Err(error) => {
                let problem = format!("job {} is left out: {error}", index + 1);
                read.warnings.push(problem);
            }
        }
    }
    Ok(read)
}

fn job(raw: RawJob) -> SlurmJob {
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
        dependency: raw.dependency.unwrap_or_default(),
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
