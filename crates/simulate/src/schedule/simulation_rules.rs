//! The machine and the rules of a simulation.

use std::sync::Arc;

use job_sort_formula::rank::{OnError, ScorePrecision};
use jsf_openpbs::cycle::{CycleJob, CycleRules, CycleState, QueueOrder, Request};
use serde::Deserialize;

use crate::workload::Workload;

/// Which jobs may start although a job before them does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Backfill {
    /// Those that do not delay the first job that does not fit
    ///
    /// As far as the walltimes tell (EASY).
    #[default]
    Easy,
    /// All that fit.
    Greedy,
    /// None.
    None,
}

impl Backfill {
    /// The rules of a cycle that backfills so.
    pub fn rules(self) -> CycleRules {
        let mut rules = CycleRules {
            window: 0,
            strict_ordering: self != Self::Greedy,
            ..CycleRules::default()
        };
        if self == Self::None {
            rules.backfill_depth = 0;
        }
        rules
    }
}

/// The machine and the rules of a simulation.
#[derive(Debug, Clone)]
pub struct SimulationRules {
    /// The machine, on which nothing runs yet, and the limits. Users, groups, projects and queues are
    /// those of the workload.
    pub state: CycleState,
    /// The jobs of the workload as a cycle sees them.
    pub jobs: Vec<CycleJob>,
    /// What a cycle starts.
    pub cycle: CycleRules,
    /// In which order it considers the jobs.
    pub order: OrderRules,
    /// What holds instead outside prime time, if that is something else.
    pub non_prime: Option<NonPrimeRules>,
    /// A job whose value is at most this is not considered, and does not become older meanwhile.
    pub threshold: Option<f64>,
    /// Whether a job at a limit of its user, group or project does not become older
    /// (`eligible_time_enable`).
    pub has_accrual: bool,
    /// `PriorityMaxAge` of Slurm in seconds, from which `age_factor` follows.
    pub max_age: Option<u32>,
    /// The precision to which values are rounded before they are compared; decimals are computed as
    /// doubles.
    pub precision: ScorePrecision,
    /// The value of a job for which the formula raises an error: 0, or less than every other one.
    pub on_error: OnError,
}

impl SimulationRules {
    /// Whether jobs preempt others, at least in prime time or outside it.
    pub fn preempts(&self) -> bool {
        let non_prime = self.non_prime.as_ref();
        self.cycle.levels.is_preemptive || non_prime.is_some_and(|rules| rules.is_preemptive)
    }

    /// Whether fair share orders jobs, at least in prime time or outside it.
    pub fn orders_by_fair_share(&self) -> bool {
        let non_prime = self.non_prime.iter().map(|rules| &rules.order);
        let mut orders = non_prime.chain([&self.order]);
        orders.any(|order| order.queues.by_fair_share)
    }

    /// The number of processors.
    pub fn processors(&self) -> u32 {
        u32::try_from(self.state.machine.total(0)).unwrap_or(u32::MAX)
    }
}

/// The rules that hold outside prime time.
#[derive(Debug, Clone)]
pub struct NonPrimeRules {
    /// See [`CycleRules::strict_ordering`].
    pub strict_ordering: bool,
    /// Whether the levels of jobs count (`preemptive_sched`); the other rules of a cycle hold at all
    /// times.
    pub is_preemptive: bool,
    /// In which order it considers the jobs.
    pub order: OrderRules,
}

/// What orders the waiting jobs besides their values.
#[derive(Debug, Clone, Default)]
pub struct OrderRules {
    /// The order of the queues of the workload.
    pub queues: QueueOrder,
    /// By job: its place among jobs with equal values; empty: the order of submission.
    pub ties: Vec<u32>,
    /// By queue of the workload: whether its jobs are not started. Empty: all are.
    pub stopped: Vec<bool>,
}

impl Workload {
    /// The jobs as a cycle sees them, with what each asks for.
    pub fn cycle_jobs(&self, mut request: impl FnMut(usize) -> Arc<Request>) -> Vec<CycleJob> {
        let jobs = self.jobs().iter().enumerate();
        let jobs = jobs.map(|(index, job)| CycleJob {
            request: request(index),
            walltime: job.walltime,
            queue: job.queue,
            user: job.user,
            group: job.unix_group,
            project: job.project,
            entity: job.entity,
            can_be_reserved: true,
            // a log does not say which jobs may not be requeued (`qsub -r n`)
            is_rerunable: true,
            ..CycleJob::default()
        });
        jobs.collect()
    }
}
