//! The arguments that `clap` parses and `--help` shows.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jsf_openpbs::wall_clock::{Time, seconds_of_ctime, seconds_of_date};

mod compare;
mod cycle;
mod explain;
mod fit;
mod log;
mod replay;
mod shares;
mod simulate;
mod site;
mod trajectory;

pub use compare::{CompareArgs, CompareFormatName};
pub use cycle::{CycleArgs, CycleFormatName};
pub use explain::{ExplainArgs, ExplainFormatName};
pub use fit::{FitArgs, FitFormatName};
pub use log::{LogArgs, simulated_files, starting_usage};
pub use replay::{ReplayArgs, ReplayFormatName};
pub use shares::{SharesArgs, SharesFormatName};
pub use simulate::{Param, SimulateArgs, SimulateFormatName};
pub use site::{GivenSite, PolicyArg, SiteArgs, is_stdin, note_idle, refuse_idle, require_one_reader, threshold};
pub use trajectory::{TrajectoryArgs, TrajectoryFormatName};

/// Shows what a PBS job_sort_formula will do, before the scheduler uses it.
#[derive(Debug, Parser)]
#[command(
    name = "jsf",
    version,
    long_version = concat!(env!("CARGO_PKG_VERSION"), " (", env!("JSF_BUILD"), ")"),
    after_help = "\
Examples:
  jsf check 'pow(2, -(fairshare_tree_usage/fairshare_perc))'
  jsf rank -f examples/formulas/alcf.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv --top 10
  jsf compare --new 'fairshare_factor * 100' --site examples/site

Exit codes: 0 success, 1 findings, 2 usage error, or a file that cannot be read or written; 70 is an error in jsf itself."
)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Whether to use colours.
    #[command(flatten)]
    pub color: ColorArgs,
}

/// Whether to use colours.
#[derive(Debug, Clone, Copy, Args)]
pub struct ColorArgs {
    /// When to use colours; NO_COLOR is respected
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    color: When,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorArgs {
    /// The choice on a command line that cannot be parsed as a whole.
    pub fn find(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut found = None;
        while let Some(argument) = arguments.next().filter(|argument| argument != "--") {
            let argument = argument.to_string_lossy();
            let value = match argument.strip_prefix("--color") {
                Some("") => arguments.next().map(|value| value.to_string_lossy().into_owned()),
                Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                None => None,
            };
            found = value.and_then(|value| When::from_str(&value, false).ok()).or(found);
        }
        found.map(|color| Self { color })
    }

    /// Applies the choice to standard output and standard error.
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
    /// Check whether qmgr accepts a formula and whether it works for every job
    Check(CheckArgs),
    /// Show the value and the rank of every job
    Rank(RankArgs),
    /// Show what another formula, tree, policy or threshold would change in the queue
    Compare(CompareArgs),
    /// Show why jobs have their places in the queue
    Explain(ExplainArgs),
    /// Write a page for a browser on which you edit the formula and see the queue change
    Page(PageArgs),
    /// Show how ranks change while jobs wait, and when jobs overtake each other
    Trajectory(TrajectoryArgs),
    /// Show the fair-share tree with the values that a policy computes
    Shares(SharesArgs),
    /// Show which jobs start next, and when and why the others wait
    Cycle(CycleArgs),
    /// Simulate a log of jobs under a formula, and report how long they would wait
    Simulate(SimulateArgs),
    /// Find the numbers of a formula by wishes about jobs or by goals
    Fit(FitArgs),
    /// Compare the values in a scheduler's log with jsf's, and explain the differences
    Replay(ReplayArgs),
    /// Print a formula with normalised spaces
    Fmt(FmtArgs),
    /// List the kinds of findings, or explain one
    Codes(CodesArgs),
    /// Print what pbsfs prints, without root and without a server
    Pbsfs(PbsfsArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  jsf completions bash")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print every name and function that a formula may use
    Names(NamesArgs),
    /// Print a shell script that collects what --site reads
    #[command(after_help = "\
Examples:
  jsf capture > capture.sh
  jsf capture --without-environment | head -20

The script only reads and needs no root. What it cannot read is noted in missing.txt in the folder that it makes. As root on \
the PBS server (sudo sh capture.sh my-site) it reads everything.")]
    Capture {
        /// Leave out the environments of jobs (Variable_List)
        #[arg(long)]
        without_environment: bool,
    },
    /// Print a manual page, in roff
    #[command(after_help = "Examples:\n  jsf man\n  jsf man rank > jsf-rank.1")]
    Man {
        /// The command whose page to print [default: the page that names all commands]
        command: Option<String>,
    },
}

/// The source of the formula.
#[derive(Debug, Clone, Args)]
pub struct FormulaArgs {
    /// The formula; - is standard input
    ///
    /// The text of the formula, alone or pasted as `job_sort_formula = …`, `set server job_sort_formula = "…"` or `qmgr
    /// -c '…'`
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    pub formula: Option<String>,
    /// The file that contains the formula
    ///
    /// Plain text, sched_formula, `qmgr -c 'print server'`, or `qstat -Bf` as text or JSON; - is standard input
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "formula")]
    pub formula_file: Option<PathBuf>,
}

impl FormulaArgs {
    /// Whether a formula is given.
    pub fn is_given(&self) -> bool {
        self.formula.is_some() || self.formula_file.is_some()
    }
}

/// A queue, and the formula that ranks it.
#[derive(Debug, Args)]
pub struct QueueArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Use X as the job_sort_formula_threshold
    ///
    /// It counts instead of the server's: a job whose value is at most X does not run
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = threshold)]
    pub threshold: Option<f64>,
}

/// The jobs of a queue that are shown; all of them if nothing is given.
#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Show only this job
    ///
    /// An id with or without the server's name: 12 or 12.vm; an array is 12[]; separate several by commas, or repeat
    /// the option
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = listed_name)]
    pub job: Vec<String>,
    /// Whose jobs are shown.
    #[command(flatten)]
    pub entities: EntityArgs,
    /// Show only the jobs of this queue
    ///
    /// Separate several by commas, or repeat the option
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = listed_name)]
    pub queue_name: Vec<String>,
}

/// Whose jobs are shown; those of all if nothing is given.
#[derive(Debug, Args)]
pub struct EntityArgs {
    /// Show only jobs of this entity
    ///
    /// The jobs of this fair-share entity, or of all entities below this group, with their places in the whole queue;
    /// separate several by commas, or repeat the option
    #[arg(long, visible_alias = "user", value_name = "NAME", value_delimiter = ',', value_parser = listed_name)]
    pub entity: Vec<String>,
}

/// The jobs that a command is about.
#[derive(Debug, Args)]
pub struct JobArgs {
    /// The job, such as 12 or 12.vm
    ///
    /// With or without the server's name: 12 or 12.vm; an array is 12[]; separate several by commas, or repeat the
    /// option
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = listed_name)]
    pub job: Vec<String>,
}

/// How much is shown to people.
#[derive(Debug, Clone, Copy, Args)]
pub struct TextArgs {
    /// Show everything, and not one screen
    ///
    /// A terminal gets one screen (at most 24 lines, or the environment variable JSF_LINES); a file or a pipe gets all rows
    #[arg(long)]
    pub full: bool,
    /// Show all columns in full
    ///
    /// However wide the terminal is
    #[arg(long)]
    pub wide: bool,
}

/// How CSV is written.
#[derive(Debug, Args)]
pub struct CsvArgs {
    /// Guard the cells of CSV for a spreadsheet
    ///
    /// With --format csv, write a ' before each =, +, - or @ with which a text, or a part of it after a separator such
    /// as ;, begins, so that the spreadsheet does not compute it
    #[arg(long)]
    pub csv_safe: bool,
}

impl CsvArgs {
    /// Says that the option has no effect unless the output is CSV.
    pub fn note_idle(&self, is_csv: bool) {
        note_idle(&[("--csv-safe", self.csv_safe && !is_csv)], "with this format: only the cells of CSV are guarded");
    }
}

/// Parses a name in a list, which blanks may surround.
fn listed_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("expected a name before and after each comma".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Parses a time in seconds since 1970 or in ISO 8601.
fn moment(text: &str) -> Result<i64, String> {
    let in_utc = |time: DateTime| Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second());
    let seconds = text.parse().ok();
    let with_zone = || text.parse::<Timestamp>().ok().map(|time| time.as_second());
    let without_zone = || text.parse::<DateTime>().ok().and_then(in_utc);
    let expected = "expected seconds since 1970 or a time such as 2026-11-23T04:29:58Z, or what `date -u` prints";
    seconds
        .or_else(with_zone)
        .or_else(without_zone)
        .or_else(|| seconds_of_date(text))
        .ok_or_else(|| expected.to_owned())
}

/// Parses a time as [`moment`] does, or as qstat prints it, on the clock of its host.
fn moment_or_wall_time(text: &str) -> Result<Time, String> {
    match (moment(text), seconds_of_ctime(text)) {
        (Ok(seconds), _) => Ok(Time::Utc(seconds)),
        (Err(_), Some(seconds)) => Ok(Time::Wall(seconds)),
        (Err(expected), None) => Err(format!("{expected}, or `qstat -f`")),
    }
}

/// Parses the name of the file for a page. Standard output has the results.
fn page_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match is_stdin(&path) {
        true => Err("expected the name of a file: standard output has the results of the command"),
        false => Ok(path),
    })
}

/// Parses the number of jobs to show.
fn number_of_jobs(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected the number of jobs to show, such as 10".to_owned())
}

/// `jsf rank`
#[derive(Debug, Args)]
#[command(after_help = "\
Columns of CSV, and keys of JSON and NDJSON:
  rank        the place in the queue, from 1; empty for a job that is not considered
  score       the value that is sorted on: with --numbers openpbs a C float; empty if it is not finite
  exact       the value of the formula before it becomes a C float, as Python's repr prints it
  logged      the digits that OpenPBS logs for the value
  error       why the formula has no value; OpenPBS then uses 0
  considered  whether the scheduler tries to run the job now
  excluded    why not: state, threshold, no shares, partition, routing queue or
              invalid; reason says it in words
Jobs with equal scores are tied; later criteria (see `order:`), and finally the order of submission, decide their ranks. An
input is empty (null, or - in a table) where the scheduler ignores the job and so does not read it.

Examples:
  jsf rank 'fairshare_factor' --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv
  jsf rank 'eligible_time / 3600 + ncpus' --queue - --top 20 --inputs \\
      < examples/site/qstat.json
  jsf rank -f examples/formulas/pp718.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv --entity lnovak --format csv")]
pub struct RankArgs {
    /// The queue and the formula.
    #[command(flatten)]
    pub queue: QueueArgs,
    /// Show only the first N jobs
    #[arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)]
    pub top: Option<usize>,
    /// The jobs to show.
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Show the inputs of the formula for each job
    #[arg(long)]
    pub inputs: bool,
    /// Show the summands of the formula for each job
    ///
    /// With their signs, as `sprio -l` does: added up they are the value
    #[arg(long)]
    pub terms: bool,
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = RankFormatName::Human)]
    pub format: RankFormatName,
    /// How CSV is written.
    #[command(flatten)]
    pub csv: CsvArgs,
    /// Also write the result as a page
    ///
    /// The page is for a browser, with charts
    #[arg(long, value_name = "FILE", value_parser = page_path())]
    pub report: Option<PathBuf>,
}

/// The formats of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RankFormatName {
    /// A table.
    Human,
    /// The same as Markdown, for a mail or a ticket
    Markdown,
    /// One JSON document.
    Json,
    /// Comma-separated values.
    Csv,
    /// One JSON object per job.
    Ndjson,
}

impl RankFormatName {
    /// Whether the result is written for people.
    pub fn is_document(self) -> bool {
        matches!(self, Self::Human | Self::Markdown)
    }
}

/// `jsf check`
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 no finding is an error, 1 a finding is an error, 2 usage error, or a file that cannot be read.

Examples:
  jsf check '2^-(fairshare_tree_usage/fairshare_perc)'
  jsf check -f examples/formulas/alcf.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv
  jsf check --deny warnings --allow JSF6 --format sarif 'fair_share_perc * 100'
  jsf check --fix --qmgr 'math.log(NCPUS + 1)'")]
pub struct CheckArgs {
    /// The formula, and the queue on which it is tried.
    #[command(flatten)]
    pub queue: QueueArgs,
    /// Print the formula with all safe fixes applied
    ///
    /// The fixes and the remaining findings go to standard error; a text that is no formula with them is not printed
    #[arg(long, conflicts_with = "format")]
    pub fix: bool,
    /// Like --fix, but also apply fixes that may be wrong
    #[arg(long, conflicts_with = "format")]
    pub unsafe_fixes: bool,
    /// Print the qmgr command that sets the formula
    ///
    /// It is quoted for the shell and for qmgr, and printed if no finding is an error and, with jobs, the formula was
    /// tried on one or is that of the site; with --threshold, the command that sets the threshold follows; findings go
    /// to standard error
    #[arg(long, conflicts_with = "format")]
    pub qmgr: bool,
    /// With --qmgr: print the command in any case
    ///
    /// Even if a finding is an error or the formula was tried on no job
    #[arg(long, requires = "qmgr")]
    pub force: bool,
    /// Treat these findings as errors
    ///
    /// A code such as JSF203, a prefix such as JSF5, or `warnings`; separate several by commas, or repeat the option
    #[arg(long, value_name = "CODE")]
    pub deny: Vec<String>,
    /// Do not show these findings
    ///
    /// Given as for --deny; of --deny and --allow, the longer code or prefix wins. A hidden error still keeps --qmgr
    /// from printing the command
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<String>,
    /// Report only these findings, and syntax errors
    ///
    /// Given as for --deny
    #[arg(long, value_name = "CODE")]
    pub select: Vec<String>,
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = CheckFormatName::Human)]
    pub format: CheckFormatName,
}

/// The formats of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormatName {
    /// Text for people.
    Human,
    /// The same as Markdown, for a mail or a ticket
    Markdown,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0, for CI.
    Sarif,
}

impl CheckFormatName {
    /// Whether the result is written for people.
    pub fn is_document(self) -> bool {
        matches!(self, Self::Human | Self::Markdown)
    }
}

/// `jsf page`
#[derive(Debug, Args)]
#[command(after_help = "\
The page is one file, which works without a network and sends nothing. It holds what the given files say about the server,
the queues, the scheduler and the fair-share tree, and of each job its id, entity, queue, state, place in the order of
submission and the numbers that a formula can use. Other files can be dropped onto it.

Examples:
  jsf page --site examples/site --out page.html
  jsf page 'eligible_time / 3600 + ncpus' --site examples/site \\
      --out page.html
  jsf page -f examples/formulas/alcf.txt --site examples/site --out page.html")]
pub struct PageArgs {
    /// The formula that the page begins with, and the queue that it ranks.
    #[command(flatten)]
    pub queue: QueueArgs,
    /// The file to write; - is standard output
    #[arg(long, short_alias = 'o', value_name = "FILE.html")]
    pub out: PathBuf,
}

/// `jsf names`
#[derive(Debug, Args)]
#[command(after_help = "\
Units: a size reaches the formula in kb (1024 bytes), a duration in seconds (s), a ratio lies between 0 and 1; a count \
and a float have no unit. Resources that no formula can use, such as strings, or `my-res`, which Python reads as a \
difference, are listed below the others with the reason (`unusable` in JSON). With --queue, resources that only jobs \
have are listed too; their kinds are inferred from their amounts. The functions are those of the server's Python (--python); \
`since` is the first version that has one, if that is later than 3.6.

Examples:
  jsf names
  jsf names --site examples/site --full
  jsf names --resources examples/site/resourcedef --format json")]
pub struct NamesArgs {
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = NamesFormatName::Human)]
    pub format: NamesFormatName,
}

/// The formats of the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NamesFormatName {
    /// A table
    Human,
    /// The same as Markdown, for a mail or a ticket
    Markdown,
    /// One JSON document
    Json,
}

impl NamesFormatName {
    /// Whether the result is written for people.
    pub fn is_document(self) -> bool {
        matches!(self, Self::Human | Self::Markdown)
    }
}

/// `jsf codes`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  jsf codes\n  jsf codes JSF301")]
pub struct CodesArgs {
    /// The finding whose page to print
    pub code: Option<String>,
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
}

/// `jsf fmt`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jsf fmt 'a+b*( c-1 )'
  jsf fmt --check -f examples/formulas/nas.txt")]
pub struct FmtArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// Exit with 1 if the formula is not formatted
    ///
    /// The formula is not printed
    #[arg(long)]
    pub check: bool,
}

/// `jsf pbsfs`
#[derive(Debug, Args)]
#[command(after_help = "\
Requests of pbsfs (the last one wins; -I NAME may be added):
  -p                  print the fair-share tree as a table (the default)
  -t                  print the tree, indented
  -g ENTITY           print one entity or group, and its path
  -c ENTITY1 ENTITY2  print which of the two has the higher fair-share priority

-s, -d and -e, which change the usage, are refused: jsf does not write a scheduler's files.
Without --sched-priv and --site the folder is that of the site in JSF_SITE, else $PBS_HOME/sched_priv.

Exit codes: 0 success, 1 an error that pbsfs reports, 2 a file that cannot be read, or -s, -d or -e.

Examples:
  jsf pbsfs --sched-priv examples/site/sched_priv -p
  jsf pbsfs -t --sched-priv examples/site/sched_priv")]
pub struct PbsfsArgs {
    /// The scheduler's folder sched_priv
    ///
    /// The folder with resource_group, usage and sched_config; may be given among the arguments too
    #[arg(long, value_name = "DIR")]
    pub sched_priv: Option<PathBuf>,
    /// The site whose sched_priv it is
    ///
    /// As for `jsf rank`; may be given among the arguments too
    #[arg(long, value_name = "PATH", conflicts_with = "sched_priv")]
    pub site: Option<PathBuf>,
    /// The arguments of pbsfs
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub arguments: Vec<OsString>,
}
