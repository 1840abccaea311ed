//! A log that is simulated: its jobs, how it is run through time under a formula, by what its waits
//! are judged, and what differs between two simulations of it.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use job_sort_formula::rank::OldNew;
use job_sort_formula::{Diagnostic, Formula};
use jsf_openpbs::check::{Checked, Verdict};
use jsf_simulate::{
    ByKind, Difference, GoalState, Goals, GroupDifference, GroupStatistics, JudgedGoal, JudgedRun,
    Observer, Statistics, WarmUp, Whole, Workload, WorkloadModel, generate,
};
use jsf_site::{SimulatedQueue, Site, SiteError, check_warm_up};
use serde::Serialize;

use crate::answers::{AnswerError, Warnings};
use crate::asked_formula::AskedFormula;
use crate::commands::simulate::view::{FailingJobs, is_fatal};
use crate::commands::simulate::{SimulateQuestion, without_names};
use crate::questions::log::{Watch, read_goals, require_doubles};
use crate::view::words::waiting_time;

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
    pub(super) fn side(
        &self,
        given: AskedFormula,
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
                given.suspect(findings.clone(), warnings);
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
    pub(super) fn judged(
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

    /// What becomes of the formula of a side: with the queue of the site if it cannot work there, else
    /// without jobs.
    pub(super) fn checked<'s>(&self, side: &'s SimulatedSide) -> Option<&'s Checked> {
        side.checked.get_or_init(|| self.check(side)).as_ref()
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

/// Whether no goal is missed.
pub(crate) fn meets_goals(goals: &[JudgedGoal]) -> bool {
    goals.iter().all(|goal| goal.state != GoalState::Missed)
}

/// A log simulated under a formula.
#[derive(Debug)]
pub struct SimulatedSide {
    pub(crate) given: AskedFormula,
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
    pub(super) fn new(log: &SimulatedLog<'_>, old: &SimulatedSide, new: &SimulatedSide) -> Self {
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
