//! The answer of `jsf simulate`: a log simulated under one formula, or under two side by side, as
//! JSON, CSV and in the Standard Workload Format.

#[cfg(feature = "command")]
pub mod run;
pub(crate) mod view;
mod wait_tables;

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::rank::{Consequence, OldNew, OnError};
use jsf_openpbs::check::{Checked, Verdict};
use jsf_simulate::MAX_JOBS;
use jsf_simulate::{
    ByKind, Difference, GoalState, Goals, GroupDifference, GroupStatistics, JudgedGoal, JudgedRun,
    Observer, Shake, Statistics, Validation, WarmUp, Whole, Workload, WorkloadJob, WorkloadModel,
    generate,
};
use jsf_site::{SimulatedQueue, SimulationOptions, Site, SiteError, StartingUsage, check_warm_up};
use serde::{Deserialize, Serialize, Serializer};

use crate::answers::{
    Answer, AnswerError, CsvText, CsvWriter, Each, Format, GivenFormula, Warnings, guarded_names,
    object,
};
use crate::commands::simulate::view::{FailingJobs, is_fatal};
use crate::questions::{LogOptions, Watch, number_within, read_goals, require_doubles, seed};
use crate::view::document::Document;
use crate::view::words::{printable, waiting_time};

/// The log, how it is run through time, and what is told of it.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct SimulateQuestion {
    /// The log.
    #[serde(flatten)]
    #[command(flatten)]
    pub(crate) log: LogOptions,
    /// Instead of a log, generate this many jobs
    ///
    /// They are plausible for the machine, after the model of Lublin and Feitelson (2003)
    #[serde(skip)]
    #[arg(long, value_name = "JOBS", requires = "processors", value_parser = generated_jobs)]
    pub generate: Option<usize>,
    /// With --generate: the load
    ///
    /// The fraction of the machine that the jobs would hold if none waited
    #[serde(skip)]
    #[arg(long, value_name = "F", default_value_t = 0.9, requires = "generate", value_parser = load, hide_short_help = true)]
    pub load: f64,
    /// With --generate: the seed
    ///
    /// The seed of the random numbers
    #[serde(skip)]
    #[arg(long, value_name = "N", default_value_t = 1, requires = "generate", value_parser = seed, hide_short_help = true)]
    pub seed: u64,
    /// Judge the waits by the goals in this file
    ///
    /// TOML with a `[[goal]]` each: name, jobs (a condition such as `walltime <= 3600`), queue,
    /// entity or group, measure, statistic, at_most or at_least; exit code 1 if the (new) formula
    /// misses one
    #[arg(long, value_name = "FILE")]
    pub goals: Option<PathBuf>,
    /// Replace the names of entities and groups
    ///
    /// By u1, u2 … and g1, g2 … in everything that is written; warnings and errors about the files
    /// of the site, which may quote their names, are hidden
    #[serde(skip)]
    #[arg(long)]
    pub anonymise: bool,
    /// Compare the waits with those in the log
    ///
    /// Report how far the simulated waits differ from those in the log, to judge the simulation
    /// under the formula that was in force
    #[serde(skip)]
    #[arg(long, conflicts_with_all = ["old", "new", "old_file", "new_file", "generate"])]
    pub validate: bool,
    /// The usage that the entities begin with; on a command line it is one of the site.
    #[arg(skip)]
    pub(crate) usage: StartingUsage,
    /// What becomes of jobs for which the formula fails, as the site has it.
    #[serde(skip)]
    #[arg(skip)]
    pub(crate) on_error: OnError,
    /// Whose rules the policy of the site follows.
    #[serde(skip)]
    #[arg(skip)]
    pub(crate) rules: PolicyRules,
}

impl SimulateQuestion {
    /// How the log is run through time.
    pub(crate) fn simulation(&self) -> SimulationOptions {
        self.log.simulation(self.usage)
    }
}

fn generated_jobs(text: &str) -> Result<usize, String> {
    let expected = format!("a number of jobs from 1 to {MAX_JOBS}");
    number_within(text, 1..=MAX_JOBS, expected)
}

fn load(text: &str) -> Result<f64, String> {
    number_within(
        text,
        0.001..=100.0,
        "a fraction of the machine, such as 0.9",
    )
}

/// A log at a site, how it is run through time, and by what its waits are judged.
#[derive(Debug)]
pub struct SimulatedLog<'a> {
    pub(crate) site: &'a Site,
    pub(crate) question: &'a SimulateQuestion,
    /// The jobs of the log.
    pub workload: Workload,
    /// The goals by which a simulation is judged.
    pub(crate) goals: Option<Goals>,
    /// How long after the first submission the jobs begin that are counted, in seconds.
    pub(crate) warm_up: i64,
    /// Whether that is the time in which usage that starts fresh decays once.
    pub(crate) is_until_decay: bool,
}

impl<'a> SimulatedLog<'a> {
    /// Reads a log with what the formulas and the goals need, or generates one.
    ///
    /// # Errors
    /// The log or the goals cannot be read, or the warm-up leaves no job.
    pub fn read(
        site: &'a Site,
        question: &'a SimulateQuestion,
        formulas: &[&Formula],
        warnings: &mut Warnings,
    ) -> Result<Self, AnswerError> {
        if !question.anonymise {
            warnings.add(site.warnings());
        } else if !site.warnings().is_empty() {
            warnings.add(["the warnings about the files of the site may contain names, which --anonymise hides"]);
        }
        let goals = question.goals.as_deref();
        let (workload, goals) = match (question.generate, question.log.processors) {
            (Some(jobs), Some(processors)) => {
                require_doubles(site)?;
                let goals = goals.map(|path| read_goals(path, site)).transpose()?;
                (generated(question, jobs, processors.get()), goals)
            }
            _ => {
                let mut rules = question.log.rules();
                rules.anonymise = question.anonymise;
                question.log.open(rules, site, formulas, goals, warnings)?
            }
        };
        let given = question.log.warm_up_seconds();
        let default = match given {
            // nobody has to be told that the log is too short for a warm-up that was given
            Some(_) => WarmUp::None,
            None => site
                .warm_up(&workload, &question.simulation())
                .map_err(|error| without_names(question, error))?,
        };
        warnings.add(too_short(default));
        let warm_up = given.unwrap_or(default.seconds());
        check_warm_up(&workload, warm_up)?;
        Ok(Self {
            site,
            question,
            workload,
            goals,
            warm_up,
            is_until_decay: matches!(default, WarmUp::UntilDecay(_)),
        })
    }

    /// Runs the log, or another workload, through time.
    pub(crate) fn simulate(
        &self,
        formula: &Formula,
        workload: &Workload,
        observer: &mut dyn Observer,
    ) -> Result<SimulatedQueue, SiteError> {
        let options = self.question.simulation();
        let simulated = self.site.simulate(formula, workload, options, observer);
        simulated.map_err(|error| without_names(self.question, error))
    }

    /// Simulates the log under a formula. `before` is what it is compared with: if that was ended,
    /// this ends with as many jobs.
    fn side(
        &self,
        given: GivenFormula,
        before: Option<&SimulatedSide>,
        warnings: &mut Warnings,
        watch: &Watch<'_>,
    ) -> Result<SimulatedSide, AnswerError> {
        let workload = &self.workload;
        let formula = given.parsed()?;
        // the check knows no job of the log, and so no condition that all of them meet
        let findings = self.site.lint(formula, workload);
        let mut most = None;
        if let Some(before) = before
            && !before.simulated.schedule.is_complete
        {
            most = Some(before.started(workload));
        }
        let all = most.unwrap_or(workload.jobs().len());
        let simulated = self.simulate(formula, workload, &mut |started| {
            let is_to_go_on = watch(Some((started, all)));
            match most {
                Some(most) if started >= most => ControlFlow::Break(()),
                Some(_) => ControlFlow::Continue(()),
                None => is_to_go_on,
            }
        });
        let simulated = simulated.map_err(|error| match error {
            SiteError::NotArithmetic => given.unusable(findings.clone()),
            error => {
                // such as on a misspelled name, which no job of the log has
                warnings.doubt(&findings);
                error.into()
            }
        })?;
        let (statistics, goals) =
            self.judged(&simulated, before.map_or(&[], |before| &before.goals));
        let side = SimulatedSide {
            statistics,
            goals,
            failing: FailingJobs::new(workload, &simulated.schedule.errors, self.question.on_error),
            simulated,
            findings,
            given,
            checked: OnceLock::new(),
        };
        if !side.simulated.schedule.is_complete {
            warnings.add([format!(
                "interrupted: the results are those of the {} of {} jobs that have started",
                side.started(workload),
                workload.jobs().len()
            )]);
        }
        Ok(side)
    }

    /// What a simulation of the log says of its jobs, and how it meets the goals; `before` are those
    /// of the old side of a comparison.
    fn judged(
        &self,
        simulated: &SimulatedQueue,
        before: &[JudgedGoal],
    ) -> (Statistics, Vec<JudgedGoal>) {
        let workload = &self.workload;
        let statistics = simulated.statistics(workload, self.warm_up);
        let run = JudgedRun {
            workload,
            schedule: &simulated.schedule,
            statistics: &statistics,
        };
        let goals = self
            .goals
            .iter()
            .flat_map(|goals| goals.judge(&run, before));
        let goals = goals.collect();
        (statistics, goals)
    }

    /// What becomes of a formula, with the findings about the jobs of the log. The queue of the site
    /// shows crashes that no job of the log shows.
    fn check(&self, side: &SimulatedSide) -> Option<Checked> {
        let submitted = &side.given.submitted;
        let mut checked = self.site.check(submitted).ok()?;
        // a queue that cannot be read does not concern the log
        if let Ok(Some(mut of_queue)) = self.site.check_with_queue(submitted)
            && is_fatal(&of_queue)
            && of_queue.verdict != Verdict::Refused
        {
            // these findings may name the entities of the queue
            if self.question.anonymise {
                of_queue.findings = checked.findings;
            }
            checked = of_queue;
        }
        for found in side
            .given
            .submitted
            .in_source(side.findings.iter().cloned())
        {
            let mut known = checked.findings.iter();
            if !known.any(|one| (one.code, one.span) == (found.code, found.span)) {
                checked.findings.push(found);
            }
        }
        Some(checked)
    }
}

fn generated(question: &SimulateQuestion, jobs: usize, processors: u32) -> Workload {
    let SimulateQuestion { load, seed, .. } = *question;
    let mut workload = generate(&WorkloadModel {
        jobs,
        processors,
        load,
        seed,
        ..WorkloadModel::default()
    });
    if question.anonymise {
        workload.anonymise();
    }
    workload
}

/// The warning that the first waits are those of usage that has not decayed.
fn too_short(warm_up: WarmUp) -> Option<String> {
    let WarmUp::LogTooShort(period) = warm_up else {
        return None;
    };
    Some(format!(
        "usage starts fresh, and the log is too short to leave out the time until it decays ({}): with fair share, the first \
         waits are those of equal usage",
        waiting_time(period)
    ))
}

/// An error about the files of a site. --anonymise shows that there is one alone.
pub(crate) fn without_names(question: &SimulateQuestion, error: SiteError) -> SiteError {
    match error {
        SiteError::Content(_) if question.anonymise => {
            let text = "the files of the site cannot be used; the reason may contain names, which --anonymise hides";
            SiteError::Content(text.to_owned().into())
        }
        error => error,
    }
}

/// Whether no goal is missed.
pub(crate) fn meets_goals(goals: &[JudgedGoal]) -> bool {
    goals.iter().all(|goal| goal.state != GoalState::Missed)
}

/// A log simulated under a formula.
#[derive(Debug)]
pub struct SimulatedSide {
    pub(crate) given: GivenFormula,
    /// When the jobs start, on which machine and by which rules, and the warnings about it.
    pub simulated: SimulatedQueue,
    /// The numbers of the jobs.
    pub(crate) statistics: Statistics,
    /// The goals, as the schedule meets them.
    pub(crate) goals: Vec<JudgedGoal>,
    /// The findings about the formula and the jobs of the log.
    pub(crate) findings: Vec<Diagnostic>,
    /// The jobs for which the formula fails, if there are any.
    pub(crate) failing: Option<FailingJobs>,
    /// Made when it is asked for: programs do without it.
    checked: OnceLock<Option<Checked>>,
}

impl SimulatedSide {
    /// How many jobs never start.
    pub(crate) fn never_start(&self) -> usize {
        self.simulated.schedule.never_start().count()
    }

    /// How many jobs have started.
    fn started(&self, workload: &Workload) -> usize {
        let jobs = 0..workload.jobs().len();
        jobs.filter(|&job| self.simulated.schedule.start(job).is_some())
            .count()
    }
}

/// A log simulated under one formula, or under an old and a new one, ready to be written.
#[derive(Debug)]
pub struct SimulationAnswer<'a> {
    /// The log.
    pub log: SimulatedLog<'a>,
    /// Under the formula, or the new one.
    pub new: SimulatedSide,
    /// Under the old formula, and what differs.
    pub(crate) change: Option<(SimulatedSide, Compared)>,
    /// How far the waits under the formula, or the old one, are from those in the log.
    pub(crate) validation: Option<Validation>,
    /// What moved submissions make of the means or of their changes, if that was asked for.
    pub shake: Option<Shake>,
}

impl<'a> SimulationAnswer<'a> {
    /// Simulates a log under a formula, and under the one before it if there is one.
    ///
    /// # Errors
    /// As for [`SimulatedLog::read`]; a formula is not arithmetic, or the site cannot be simulated;
    /// or the log has no waits though they are to be compared.
    pub fn new(
        site: &'a Site,
        given: GivenFormula,
        old: Option<GivenFormula>,
        question: &'a SimulateQuestion,
        warnings: &mut Warnings,
        watch: &Watch<'_>,
    ) -> Result<Self, AnswerError> {
        let mut formulas = Vec::new();
        for given in old.iter().chain([&given]) {
            formulas.push(given.parsed()?);
        }
        let log = SimulatedLog::read(site, question, &formulas, warnings)?;
        let old = match old {
            Some(old) => Some(log.side(old, None, warnings, watch)?),
            None => None,
        };
        let new = log.side(given, old.as_ref(), warnings, watch)?;
        let mut validation = None;
        if old.is_some() || question.validate {
            let schedule = &old.as_ref().unwrap_or(&new).simulated.schedule;
            validation = Validation::new(&log.workload, schedule, log.warm_up);
        }
        if question.validate && validation.is_none() {
            return Err(SiteError::from(
                "the log does not say how long its jobs waited, so there is nothing to compare with".to_owned(),
            ).into());
        }
        let change = old.map(|old| {
            let compared = Compared::new(&log, &old, &new);
            (old, compared)
        });
        Ok(Self {
            log,
            new,
            change,
            validation,
            shake: None,
        })
    }

    /// The old side, if there is one, and the new one.
    pub(crate) fn sides(&self) -> Vec<&SimulatedSide> {
        let old = self.change.iter().map(|(old, _)| old);
        old.chain([&self.new]).collect()
    }

    /// The old side, or the only one.
    pub(crate) fn first(&self) -> &SimulatedSide {
        match &self.change {
            Some((old, _)) => old,
            None => &self.new,
        }
    }

    /// What becomes of the formula of a side: with the queue of the site if it cannot work there,
    /// else without jobs.
    pub(crate) fn checked<'s>(&self, side: &'s SimulatedSide) -> Option<&'s Checked> {
        side.checked.get_or_init(|| self.log.check(side)).as_ref()
    }

    /// Whether the formulas work, the new one above all, and the goals are met.
    pub fn is_fine(&self) -> bool {
        let mut is_fine = meets_goals(&self.new.goals);
        for side in self.sides() {
            for found in &side.findings {
                is_fine &= found.severity != Severity::Error;
            }
            // for every job, or for one where that is not allowed
            if let Some(failing) = &side.failing {
                is_fine &= !failing.are_all && self.log.question.on_error != OnError::Fail;
            }
        }
        // the old formula of a comparison may be the one that is mended
        let mut errors = self.new.simulated.schedule.errors.kinds();
        let crashes = errors.any(|(_, error)| error.consequence == Consequence::Crash);
        let is_usable = match self.checked(&self.new) {
            Some(checked) => !checked.has_errors() && !is_fatal(checked),
            None => true,
        };
        is_fine && !crashes && is_usable
    }

    /// Whether hardly any job waits; the first warning of a side then says so.
    pub(crate) fn has_no_waits(&self, side: &SimulatedSide) -> bool {
        side.simulated.no_waits(&self.log.workload).is_some()
    }

    /// The jobs that start, with their indices. A list of them would take more memory than the
    /// schedule.
    pub(crate) fn started<'s>(
        &'s self,
        side: &'s SimulatedSide,
    ) -> impl Iterator<Item = (usize, JobLine<'s>)> + Clone {
        let workload = &self.log.workload;
        let jobs = workload.jobs().iter().enumerate();
        jobs.filter_map(move |(index, job)| {
            let start = side.simulated.schedule.start(index)?;
            let line = JobLine {
                id: workload.id(index),
                entity: &workload.entities()[job.entity as usize],
                queue: &workload.queues()[job.queue as usize],
                processors: job.processors,
                submit: job.submit,
                start,
                end: side.simulated.schedule.end(workload, index)?,
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
        let workload = &self.log.workload;
        let processors = self.new.simulated.processors.total;
        writeln!(out, "; Version: 2.2\n; MaxProcs: {processors}")?;
        for line in &workload.clock {
            // a line end in it would begin a line of the log
            writeln!(out, "; {}", printable(line))?;
        }
        writeln!(
            out,
            "; Note: simulated by jsf under `{}`",
            printable(self.new.given.text().trim_end())
        )?;
        // all or none: the place of one job could be the id of another one
        let are_numbers = (0..workload.jobs().len()).all(|job| is_number(workload.id(job)));
        let [entities, groups, queues] =
            [workload.entities(), workload.groups(), workload.queues()].map(swf_numbers);
        for (index, line) in self.started(&self.new) {
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
        submit < self.log.workload.begin(self.log.warm_up)
    }

    /// The runs that end before they did in the log.
    pub(crate) fn cut(&self, side: &SimulatedSide) -> CutRuns {
        let mut cut = CutRuns::default();
        for (index, _) in self.started(side) {
            let job = &self.log.workload.jobs()[index];
            cut.jobs += usize::from(job.run > job.duration());
            cut.core_seconds += job.cut();
            cut.all_core_seconds += job.core_seconds() + job.cut();
        }
        cut
    }

    /// The JSON of a side. What is told of the only side is a part of it.
    fn side<'s>(
        &'s self,
        side: &'s SimulatedSide,
        validation: Option<&'s Validation>,
        shake: Option<&'s Shake>,
    ) -> impl Serialize + 's {
        let workload = &self.log.workload;
        let SimulatedQueue {
            schedule,
            processors,
            policy,
            decay,
            left_out,
            warnings,
            ..
        } = &side.simulated;
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
        object! {
            formula: side.given.text(),
            jobs: Each(|| self.started(side).map(|(_, job)| job)),
            processors,
            policy,
            // without a tree nothing decays
            decay: decay.as_ref().filter(|_| policy.is_some()),
            warnings,
            complete_from: workload.complete_from,
            #[serde(flatten)]
            statistics: &side.statistics,
            goals: &side.goals,
            fairness: &side.statistics.fairness,
            too_large: Vec::from_iter(too_large),
            never_start: side.never_start(),
            #[serde(flatten)]
            preemptions: preemptions.map(|preemptions| object! { preemptions }),
            left_out: counts_left_out,
            without: left_out,
            cut: self.cut(side),
            errors,
            skipped_lines: faults.count(),
            complete: schedule.is_complete,
            #[serde(flatten)]
            validation: validation.map(|validation| object! { validation }),
            #[serde(flatten)]
            shake: shake.map(|shake| object! { shake }),
        }
    }
}

impl Serialize for SimulationAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let validation = self.validation.as_ref();
        let Some((old, difference)) = &self.change else {
            let only = self.side(&self.new, validation, self.shake.as_ref());
            return only.serialize(serializer);
        };
        // those that both sides have: those about the machine and the log
        let mut warnings = Vec::from_iter(&old.simulated.warnings);
        warnings.retain(|warning| self.new.simulated.warnings.contains(warning));
        let answer = object! {
            old: self.side(old, None, None),
            new: self.side(&self.new, None, None),
            warnings,
            #[serde(flatten)]
            validation: validation.map(|validation| object! { validation }),
            difference: object! {
                #[serde(flatten)]
                difference,
                shake: &self.shake,
            },
        };
        answer.serialize(serializer)
    }
}

impl Answer for SimulationAnswer<'_> {
    fn document(&self) -> Document<'_> {
        self.shown()
    }

    /// Writes the log with the simulated waits, or comma-separated values as in RFC 4180: a line for
    /// each job that starts, of two formulas in both.
    fn write_as(&self, format: Format, cells: CsvText, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Swf {
            return self.write_swf(out);
        }
        let Some((old, _)) = &self.change else {
            let header = "id,entity,queue,processors,submit,start,end,wait,warm_up";
            let mut csv = CsvWriter::new(header, out)?;
            for (_, job) in self.started(&self.new) {
                let names = guarded_names([job.id, job.entity, job.queue], cells);
                let times = [job.submit, job.start, job.end, job.start - job.submit];
                csv.write((names, job.processors, times, self.is_warm_up(job.submit)))?;
            }
            return csv.finish();
        };
        let mut csv = CsvWriter::new(CSV_HEADER, out)?;
        for (index, job) in self.started(old) {
            let schedule = &self.new.simulated.schedule;
            let (Some(new_start), Some(new_end)) = (
                schedule.start(index),
                schedule.end(&self.log.workload, index),
            ) else {
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
            csv.write((
                names,
                job.processors,
                times,
                ends,
                self.is_warm_up(job.submit),
            ))?;
        }
        csv.finish()
    }
}

/// The runs that end before they did in the log.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct CutRuns {
    /// Their number.
    pub(crate) jobs: usize,
    /// The processors times seconds that are cut, which can be beyond 64 bits in a log.
    pub(crate) core_seconds: u128,
    /// Those of all jobs in the log.
    #[serde(skip)]
    pub(crate) all_core_seconds: u128,
}

/// A job that starts.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct JobLine<'a> {
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    processors: u32,
    submit: i64,
    start: i64,
    end: i64,
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

/// What differs between the sides, with the numbers that need both.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    /// What differs between the schedules.
    #[serde(flatten)]
    pub(crate) schedules: Difference,
    utilisation: f64,
    makespan: i64,
    #[serde(flatten)]
    pub(crate) classes: ByKind<Vec<ComparedGroup>>,
    /// That of the intervals.
    confidence: f64,
}

/// A group, and its waits under both formulas.
#[derive(Debug, Serialize)]
pub(crate) struct ComparedGroup {
    #[serde(flatten)]
    pub(crate) change: GroupDifference,
    pub(crate) median_wait: OldNew<Whole>,
    pub(crate) p95_wait: OldNew<Whole>,
    pub(crate) within_hour: OldNew<f64>,
}

impl Compared {
    fn new(log: &SimulatedLog<'_>, old: &SimulatedSide, new: &SimulatedSide) -> Self {
        let (before, after) = (&old.simulated.schedule, &new.simulated.schedule);
        let schedules = Difference::new(&log.workload, before, after, log.warm_up);
        let (old, new) = (&old.statistics, &new.statistics);
        let changes = schedules.classes.each_ref();
        let old_groups = old.classes.each_ref();
        let new_groups = new.classes.each_ref();
        let classes = std::array::from_fn(|kind| {
            compared_groups(changes[kind], old_groups[kind], new_groups[kind])
        });
        Self {
            utilisation: new.summary.utilisation - old.summary.utilisation,
            makespan: new.summary.makespan - old.summary.makespan,
            classes: ByKind::from(classes),
            // one minus the level of the interval of a `MeanChange`
            confidence: 0.95,
            schedules,
        }
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
