//! The arguments of `jsf cycle`.

use std::num::NonZeroU32;

use clap::Args;

use crate::cli::args::site::SiteArgs;
use crate::cli::args::{AnswerArgs, EntityArgs, FormulaArgs};

/// `jsf cycle`
#[derive(Debug, Args)]
#[command(after_help = "\
The cycle is that of OpenPBS 23.06, held to cycles that its scheduler was recorded in. It follows the site's sched_config \
(by_queue, round_robin, strict_ordering, fair_share, job_sort_key), the attributes of server and queues (backfill_depth, \
max_run, max_run_res, resources_available, started, priority), of arrays (max_run_subjobs) and of the scheduler \
(opt_backfill_fuzzy, job_sort_formula_threshold). Chunks are placed on hosts that have the host, vnode, booleans and strings \
that they ask for. Running jobs end at their stime plus their walltime. A reservation holds its nodes: its jobs run there \
alone, and no other job runs into it. Prime time and dedicated time are those of sched_priv/holidays and \
sched_priv/dedicated_time. With preemptive_sched, running jobs of a lower level of preempt_prio give way by preempt_order, the \
latest start first; soft limits and preempt_targets count. Checkpoints are left out, and named where they would be tried, as \
reservations are without --reservations.

With strict_ordering, the first backfill_depth jobs that do not start are promised a start: at the latest then, as far as \
walltimes tell. With one --job that neither starts nor is promised a start, jsf runs the cycles at the ends of the running \
jobs until it starts, without further submissions.

accrue_type in JSON: 0 not yet known, 1 not eligible (eligible_time stands still), 2 eligible, 3 running.

A running subjob that the document of jobs does not list (`qstat -f` without `-t`) holds what its array asks for, from now on.

Exit codes: 0 success, 1 the formula has errors or fails for every job, 2 usage error, a file that cannot be read, or none of \
the jobs waits or runs.

Examples:
  jsf cycle --site examples/site
  jsf cycle --site examples/site --job 184208
  jsf cycle eligible_time --site examples/site --format json")]
pub struct CycleArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// Show this job only: when will it start?
    ///
    /// An id with or without the server's name: 12 or 12.vm; an array is 12[], and a waiting subjob
    /// has its index in the brackets; separate several by commas, or repeat the option
    #[arg(long = "job", value_name = "ID", value_delimiter = ',', value_parser = crate::cli::args::listed_name)]
    pub jobs: Vec<String>,
    /// Whose jobs are shown.
    #[command(flatten)]
    pub entities: EntityArgs,
    /// The number of processors, instead of the nodes
    ///
    /// No job waits for anything else then, such as memory and GPUs: a warning names it.
    #[arg(long, value_name = "N", value_parser = crate::cli::args::log::processors, allow_negative_numbers = true)]
    pub processors: Option<NonZeroU32>,
    /// Use X as the job_sort_formula_threshold
    ///
    /// It counts instead of the server's: a job whose value is at most X does not run
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = crate::cli::args::site::threshold)]
    pub threshold: Option<f64>,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
}
