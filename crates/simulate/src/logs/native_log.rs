//! Reads native NDJSON, a job per line,
//! `{"id":"1.vm","entity":"Bob","queue":"workq","submit":0,"run":60, "resources":{"ncpus":4,"walltime":"01:00:00"}}`;
//! also `group`, `project`, `start`, and `user` where it is not the entity. A formula gets the
//! other `resources` too, and `queue_priority`, `job_priority`, `accrue_type` and the ready-made
//! `inputs`. Of the subjobs of an array, `max_run_subjobs` run at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use job_sort_formula::python::MAX_EXACT_INT;
use jsf_openpbs::AmountSource;
use jsf_openpbs::job_attributes::processors_of_select;
use jsf_openpbs::times::seconds;
use serde::Deserialize;
use serde_json::Value;

use crate::faults::Fault;
use crate::logs::swf::{nearest, rounded_run};
use crate::workload::builder::{Extent, LoggedAmount, LoggedJob, MAX_RUN_SUBJOBS, WorkloadBuilder};

#[derive(Default, Deserialize)]
#[serde(default)]
struct NativeJob {
    // values of any type, so that the fault of a line names the key that is wrong
    id: Value,
    entity: Value,
    group: Value,
    user: Value,
    project: Value,
    queue: Value,
    submit: Value,
    run: Value,
    start: Value,
    resources: Amounts,
    queue_priority: Value,
    job_priority: Value,
    accrue_type: Value,
    max_run_subjobs: Value,
    inputs: Amounts,
}

type Amounts = BTreeMap<String, Value>;

/// Whether a line is in this format.
pub fn is_native(line: &str) -> bool {
    // every key has a default, so that any object can be read as a job
    serde_json::from_str::<NativeJob>(line).is_ok_and(|job| !job.submit.is_null())
}

/// Adds the job of a line.
pub fn read_native_line(line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let job: NativeJob = serde_json::from_str(line)
        .map_err(|_| "not a job, expected {\"id\":…,\"submit\":…,\"run\":…,\"resources\":…}")?;
    let id = name(&job.id)?.ok_or("no id")?;
    let entity = name(&job.entity)?.unwrap_or_default();
    let user = name(&job.user)?;
    let group = name(&job.group)?.unwrap_or_default();
    let project = name(&job.project)?.unwrap_or_default();
    let queue = name(&job.queue)?.unwrap_or_default();
    let submit = read(
        &job.submit,
        "`submit` is not a number of seconds",
        Value::as_f64,
    )?
    .ok_or("no time of submission")?;
    let started = read(
        &job.start,
        "`start` is not a number of seconds",
        Value::as_f64,
    )?;
    // a duration such as `01:00:00`, or a number, whose begin and end are rounded, as in SWF
    let run = read(&job.run, "`run` is not a duration", |run| match run {
        Value::String(text) => seconds(text),
        _ => Some(rounded_run(started.unwrap_or(submit), run.as_f64()?)),
    })?
    .ok_or("no run time")?;
    let amounts = amounts(&job, builder);
    let resources = &job.resources;
    let walltime = resources.get("walltime").unwrap_or(&Value::Null);
    let kind = "`resources.walltime` is not a duration of a second or more";
    let walltime = read(walltime, kind, |requested| {
        let requested = match requested {
            Value::String(text) => seconds(text)?,
            // rounded up, as the requested time of SWF is
            _ => libm::ceil(requested.as_f64()?) as i64,
        };
        (requested > 0).then_some(requested)
    })?;
    let select = text(resources, "select");
    let kind = "`resources.ncpus` is not a whole number";
    let processors = match resources.get("ncpus") {
        None => processors_of_select(select),
        Some(ncpus) => read(ncpus, kind, |ncpus| match ncpus {
            Value::String(text) => text.parse().ok(),
            _ => integer(ncpus),
        })?,
    };
    let logged = LoggedJob {
        id: &id,
        entity: &entity,
        user: user.as_ref().unwrap_or(&entity),
        group: &group,
        unix_group: &group,
        project: &project,
        queue: &queue,
        submit: nearest(submit),
        run,
        walltime,
        processors: processors.ok_or(Fault::NO_PROCESSORS)?,
        select,
        place: text(resources, "place"),
        started: started.map(nearest),
        extent: Extent::Whole,
        amounts: &amounts,
    };
    builder.push(&logged)
}

/// A resource that is a text; empty if it is not there.
fn text<'j>(resources: &'j Amounts, name: &str) -> &'j str {
    match resources.get(name) {
        Some(Value::String(text)) => text,
        _ => "",
    }
}

/// A whole number, also as `4.0`, which programs write for a column of floats.
fn integer(value: &Value) -> Option<i64> {
    if let Some(integer) = value.as_i64() {
        return Some(integer);
    }
    let number = value.as_f64()?;
    let whole = number as i64;
    (whole as f64 == number && whole.abs() <= MAX_EXACT_INT).then_some(whole)
}

/// The amounts that are taken from the log; those that count most come last.
fn amounts<'j>(job: &'j NativeJob, builder: &WorkloadBuilder) -> Vec<LoggedAmount<'j>> {
    let mut all: Vec<(&str, &Value, Option<AmountSource>)> = Vec::new();
    for (name, value) in &job.resources {
        all.push((name, value, Some(AmountSource::User)));
    }
    all.extend([
        ("queue_priority", &job.queue_priority, None),
        ("job_priority", &job.job_priority, None),
        ("accrue_type", &job.accrue_type, None),
        (MAX_RUN_SUBJOBS, &job.max_run_subjobs, None),
    ]);
    for (name, value) in &job.inputs {
        all.push((name, value, None));
    }
    let mut taken = Vec::new();
    for (name, value, source) in all {
        if builder.takes(name) && !value.is_null() {
            taken.push(LoggedAmount {
                name: name.into(),
                text: amount(value, source),
                source,
            });
        }
    }
    taken
}

/// The text of an amount. `4.0` of a resource is 4, and of an input, which reaches the formula as
/// it is, a float.
fn amount(value: &Value, source: Option<AmountSource>) -> Cow<'_, str> {
    match (value, integer(value)) {
        (Value::String(text), _) => Cow::Borrowed(text),
        (_, Some(whole)) if source.is_some() => Cow::Owned(whole.to_string()),
        _ => Cow::Owned(value.to_string()),
    }
}

/// A name, which may be a number.
fn name(value: &Value) -> Result<Option<Cow<'_, str>>, Fault> {
    let kind = "a name is neither a text nor a number";
    read(value, kind, |value| {
        let is_name = value.is_string() || value.is_number();
        is_name.then(|| amount(value, Some(AmountSource::User)))
    })
}

/// What is read of a value; the fault of this kind if it is not what it should be.
fn read<'v, T>(
    value: &'v Value,
    kind: &'static str,
    parse: impl Fn(&'v Value) -> Option<T>,
) -> Result<Option<T>, Fault> {
    if value.is_null() {
        return Ok(None);
    }
    match parse(value) {
        Some(read) => Ok(Some(read)),
        None => Err(Fault::from(kind).found(&value.to_string())),
    }
}
