//! Reads `squeue --json`. Numbers are plain before 23.02, and objects with `set`, `infinite` and
//! `number` since; states are texts, then lists of texts.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::form::{Form, MAX_NICE};
use crate::jobs::{Read, SlurmJob, TimeLimit, array_task};
use crate::tres::TresAmounts;

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
    #[serde(default, deserialize_with = "text")]
    user_name: String,
    #[serde(default, deserialize_with = "text")]
    account: String,
    #[serde(default, deserialize_with = "text")]
    partition: String,
    #[serde(default, deserialize_with = "text")]
    qos: String,
    job_state: Value,
    #[serde(default, deserialize_with = "text")]
    state_reason: String,
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
    #[serde(default, deserialize_with = "text")]
    tres_req_str: String,
    #[serde(default, deserialize_with = "text")]
    tres_alloc_str: String,
    #[serde(default, deserialize_with = "text")]
    dependency: String,
    #[serde(default, deserialize_with = "text")]
    cluster: String,
    #[serde(default)]
    array_job_id: Value,
    #[serde(default)]
    array_task_id: Value,
    #[serde(default, deserialize_with = "text")]
    array_task_string: String,
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
            let plain = value.get("number").unwrap_or(value);
            let said = match (number(value), form) {
                _ if is_unset(value) => None,
                (Some(number), Form::Nice) => form.fault(key, &of, &signed(number).to_string()),
                _ => form.fault(key, &of, &plain.to_string()),
            };
            faults.extend(said);
        }
        faults
    }

    fn array_task(&self) -> Option<String> {
        let array = number(&self.array_job_id).filter(|array| *array > 0)?;
        let task = number(&self.array_task_id).map(|task| task.to_string());
        let tasks = Some(self.array_task_string.clone()).filter(|tasks| !tasks.is_empty());
        Some(array_task(&array.to_string(), &tasks.or(task)?))
    }
}

pub(super) fn read(text: &str) -> Result<Read, String> {
    let document: Document<'_> = serde_json::from_str(text)
        .map_err(|error| format!("expected the output of `squeue --json`: {error}"))?;
    let mut read = Read {
        version: document.version(),
        ..Read::default()
    };
    for (index, raw) in document.jobs.into_iter().enumerate() {
        match serde_json::from_str(raw.get()) {
            Ok(raw) => {
                let raw: RawJob = raw;
                read.problems.extend(raw.faults());
                read.jobs.push(job(raw));
            }
            Err(error) => {
                let problem = format!("job {} is left out: {error}", index + 1);
                read.problems.push(problem);
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
    let is_pending = state == "PENDING";
    let tres = if is_pending || raw.tres_alloc_str.is_empty() {
        &raw.tres_req_str
    } else {
        &raw.tres_alloc_str
    };
    let mut tres = TresAmounts::parse(tres);
    let nodes = tres
        .get("node")
        .or(number(&raw.node_count).map(|nodes| nodes as f64));
    let exact = match (number(&raw.memory_per_node), number(&raw.memory_per_cpu)) {
        (Some(of_node), _) if of_node > 0 => nodes.map(|nodes| of_node as f64 * nodes),
        (_, Some(of_cpu)) if of_cpu > 0 => tres.get("cpu").map(|cpus| of_cpu as f64 * cpus),
        _ => None,
    };
    if let Some(megabytes) = exact {
        tres.refine_memory(megabytes);
    }
    SlurmJob {
        id: raw.job_id.to_string(),
        array_task: raw.array_task(),
        user: raw.user_name,
        account: raw.account,
        partition: raw.partition,
        qos: raw.qos,
        state,
        reason: raw.state_reason,
        priority: number(&raw.priority).and_then(|priority| u32::try_from(priority).ok()),
        nice: number(&raw.nice)
            .map(signed)
            .filter(|nice| (-MAX_NICE..=MAX_NICE).contains(nice))
            .unwrap_or(0),
        submitted: time(&raw.submit_time),
        eligible: time(&raw.eligible_time),
        accrues_from: time(&raw.accrue_time),
        time_limit: time_limit(&raw.time_limit),
        cpus: number(&raw.cpus)
            .and_then(|cpus| u32::try_from(cpus).ok())
            .unwrap_or(0),
        tres,
        dependency: raw.dependency,
        cluster: raw.cluster,
    }
}

/// A text, which is empty for `null`.
fn text<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    Option::deserialize(value).map(Option::unwrap_or_default)
}

/// A number that is set and finite.
fn number(value: &Value) -> Option<i64> {
    let number = value.get("number").unwrap_or(value);
    number.as_i64().filter(|_| !is_unset(value))
}

/// Whether there is no number, or an infinite one.
fn is_unset(value: &Value) -> bool {
    let is = |key| value.get(key).and_then(Value::as_bool);
    value.is_null() || is("set") == Some(false) || is("infinite") == Some(true)
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

/// A time; 0 means that there is none.
fn time(value: &Value) -> Option<i64> {
    number(value).filter(|&time| time > 0)
}

fn time_limit(value: &Value) -> TimeLimit {
    if value.get("infinite").and_then(Value::as_bool) == Some(true) {
        return TimeLimit::Unlimited;
    }
    match number(value).and_then(|minutes| u32::try_from(minutes).ok()) {
        Some(u32::MAX) => TimeLimit::Unlimited,
        Some(minutes) => TimeLimit::Minutes(minutes),
        None => TimeLimit::OfPartition,
    }
}
