//! Reads and writes native NDJSON: a job per line,
//! `{"id":"1.vm","entity":"Bob","queue":"workq","submit":0,"run":60, "resources":{"ncpus":4,"walltime":"01:00:00"}}`;
//! also `group`, `project`, `start`, and `user` where it is not the entity. A formula gets the
//! other `resources` too, and `queue_priority`, `job_priority`, `accrue_type` and the ready-made
//! `inputs`. Of the subjobs of an array, `max_run_subjobs` run at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jsf_openpbs::duration::seconds;
use jsf_openpbs::requested_processors::of_select;
use jsf_openpbs::resource_amount::AmountSource;
use serde::Deserialize;

use super::left_out::Fault;
use super::scalar::Scalar;
use super::swf::nearest;
use super::workload::{Extent, LoggedAmount, LoggedJob, MAX_RUN_SUBJOBS, WorkloadBuilder};

#[derive(Deserialize)]
struct NativeJob<'a> {
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    entity: Scalar<'a>,
    #[serde(borrow, default)]
    group: Scalar<'a>,
    #[serde(borrow, default)]
    user: Scalar<'a>,
    #[serde(borrow, default)]
    project: Scalar<'a>,
    #[serde(borrow, default)]
    queue: Scalar<'a>,
    #[serde(borrow, default)]
    submit: Scalar<'a>,
    #[serde(borrow, default)]
    run: Scalar<'a>,
    #[serde(borrow, default)]
    start: Scalar<'a>,
    #[serde(borrow, default)]
    resources: Amounts<'a>,
    #[serde(borrow, default)]
    queue_priority: Scalar<'a>,
    #[serde(borrow, default)]
    job_priority: Scalar<'a>,
    #[serde(borrow, default)]
    accrue_type: Scalar<'a>,
    #[serde(borrow, default)]
    max_run_subjobs: Scalar<'a>,
    #[serde(borrow, default)]
    inputs: Amounts<'a>,
}

type Amounts<'a> = BTreeMap<Cow<'a, str>, Scalar<'a>>;

/// Whether a line is in this format.
pub(super) fn is_native(line: &str) -> bool {
    serde_json::from_str::<NativeJob<'_>>(line).is_ok_and(|job| job.submit != Scalar::Absent)
}

/// Adds the job of a line.
pub(super) fn read_line(line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let job: NativeJob<'_> = serde_json::from_str(line)
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
    let amounts: Vec<LoggedAmount<'_>> = amounts
        .iter()
        .map(|(name, text, source)| LoggedAmount {
            name,
            text,
            source: *source,
        })
        .collect();
    let select = text(&job.resources, "select");
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
        walltime: job
            .resources
            .get("walltime")
            .map_or(Ok(None), requested_time)?,
        processors: job
            .resources
            .get("ncpus")
            .map_or(Ok(of_select(select)), processors)?
            .ok_or(Fault::NO_PROCESSORS)?,
        select,
        place: text(&job.resources, "place"),
        started: started.map(Moment::rounded),
        extent: Extent::Whole,
        amounts: &amounts,
    };
    builder.push(&logged)
}

/// A resource that is a text; empty if it is not there.
fn text<'j>(resources: &'j Amounts<'_>, name: &str) -> &'j str {
    match resources.get(name) {
        Some(Scalar::Text(text)) => text,
        _ => "",
    }
}

/// The texts of the amounts that are taken from the log; those that count most come last.
fn amounts<'j>(
    job: &'j NativeJob<'_>,
    builder: &WorkloadBuilder,
) -> Vec<(&'j str, Cow<'j, str>, Option<AmountSource>)> {
    let resources = job
        .resources
        .iter()
        .map(|(name, value)| (&**name, value, Some(AmountSource::User)));
    let special = [
        ("queue_priority", &job.queue_priority, None),
        ("job_priority", &job.job_priority, None),
        ("accrue_type", &job.accrue_type, None),
        (MAX_RUN_SUBJOBS, &job.max_run_subjobs, None),
    ];
    let inputs = job
        .inputs
        .iter()
        .map(|(name, value)| (&**name, value, None));
    let all = resources.chain(special).chain(inputs);
    let taken = all.filter(|(name, value, _)| builder.takes(name) && **value != Scalar::Absent);
    taken
        .map(|(name, value, source)| (name, amount(value, source), source))
        .collect()
}

/// The text of an amount. `4.0` of a resource is 4, and of an input, which reaches the formula as
/// it is, a float.
fn amount<'j>(value: &'j Scalar<'_>, source: Option<AmountSource>) -> Cow<'j, str> {
    match value {
        Scalar::Text(text) => Cow::Borrowed(text),
        _ => match value.integer().filter(|_| source.is_some()) {
            Some(whole) => Cow::Owned(whole.to_string()),
            None => Cow::Owned(value.to_string()),
        },
    }
}

/// A name, which may be a number; `kind` is what is wrong with any other value.
fn name<'j>(value: &'j Scalar<'_>, kind: &'static str) -> Result<Option<Cow<'j, str>>, Fault> {
    match value {
        Scalar::Absent => Ok(None),
        Scalar::Text(text) => Ok(Some(Cow::Borrowed(text))),
        Scalar::Integer(_) | Scalar::Decimal(_) => {
            let whole = value.integer().map(|number| number.to_string());
            Ok(Some(Cow::Owned(whole.unwrap_or_else(|| value.to_string()))))
        }
        Scalar::Other(_) => Err(misfit(value, kind)),
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

fn moment(value: &Scalar<'_>, kind: &'static str) -> Result<Option<Moment>, Fault> {
    match value {
        Scalar::Absent => Ok(None),
        Scalar::Decimal(seconds) => Ok(Some(Moment::Fraction(*seconds))),
        _ => value
            .integer()
            .map(|seconds| Some(Moment::Whole(seconds)))
            .ok_or_else(|| misfit(value, kind)),
    }
}

/// The run time: a number of seconds, or a duration such as `01:00:00`. Its start and its end are
/// rounded, as in SWF.
fn run_time(value: &Scalar<'_>, start: Moment) -> Result<i64, Fault> {
    let run = match value {
        Scalar::Absent => return Err("no run time".into()),
        Scalar::Text(text) => seconds(text).ok(),
        Scalar::Decimal(run) => Some(start.until_end_of(*run)),
        _ => value.integer(),
    };
    run.ok_or_else(|| misfit(value, "`run` is not a duration"))
}

/// The requested time, rounded up.
fn requested_time(value: &Scalar<'_>) -> Result<Option<i64>, Fault> {
    let requested = match value {
        Scalar::Absent => return Ok(None),
        Scalar::Text(text) => seconds(text).ok(),
        Scalar::Decimal(requested) => Some(libm::ceil(*requested) as i64),
        _ => value.integer(),
    };
    let requested = requested.filter(|requested| *requested > 0);
    requested.map(Some).ok_or_else(|| {
        misfit(
            value,
            "`resources.walltime` is not a duration of a second or more",
        )
    })
}

fn processors(value: &Scalar<'_>) -> Result<Option<i64>, Fault> {
    let number = match value {
        Scalar::Absent => return Ok(None),
        Scalar::Text(text) => text.parse().ok(),
        _ => value.integer(),
    };
    number
        .map(Some)
        .ok_or_else(|| misfit(value, "`resources.ncpus` is not a whole number"))
}

fn misfit(value: &Scalar<'_>, kind: &'static str) -> Fault {
    Fault::from(kind).found(&value.to_string())
}
