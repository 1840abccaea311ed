//! The arguments that say what surrounds a formula: the jobs, the tree, the server, and whose rules hold.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What surrounds the formula.
#[derive(Debug, Args)]
pub struct SiteArgs {
    /// The jobs: `qstat -f -F json`, `qstat -f`, own JSON or NDJSON; - is standard input
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    pub queue: Option<PathBuf>,
    /// The scheduler's sched_priv: resource_group, usage, sched_config (and sched_formula, if no formula is given)
    #[arg(long, value_name = "DIR", help_heading = "Context")]
    pub sched_priv: Option<PathBuf>,
    /// The fair-share tree's resource_group, instead of the one in --sched-priv
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    pub resource_group: Option<PathBuf>,
    /// The binary usage file, instead of the one in --sched-priv
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    pub usage: Option<PathBuf>,
    /// The sched_config, instead of the one in --sched-priv; with one, its by_queue, job_sort_key and the like order
    /// the jobs too
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    pub sched_config: Option<PathBuf>,
    /// A fair-share tree: own JSON, `sshare -l -P`, `sshare --json` or a `sacctmgr dump` file
    #[arg(long, value_name = "FILE", help_heading = "Context", conflicts_with_all = ["resource_group", "usage"])]
    pub tree: Option<PathBuf>,
    /// The server: `qstat -Bf` as text or JSON, `qmgr -c 'print server'`; its formula is taken if none is given
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    pub server: Option<PathBuf>,
    /// The queues and their priorities: `qstat -Qf` as text or JSON, `qmgr -c 'print server'`
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    pub queues: Option<PathBuf>,
    /// The site's resources: resourcedef, `qmgr -c 'print resource'`, `qmgr -c 'list resource'`
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    pub resources: Option<PathBuf>,
    /// Slurm's slurm.conf: chooses the policy, its damping and half-life
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    pub slurm_conf: Option<PathBuf>,
    /// The release of Slurm whose rules hold; default: the release that wrote the tree's JSON, else the newest
    #[arg(long, value_enum, value_name = "RELEASE", help_heading = "Rules")]
    pub slurm_release: Option<ReleaseName>,
    /// The fair-share policy; default pbs, or what --slurm-conf says
    #[arg(long, value_enum, help_heading = "Rules")]
    pub policy: Option<PolicyName>,
    /// Whose rules: what the daemon does, or what the document says
    #[arg(long, value_enum, default_value_t = RulesName::Scheduler, help_heading = "Rules")]
    pub rules: RulesName,
    /// How numbers reach the formula and are kept: as OpenPBS prints them and in float32, untouched doubles, or
    /// base ten
    #[arg(long, value_enum, default_value_t = NumbersName::Openpbs, help_heading = "Rules")]
    pub numbers: NumbersName,
    /// What a job with an error is worth: 0 as in OpenPBS, 0 with exit code 1, or nothing
    #[arg(long, value_enum, default_value_t = OnErrorName::Zero, help_heading = "Rules")]
    pub on_error: OnErrorName,
}

/// The fair-share policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyName {
    /// OpenPBS, PP-718
    Pbs,
    /// Slurm's classic fair share
    Classic,
    /// Slurm's depth-oblivious factor
    DepthOblivious,
    /// Slurm's ticket-based factor
    TicketBased,
    /// Slurm's fair tree
    FairTree,
    /// flux-accounting's weighted walk
    WeightedWalk,
    /// Every one of them (`jsf shares` only)
    All,
}

impl PolicyName {
    /// Every policy once.
    pub const EVERY: [Self; 6] =
        [Self::Pbs, Self::Classic, Self::DepthOblivious, Self::TicketBased, Self::FairTree, Self::WeightedWalk];

    /// As it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pbs => "pbs",
            Self::Classic => "classic",
            Self::DepthOblivious => "depth-oblivious",
            Self::TicketBased => "ticket-based",
            Self::FairTree => "fair-tree",
            Self::WeightedWalk => "weighted-walk",
            Self::All => "all",
        }
    }
}

/// The releases of Slurm whose rules are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReleaseName {
    /// 22.05, and releases before 23.11
    #[value(name = "22.05")]
    V22_05,
    /// 26.11, and releases from 23.11 on
    #[value(name = "26.11")]
    V26_11,
}

/// Whose rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RulesName {
    /// What the daemon does.
    Scheduler,
    /// What the published document says.
    Documented,
}

/// The number systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NumbersName {
    /// As OpenPBS hands them over and keeps them.
    Openpbs,
    /// Doubles.
    Exact,
    /// Base ten, 28 digits.
    Decimal,
}

/// What becomes of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnErrorName {
    /// 0, as in OpenPBS.
    Zero,
    /// 0, and exit code 1.
    Fail,
    /// Nothing.
    Null,
}
