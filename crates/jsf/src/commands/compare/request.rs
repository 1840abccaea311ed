//! The arguments of `jsf compare`.

use std::path::PathBuf;

use clap::Args;

use crate::answer::Format;
use crate::cli::args::site::{PolicyArg, SiteArgs};
use crate::cli::args::{CsvArgs, FilterArgs, TextArgs, number_of_jobs, page_path};
use crate::cli::output::format;

/// `jsf compare`
#[derive(Debug, Args)]
#[command(after_help = "\
The same jobs are ranked twice: by the old formula, tree, policy, sched_config and threshold, and by the new ones. What \
is given for neither side is the site's. A formula that is given for one side only is compared with the site's formula. If \
the sides differ in something else (tree, policy …), --old alone is the formula of both sides; so is --new alone if the \
site has no formula. Without any formula, two trees or policies are compared by fairshare_factor.

moved      the old rank minus the new rank: positive if the job gains places
tau-b      Kendall's rank correlation of the two scores: 1 the same order, 0 no relation, -1 reversed
footrule   the sum over all jobs of the number of places that they move
overlap    the number of jobs that are among the first N under both formulas
fairness   for each entity with shares and jobs, the quotient of its fraction of the first jobs (a tenth of the queue, at \
least 10) and its fraction of the machine. Jain's index is 1, and the Gini coefficient 0, if all quotients are equal. \
Entities without shares are left out
ties       the jobs whose value equals that of the next job in the order, so that later criteria decide
errors     the jobs for which a formula fails, among all jobs that are evaluated, including those that are not waiting

These numbers are about the jobs that are considered under both formulas; ranks count from 1 among all jobs that are considered.

Exit codes: 0 success, 1 a formula is invalid or fails for every job, or a job of the first N changes its place under \
--fail-on-change N, 2 usage error, or a file that cannot be read.

Examples:
  jsf compare --new 'fairshare_factor * 100 + eligible_time / 3600' \\
      --site examples/site
  jsf compare --old-file examples/formulas/pp718.txt --new ncpus --format csv \\
      --queue examples/site/qstat.json --sched-priv examples/site/sched_priv
  jsf compare --new-threshold 0.5 --site examples/site --fail-on-change 20")]
pub struct CompareArgs {
    /// The old formula [default: the site's]
    ///
    /// Alone or pasted as for `jsf rank`; - is standard input
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub old: Option<String>,
    /// The new formula [default: the site's]
    ///
    /// The default is the old one where another difference is given
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub new: Option<String>,
    /// The file that contains the old formula
    ///
    /// As for `jsf rank -f`; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "old")]
    pub old_file: Option<PathBuf>,
    /// The file that contains the new formula
    #[arg(long, value_name = "FILE", conflicts_with = "new")]
    pub new_file: Option<PathBuf>,
    /// The old fair-share tree
    ///
    /// As for --tree, or a resource_group
    #[arg(long, value_name = "FILE")]
    pub old_tree: Option<PathBuf>,
    /// The new fair-share tree
    ///
    /// As for --tree, or a resource_group
    #[arg(long, value_name = "FILE")]
    pub new_tree: Option<PathBuf>,
    /// The old fair-share policy, as for --policy
    #[arg(long, value_enum, value_name = "POLICY")]
    pub old_policy: Option<PolicyArg>,
    /// The new fair-share policy, as for --policy
    #[arg(long, value_enum, value_name = "POLICY")]
    pub new_policy: Option<PolicyArg>,
    /// The old sched_config, as for --sched-config
    #[arg(long, value_name = "FILE")]
    pub old_sched_config: Option<PathBuf>,
    /// The new sched_config, as for --sched-config
    #[arg(long, value_name = "FILE")]
    pub new_sched_config: Option<PathBuf>,
    /// The old slurm.conf: its policy and weights
    #[arg(long, value_name = "FILE")]
    pub old_slurm_conf: Option<PathBuf>,
    /// The new slurm.conf: its policy and weights
    ///
    /// Slurm's priority with its weights is the new formula, if none is given
    #[arg(long, value_name = "FILE")]
    pub new_slurm_conf: Option<PathBuf>,
    /// The old job_sort_formula_threshold
    ///
    /// A job whose value is at most X does not run
    #[arg(long, alias = "threshold-old", value_name = "X", allow_hyphen_values = true, value_parser = crate::cli::args::site::threshold)]
    pub old_threshold: Option<f64>,
    /// The new job_sort_formula_threshold
    #[arg(long, alias = "threshold-new", value_name = "X", allow_hyphen_values = true, value_parser = crate::cli::args::site::threshold)]
    pub new_threshold: Option<f64>,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Exit with 1 if one of the first N jobs moves
    ///
    /// A job that is among the first N of either order, and changes its place
    #[arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)]
    pub fail_on_change: Option<usize>,
    /// List only the first N jobs of the new order
    ///
    /// In a table the N that gain and the N that lose most places
    #[arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)]
    pub top: Option<usize>,
    /// The jobs to list.
    #[command(flatten)]
    pub filter: FilterArgs,
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format
    #[arg(long, value_parser = format(&[Format::Human, Format::Markdown, Format::Json, Format::Csv]), default_value = "human")]
    pub format: Format,
    /// How CSV is written.
    #[command(flatten)]
    pub csv: CsvArgs,
    /// Also write the result as a page
    ///
    /// The page is for a browser, with charts
    #[arg(long, value_name = "FILE", value_parser = page_path())]
    pub report: Option<PathBuf>,
}
