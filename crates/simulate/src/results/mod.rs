//! What a simulated workload says of waits, of the use of the machine and of goals.

pub mod difference;
pub mod fairness;
pub mod goals;
pub mod job_classes;
pub mod statistics;
pub mod validate;

use crate::schedule::Schedule;
use crate::workload::Workload;
use fairness::Fairness;
use goals::{Goals, JudgedGoal, JudgedRun};
use statistics::Statistics;

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
            let of_shares = Fairness::new(workload, schedule, shares, warm_up);
            // both are in the order of the first submission
            let mut uses = of_shares.entities.iter();
            for entity in &mut statistics.classes.entities {
                entity.used = uses.find(|used| used.name == entity.name).cloned();
            }
            fairness = Some(of_shares);
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

/// How much of intervals of time lies in each of some periods.
pub struct TimeShares {
    origin: i64,
    length: i64,
    /// What lies in a part of the period.
    parts: Vec<f64>,
    /// By how much the amount of whole periods changes from the period before.
    changes: Vec<f64>,
}

impl TimeShares {
    pub fn new(origin: i64, length: i64, count: usize) -> Self {
        Self {
            origin,
            length,
            parts: vec![0.0; count],
            changes: vec![0.0; count + 1],
        }
    }

    pub fn add(&mut self, from: i64, to: i64, weight: f64) {
        let period = |time: i64| ((time - self.origin) / self.length) as usize;
        let (first, last) = (period(from), period(to));
        if first == last {
            self.parts[first] += (to - from) as f64 * weight;
            return;
        }
        let start_of = |period: usize| self.origin + period as i64 * self.length;
        self.parts[first] += (start_of(first + 1) - from) as f64 * weight;
        self.parts[last] += (to - start_of(last)) as f64 * weight;
        self.changes[first + 1] += weight;
        self.changes[last] -= weight;
    }

    pub fn finish(mut self) -> Vec<f64> {
        let mut weight = 0.0;
        for (part, change) in self.parts.iter_mut().zip(&self.changes) {
            weight += change;
            *part += weight * self.length as f64;
        }
        self.parts
    }
}
