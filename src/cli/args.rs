//! The arguments, as `clap` reads them and `--help` shows them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod shares;
mod site;

pub use shares::{SharesArgs, SharesFormatName};
pub use site::{NumbersName, OnErrorName, PolicyName, ReleaseName, RulesName, SiteArgs};

/// Tells what a PBS job_sort_formula does, before the scheduler does it.
#[derive(Debug, Parser)]
#[command(
    name = "jsf",
    version,
    after_help = "\
Examples:
  jsf check 'pow(2, -(fairshare_tree_usage/fairshare_perc))'
  jsf rank --formula-file examples/formulas/alcf.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv --top 10

Exit codes: 0 fine, 1 findings, 2 usage or input/output."
)]
pub struct Cli {
    /// What is done.
    #[command(subcommand)]
    pub command: Command,
    /// When to use colours
    #[command(flatten)]
    pub color: Colours,
}

/// Whether to use colours.
#[derive(Debug, Clone, Copy, Args)]
pub struct Colours {
    /// When to use colours (NO_COLOR is respected)
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    color: When,
}

/// When to do something that suits a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colours {
    /// Makes the choice known to everything that writes.
    pub fn write_global(self) {
        match self.color {
            When::Auto => anstream::ColorChoice::Auto.write_global(),
            When::Always => anstream::ColorChoice::Always.write_global(),
            When::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Would qmgr take the formula, and would it work
    Check(CheckArgs),
    /// Every job's value and place
    Rank(RankArgs),
    /// The fair-share tree with every policy's numbers
    Shares(SharesArgs),
    /// The formula with the house's spaces
    Fmt(FmtArgs),
    /// Every kind of finding, or the page of one
    Codes(CodesArgs),
    /// What pbsfs prints and writes, without root and without a server
    Pbsfs(PbsfsArgs),
    /// A completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// The manual page, in roff
    Man,
}

/// Where the formula comes from.
#[derive(Debug, Args)]
pub struct FormulaArgs {
    /// The formula's text
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    pub formula: Option<String>,
    /// A file with the formula: plain text, sched_formula, `qmgr -c 'print server'`, `qstat -Bf` as text or JSON;
    /// - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "formula")]
    pub formula_file: Option<PathBuf>,
}

/// `jsf rank`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jsf rank 'fairshare_factor' --queue examples/site/qstat.json --sched-priv examples/site/sched_priv
  qstat -f -F json | jsf rank 'eligible_time / 3600 + ncpus' --queue - --top 20 --inputs")]
pub struct RankArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// The context.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Show the first N jobs only
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Show the jobs of this fair-share entity only; their places are those in the whole queue
    #[arg(long, visible_alias = "user", value_name = "NAME")]
    pub entity: Option<String>,
    /// Show the jobs of this queue only
    #[arg(long, value_name = "NAME")]
    pub queue_name: Option<String>,
    /// Show what the formula saw
    #[arg(long)]
    pub inputs: bool,
    /// The scheduler's job_sort_formula_threshold: a job whose value is at most this does not run
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// The output's format
    #[arg(long, value_enum, default_value_t = RankFormatName::Human)]
    pub format: RankFormatName,
}

/// The formats of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RankFormatName {
    /// A table.
    Human,
    /// One JSON document.
    Json,
    /// Comma-separated values.
    Csv,
    /// One JSON object per job.
    Ndjson,
}

/// `jsf check`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jsf check '2^-(fairshare_tree_usage/fairshare_perc)'
  jsf check --formula-file sched_formula --queue examples/site/qstat.json --sched-priv examples/site/sched_priv
  jsf check --deny JSF203,JSF504 --format sarif 'fair_share_perc * 100'
  jsf check --fix 'math.log(NCPUS + 1)'")]
pub struct CheckArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// The context.
    #[command(flatten)]
    pub site: SiteArgs,
    /// The scheduler's job_sort_formula_threshold, instead of the one in --server
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// Print the formula as a qmgr command, quoted for the shell and for qmgr; findings go to standard error
    #[arg(long, conflicts_with = "fix")]
    pub qmgr: bool,
    /// Make errors of these findings; several with commas or again
    #[arg(long, value_name = "CODE")]
    pub deny: Vec<String>,
    /// Drop these findings; several with commas or again
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<String>,
    /// Print the formula with the safe fixes applied, and what is left to find on standard error
    #[arg(long, conflicts_with = "format")]
    pub fix: bool,
    /// The output's format
    #[arg(long, value_enum, default_value_t = CheckFormatName::Human)]
    pub format: CheckFormatName,
}

/// The formats of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormatName {
    /// For people.
    Human,
    /// For programs.
    Json,
    /// SARIF 2.1.0, for CI.
    Sarif,
}

/// `jsf codes`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  jsf codes\n  jsf codes JSF301")]
pub struct CodesArgs {
    /// The finding whose page to print
    pub code: Option<String>,
}

/// `jsf fmt`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  jsf fmt 'a+b*( c-1 )'")]
pub struct FmtArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
}

/// `jsf pbsfs`
#[derive(Debug, Args)]
#[command(after_help = "\
What is asked for (the last one holds; -I NAME may stand next to it):
  -p                  the fair-share tree as a table; so does no option at all
  -t                  the tree, indented
  -g ENTITY           one entity or group, and the way to it
  -c ENTITY1 ENTITY2  which of the two deserves more
  -s ENTITY USAGE     sets an entity's usage
  -d                  one step of decay
  -e                  forgets the entities that resource_group does not name

-s, -d and -e replace the usage file at once and whole; the old one is usage.bak, and usage.touch tells the scheduler.
A usage file that could not be read in full is first kept as usage.unread-TIME.
Without --sched-priv the folder is that below PBS_HOME.

Exit codes: 0 fine, 1 what pbsfs calls an error, 2 input/output.

Examples:
  jsf pbsfs --sched-priv examples/site/sched_priv -p
  jsf pbsfs -t --sched-priv examples/site/sched_priv")]
pub struct PbsfsArgs {
    /// The scheduler's folder, with resource_group, usage and sched_config; may also stand among the arguments
    #[arg(long, value_name = "DIR")]
    pub sched_priv: Option<PathBuf>,
    /// The arguments of pbsfs
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub arguments: Vec<OsString>,
}
