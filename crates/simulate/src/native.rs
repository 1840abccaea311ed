//! Reads and writes native NDJSON: a job per line, `{"id":"1.vm","entity":"Bob","queue":"workq","submit":0,"run":60,
//! "resources":{"ncpus":4,"walltime":"01:00:00"}}`; also `group`, `project`, `start`, and `user` where it is not the entity. A formula gets the other `resources` too, and
//! `queue_priority`, `job_priority`, `accrue_type` and the ready-made `inputs`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jsf_openpbs::duration::seconds;
use jsf_openpbs::resource_amount::AmountSource;
use serde::Deserialize;
use serde_json::Value;

use super::left_out::Fault;
use super::workload::{Extent, LoggedAmount, LoggedJob, WorkloadBuilder};

#[derive(Deserialize)]
struct NativeJob<'a> {
    id: Value,
    #[serde(borrow, default)]
    entity: Cow<'a, str>,
    #[serde(borrow, default)]
    group: Cow<'a, str>,
    #[serde(borrow, default)]
    user: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    project: Cow<'a, str>,
    #[serde(borrow, default)]
    queue: Cow<'a, str>,
    submit: Option<Value>,
    run: Option<Value>,
    start: Option<i64>,
    #[serde(borrow, default)]
    resources: Amounts<'a>,
    queue_priority: Option<Value>,
    job_priority: Option<Value>,
    accrue_type: Option<Value>,
    #[serde(borrow, default)]
    inputs: Amounts<'a>,
}

type Amounts<'a> = BTreeMap<Cow<'a, str>, Value>;

/// Whether a line is in this format.
pub(super) fn is_native(line: &str) -> bool {
    serde_json::from_str::<NativeJob<'_>>(line).is_ok_and(|job| job.submit.is_some())
}

/// Adds the job of a line.
pub(super) fn read_line(line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let job: NativeJob<'_> = serde_json::from_str(line)
        .map_err(|_| "not a job, expected {\"id\":…,\"submit\":…,\"run\":…,\"resources\":…}")?;
    let id = match &job.id {
        Value::String(id) => Cow::Borrowed(id.as_str()),
        Value::Number(id) => Cow::Owned(id.to_string()),
        _ => return Err(Fault::from("the id is neither a text nor a number")),
    };
    let run = job.run.as_ref().and_then(whole_seconds).ok_or("no run time")?;
    let walltime = job.resources.get("walltime").and_then(whole_seconds).filter(|walltime| *walltime > 0);
    let texts = texts(&job, builder);
    let amounts: Vec<LoggedAmount<'_>> =
        texts.iter().map(|(name, text, source)| LoggedAmount { name, text, source: *source }).collect();
    let logged = LoggedJob {
        id: &id,
        entity: &job.entity,
        user: job.user.as_ref().unwrap_or(&job.entity),
        group: &job.group,
        unix_group: &job.group,
        project: &job.project,
        queue: &job.queue,
        submit: job.submit.as_ref().and_then(Value::as_i64).ok_or("no time of submission")?,
        run,
        walltime,
        processors: job.resources.get("ncpus").and_then(whole_number).ok_or(Fault::NO_PROCESSORS)?,
        started: job.start,
        extent: Extent::Whole,
        amounts: &amounts,
    };
    builder.push(&logged).map_err(Fault::from)
}

/// The texts of the amounts that are taken from the log; those that count most come last.
fn texts<'j>(job: &'j NativeJob<'_>, builder: &WorkloadBuilder) -> Vec<(&'j str, Cow<'j, str>, Option<AmountSource>)> {
    let resources = job.resources.iter().map(|(name, value)| (&**name, value, Some(AmountSource::User)));
    let special = [
        ("queue_priority", &job.queue_priority),
        ("job_priority", &job.job_priority),
        ("accrue_type", &job.accrue_type),
    ];
    let special = special.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?, None)));
    let inputs = job.inputs.iter().map(|(name, value)| (&**name, value, None));
    let all = resources.chain(special).chain(inputs).filter(|(name, value, _)| builder.takes(name) && !value.is_null());
    let text = |value: &'j Value| value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
    all.map(|(name, value, source)| (name, text(value), source)).collect()
}

fn whole_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// A number of seconds, or a duration such as `01:00:00`.
fn whole_seconds(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| seconds(value.as_str()?).ok())
}
