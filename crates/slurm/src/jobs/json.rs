//! Reads `squeue --json`. Numbers are plain before 23.02, and objects with `set`, `infinite` and
//! `number` since; states are texts, then lists of texts.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::jobs::{Read, SlurmJob, TimeLimit};
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
}

pub(super) fn read(text: &str) -> Result<(Read, Option<String>), String> {
    let document: Document<'_> = serde_json::from_str(text)
        .map_err(|error| format!("expected the output of `squeue --json`: {error}"))?;
    let version = document.version();
    let mut jobs = Vec::with_capacity(document.jobs.len());
    let mut problems = Vec::new();
    for (index, raw) in document.jobs.into_iter().enumerate() {
        match serde_json::from_str(raw.get()) {
            Ok(raw) => jobs.push(job(raw)),
            Err(error) => problems.push(format!("job {} is left out: {error}", index + 1)),
        }
    }
    Ok(((jobs, problems), version))
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
    let cpus = number(&raw.cpus).unwrap_or(0);
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
        user: raw.user_name,
        account: raw.account,
        partition: raw.partition,
        qos: raw.qos,
        state,
        reason: raw.state_reason,
        priority: number(&raw.priority).and_then(|priority| u32::try_from(priority).ok()),
        // before 23.02 a negative number is printed as one of 32 bits without a sign
        nice: match number(&raw.nice).unwrap_or(0) {
            nice if nice > i64::from(i32::MAX) => nice - (1 << 32),
            nice => nice,
        },
        submitted: time(&raw.submit_time),
        eligible: time(&raw.eligible_time),
        accrues_from: time(&raw.accrue_time),
        time_limit: time_limit(&raw.time_limit),
        cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        tres,
        dependency: raw.dependency,
    }
}

/// A text, which is empty for `null`.
fn text<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    Option::deserialize(value).map(Option::unwrap_or_default)
}

/// A number that is set and finite.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Object(fields) => {
            let is = |key| fields.get(key).and_then(Value::as_bool);
            let is_set = is("set") != Some(false) && is("infinite") != Some(true);
            fields.get("number").filter(|_| is_set)?.as_i64()
        }
        plain => plain.as_i64(),
    }
}

/// A time; 0 stands for none.
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
