//! A simulated queue: as JSON, CSV and in the Standard Workload Format.

use std::io::{self, Write};

use jsf_openpbs::check::Checked;
use jsf_simulate::{Goals, JudgedGoal, Results, Shake, Summary, Validation, Workload, WorkloadJob};
use jsf_site::SimulatedQueue;
use serde::{Serialize, Serializer};

use crate::answer::{Answer, Each, Format, object};
use crate::commands::simulate::failures_in_words::FailingJobs;
use crate::commands::simulate::view::simulation_document;
use crate::view::csv_writer::{Cells, CsvWriter, guarded_names};
use crate::view::document::{Document, Fact};
use crate::view::printable::printable;

/// A log simulated under a formula.
#[derive(Debug)]
pub struct SimulationReport<'a> {
    /// The formula's text.
    pub formula: String,
    /// The jobs.
    pub workload: &'a Workload,
    /// When they start, and by which rules.
    pub simulated: SimulatedQueue,
    /// The numbers of the jobs.
    pub results: Results,
    /// The goals, as the schedule meets them.
    pub goals: Vec<JudgedGoal>,
    /// How far the waits are from those in the log, if that was asked for.
    pub validation: Option<Validation>,
    /// What moved submissions make of the means, if that was asked for.
    pub shake: Option<Shake>,
    /// What is found about the formula.
    pub found: Found,
}

/// What is found about the formula of a simulation, which people see.
#[derive(Debug, Default)]
pub struct Found {
    /// The result of checking it: with the queue of the site if it cannot work there, else without
    /// jobs.
    pub checked: Option<Checked>,
    /// The jobs for which it fails, if there are any.
    pub failing: Option<FailingJobs>,
    /// What is shown above the tables.
    pub rules: Vec<Fact>,
    /// Whether the formula works.
    pub is_fine: bool,
}

impl<'a> SimulationReport<'a> {
    /// The answer about a simulated log without the jobs of the warm-up, which is judged by goals,
    /// beside the old formula if there is one; and without what is found about the formula.
    pub fn new(
        formula: &str,
        workload: &'a Workload,
        simulated: SimulatedQueue,
        warm_up: i64,
        goals: Option<&Goals>,
        old: Option<&SimulationReport<'_>>,
    ) -> Self {
        let results = simulated.results(workload, warm_up);
        let old_goals = old.map(|old| &*old.goals);
        Self {
            formula: formula.to_owned(),
            workload,
            goals: results.judge(goals, workload, &simulated.schedule, old_goals),
            simulated,
            results,
            validation: None,
            shake: None,
            found: Found::default(),
        }
    }

    /// The numbers of all jobs that count.
    pub(crate) fn summary(&self) -> &Summary {
        &self.results.statistics.summary
    }

    /// How many jobs never start.
    pub(crate) fn never_start(&self) -> usize {
        self.simulated.schedule.never_start().count()
    }

    /// Whether hardly any job waits; the first warning then says so.
    pub(crate) fn has_no_waits(&self) -> bool {
        self.simulated.no_waits(self.workload).is_some()
    }
}

impl Serialize for SimulationReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (workload, simulated) = (self.workload, &self.simulated);
        let schedule = &simulated.schedule;
        let faults = workload.faults();
        let mut left_out = faults.by_reason();
        left_out.insert("too_large", schedule.too_large.len());
        let mut too_large = Vec::new();
        for &job in &schedule.too_large {
            too_large.push(workload.id(job));
        }
        let mut errors = Vec::new();
        for (kind, error) in schedule.errors.kinds() {
            let job = workload.id(error.job);
            errors.push(object! { kind, jobs: error.jobs, job, message: &error.message });
        }
        let report = object! {
            formula: &self.formula,
            // a list of them would take more memory than the schedule
            jobs: Each(|| self.started().map(|(_, job)| job)),
            processors: simulated.processors,
            policy: simulated.policy,
            decay: simulated.decay.filter(|_| simulated.policy.is_some()),
            warnings: &simulated.warnings,
            complete_from: workload.complete_from,
            #[serde(flatten)]
            statistics: &self.results.statistics,
            goals: &self.goals,
            fairness: &self.results.fairness,
            too_large,
            never_start: self.never_start(),
            #[serde(flatten)]
            preemptions: schedule.preemptions.map(|preemptions| object! { preemptions }),
            left_out,
            without: &simulated.left_out,
            cut: CutRuns::of(self),
            errors,
            skipped_lines: faults.count(),
            complete: schedule.is_complete,
            #[serde(flatten)]
            validation: self.validation.as_ref().map(|validation| object! { validation }),
            #[serde(flatten)]
            shake: self.shake.as_ref().map(|shake| object! { shake }),
        };
        report.serialize(serializer)
    }
}

impl Answer for SimulationReport<'_> {
    fn document(&self) -> Document<'_> {
        simulation_document(self)
    }

    fn write_as(&self, format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Swf {
            self.write_swf(out)
        } else {
            self.write_csv(cells, out)
        }
    }
}

/// The runs that end before they did in the log.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CutRuns {
    /// Their number.
    pub jobs: usize,
    /// The processors times seconds that are cut.
    pub core_seconds: u128,
    /// Those of all jobs in the log.
    #[serde(skip)]
    pub all_core_seconds: u128,
}

impl CutRuns {
    pub(crate) fn of(report: &SimulationReport<'_>) -> Self {
        let mut cut = Self::default();
        for (index, _) in report.started() {
            let job = &report.workload.jobs()[index];
            cut.jobs += usize::from(job.run > job.duration());
            cut.core_seconds += job.cut();
            cut.all_core_seconds += job.core_seconds() + job.cut();
        }
        cut
    }
}

/// A job that starts.
#[derive(Debug, Clone, Copy, Serialize)]
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
    /// The jobs that start, with their indices.
    pub(crate) fn started(&self) -> impl Iterator<Item = (usize, JobLine<'a>)> {
        let (workload, schedule) = (self.workload, &self.simulated.schedule);
        let jobs = workload.jobs().iter().enumerate();
        jobs.filter_map(move |(index, job)| {
            let start = schedule.start(index)?;
            let line = JobLine {
                id: workload.id(index),
                entity: &workload.entities()[job.entity as usize],
                queue: &workload.queues()[job.queue as usize],
                processors: job.processors,
                submit: job.submit,
                start,
                end: schedule.end(workload, index)?,
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
            writeln!(out, "; {}", printable(line))?;
        }
        writeln!(
            out,
            "; Note: simulated by jsf under `{}`",
            printable(self.formula.trim_end())
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

    /// Whether a job with this time of submission is left out of the statistics.
    pub(crate) fn is_warm_up(&self, submit: i64) -> bool {
        submit < self.workload.begin(self.results.statistics.warm_up)
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_csv(&self, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
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
