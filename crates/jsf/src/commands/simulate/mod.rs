//! `jsf simulate`: a simulated queue, or a workload simulated under two formulas side by side, as
//! JSON, CSV and in the Standard Workload Format.

use std::collections::HashMap;
use std::io::{self, Write};

use job_sort_formula::rank::OldNew;
use jsf_openpbs::check::Checked;
use jsf_simulate::{
    ByKind, Difference, Fairness, Goals, GroupDifference, GroupStatistics, JudgedGoal, Shake,
    Statistics, Validation, Whole, Workload, WorkloadJob,
};
use jsf_site::SimulatedQueue;
use serde::{Serialize, Serializer};

use crate::answer::{Answer, CsvText, CsvWriter, Each, Format, guarded_names, object};
use crate::commands::simulate::view::{FailingJobs, document};
use crate::view::document::{Document, Fact};
use crate::view::words::printable;

pub mod log_facts;
#[cfg(feature = "command")]
pub mod run;
#[cfg(feature = "command")]
pub mod simulate_args;
#[cfg(feature = "command")]
pub mod simulated_log;
#[cfg(feature = "command")]
pub mod sweep;
pub mod view;
pub mod wait_tables;

/// A log simulated under a formula.
#[derive(Debug)]
pub struct SimulationAnswer<'a> {
    /// The formula's text.
    formula: String,
    /// The jobs of the log.
    workload: &'a Workload,
    /// When they start, on which machine and by which rules, and the warnings about it.
    pub simulated: SimulatedQueue,
    /// The numbers of the jobs.
    statistics: Statistics,
    /// How close the use is to the shares, if there is a fair-share tree.
    fairness: Option<Fairness>,
    /// The goals, as the schedule meets them.
    goals: Vec<JudgedGoal>,
    /// How far the waits are from those in the log, if that was asked for.
    validation: Option<Validation>,
    /// What moved submissions make of the means, if that was asked for.
    shake: Option<Shake>,
    /// What is found about the formula.
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
    /// What is shown above the tables.
    facts: Vec<Fact>,
    /// The findings, as they are drawn in a terminal.
    drawn: Vec<String>,
    /// Whether the formula works.
    pub is_fine: bool,
}

impl<'a> SimulationAnswer<'a> {
    /// The answer about a simulated log, without what is found about the formula. The jobs of the
    /// first `warm_up` seconds do not count; goals that refer to another side are judged by `old`.
    pub fn new(
        formula: &str,
        workload: &'a Workload,
        simulated: SimulatedQueue,
        warm_up: i64,
        goals: Option<&Goals>,
        old: Option<&[JudgedGoal]>,
    ) -> Self {
        let results = simulated.results(workload, warm_up);
        Self {
            formula: formula.to_owned(),
            workload,
            goals: results.judge(goals, workload, &simulated.schedule, old),
            statistics: results.statistics,
            fairness: results.fairness,
            simulated,
            validation: None,
            shake: None,
            found: Found::default(),
        }
    }

    /// How many jobs never start.
    fn never_start(&self) -> usize {
        self.simulated.schedule.never_start().count()
    }

    /// Whether hardly any job waits; the first warning then says so.
    fn has_no_waits(&self) -> bool {
        self.simulated.no_waits(self.workload).is_some()
    }
}

impl Serialize for SimulationAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let workload = self.workload;
        let SimulatedQueue {
            schedule,
            processors,
            policy,
            decay,
            left_out,
            warnings,
            ..
        } = &self.simulated;
        let faults = workload.faults();
        let mut counts_left_out = faults.by_reason();
        counts_left_out.insert("too_large", schedule.too_large.len());
        let too_large = schedule.too_large.iter().map(|&job| workload.id(job));
        let mut errors = Vec::new();
        for (kind, error) in schedule.errors.kinds() {
            let (jobs, job) = (error.jobs, workload.id(error.job));
            errors.push(object! { kind, jobs, job, message: &error.message });
        }
        let preemptions = schedule.preemptions.as_ref();
        let validation = self.validation.as_ref();
        let shake = self.shake.as_ref();
        let answer = object! {
            formula: &self.formula,
            jobs: Each(|| self.started().map(|(_, job)| job)),
            processors,
            policy,
            // without a tree nothing decays
            decay: decay.as_ref().filter(|_| policy.is_some()),
            warnings,
            complete_from: workload.complete_from,
            #[serde(flatten)]
            statistics: &self.statistics,
            goals: &self.goals,
            fairness: &self.fairness,
            too_large: Vec::from_iter(too_large),
            never_start: self.never_start(),
            #[serde(flatten)]
            preemptions: preemptions.map(|preemptions| object! { preemptions }),
            left_out: counts_left_out,
            without: left_out,
            cut: self.cut(),
            errors,
            skipped_lines: faults.count(),
            complete: schedule.is_complete,
            #[serde(flatten)]
            validation: validation.map(|validation| object! { validation }),
            #[serde(flatten)]
            shake: shake.map(|shake| object! { shake }),
        };
        answer.serialize(serializer)
    }
}

impl Answer for SimulationAnswer<'_> {
    fn document(&self) -> Document<'_> {
        document(self, None)
    }

    /// Writes the log with the simulated waits, or comma-separated values as in RFC 4180: a line for
    /// each job.
    fn write_as(&self, format: Format, cells: CsvText, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Swf {
            return self.write_swf(out);
        }
        let header = "id,entity,queue,processors,submit,start,end,wait,warm_up";
        let mut csv = CsvWriter::new(header, out)?;
        for (_, job) in self.started() {
            let names = guarded_names([job.id, job.entity, job.queue], cells);
            let times = [job.submit, job.start, job.end, job.start - job.submit];
            csv.write((names, job.processors, times, self.is_warm_up(job.submit)))?;
        }
        csv.finish()
    }
}

/// The runs that end before they did in the log.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct CutRuns {
    /// Their number.
    jobs: usize,
    /// The processors times seconds that are cut, which can be beyond 64 bits in a log.
    core_seconds: u128,
    /// Those of all jobs in the log.
    #[serde(skip)]
    all_core_seconds: u128,
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

impl<'a> SimulationAnswer<'a> {
    /// The jobs that start, with their indices. A list of them would take more memory than the
    /// schedule.
    fn started(&self) -> impl Iterator<Item = (usize, JobLine<'a>)> {
        let workload = self.workload;
        let jobs = workload.jobs().iter().enumerate();
        jobs.filter_map(move |(index, job)| {
            let start = self.simulated.schedule.start(index)?;
            let line = JobLine {
                id: workload.id(index),
                entity: &workload.entities()[job.entity as usize],
                queue: &workload.queues()[job.queue as usize],
                processors: job.processors,
                submit: job.submit,
                start,
                end: self.simulated.schedule.end(workload, index)?,
            };
            Some((index, line))
        })
    }

    /// Writes the jobs that start in the Standard Workload Format, with their simulated waits and
    /// run times. Ids and names that are not numbers are numbered.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_swf(&self, out: &mut dyn Write) -> io::Result<()> {
        let workload = self.workload;
        let processors = self.simulated.processors.total;
        writeln!(out, "; Version: 2.2\n; MaxProcs: {processors}")?;
        for line in &workload.clock {
            // a line end in it would begin a line of the log
            writeln!(out, "; {}", printable(line))?;
        }
        writeln!(
            out,
            "; Note: simulated by jsf under `{}`",
            printable(self.formula.trim_end())
        )?;
        // all or none: the place of one job could be the id of another one
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
            // of the 18 fields -1 is not known, and 1 is the status of a job that was completed
            writeln!(
                out,
                "{id} {submit} {wait} {run} {processors} -1 -1 {processors} {walltime} -1 1 {entity} {group} -1 {queue} -1 -1 -1"
            )?;
        }
        Ok(())
    }

    /// Whether a job with this time of submission is left out of the statistics.
    fn is_warm_up(&self, submit: i64) -> bool {
        submit < self.workload.begin(self.statistics.warm_up)
    }

    /// The runs that end before they did in the log.
    fn cut(&self) -> CutRuns {
        let mut cut = CutRuns::default();
        for (index, _) in self.started() {
            let job = &self.workload.jobs()[index];
            cut.jobs += usize::from(job.run > job.duration());
            cut.core_seconds += job.cut();
            cut.all_core_seconds += job.core_seconds() + job.cut();
        }
        cut
    }
}

fn is_number(name: &str) -> bool {
    name.parse::<u64>().is_ok()
}

/// The numbers of entities, groups or queues: their names if all are numbers, else their places
/// from 1.
fn swf_numbers(names: &[Box<str>]) -> Vec<String> {
    // all or none: the place of one name could be another name
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
pub struct SimulatedChangeAnswer<'a> {
    /// Both sides, of the same workload.
    #[serde(flatten)]
    sides: OldNew<SimulationAnswer<'a>>,
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

impl<'a> SimulatedChangeAnswer<'a> {
    /// The answer about two simulations of the same workload.
    pub fn new(sides: OldNew<SimulationAnswer<'a>>, shake: Option<Shake>) -> Self {
        let OldNew { old, new } = &sides;
        let (workload, warm_up) = (old.workload, old.statistics.warm_up);
        let [before, after] = [&old.simulated.schedule, &new.simulated.schedule];
        let schedules = Difference::new(workload, before, after, warm_up);
        let mut warnings = old.simulated.warnings.clone();
        warnings.retain(|warning| new.simulated.warnings.contains(warning));
        let (old_statistics, new_statistics) = (&old.statistics, &new.statistics);
        let changes = schedules.classes.each_ref();
        let old_groups = old_statistics.classes.each_ref();
        let new_groups = new_statistics.classes.each_ref();
        let classes = std::array::from_fn(|kind| {
            compared_groups(changes[kind], old_groups[kind], new_groups[kind])
        });
        let difference = Compared {
            utilisation: new_statistics.summary.utilisation - old_statistics.summary.utilisation,
            makespan: new_statistics.summary.makespan - old_statistics.summary.makespan,
            classes: ByKind::from(classes),
            // one minus the level of the interval of a `MeanChange`
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

impl Answer for SimulatedChangeAnswer<'_> {
    fn document(&self) -> Document<'_> {
        document(&self.sides.new, Some(self))
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job that starts in both.
    fn write_as(&self, _format: Format, cells: CsvText, out: &mut dyn Write) -> io::Result<()> {
        let OldNew { old, new } = &self.sides;
        let mut csv = CsvWriter::new(CSV_HEADER, out)?;
        for (index, job) in old.started() {
            let schedule = &new.simulated.schedule;
            let (Some(new_start), Some(new_end)) =
                (schedule.start(index), schedule.end(new.workload, index))
            else {
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
            // a run that is suspended under one formula alone is longer there
            let ends = [job.end, new_end];
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
