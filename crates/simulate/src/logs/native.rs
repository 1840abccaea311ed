//! Reads and writes native NDJSON: a job per line,
//! `{"id":"1.vm","entity":"Bob","queue":"workq","submit":0,"run":60, "resources":{"ncpus":4,"walltime":"01:00:00"}}`;
//! also `group`, `project`, `start`, and `user` where it is not the entity. A formula gets the
//! other `resources` too, and `queue_priority`, `job_priority`, `accrue_type` and the ready-made
//! `inputs`. Of the subjobs of an array, `max_run_subjobs` run at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use job_sort_formula::python::MAX_EXACT_INT;
use jsf_openpbs::amounts::AmountSource;
use jsf_openpbs::job_attributes::of_select;
use jsf_openpbs::times::seconds;
use serde::Deserialize;
use serde_json::Value;

use super::left_out::Fault;
use super::swf::nearest;
use crate::workload::builder::WorkloadBuilder;
use crate::workload::logged_job::{Extent, LoggedAmount, LoggedJob, MAX_RUN_SUBJOBS};

#[derive(Default, Deserialize)]
#[serde(default)]
struct NativeJob {
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
    serde_json::from_str::<NativeJob>(line).is_ok_and(|job| !job.submit.is_null())
}

/// Adds the job of a line.
pub fn read_line(line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let job: NativeJob = serde_json::from_str(line)
        .map_err(|_| "not a job, expected {\"id\":…,\"submit\":…,\"run\":…,\"resources\":…}")?;
    let id = name(&job.id, "`id` is neither a text nor a number")?.ok_or("no id")?;
    let entity = name(&job.entity, "`entity` is neither a text nor a number")?.unwrap_or_default();
    let user = name(&job.user, "`user` is neither a text nor a number")?;
    let group = name(&job.group, "`group` is neither a text nor a number")?.unwrap_or_default();
    let project =
        name(&job.project, "`project` is neither a text nor a number")?.unwrap_or_default();
    let queue = name(&job.queue, "`queue` is neither a text nor a number")?.unwrap_or_default();
    let submit = moment(&job.submit, "`submit` is not a number of seconds")?
        .ok_or("no time of submission")?;
    let started = moment(&job.start, "`start` is not a number of seconds")?;
    let run = run_time(&job.run, started.unwrap_or(submit))?;
    let amounts = amounts(&job, builder);
    let resources = &job.resources;
    let select = text(resources, "select");
    let logged = LoggedJob {
        id: &id,
        entity: &entity,
        user: user.as_ref().unwrap_or(&entity),
        group: &group,
        unix_group: &group,
        project: &project,
        queue: &queue,
        submit: submit.rounded(),
        run,
        walltime: resources.get("walltime").map_or(Ok(None), requested_time)?,
        processors: resources
            .get("ncpus")
            .map_or(Ok(of_select(select)), processors)?
            .ok_or(Fault::NO_PROCESSORS)?,
        select,
        place: text(resources, "place"),
        started: started.map(Moment::rounded),
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

/// A name, which may be a number; `kind` is what is wrong with any other value.
fn name<'j>(value: &'j Value, kind: &'static str) -> Result<Option<Cow<'j, str>>, Fault> {
    match value {
        Value::Null => Ok(None),
        Value::String(_) | Value::Number(_) => Ok(Some(amount(value, Some(AmountSource::User)))),
        _ => required(None, value, kind),
    }
}

/// A moment in seconds, as the log has it.
#[derive(Clone, Copy)]
enum Moment {
    Whole(i64),
    Fraction(f64),
}

impl Moment {
    fn rounded(self) -> i64 {
        match self {
            Self::Whole(seconds) => seconds,
            Self::Fraction(seconds) => nearest(seconds),
        }
    }

    /// The whole seconds from this moment to the end of a run.
    fn until_end_of(self, run: f64) -> i64 {
        match self {
            Self::Whole(_) => nearest(run),
            Self::Fraction(seconds) => nearest(seconds + run).saturating_sub(nearest(seconds)),
        }
    }
}

fn moment(value: &Value, kind: &'static str) -> Result<Option<Moment>, Fault> {
    if value.is_null() {
        return Ok(None);
    }
    let moment = match decimal(value) {
        Some(seconds) => Moment::Fraction(seconds),
        None => Moment::Whole(required(integer(value), value, kind)?),
    };
    Ok(Some(moment))
}

/// A number with a fraction or an exponent.
fn decimal(value: &Value) -> Option<f64> {
    value.as_f64().filter(|_| value.is_f64())
}

/// The run time: a number of seconds, or a duration such as `01:00:00`. Its start and its end are
/// rounded, as in SWF.
fn run_time(value: &Value, start: Moment) -> Result<i64, Fault> {
    let run = match (value, decimal(value)) {
        (Value::Null, _) => return Err("no run time".into()),
        (Value::String(text), _) => seconds(text),
        (_, Some(run)) => Some(start.until_end_of(run)),
        _ => integer(value),
    };
    required(run, value, "`run` is not a duration")
}

/// The requested time, rounded up.
fn requested_time(value: &Value) -> Result<Option<i64>, Fault> {
    let requested = match (value, decimal(value)) {
        (Value::Null, _) => return Ok(None),
        (Value::String(text), _) => seconds(text),
        (_, Some(requested)) => Some(libm::ceil(requested) as i64),
        _ => integer(value),
    };
    let requested = requested.filter(|requested| *requested > 0);
    let kind = "`resources.walltime` is not a duration of a second or more";
    required(requested, value, kind).map(Some)
}

fn processors(value: &Value) -> Result<Option<i64>, Fault> {
    let number = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text.parse().ok(),
        _ => integer(value),
    };
    required(number, value, "`resources.ncpus` is not a whole number").map(Some)
}

/// What was read of a value, which is not what it should be if nothing was read.
fn required<T>(read: Option<T>, value: &Value, kind: &'static str) -> Result<T, Fault> {
    match read {
        Some(read) => Ok(read),
        None => Err(Fault::from(kind).found(&value.to_string())),
    }
}
