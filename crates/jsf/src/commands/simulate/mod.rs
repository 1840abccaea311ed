//! `jsf simulate`: a simulated queue, or a workload simulated under two formulas side by side, as
//! JSON, CSV and in the Standard Workload Format.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use job_sort_formula::rank::OldNew;
use jsf_openpbs::check::Checked;
use jsf_simulate::{
    ByKind, Decay, Difference, Fairness, GroupDifference, GroupStatistics, JudgedGoal, Preemptions,
    Results, Schedule, Shake, Statistics, Validation, Whole, Workload, WorkloadJob,
};
use jsf_site::{LeftOut, PolicyName, Processors, SimulatedQueue};
use serde::{Serialize, Serializer};

use crate::answer::{Answer, Cells, CsvWriter, Format, guarded_names};
use crate::commands::simulate::view::{
    FailingJobs, simulated_change_document, simulation_document,
};
use crate::view::document::{Document, Fact};
use crate::view::words::printable;

#[cfg(feature = "command")]
pub mod request;
#[cfg(feature = "command")]
pub mod run;
#[cfg(feature = "command")]
pub mod sweep;
pub mod tables;
pub mod view;

/// A log simulated under a formula, as its JSON has it.
#[derive(Debug, Serialize)]
pub struct SimulationReport<'a> {
    /// The formula's text.
    formula: String,
    /// The jobs that start.
    jobs: SimulatedJobs<'a>,
    /// The machine.
    processors: Processors,
    /// The fair-share policy; `None` without a tree.
    policy: Option<PolicyName>,
    /// How usage decays.
    decay: Option<Decay>,
    /// The warnings about the simulation, a line each.
    pub warnings: Vec<String>,
    /// From when on a log that is cut by the end of its jobs is complete.
    complete_from: Option<i64>,
    /// The numbers of the jobs.
    #[serde(flatten)]
    statistics: Statistics,
    /// The goals, as the schedule meets them.
    goals: Vec<JudgedGoal>,
    /// How close the use is to the shares, if there is a fair-share tree.
    fairness: Option<Fairness>,
    /// The ids of the jobs that ask for more processors than there are.
    too_large: Vec<String>,
    /// How many jobs never start.
    never_start: usize,
    /// How often jobs gave way, if they may.
    #[serde(skip_serializing_if = "Option::is_none")]
    preemptions: Option<Preemptions>,
    /// How many jobs and lines are left out, for each reason.
    left_out: BTreeMap<&'static str, usize>,
    /// What the site has and the simulation does without.
    without: Vec<LeftOut>,
    /// The runs that end before they did in the log.
    cut: CutRuns,
    /// The errors of the formula, by kind.
    errors: Vec<FormulaErrors>,
    /// How many lines of the log are left out.
    skipped_lines: usize,
    /// Whether the simulation reached the end of the log.
    complete: bool,
    /// How far the waits are from those in the log, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<Validation>,
    /// What moved submissions make of the means, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    shake: Option<Shake>,
    /// What is found about the formula.
    #[serde(skip)]
    pub found: Found,
}

/// What is found about the formula of a simulation, which people see.
#[derive(Debug, Default)]
pub struct Found {
    /// The result of checking it: with the queue of the site if it cannot work there, else without
    /// jobs.
    checked: Option<Checked>,
    /// The jobs for which it fails, if there are any.
    failing: Option<FailingJobs>,
    /// Whether hardly any job waits; the first warning then says so.
    has_no_waits: bool,
    /// What is shown above the tables.
    rules: Vec<Fact>,
    /// The findings, as they are drawn in a terminal.
    drawn: Vec<String>,
    /// Whether the formula works.
    pub is_fine: bool,
}

impl<'a> SimulationReport<'a> {
    /// The answer about a simulated log, without what is found about the formula.
    pub fn new(
        formula: &str,
        workload: &'a Workload,
        simulated: SimulatedQueue,
        results: Results,
        goals: Vec<JudgedGoal>,
    ) -> Self {
        let has_no_waits = simulated.no_waits(workload).is_some();
        let SimulatedQueue {
            schedule,
            processors,
            policy,
            decay,
            left_out,
            warnings,
            ..
        } = simulated;
        let jobs = SimulatedJobs { workload, schedule };
        let too_large = &jobs.schedule.too_large;
        let faults = workload.faults();
        let mut counts_left_out = faults.by_reason();
        counts_left_out.insert("too_large", too_large.len());
        Self {
            formula: formula.to_owned(),
            processors,
            policy,
            decay: decay.filter(|_| policy.is_some()),
            warnings,
            complete_from: workload.complete_from,
            statistics: results.statistics,
            goals,
            fairness: results.fairness,
            too_large: too_large
                .iter()
                .map(|&job| workload.id(job).to_owned())
                .collect(),
            never_start: jobs.schedule.never_start().count(),
            preemptions: jobs.schedule.preemptions,
            left_out: counts_left_out,
            without: left_out,
            cut: CutRuns::new(&jobs),
            errors: FormulaErrors::of(&jobs),
            skipped_lines: faults.count(),
            complete: jobs.schedule.is_complete,
            validation: None,
            shake: None,
            found: Found {
                has_no_waits,
                ..Found::default()
            },
            jobs,
        }
    }
}

impl Answer for SimulationReport<'_> {
    fn document(&self) -> Document<'_> {
        simulation_document(self)
    }

    /// Writes the log with the simulated waits, or comma-separated values as in RFC 4180: a line for
    /// each job.
    fn write_as(&self, format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Swf {
            let processors = self.processors.total;
            return self.jobs.write_swf(processors, &self.formula, out);
        }
        let header = "id,entity,queue,processors,submit,start,end,wait,warm_up";
        let mut csv = CsvWriter::new(header, out)?;
        for (_, job) in self.jobs.started() {
            let names = guarded_names([job.id, job.entity, job.queue], cells);
            let times = [job.submit, job.start, job.end, job.start - job.submit];
            csv.write((names, job.processors, times, self.is_warm_up(job.submit)))?;
        }
        csv.finish()
    }
}

/// The jobs of a log, and when they start.
#[derive(Debug)]
struct SimulatedJobs<'a> {
    /// The jobs.
    workload: &'a Workload,
    /// When they start.
    schedule: Schedule,
}

/// The runs that end before they did in the log.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct CutRuns {
    /// Their number.
    jobs: usize,
    /// The processors times seconds that are cut.
    core_seconds: u128,
    /// Those of all jobs in the log.
    #[serde(skip)]
    all_core_seconds: u128,
}

impl CutRuns {
    fn new(jobs: &SimulatedJobs<'_>) -> Self {
        let mut cut = Self::default();
        for (index, _) in jobs.started() {
            let job = &jobs.workload.jobs()[index];
            cut.jobs += usize::from(job.run > job.duration());
            cut.core_seconds += job.cut();
            cut.all_core_seconds += job.core_seconds() + job.cut();
        }
        cut
    }
}

/// Errors of one kind.
#[derive(Debug, Serialize)]
struct FormulaErrors {
    kind: &'static str,
    jobs: usize,
    /// The id of the first of the jobs.
    job: String,
    message: String,
}

impl FormulaErrors {
    fn of(jobs: &SimulatedJobs<'_>) -> Vec<Self> {
        let errors = jobs.schedule.errors.kinds();
        let listed = errors.map(|(kind, errors)| Self {
            kind,
            jobs: errors.jobs,
            job: jobs.workload.id(errors.job).to_owned(),
            message: errors.message.clone(),
        });
        listed.collect()
    }
}

/// A job that starts.
#[derive(Debug, Clone, Copy, Serialize)]
struct JobLine<'a> {
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    processors: u32,
    submit: i64,
    start: i64,
    end: i64,
}

impl Serialize for SimulatedJobs<'_> {
    /// One job after the other: a list of them would take more memory than the schedule.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.started().map(|(_, job)| job))
    }
}

impl<'a> SimulatedJobs<'a> {
    /// The jobs that start, with their indices.
    fn started(&self) -> impl Iterator<Item = (usize, JobLine<'a>)> {
        let workload = self.workload;
        let jobs = workload.jobs().iter().enumerate();
        jobs.filter_map(move |(index, job)| {
            let start = self.schedule.start(index)?;
            let line = JobLine {
                id: workload.id(index),
                entity: &workload.entities()[job.entity as usize],
                queue: &workload.queues()[job.queue as usize],
                processors: job.processors,
                submit: job.submit,
                start,
                end: self.schedule.end(workload, index)?,
            };
            Some((index, line))
        })
    }

    /// Writes the jobs that start in the Standard Workload Format, with their simulated waits and
    /// run times. Ids and names that are not numbers are numbered.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_swf(&self, processors: u32, formula: &str, out: &mut dyn Write) -> io::Result<()> {
        let workload = self.workload;
        writeln!(out, "; Version: 2.2\n; MaxProcs: {}", processors)?;
        for line in &workload.clock {
            writeln!(out, "; {}", printable(line))?;
        }
        writeln!(
            out,
            "; Note: simulated by jsf under `{}`",
            printable(formula.trim_end())
        )?;
        let are_numbers = (0..workload.jobs().len()).all(|job| is_number(workload.id(job)));
        let [entities, groups, queues] =
            [workload.entities(), workload.groups(), workload.queues()].map(swf_numbers);
        for (index, line) in self.started() {
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

impl SimulationReport<'_> {
    /// Whether a job with this time of submission is left out of the statistics.
    fn is_warm_up(&self, submit: i64) -> bool {
        submit < self.jobs.workload.begin(self.statistics.warm_up)
    }
}

fn is_number(name: &str) -> bool {
    name.parse::<u64>().is_ok()
}

/// The numbers of entities, groups or queues: their names if all are numbers, else their places
/// from 1.
fn swf_numbers(names: &[Box<str>]) -> Vec<String> {
    let are_numbers = names.iter().all(|name| name.is_empty() || is_number(name));
    let mut numbers = Vec::new();
    for name in names {
        numbers.push(match &**name {
            "" => "-1".to_owned(),
            name if are_numbers => name.to_owned(),
            _ => (numbers.len() + 1).to_string(),
        });
    }
    numbers
}

/// The header of the comma-separated values.
const CSV_HEADER: &str = "id,entity,queue,processors,submit,old_start,new_start,old_wait,new_wait,\
                          difference,old_end,new_end,warm_up";

/// A log simulated under two formulas, as its JSON has it.
#[derive(Debug, Serialize)]
pub struct SimulatedChangeReport<'a> {
    /// Both sides, of the same workload.
    #[serde(flatten)]
    sides: OldNew<SimulationReport<'a>>,
    /// The warnings that both sides have: those about the machine and the log.
    warnings: Vec<String>,
    /// How far the waits under the old formula are from those in the log, if it has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<Validation>,
    /// What differs.
    difference: Compared,
}

/// What differs, with the numbers that need both sides.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// What differs between the schedules.
    #[serde(flatten)]
    schedules: Difference,
    utilisation: f64,
    makespan: i64,
    #[serde(flatten)]
    classes: ByKind<Vec<ComparedGroup>>,
    /// That of the intervals.
    confidence: f64,
    /// What moved submissions make of the changes, if that was asked for.
    shake: Option<Shake>,
}

/// A group, and its waits under both formulas.
#[derive(Debug, Serialize)]
struct ComparedGroup {
    #[serde(flatten)]
    change: GroupDifference,
    median_wait: OldNew<Whole>,
    p95_wait: OldNew<Whole>,
    within_hour: OldNew<f64>,
}

impl<'a> SimulatedChangeReport<'a> {
    /// The answer about two simulations of the same workload.
    pub fn new(sides: OldNew<SimulationReport<'a>>, shake: Option<Shake>) -> Self {
        let OldNew { old, new } = &sides;
        let (workload, warm_up) = (old.jobs.workload, old.statistics.warm_up);
        let [before, after] = [&old.jobs.schedule, &new.jobs.schedule];
        let schedules = Difference::new(workload, before, after, warm_up);
        let mut warnings = old.warnings.clone();
        warnings.retain(|warning| new.warnings.contains(warning));
        let (of_old, of_new) = (&old.statistics, &new.statistics);
        let changes = schedules.classes.each_ref();
        let old_groups = of_old.classes.each_ref();
        let new_groups = of_new.classes.each_ref();
        let classes = std::array::from_fn(|kind| {
            compared_groups(changes[kind], old_groups[kind], new_groups[kind])
        });
        let difference = Compared {
            utilisation: of_new.summary.utilisation - of_old.summary.utilisation,
            makespan: of_new.summary.makespan - of_old.summary.makespan,
            classes: ByKind::from(classes),
            confidence: 0.95,
            shake,
            schedules,
        };
        Self {
            warnings,
            validation: Validation::new(workload, before, warm_up),
            difference,
            sides,
        }
    }
}

impl Answer for SimulatedChangeReport<'_> {
    fn document(&self) -> Document<'_> {
        simulated_change_document(self)
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job that starts in both.
    fn write_as(&self, _format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        let OldNew { old, new } = &self.sides;
        let mut csv = CsvWriter::new(CSV_HEADER, out)?;
        for (index, job) in old.jobs.started() {
            let Some(new_start) = new.jobs.schedule.start(index) else {
                continue;
            };
            let names = guarded_names([job.id, job.entity, job.queue], cells);
            let old_wait = job.start - job.submit;
            let new_wait = new_start - job.submit;
            let times = [
                job.submit,
                job.start,
                new_start,
                old_wait,
                new_wait,
                new_wait - old_wait,
            ];
            let ends = [job.end, new_start + (job.end - job.start)];
            let is_warm_up = old.is_warm_up(job.submit);
            csv.write((names, job.processors, times, ends, is_warm_up))?;
        }
        csv.finish()
    }
}

/// The groups that have jobs on both sides, each with its waits.
fn compared_groups(
    changes: &[GroupDifference],
    old: &[GroupStatistics],
    new: &[GroupStatistics],
) -> Vec<ComparedGroup> {
    let [old, new] = [old, new].map(by_name);
    let mut compared = Vec::with_capacity(changes.len());
    for change in changes {
        let name = &*change.name;
        if let (Some(old), Some(new)) = (old.get(name), new.get(name)) {
            compared.push(ComparedGroup {
                change: change.clone(),
                median_wait: OldNew::new(old.wait.median, new.wait.median).map(Whole),
                p95_wait: OldNew::new(old.wait.p95, new.wait.p95).map(Whole),
                within_hour: OldNew::new(old.within_hour, new.within_hour),
            });
        }
    }
    compared
}

fn by_name(groups: &[GroupStatistics]) -> HashMap<&str, &GroupStatistics> {
    groups.iter().map(|group| (&*group.name, group)).collect()
}
