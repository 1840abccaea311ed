//! The machine and the rules of a simulation.

use job_sort_formula::rank::{OnError, ScorePrecision};
use jsf_openpbs::cycle::{CycleRules, Limit, Machine, RequestedChunks};
use serde::Deserialize;

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
    /// The machine; nothing runs on it yet.
    pub machine: Machine,
    /// What each job asks for, job by job: the machine's amounts, then those that only limits
    /// count; empty if that is only processors.
    pub requests: Vec<i64>,
    /// What jobs ask for host by host; `None` if they are counted only.
    pub placed: Option<PlacedRequests>,
    /// The array of each job, by the index of the limit of its subjobs; empty if no array has one.
    pub arrays: Vec<Option<u32>>,
    /// What a cycle starts.
    pub cycle: CycleRules,
    /// In which order it considers the jobs.
    pub order: OrderRules,
    /// What holds instead outside prime time, if that is something else.
    pub non_prime: Option<NonPrimeRules>,
    /// The limits of running jobs. Users, groups, projects and queues are those of the workload.
    pub limits: Vec<Limit>,
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
    /// The rules without a site: identical processors, the higher value first, doubles, 0 for an
    /// error.
    pub fn new(processors: u32, backfill: Backfill) -> Self {
        Self {
            machine: Machine::new(&[vec![processors.into()]]),
            requests: Vec::new(),
            placed: None,
            arrays: Vec::new(),
            cycle: backfill.rules(),
            order: OrderRules::default(),
            non_prime: None,
            limits: Vec::new(),
            threshold: None,
            has_accrual: false,
            max_age: None,
            precision: ScorePrecision::Double,
            on_error: OnError::ZeroLikePbs,
        }
    }

    /// The number of processors.
    pub fn processors(&self) -> u32 {
        u32::try_from(self.machine.total(0)).unwrap_or(u32::MAX)
    }
}

/// What jobs ask for on the hosts of a machine.
#[derive(Debug, Clone, Default)]
pub struct PlacedRequests {
    /// What is asked for.
    pub requests: Vec<RequestedChunks>,
    /// By job: which of these it asks for.
    pub of_jobs: Vec<u32>,
}

/// The rules that hold outside prime time.
#[derive(Debug, Clone)]
pub struct NonPrimeRules {
    /// What a cycle starts.
    pub cycle: CycleRules,
    /// In which order it considers the jobs.
    pub order: OrderRules,
}

/// What orders the waiting jobs besides their values.
#[derive(Debug, Clone, Default)]
pub struct OrderRules {
    /// By queue of the workload: its place. The jobs of a queue at an earlier place come first,
    /// whatever their values are. Empty: all queues are at one place.
    pub places: Vec<u32>,
    /// By queue of the workload: its turn among the queues at its place.
    pub turns: Vec<u32>,
    /// By queue of the workload: the group of queues of its priority, where these follow each other
    /// (`by_queue`, `round_robin`). Empty: the queue orders no job.
    pub groups: Vec<u32>,
    /// Whether the queues at one place take turns (`round_robin`).
    pub takes_turns: bool,
    /// By job: its place among jobs with equal values; empty: the order of submission.
    pub ties: Vec<u32>,
    /// Whether fair share orders jobs with equal values (`fair_share`).
    pub by_fair_share: bool,
    /// By queue of the workload: whether its jobs are not started. Empty: all are.
    pub stopped: Vec<bool>,
}

impl OrderRules {
    /// Whether what starts in a cycle can change the order of the jobs that follow.
    pub(crate) fn changes_in_cycle(&self) -> bool {
        self.takes_turns || self.by_fair_share
    }

    pub(crate) fn place(&self, queue: u32) -> u32 {
        at(&self.places, queue, 0)
    }

    /// The group of a queue, and its turn in it, where jobs have levels, which come first in a
    /// group.
    pub(crate) fn group(&self, queue: u32, has_levels: bool) -> (u32, u32) {
        match (has_levels, self.takes_turns) {
            (true, _) if self.groups.is_empty() => (0, 0),
            (true, _) => self.queue_place(queue),
            (false, true) => (self.place(queue), self.queue_place(queue).1),
            (false, false) => (self.place(queue), 0),
        }
    }

    /// The place of a queue in the order of all: its group, if there are any, and its turn.
    pub(crate) fn queue_place(&self, queue: u32) -> (u32, u32) {
        (at(&self.groups, queue, 0), at(&self.turns, queue, 0))
    }

    pub(crate) fn is_stopped(&self, queue: u32) -> bool {
        at(&self.stopped, queue, false)
    }

    pub(crate) fn tie(&self, job: u32) -> u32 {
        at(&self.ties, job, job)
    }
}

fn at<T: Copy>(list: &[T], index: u32, otherwise: T) -> T {
    list.get(index as usize).copied().unwrap_or(otherwise)
}
