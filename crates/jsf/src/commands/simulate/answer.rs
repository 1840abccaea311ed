//! A simulated queue: as JSON, CSV and in the Standard Workload Format.

use std::collections::HashMap;
use std::io::{self, Write};

use jsf_openpbs::check::Checked;
use jsf_simulate::{
    Decay, Distribution, EntityUse, Fairness, GroupStatistics, JudgedGoal, Period, SHAKE_SECONDS, Schedule, Shake,
    Spread, StartValues, Statistics, Summary, Validation, Workload, WorkloadJob,
};
use jsf_site::{LeftOut, PolicyName, ProcessorsSource};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::answer::{Answer, Format};
use crate::commands::simulate::failures::FailingJobs;
use crate::commands::simulate::log_facts::{cut_json, left_out_json};
use crate::commands::simulate::view::simulation_document;
use crate::view::csv_writer::{Cells, guarded, write_csv};
use crate::view::document::Document;
use crate::view::goals::goals_json;
use crate::view::printable::printable;
use crate::view::without::without_json;

/// One simulated side, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct SimulationReport<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The jobs.
    pub workload: &'a Workload,
    /// When they start.
    pub schedule: &'a Schedule,
    /// The numbers.
    pub statistics: &'a Statistics,
    /// What the entities use against their shares, if there is a fair-share tree.
    pub fairness: Option<&'a Fairness>,
    /// How far the waits are from those in the log, if that was asked for.
    pub validation: Option<&'a Validation>,
    /// What moved submissions make of the means, if that was asked for.
    pub shake: Option<&'a Shake>,
    /// The fair-share policy; `None` without a tree.
    pub policy: Option<PolicyName>,
    /// How usage decays.
    pub decay: Option<Decay>,
    /// The number of processors of the machine.
    pub processors: u32,
    /// Where that number is from.
    pub processors_source: ProcessorsSource,
    /// The verdict on the formula, without jobs.
    pub checked: Option<&'a Checked>,
    /// The jobs for which the formula fails, if there are any.
    pub failing: Option<&'a FailingJobs>,
    /// The goals, as this side meets them.
    pub goals: &'a [JudgedGoal],
    /// What the site has and the simulation does without.
    pub without: &'a [LeftOut],
    /// Whether hardly any job waits, of which the first of the warnings tells.
    pub has_no_waits: bool,
    /// The warnings about the simulation, a line each.
    pub warnings: &'a [String],
    /// What is shown above the tables: a heading and a text each.
    pub rules: &'a [(&'static str, String)],
    /// The findings about the formula, as they are drawn in a terminal.
    pub findings: &'a [String],
}

impl Answer for SimulationReport<'_> {
    fn document(&self) -> Document<'_> {
        simulation_document(*self)
    }

    fn write_as(&self, format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Swf { self.write_swf(out) } else { self.write_csv(cells, out) }
    }
}

impl Serialize for SimulationReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let statistics = self.statistics;
        let too_large: Vec<&str> = self.schedule.too_large.iter().map(|&job| self.workload.id(job)).collect();
        let errors = self.schedule.errors.kinds().map(|(kind, errors)| {
            let job = self.workload.id(errors.job);
            json!({"kind": kind, "jobs": errors.jobs, "job": job, "message": errors.message})
        });
        let parts = [
            ("processors", json!({"total": self.processors, "from": self.processors_source.name()})),
            ("policy", json!(self.policy)),
            ("decay", self.decay.filter(|_| self.policy.is_some()).map_or(Json::Null, decay_json)),
            ("warnings", warnings_json(self.warnings)),
            ("complete_from", json!(self.workload.complete_from())),
            ("warm_up", json!(statistics.warm_up)),
            ("warm_up_jobs", json!(self.workload.count_before(self.warm_up_end()))),
            ("summary", summary_json(&statistics.summary)),
            ("entities", self.entities_json()),
            ("groups", groups_json(&statistics.groups)),
            ("queues", groups_json(&statistics.queues)),
            ("sizes", groups_json(&statistics.sizes)),
            ("lengths", groups_json(&statistics.lengths)),
            ("values_at_start", self.start_values().iter().map(start_values_json).collect()),
            ("over_time", statistics.periods.iter().map(period_json).collect()),
            ("goals", goals_json(self.goals)),
            ("fairness", self.fairness.map_or(Json::Null, fairness_json)),
            ("too_large", json!(too_large)),
            ("never_start", json!(self.schedule.never_start().count())),
            ("left_out", left_out_json(self)),
            ("without", json!(without_json(self.without))),
            ("cut", cut_json(self)),
            ("errors", errors.collect()),
            ("skipped_lines", json!(self.workload.faults().count())),
            ("complete", json!(self.schedule.is_complete)),
        ];
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("formula", self.formula)?;
        members.serialize_entry("jobs", &Jobs(self))?;
        for (key, value) in &parts {
            members.serialize_entry(key, value)?;
        }
        if let Some(validation) = self.validation {
            members.serialize_entry("validation", &validation_json(validation))?;
        }
        if let Some(shake) = self.shake {
            members.serialize_entry("shake", &shake_json(shake))?;
        }
        members.end()
    }
}

/// The jobs that start, which are serialised one by one: a list of them would take more memory than the schedule.
struct Jobs<'a>(&'a SimulationReport<'a>);

impl Serialize for Jobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report) = self;
        serializer.collect_seq(report.jobs().map(|(_, job)| job))
    }
}

#[derive(Serialize)]
pub(crate) struct JobLine<'a> {
    pub(crate) id: &'a str,
    pub(crate) entity: &'a str,
    pub(crate) queue: &'a str,
    pub(crate) processors: u32,
    pub(crate) submit: i64,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl<'a> SimulationReport<'a> {
    /// When the first job of the log is submitted.
    pub(crate) fn first_submission(&self) -> i64 {
        self.workload.jobs().first().map_or(0, |job| job.submit)
    }

    /// The jobs that start, with their indices.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (usize, JobLine<'a>)> + use<'a> {
        let workload = self.workload;
        let schedule = self.schedule;
        workload.jobs().iter().enumerate().filter_map(move |(index, job)| {
            let start = schedule.start(index)?;
            let line = JobLine {
                id: workload.id(index),
                entity: &workload.entities()[job.entity as usize],
                queue: &workload.queues()[job.queue as usize],
                processors: job.processors,
                submit: job.submit,
                start,
                end: start + job.duration(),
            };
            Some((index, line))
        })
    }

    /// The values with which jobs start, by size and walltime.
    pub(crate) fn start_values(&self) -> Vec<StartValues> {
        StartValues::of_classes(self.workload, self.schedule, self.statistics.warm_up)
    }

    /// The entities; with a fair-share tree also what each was promised.
    fn entities_json(&self) -> Json {
        let mut entities = groups_json(&self.statistics.entities);
        let uses = self.fairness.iter().flat_map(|fairness| &fairness.entities);
        let uses: HashMap<&str, &EntityUse> = uses.map(|used| (&*used.name, used)).collect();
        for (entity, group) in entities.as_array_mut().into_iter().flatten().zip(&self.statistics.entities) {
            let Some(used) = uses.get(&*group.name) else { continue };
            entity["perc"] = json!(used.perc);
            entity["promised_core_seconds"] = json!(used.promised);
            entity["used_of_promised"] = json!(used.ratio());
        }
        entities
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_csv(&self, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        let records = self.jobs().map(|(_, job)| {
            let names = [job.id, job.entity, job.queue].map(|name| guarded(name, cells));
            let wait = job.start - job.submit;
            (names, job.processors, job.submit, job.start, job.end, wait, self.is_warm_up(job.submit))
        });
        write_csv(&["id", "entity", "queue", "processors", "submit", "start", "end", "wait", "warm_up"], records, out)
    }

    /// Whether a job with this time of submission is left out of the statistics.
    pub(crate) fn is_warm_up(&self, submit: i64) -> bool {
        submit < self.warm_up_end()
    }

    /// When the first job that counts can be submitted.
    fn warm_up_end(&self) -> i64 {
        self.first_submission().saturating_add(self.statistics.warm_up)
    }

    /// Writes the jobs that start in the Standard Workload Format, with their simulated waits and run times. Ids and names that are not
    /// numbers are numbered.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_swf(&self, out: &mut dyn Write) -> io::Result<()> {
        let workload = self.workload;
        writeln!(out, "; Version: 2.2\n; MaxProcs: {}", self.processors)?;
        workload.clock().iter().try_for_each(|line| writeln!(out, "; {}", printable(line)))?;
        writeln!(out, "; Note: simulated by jsf under `{}`", printable(self.formula.trim_end()))?;
        let are_numbers = (0..workload.jobs().len()).all(|job| is_number(workload.id(job)));
        let [entities, groups, queues] = [workload.entities(), workload.groups(), workload.queues()].map(swf_numbers);
        for (index, line) in self.jobs() {
            let job = &workload.jobs()[index];
            let id = if are_numbers { line.id.to_owned() } else { (index + 1).to_string() };
            let entity = &entities[job.entity as usize];
            let group = &groups[job.group as usize];
            let queue = &queues[job.queue as usize];
            let wait = line.start - job.submit;
            let WorkloadJob { submit, processors, walltime, .. } = job;
            let run = job.duration();
            writeln!(
                out,
                "{id} {submit} {wait} {run} {processors} -1 -1 {processors} {walltime} -1 1 {entity} {group} -1 {queue} -1 -1 -1"
            )?;
        }
        Ok(())
    }
}

fn is_number(name: &str) -> bool {
    name.parse::<u64>().is_ok()
}

/// The numbers of entities, groups or queues: their names if all are numbers, else their places from 1.
fn swf_numbers(names: &[Box<str>]) -> Vec<String> {
    let are_numbers = names.iter().all(|name| name.is_empty() || is_number(name));
    let numbers = names.iter().zip(1_u32..).map(|(name, place)| match &**name {
        "" => "-1".to_owned(),
        name if are_numbers => name.to_owned(),
        _ => place.to_string(),
    });
    numbers.collect()
}

/// The warnings without the word that a terminal shows before each.
pub(crate) fn warnings_json<'w>(warnings: impl IntoIterator<Item = &'w String>) -> Json {
    warnings.into_iter().map(|warning| warning.strip_prefix("warning ").unwrap_or(warning)).collect()
}

fn decay_json(decay: Decay) -> Json {
    json!({"seconds": decay.period, "factor": decay.factor})
}

fn fairness_json(fairness: &Fairness) -> Json {
    json!({"jain": fairness.jain, "hoover": fairness.hoover, "block_seconds": fairness.block_seconds})
}

/// The numbers of all jobs; without a job, what is a mean or a part of them is null.
fn summary_json(summary: &Summary) -> Json {
    let of_jobs = |value: Json| of_jobs(summary, value);
    json!({
        "jobs": summary.jobs,
        "makespan": of_jobs(json!(summary.makespan)),
        "utilisation": of_jobs(json!(summary.utilisation)),
        "core_seconds": core_seconds(summary.core_seconds),
        "mean_queue": of_jobs(json!(summary.mean_queue)),
        "wait": of_jobs(distribution_json(&summary.wait)),
        "mean_wait_per_core_hour": of_jobs(json!(summary.wait_per_core_hour)),
        "started_within_a_minute": summary.started_within_minute,
        "started_within_an_hour": summary.started_within_hour,
        "waited_over_1_d": summary.waited_over_day,
        "waited_over_7_d": summary.waited_over_week,
        "bounded_slowdown": of_jobs(distribution_json(&summary.bounded_slowdown)),
    })
}

/// A number of the jobs; null without jobs, as is each number of a distribution.
pub(crate) fn of_jobs(summary: &Summary, value: Json) -> Json {
    match value {
        value if summary.jobs > 0 => value,
        Json::Object(numbers) => numbers.into_iter().map(|(name, _)| (name, Json::Null)).collect(),
        _ => Json::Null,
    }
}

fn groups_json(groups: &[GroupStatistics]) -> Json {
    let groups = groups.iter().map(|group| {
        json!({
            "name": group.name,
            "jobs": group.jobs,
            "mean_wait": group.wait.mean,
            "median_wait": number(group.wait.median),
            "p95_wait": number(group.wait.p95),
            "within_hour": group.within_hour,
            "wait": distribution_json(&group.wait),
            "mean_bounded_slowdown": group.mean_bounded_slowdown,
            "core_seconds": core_seconds(group.core_seconds),
        })
    });
    groups.collect()
}

fn start_values_json(values: &StartValues) -> Json {
    let StartValues { size, walltime, jobs, p10, median } = values;
    json!({"processors": size, "walltime": walltime, "jobs": jobs, "p10": p10, "median": median})
}

pub(crate) fn validation_json(validation: &Validation) -> Json {
    json!({
        "jobs": validation.jobs,
        "equal": validation.equal,
        "recorded_mean_wait": validation.recorded_mean,
        "simulated_mean_wait": validation.simulated_mean,
        "median_error": number(validation.median_error),
        "p95_error": number(validation.p95_error),
        "ratio_of_means": validation.ratio_of_means(),
        "rank_correlation": validation.rank_correlation,
        "started_before_submission": validation.started_before_submission,
    })
}

/// The least and the greatest of the means, or of their changes.
pub(crate) fn shake_json(shake: &Shake) -> Json {
    json!({
        "runs": shake.runs,
        "seconds": SHAKE_SECONDS,
        "mean_wait": spread_json(shake.wait),
        "mean_wait_per_core_hour": spread_json(shake.wait_per_core_hour),
        "mean_bounded_slowdown": spread_json(shake.bounded_slowdown),
    })
}

fn spread_json(spread: Spread) -> Json {
    json!({"low": spread.low, "high": spread.high})
}

fn period_json(period: &Period) -> Json {
    json!({
        "start": period.start,
        "seconds": period.seconds,
        "submitted": period.submitted,
        "mean_wait": period.mean_wait,
        "mean_bounded_slowdown": period.mean_bounded_slowdown,
        "utilisation": period.utilisation,
        "mean_queue": period.mean_queue,
    })
}

pub(crate) fn distribution_json(distribution: &Distribution) -> Json {
    let Distribution { mean, p25, median, p75, p95, max } = *distribution;
    let [p25, median, p75, p95, max] = [p25, median, p75, p95, max].map(number);
    json!({"mean": mean, "p25": p25, "median": median, "p75": p75, "p95": p95, "max": max})
}

/// A whole number without a fraction.
pub(crate) fn number(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

pub(crate) fn core_seconds(amount: u128) -> Json {
    u64::try_from(amount).map_or_else(|_| json!(amount as f64), |amount| json!(amount))
}
