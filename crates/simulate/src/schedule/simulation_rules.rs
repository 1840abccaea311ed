//! The machine and the rules by which a log is simulated.

use job_sort_formula::rank::{OnError, ScorePrecision};
use jsf_openpbs::cycle::{CycleJob, CycleRules, Limits, Machine, QueueOrder};
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
    /// The jobs of the workload as a cycle sees them; empty if they ask for processors only.
    pub jobs: Vec<CycleJob>,
    /// What a cycle starts.
    pub cycle: CycleRules,
    /// In which order it considers the jobs.
    pub order: OrderRules,
    /// What holds instead outside prime time, if that is something else.
    pub non_prime: Option<NonPrimeRules>,
    /// The limits of running jobs. Users, groups, projects and queues are those of the workload.
    pub limits: Limits,
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
            jobs: Vec::new(),
            cycle: backfill.rules(),
            order: OrderRules::default(),
            non_prime: None,
            limits: Limits::default(),
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

/// The rules that hold outside prime time.
#[derive(Debug, Clone)]
pub struct NonPrimeRules {
    /// See [`CycleRules::strict_ordering`]: the other rules of a cycle hold at all times.
    pub strict_ordering: bool,
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

/// What a list has at an index, or a value if it is too short.
pub fn at<T: Copy>(list: &[T], index: u32, otherwise: T) -> T {
    list.get(index as usize).copied().unwrap_or(otherwise)
}
