//! A simulated queue: as JSON, CSV and in the Standard Workload Format.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use jsf_openpbs::check::Checked;
use jsf_simulate::{
    Decay, EntityUse, Fairness, GroupStatistics, JudgedGoal, LeftOutReason, Schedule, Shake,
    StartValues, Statistics, Validation, Workload, WorkloadJob,
};
use jsf_site::{LeftOut, PolicyName, ProcessorsSource};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::answer::{Answer, Format};
use crate::commands::simulate::failures::FailingJobs;
use crate::commands::simulate::view::simulation_document;
use crate::view::csv_writer::{Cells, guarded, write_csv};
use crate::view::document::Document;
use crate::view::printable::printable;

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
    /// Whether hardly any job waits; the first warning then says so.
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
        if format == Format::Swf {
            self.write_swf(out)
        } else {
            self.write_csv(cells, out)
        }
    }
}

impl Serialize for SimulationReport<'_> {
    /// About half of the members are computed only here, as people see others of the numbers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            workload,
            schedule,
            statistics,
            ..
        } = self;
        let too_large: Vec<&str> = schedule
            .too_large
            .iter()
            .map(|&job| workload.id(job))
            .collect();
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("formula", self.formula)?;
        members.serialize_entry("jobs", &StartedJobs(self))?;
        members.serialize_entry(
            "processors",
            &Machine {
                total: self.processors,
                from: self.processors_source,
            },
        )?;
        members.serialize_entry("policy", &self.policy)?;
        members.serialize_entry("decay", &self.decay.filter(|_| self.policy.is_some()))?;
        members.serialize_entry("warnings", &bare_warnings(self.warnings))?;
        members.serialize_entry("complete_from", &workload.complete_from())?;
        members.serialize_entry("warm_up", &statistics.warm_up)?;
        members.serialize_entry("warm_up_jobs", &workload.count_before(self.warm_up_end()))?;
        members.serialize_entry("summary", &statistics.summary)?;
        members.serialize_entry("entities", &self.entities())?;
        members.serialize_entry("groups", &statistics.groups)?;
        members.serialize_entry("queues", &statistics.queues)?;
        members.serialize_entry("sizes", &statistics.sizes)?;
        members.serialize_entry("lengths", &statistics.lengths)?;
        members.serialize_entry("values_at_start", &self.start_values())?;
        members.serialize_entry("over_time", &statistics.periods)?;
        members.serialize_entry("goals", self.goals)?;
        members.serialize_entry("fairness", &self.fairness)?;
        members.serialize_entry("too_large", &too_large)?;
        members.serialize_entry("never_start", &schedule.never_start().count())?;
        if let Some(preemptions) = &schedule.preemptions {
            members.serialize_entry("preemptions", preemptions)?;
        }
        members.serialize_entry("left_out", &counts_left_out(self))?;
        members.serialize_entry("without", self.without)?;
        members.serialize_entry("cut", &CutRuns::new(self))?;
        members.serialize_entry("errors", &self.errors())?;
        members.serialize_entry("skipped_lines", &workload.faults().count())?;
        members.serialize_entry("complete", &schedule.is_complete)?;
        if let Some(validation) = self.validation {
            members.serialize_entry("validation", validation)?;
        }
        if let Some(shake) = self.shake {
            members.serialize_entry("shake", shake)?;
        }
        members.end()
    }
}

/// The processors of a machine.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) total: u32,
    pub(crate) from: ProcessorsSource,
}

/// The number of jobs and lines that are left out, for each reason.
fn counts_left_out(report: &SimulationReport<'_>) -> BTreeMap<&'static str, usize> {
    let faults = report.workload.faults();
    let mut counts =
        BTreeMap::from(LeftOutReason::ALL.map(|reason| (reason.key(), faults.of(reason))));
    counts.insert("too_large", report.schedule.too_large.len());
    counts
}

/// The runs that end before they did in the log.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct CutRuns {
    pub(super) jobs: usize,
    pub(super) core_seconds: u128,
    /// The processors times seconds of all jobs in the log.
    #[serde(skip)]
    pub(super) all_core_seconds: u128,
}

impl CutRuns {
    pub(crate) fn new(report: &SimulationReport<'_>) -> Self {
        let mut cut = Self::default();
        for (index, job) in report.workload.jobs().iter().enumerate() {
            if report.schedule.start(index).is_some() {
                cut.jobs += usize::from(job.run > job.duration());
                cut.core_seconds += job.cut();
                cut.all_core_seconds += job.core_seconds() + job.cut();
            }
        }
        cut
    }
}

/// The jobs that start, which are serialised one by one: a list of them would take more memory than
/// the schedule.
struct StartedJobs<'a>(&'a SimulationReport<'a>);

impl Serialize for StartedJobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report) = self;
        serializer.collect_seq(report.jobs().map(|(_, job)| job))
    }
}

/// An entity; with a fair-share tree also what it was promised.
#[derive(Serialize)]
struct Entity<'a> {
    #[serde(flatten)]
    statistics: &'a GroupStatistics,
    #[serde(flatten)]
    used: Option<&'a EntityUse>,
}

/// Errors of one kind.
#[derive(Serialize)]
struct Errors<'a> {
    kind: &'static str,
    jobs: usize,
    /// The id of the first of the jobs.
    job: &'a str,
    message: &'a str,
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
        workload
            .jobs()
            .iter()
            .enumerate()
            .filter_map(move |(index, job)| {
                let start = schedule.start(index)?;
                let end = schedule.end(workload, index)?;
                let line = JobLine {
                    id: workload.id(index),
                    entity: &workload.entities()[job.entity as usize],
                    queue: &workload.queues()[job.queue as usize],
                    processors: job.processors,
                    submit: job.submit,
                    start,
                    end,
                };
                Some((index, line))
            })
    }

    /// The values with which jobs start, by size and walltime.
    pub(crate) fn start_values(&self) -> Vec<StartValues> {
        StartValues::of_classes(self.workload, self.schedule, self.statistics.warm_up)
    }

    fn entities(&self) -> Vec<Entity<'a>> {
        let uses = self.fairness.map_or(&[][..], |fairness| &fairness.entities);
        let uses: HashMap<&str, &EntityUse> = uses.iter().map(|used| (&*used.name, used)).collect();
        let entities = self.statistics.entities.iter();
        entities
            .map(|statistics| Entity {
                statistics,
                used: uses.get(&*statistics.name).copied(),
            })
            .collect()
    }

    fn errors(&self) -> Vec<Errors<'a>> {
        let workload = self.workload;
        let kinds = self.schedule.errors.kinds();
        kinds
            .map(|(kind, errors)| Errors {
                kind,
                jobs: errors.jobs,
                job: workload.id(errors.job),
                message: &errors.message,
            })
            .collect()
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_csv(&self, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        let records = self.jobs().map(|(_, job)| {
            let names = [job.id, job.entity, job.queue].map(|name| guarded(name, cells));
            let wait = job.start - job.submit;
            (
                names,
                job.processors,
                job.submit,
                job.start,
                job.end,
                wait,
                self.is_warm_up(job.submit),
            )
        });
        write_csv(
            &[
                "id",
                "entity",
                "queue",
                "processors",
                "submit",
                "start",
                "end",
                "wait",
                "warm_up",
            ],
            records,
            out,
        )
    }

    /// Whether a job with this time of submission is left out of the statistics.
    pub(crate) fn is_warm_up(&self, submit: i64) -> bool {
        submit < self.warm_up_end()
    }

    /// When the first job that counts can be submitted.
    fn warm_up_end(&self) -> i64 {
        self.first_submission()
            .saturating_add(self.statistics.warm_up)
    }

    /// Writes the jobs that start in the Standard Workload Format, with their simulated waits and
    /// run times. Ids and names that are not numbers are numbered.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_swf(&self, out: &mut dyn Write) -> io::Result<()> {
        let workload = self.workload;
        writeln!(out, "; Version: 2.2\n; MaxProcs: {}", self.processors)?;
        workload
            .clock()
            .iter()
            .try_for_each(|line| writeln!(out, "; {}", printable(line)))?;
        writeln!(
            out,
            "; Note: simulated by jsf under `{}`",
            printable(self.formula.trim_end())
        )?;
        let are_numbers = (0..workload.jobs().len()).all(|job| is_number(workload.id(job)));
        let [entities, groups, queues] =
            [workload.entities(), workload.groups(), workload.queues()].map(swf_numbers);
        for (index, line) in self.jobs() {
            let job = &workload.jobs()[index];
            let id = if are_numbers {
                line.id.to_owned()
            } else {
                (index + 1).to_string()
            };
            let entity = &entities[job.entity as usize];
            let group = &groups[job.group as usize];
            let queue = &queues[job.queue as usize];
            let wait = line.start - job.submit;
            let WorkloadJob {
                submit,
                processors,
                walltime,
                ..
            } = job;
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

/// The numbers of entities, groups or queues: their names if all are numbers, else their places
/// from 1.
fn swf_numbers(names: &[Box<str>]) -> Vec<String> {
    let are_numbers = names.iter().all(|name| name.is_empty() || is_number(name));
    let numbers = names
        .iter()
        .zip(1_u32..)
        .map(|(name, place)| match &**name {
            "" => "-1".to_owned(),
            name if are_numbers => name.to_owned(),
            _ => place.to_string(),
        });
    numbers.collect()
}

/// The warnings without the word that a terminal shows before each.
pub(crate) fn bare_warnings<'w>(warnings: impl IntoIterator<Item = &'w String>) -> Vec<&'w str> {
    warnings
        .into_iter()
        .map(|warning| warning.strip_prefix("warning ").unwrap_or(warning))
        .collect()
}
