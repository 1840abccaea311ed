//! The arguments of `jsf replay`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::site::SiteArgs;
use crate::cli::args::{AnswerArgs, FormulaArgs};

/// `jsf replay`
#[derive(Debug, Args)]
#[command(after_help = "\
Lines such as `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843` give the value that the scheduler computed for \
a job. Its digits are compared with those that OpenPBS would log for the value that the formula gives to this job of \
--queue; other lines are skipped. For the differences of a cycle, jsf tries three explanations: another formula of the \
site's files, or of lines of the server's log in LOG; an eligible_time that is later or earlier by the same time, \
because the queue was captured at another moment; usage that has decayed more or less often. Each must give more than \
half of the differing values.

The first line is the answer, then one line for each cause that differences have in common, then the first ten \
differences, and the counts.

Exit codes: 0 all compared values are equal or explained, 1 a difference is unexplained, or no job of the log is in \
the queue, 2 usage error, or a file that cannot be read.

Examples:
  jsf replay examples/site/sched.log --sched-priv examples/site/sched_priv \\
      --queue examples/site/qstat.json
  jsf replay examples/site/sched.log --site examples/site
  jsf replay examples/site/sched.log --site examples/site --format json")]
pub struct ReplayArgs {
    /// The log of pbs_sched; - is standard input
    ///
    /// Plain or compressed (.gz, .zst)
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
}
