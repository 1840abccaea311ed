//! Reads and writes native NDJSON: a job per line, `{"id":"1.vm","entity":"Bob","queue":"workq","submit":0,"run":60,
//! "resources":{"ncpus":4,"walltime":"01:00:00"}}`; also `group` and `start`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::workload::{LoggedJob, WorkloadBuilder};
use crate::pbs::duration::seconds;

#[derive(Deserialize)]
struct NativeJob<'a> {
    id: Value,
    #[serde(borrow, default)]
    entity: Cow<'a, str>,
    #[serde(borrow, default)]
    group: Cow<'a, str>,
    #[serde(borrow, default)]
    queue: Cow<'a, str>,
    submit: Option<Value>,
    run: Option<Value>,
    start: Option<i64>,
    #[serde(default)]
    resources: Resources,
}

#[derive(Deserialize, Default)]
struct Resources {
    ncpus: Option<Value>,
    walltime: Option<Value>,
}

/// Whether a line is in this format.
pub(super) fn is_native(line: &str) -> bool {
    serde_json::from_str::<NativeJob<'_>>(line).is_ok_and(|job| job.submit.is_some())
}

/// Adds the job of a line.
pub(super) fn read_line(line: &str, builder: &mut WorkloadBuilder) -> Result<(), &'static str> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let job: NativeJob<'_> = serde_json::from_str(line)
        .map_err(|_| "not a job, expected {\"id\":…,\"submit\":…,\"run\":…,\"resources\":…}")?;
    let id = match &job.id {
        Value::String(id) => Cow::Borrowed(id.as_str()),
        Value::Number(id) => Cow::Owned(id.to_string()),
        _ => return Err("the id is neither a text nor a number"),
    };
    let run = job.run.as_ref().and_then(whole_seconds).ok_or("no run time")?;
    let walltime = job.resources.walltime.as_ref().and_then(whole_seconds).filter(|walltime| *walltime > 0);
    builder.push(&LoggedJob {
        id: &id,
        entity: &job.entity,
        group: &job.group,
        queue: &job.queue,
        submit: job.submit.as_ref().and_then(Value::as_i64).ok_or("no time of submission")?,
        run,
        walltime: walltime.unwrap_or(run),
        processors: job.resources.ncpus.as_ref().and_then(whole_number).ok_or("no number of processors")?,
        started: job.start,
        is_partial: false,
    })
}

fn whole_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// A number of seconds, or a duration such as `01:00:00`.
fn whole_seconds(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| seconds(value.as_str()?).ok())
}
