//! What a simulated workload says of waits, of the use of the machine and of goals.

use crate::schedule::Schedule;
use crate::workload::Workload;

mod difference;
mod fairness;
mod goals;
mod job_classes;
mod statistics;
mod validation;

pub use difference::{Difference, GroupDifference, MeanChange};
pub use fairness::{EntityUse, Fairness};
pub use goals::{
    Goal, GoalState, Goals, GoalsError, JudgedGoal, JudgedRun, MAX_GOALS_BYTES, Measure, Member,
    Objective, in_one_line,
};
pub use job_classes::ByKind;
pub use statistics::{
    Distribution, GroupStatistics, Period, StartValues, Statistics, Summary, Whole, wait_of,
};
pub use validation::Validation;

/// The statistics and the fairness of a simulated workload.
#[derive(Debug, Clone)]
pub struct Results {
    /// Waits, slowdowns and the use of the machine.
    pub statistics: Statistics,
    /// How the use compares with the shares, where there are any.
    pub fairness: Option<Fairness>,
}

impl Results {
    /// The results of a schedule on this many processors. `shares` are those of the entities of the
    /// workload, by index.
    pub fn new(
        workload: &Workload,
        schedule: &Schedule,
        processors: u32,
        shares: Option<&[Option<f64>]>,
        warm_up: i64,
    ) -> Self {
        let mut statistics = Statistics::new(workload, schedule, processors, warm_up);
        let mut fairness = None;
        if let Some(shares) = shares
            && shares.iter().flatten().any(|share| *share > 0.0)
        {
            let shares_used = Fairness::new(workload, schedule, shares, warm_up);
            // both are in the order of the first submission
            let mut uses = shares_used.entities.iter();
            for entity in &mut statistics.classes.entities {
                entity.used = uses.find(|used| used.name == entity.name).cloned();
            }
            fairness = Some(shares_used);
        }
        Self {
            statistics,
            fairness,
        }
    }

    /// The run as goals and objectives judge it.
    pub fn run<'a>(&'a self, workload: &'a Workload, schedule: &'a Schedule) -> JudgedRun<'a> {
        JudgedRun {
            workload,
            schedule,
            results: self,
        }
    }

    /// Judges the schedule by goals; without goals, by none. `old` are the values of the old side
    /// of a comparison.
    pub fn judge(
        &self,
        goals: Option<&Goals>,
        workload: &Workload,
        schedule: &Schedule,
        old: Option<&[JudgedGoal]>,
    ) -> Vec<JudgedGoal> {
        match goals {
            Some(goals) => goals.judge(&self.run(workload, schedule), old),
            None => Vec::new(),
        }
    }
}

/// Which of the first jobs of a simulation do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUp {
    /// All jobs count.
    None,
    /// Usage starts fresh, and the jobs of the time until it decays first, in seconds, do not
    /// count.
    UntilDecay(i64),
    /// Usage starts fresh, but that time, in seconds, is more than half of the log, so that all
    /// jobs count.
    LogTooShort(i64),
}

impl WarmUp {
    /// How long after the first submission the jobs begin that count, in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::None | Self::LogTooShort(_) => 0,
            Self::UntilDecay(seconds) => seconds,
        }
    }
}
