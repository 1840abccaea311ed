//! The waiting jobs: in an order that never changes where the formula allows it, else with values that are computed in each
//! cycle.

use job_sort_formula::formula::program::Program;
use job_sort_formula::rank::{ColumnError, OnError, ScorePrecision};
use jsf_openpbs::cycle::Cycle;

use super::errors::EvaluationErrors;
use super::fairshare::Fairshare;
use super::jobs::RequestedJobs;
use super::keyed_candidates::tie;
use super::ordered_jobs::OrderedJobs;
use super::rules::OrderRules;
use super::schedule::Outcome;
use super::valued_jobs::ValuedJobs;
use super::workload::{Workload, WorkloadJob};

/// The waiting jobs.
pub(super) enum WaitingJobs<'p> {
    /// In an order that never changes.
    Ordered(OrderedJobs),
    /// With values that are computed in each cycle.
    Valued(Box<ValuedJobs<'p>>),
}

impl<'p> WaitingJobs<'p> {
    /// No job waits yet. Where the values never change, all jobs of the workload are evaluated at once.
    pub(super) fn new(
        program: &'p Program,
        workload: &'p Workload,
        order: &OrderRules,
        threshold: Option<f64>,
        has_accrual: bool,
        (precision, on_error): (ScorePrecision, OnError),
        errors: &mut EvaluationErrors,
    ) -> Result<Self, ColumnError> {
        let mut valued = ValuedJobs::new(program, workload, order, threshold, has_accrual, (precision, on_error));
        if order.takes_turns || order.by_fair_share {
            return Ok(Self::Valued(Box::new(valued)));
        }
        let jobs = workload.jobs();
        let keeps_order = order.follows_submission && threshold.is_none() && !has_accrual && order.ties.is_empty();
        if keeps_order {
            let mut in_order: Vec<u32> = (0..jobs.len() as u32).collect();
            in_order.sort_by_key(|&job| order.place(jobs[job as usize].queue));
            return Ok(Self::Ordered(OrderedJobs::new(in_order, jobs.len())));
        }
        if valued.is_dynamic() {
            return Ok(Self::Valued(Box::new(valued)));
        }
        jobs.iter().zip(0..).for_each(|(of, job)| valued.push(job, of));
        valued.evaluate(0, None, errors)?;
        let mut keys: Vec<_> = valued.keys(order).map(|(key, _)| key).collect();
        keys.sort_unstable();
        let in_order = keys.into_iter().map(|key| valued.job_of_tie(tie(key))).collect();
        Ok(Self::Ordered(OrderedJobs::new(in_order, jobs.len())))
    }

    pub(super) fn push(&mut self, job: u32, of: &WorkloadJob) {
        match self {
            Self::Ordered(jobs) => jobs.push(job, of),
            Self::Valued(jobs) => jobs.push(job, of),
        }
    }

    /// The fewest processors that a waiting job asks for; as many as possible if none waits.
    pub(super) fn least_processors(&self) -> i64 {
        match self {
            Self::Ordered(jobs) => jobs.least_processors(),
            Self::Valued(jobs) => jobs.least_processors(),
        }
    }

    /// Whether some waiting jobs may not be eligible.
    pub(super) fn has_accrual(&self) -> bool {
        matches!(self, Self::Valued(jobs) if jobs.has_accrual())
    }

    /// Computes the values that can have changed. Returns their number.
    pub(super) fn evaluate(
        &mut self,
        now: i64,
        fairshare: Option<&mut Fairshare>,
        errors: &mut EvaluationErrors,
    ) -> Result<usize, ColumnError> {
        match self {
            Self::Ordered(_) => Ok(0),
            Self::Valued(jobs) => jobs.evaluate(now, fairshare, errors),
        }
    }

    /// Lets a cycle decide the jobs, of which `free` processors can be given to one.
    pub(super) fn decide(
        &mut self,
        mut cycle: Cycle<'_, RequestedJobs<'_>>,
        free: i64,
        order: &OrderRules,
        fairshare: Option<&Fairshare>,
        outcome: &mut Outcome<'_>,
    ) {
        match self {
            Self::Ordered(jobs) => cycle.run(&mut jobs.candidates(), outcome),
            Self::Valued(jobs) => jobs.decide(cycle, free, order, fairshare, outcome),
        }
    }

    /// Whether the jobs have values, which orders that never change do without.
    pub(super) fn has_values(&self) -> bool {
        matches!(self, Self::Valued(_))
    }

    /// The value of a waiting job of the last evaluation, if it has one.
    pub(super) fn value(&self, job: u32) -> Option<f64> {
        match self {
            Self::Ordered(_) => None,
            Self::Valued(jobs) => jobs.value(job),
        }
    }

    /// Removes the jobs that have started.
    pub(super) fn remove(&mut self, started: &[u32]) {
        match self {
            Self::Ordered(jobs) => started.iter().for_each(|&job| jobs.remove(job)),
            Self::Valued(jobs) => jobs.remove(started),
        }
    }

    /// Notes which jobs were found eligible or not.
    pub(super) fn set_eligible(&mut self, now: i64, decided: &[(u32, bool)]) {
        if let Self::Valued(jobs) = self {
            jobs.set_eligible(now, decided);
        }
    }
}
