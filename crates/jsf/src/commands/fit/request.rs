//! The arguments of `jsf fit`.

use std::path::PathBuf;

use clap::{Arg, Args};

use crate::cli::args::log::argument_of_log;
use crate::cli::args::site::SiteArgs;
use crate::cli::args::{AnswerArgs, FormulaArgs, page_path};
use crate::commands::fit::search_options::SearchOptions;
use crate::commands::simulate::request::number_within;
use crate::log_options::LogOptions;

/// `jsf fit`
#[derive(Debug, Args)]
#[command(after_help = "\
A constant to find is written {NAME=START:LOW..HIGH}, with :log behind it where factors matter and not differences, and :int \
where it must be whole:
  '{fs=100:0..500}*fairshare_factor + {age=1:0.01..50:log}*eligible_time/3600'

What is wanted is either an order of the jobs that wait now (--prefer, --wishes), or goals about the waits of a log (--goals \
with --workload). A file of wishes has an id in each line, the best job first; blank lines separate groups whose jobs may be \
in any order, and # begins a comment. With `id,score` in each line the values of the formula are brought as near to the scores \
as they can be.

The constants are searched for, and shortened to few digits. Wishes that contradict each other, such as A before B and B \
before A, are named, and so are those that are not met together with the others; that no constants meet them is not proved. \
What is called met is met by `jsf rank` with the formula of the answer.

For goals the log is divided: the first part is searched, then the longest walltime is left out, and the last part (--held-out) \
is never searched. All formulas are simulated on the same days. The advice is to use the formula only if what it gains over \
the formula in force on the held-out days is more than chance, by the intervals of `jsf simulate`; else to keep that. A log \
needs eight weeks and 2000 jobs, or --force. docs/admin-guide.md says how far to trust the answer.

Exit codes: 0 success, 1 a wish or a goal is not met, or the template or the answer has an error, 2 usage error, or a file that cannot be read.

Examples:
  jsf fit '{fs=9:0..99}*fairshare_factor + {age=1:0..9}*eligible_time/3600' \\
      --site examples/site --prefer 184208 185046
  jsf fit '{fs=9:0..99}*fairshare_factor + {age=1:0..9}*eligible_time/3600' \\
      --site examples/site --workload examples/site/accounting.gz \\
      --processors 256 --goals examples/goals.toml --evaluations 4")]
#[command(mut_args(of_fit))]
pub struct FitArgs {
    /// The template.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// Job A before job B; repeat it for several
    #[arg(long, value_names = ["A", "B"], num_args = 2, conflicts_with = "goals")]
    pub prefer: Vec<String>,
    /// The order that is wanted
    ///
    /// Ids of jobs, a line each, best first; blank lines between groups of equals; or `id,score` as
    /// CSV; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "goals")]
    pub wishes: Option<PathBuf>,
    /// The goals for the waits of a log
    ///
    /// TOML as for `jsf simulate --goals`, with `[objective] minimise = "mean bounded_slowdown"`
    /// for what is to be as small as possible once the goals are met
    #[arg(long, value_name = "FILE", requires = "workload")]
    pub goals: Option<PathBuf>,
    /// The log.
    #[command(flatten)]
    pub log: LogOptions,
    /// The formula in force
    ///
    /// With which the answer is compared [default: the site's, else first come, first served]
    #[arg(
        long,
        value_name = "FORMULA",
        allow_hyphen_values = true,
        requires = "goals"
    )]
    pub old: Option<String>,
    /// How constants are searched.
    #[command(flatten)]
    pub search: SearchOptions,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// Also write the result as a page
    ///
    /// The page is for a browser, with charts
    #[arg(long, value_name = "FILE", value_parser = page_path())]
    pub report: Option<PathBuf>,
}

/// An argument of several commands as a fit has it.
fn of_fit(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "formula" => argument
            .value_name("TEMPLATE")
            .help("The formula with the constants to find; - is standard input"),
        "formula_file" => argument.help("The file that contains the template"),
        "workload" | "processors" => argument.requires("goals"),
        "backfill" | "warm_up" => argument.requires("goals").hide_short_help(true),
        _ => argument_of_log(argument),
    }
}

/// Parses the part of the log that is not searched.
pub(crate) fn held_out(text: &str) -> Result<f64, String> {
    let expected = "a part of the log from 0.1 to 0.8, such as 0.33";
    number_within(text, 0.1..=0.8, expected)
}

/// Parses how many formulas are tried.
pub(crate) fn evaluations(text: &str) -> Result<usize, String> {
    let expected = "a number of formulas from 1 to 1000000, such as 200";
    number_within(text, 1..=1_000_000, expected)
}
