//! The arguments of `jsf translate`.

use clap::{Args, ValueEnum};

use crate::cli::args::site::SiteArgs;
use crate::cli::args::{AnswerArgs, FormulaArgs};

/// `jsf translate`
#[derive(Debug, Args)]
#[command(after_help = "\
To Slurm: a formula that adds multiples of the time of waiting (which may end at a limit), of the job's size (nodect, ncpus, \
mem, ngpus), of queue_priority and of the fair share (fairshare_factor, or 2**-(fairshare_tree_usage/fairshare_perc)). \
Each other part is named with the reason. To PBS: Slurm's priority as slurm.conf sets it, or a formula with its names \
(`jsf names --site`), with the resources that the site must define. With jobs, both say how far the two orders agree \
(tau-b: 1 for the same order).

Examples:
  jsf translate 'fairshare_factor*500 + min(99, eligible_time/3600)' \\
      --to slurm --site examples/site
  jsf translate --to pbs --site examples/slurm")]
pub struct TranslateArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// The scheduler that gets it
    #[arg(long, value_enum, value_name = "SCHEDULER")]
    pub to: Scheduler,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// A scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// Slurm's multifactor priority
    Slurm,
    /// PBS's job_sort_formula
    Pbs,
}
