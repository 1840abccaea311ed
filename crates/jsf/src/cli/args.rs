//! The arguments that `clap` parses and `--help` shows: the commands, and what several of them
//! take.

use std::ffi::OsString;
use std::fmt::Display;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::cli::site::{PolicyArg, Reader, STDIN, SiteArgs, threshold};
use clap::builder::{PathBufValueParser, Resettable, TypedValueParser};
use clap::{Arg, Args, Id, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use job_sort_formula::rank::OldNew;
use jsf_openpbs::amounts::{NumberMode, Time, parse_duration, seconds_of_ctime, seconds_of_date};
use jsf_site::{Role, SimulationOptions, Site, SiteFiles, StartingUsage, is_stdin};

use crate::answer::{Cells, Format};
use crate::cli::CliError;
use crate::cli::output::format;
use crate::cli::page_file::PageFile;
use crate::commands;
use crate::log_options::LogOptions;

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
enum When {
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
        while let Some(argument) = arguments.next()
            && argument != "--"
        {
            let argument = argument.to_string_lossy();
            let value = match argument.strip_prefix("--color") {
                Some("") => arguments.next().unwrap_or_default(),
                Some(rest) => rest.strip_prefix('=').unwrap_or_default().into(),
                None => continue,
            };
            if let Ok(color) = When::from_str(&value.to_string_lossy(), false) {
                found = Some(Self { color });
            }
        }
        found
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
    Check(commands::check::run::CheckArgs),
    /// Show the value and the rank of every job
    Rank(commands::rank::run::RankArgs),
    /// Show what another formula, tree, policy or threshold would change in the queue
    Compare(commands::compare::run::CompareArgs),
    /// Show why jobs have their places in the queue
    Explain(commands::explain::run::ExplainArgs),
    /// Write a page for a browser on which you edit the formula and see the queue change
    Page(commands::page::run::PageArgs),
    /// Show how ranks change while jobs wait, and which jobs overtake
    Trajectory(commands::trajectory::run::TrajectoryArgs),
    /// Show the fair-share tree with the values that a policy computes
    Shares(commands::shares::run::SharesArgs),
    /// Show which jobs start next, and when and why the others wait
    Cycle(commands::cycle::run::CycleArgs),
    /// Simulate a log of jobs under a formula, and report how long they would wait
    Simulate(commands::simulate::request::SimulateArgs),
    /// Find the numbers of a formula by wishes about jobs or by goals
    Fit(commands::fit::run::FitArgs),
    /// Compare the values in a scheduler's log with jsf's, and explain the differences
    Replay(commands::replay::run::ReplayArgs),
    /// Carry a formula over to Slurm or PBS
    Translate(commands::translate::TranslateArgs),
    /// Print a formula with normalised spaces
    Fmt(commands::fmt::FmtArgs),
    /// List the kinds of findings, or explain one
    Codes(commands::codes::CodesArgs),
    /// Print what pbsfs prints, without root and without a server
    Pbsfs(commands::pbsfs::PbsfsArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  jsf completions bash")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print every name and function that a formula may use
    Names(commands::names::NamesArgs),
    /// Print a shell script that collects what --site reads
    #[command(after_help = "\
Examples:
  jsf capture > capture.sh
  jsf capture --without-environment | head -20

The script only reads and needs no root. What it cannot read is noted in missing.txt in the folder that it makes. As root on \
the PBS server (sudo sh capture.sh my-site) it reads everything. On a login node of Slurm anyone's call does, unless PrivateData \
hides the jobs of others. Of Slurm's jobs it collects neither names nor commands, folders or comments.")]
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
#[derive(Debug, Clone, Default, Args)]
pub struct FormulaArgs {
    /// The formula; - is standard input
    ///
    /// The text of the formula, alone or pasted as `job_sort_formula = …`,
    /// `set server job_sort_formula = "…"` or `qmgr -c '…'`
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    pub formula: Option<String>,
    /// The file that contains the formula
    ///
    /// Plain text, sched_formula, `qmgr -c 'print server'`, or `qstat -Bf` as text or JSON; - is
    /// standard input
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "formula")]
    pub formula_file: Option<PathBuf>,
    /// The options that give both.
    #[arg(skip)]
    pub(crate) options: FormulaOptions,
}

/// The options that give a formula: its text, and its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormulaOptions {
    pub(crate) text: &'static str,
    pub(crate) file: &'static str,
}

impl FormulaOptions {
    const OLD: Self = Self {
        text: "--old",
        file: "--old-file",
    };
    pub(crate) const NEW: Self = Self {
        text: "--new",
        file: "--new-file",
    };
}

impl Default for FormulaOptions {
    fn default() -> Self {
        Self {
            text: "FORMULA",
            file: "-f",
        }
    }
}

impl QueueArgs {
    /// Opens the site.
    pub(crate) fn open(&self) -> Result<Site, CliError> {
        self.site.open(&self.formula, self.threshold)
    }
}

impl FormulaArgs {
    /// The formula of two options.
    pub(crate) fn new(
        options: FormulaOptions,
        text: &Option<String>,
        file: &Option<PathBuf>,
    ) -> Self {
        Self {
            formula: text.clone(),
            formula_file: file.clone(),
            options,
        }
    }

    /// The formulas of --old and --new, as texts and as files.
    pub(crate) fn of_sides(
        texts: [&Option<String>; 2],
        files: [&Option<PathBuf>; 2],
    ) -> OldNew<Self> {
        OldNew::new(
            Self::new(FormulaOptions::OLD, texts[0], files[0]),
            Self::new(FormulaOptions::NEW, texts[1], files[1]),
        )
    }

    /// Whether a formula is given.
    pub fn is_given(&self) -> bool {
        self.formula.is_some() || self.formula_file.is_some()
    }

    /// The file that it is read from, which may be standard input.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.formula {
            Some(text) if text == STDIN => Some(Path::new(STDIN)),
            Some(_) => None,
            None => self.formula_file.as_deref(),
        }
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
    /// The jobs.
    #[command(flatten)]
    pub jobs: JobArgs,
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
    /// The jobs of this fair-share entity, or of all entities below this group, with their places
    /// in the whole queue; separate several by commas, or repeat the option
    #[arg(long, visible_alias = "user", value_name = "NAME", value_delimiter = ',', value_parser = listed_name)]
    pub entity: Vec<String>,
}

/// The jobs that a command is about.
#[derive(Debug, Args)]
pub struct JobArgs {
    /// The job, such as 12 or 12.vm
    ///
    /// With or without the server's name: 12 or 12.vm; an array is 12[], and a subjob has its index
    /// in the brackets; separate several by commas, or repeat the option
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = listed_name)]
    pub job: Vec<String>,
}

/// How much is shown to people.
#[derive(Debug, Clone, Copy, Args)]
pub struct TextArgs {
    /// Show everything, and not one screen
    ///
    /// A terminal gets one screen (at most 24 lines, or the environment variable JSF_LINES); a file
    /// or a pipe gets all rows
    #[arg(long)]
    pub full: bool,
    /// Show all columns in full
    ///
    /// However wide the terminal is
    #[arg(long)]
    pub wide: bool,
}

/// How an answer is written that people and programs read.
#[derive(Debug, Clone, Copy, Args)]
pub struct AnswerArgs {
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format
    #[arg(long, value_parser = format(&[Format::Human, Format::Markdown, Format::Json]), default_value = "human")]
    pub format: Format,
}

/// A page beside the answer.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Also write the result as a page
    ///
    /// The page is for a browser, with charts
    #[arg(long, value_name = "FILE", value_parser = page_path())]
    pub report: Option<PathBuf>,
}

impl ReportArgs {
    /// The file for the page, if there is one. It is no file of the sites, and none of `read_files`,
    /// which the command reads.
    pub(crate) fn page_file<'a>(
        &'a self,
        sites: Vec<&'a Site>,
        read_files: Vec<&'a PathBuf>,
    ) -> Option<PageFile<'a>> {
        Some(PageFile {
            path: self.report.as_deref()?,
            sites,
            read_files,
        })
    }
}

/// How CSV is written.
#[derive(Debug, Args)]
pub struct CsvArgs {
    /// Guard the cells of CSV for a spreadsheet
    ///
    /// With --format csv, write a ' before each =, +, - or @ with which a text, or a part of it
    /// after a separator such as ;, begins, so that the spreadsheet does not compute it
    #[arg(long)]
    csv_safe: bool,
}

impl CsvArgs {
    /// How cells are written.
    pub(crate) fn cells(&self) -> Cells {
        if self.csv_safe {
            Cells::Guarded
        } else {
            Cells::Plain
        }
    }
}

/// Parses a name in a list, which blanks may surround.
pub(crate) fn listed_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("expected a name before and after each comma".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Parses a time in seconds since 1970 or in ISO 8601.
pub(crate) fn moment(text: &str) -> Result<i64, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(seconds);
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_second());
    }
    if let Ok(time) = text.parse::<DateTime>()
        && let Ok(time) = time.to_zoned(TimeZone::UTC)
    {
        return Ok(time.timestamp().as_second());
    }
    let expected = "expected seconds since 1970 or a time such as 2026-11-23T04:29:58Z, or what `date -u` prints";
    Ok(seconds_of_date(text).ok_or(expected)?)
}

/// Parses a time as [`moment`] does, or as qstat prints it, on the clock of its host.
pub(crate) fn moment_or_wall_time(text: &str) -> Result<Time, String> {
    match (moment(text), seconds_of_ctime(text)) {
        (Ok(seconds), _) => Ok(Time::Utc(seconds)),
        (Err(_), Some(seconds)) => Ok(Time::Wall(seconds)),
        (Err(expected), None) => Err(format!("{expected}, or `qstat -f`")),
    }
}

/// Parses the name of the file for a page. Standard output has the results.
pub(crate) fn page_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if is_stdin(&path) {
            return Err(
                "expected the name of a file: standard output has the results of the command",
            );
        }
        Ok(path)
    })
}

/// A number within a range, which `expected` describes.
pub(crate) fn number_within<T: FromStr + PartialOrd>(
    text: &str,
    range: RangeInclusive<T>,
    expected: impl Display,
) -> Result<T, String> {
    match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("expected {expected}")),
    }
}

/// Parses the number of jobs to show.
pub(crate) fn number_of_jobs(text: &str) -> Result<usize, String> {
    let expected = "the number of jobs to show, such as 10";
    number_within(text, 0..=usize::MAX, expected)
}

/// An argument of a site as the commands have it that simulate a log.
pub(crate) fn argument_of_log(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "verbose" => argument.hide(true),
        "tree" => argument
            .conflicts_with(Resettable::<Id>::Reset)
            .conflicts_with("resource-group"),
        "usage" => argument.value_name("FILE|start|fresh").help(
            "The binary usage file; or `start`, the usage of the tree, with which the entities begin by default; or `fresh`, none",
        ),
        _ => argument,
    }
}

/// The files of a log.
pub(crate) fn workload_readers(log: &LogOptions) -> Vec<Reader<'_>> {
    let paths = log.workload.iter();
    paths.map(|path| ("--workload", Some(&**path))).collect()
}

/// How a log is run through time at a site.
pub fn simulation(log: &LogOptions, site: &SiteArgs) -> SimulationOptions {
    log.simulation(starting_usage(site).unwrap_or_default())
}

/// The usage that the entities begin with, if --usage is one of its names and not a file.
fn starting_usage(site: &SiteArgs) -> Option<StartingUsage> {
    StartingUsage::from_str(site.files.get(Role::Usage)?.to_str()?, false).ok()
}

/// The files of a site whose usage may be named instead of given.
pub fn simulated_files(site: &SiteArgs) -> Result<SiteFiles, CliError> {
    let named = starting_usage(site);
    if named.is_none() && site.files.has(Role::Usage) && site.files.has(Role::Tree) {
        return Err(CliError::usage(
            "a file of --usage belongs to --resource-group: with --tree, --usage is start or fresh",
        ));
    }
    site.files_without(named.map(|_| Role::Usage))
}

/// Refuses rules that no simulation follows.
pub(crate) fn require_simulated_rules(site: &SiteArgs) -> Result<(), CliError> {
    if site.numbers == NumberMode::Decimal {
        return Err(CliError::usage(
            "a simulation computes with doubles, not with decimals",
        ));
    }
    if site.policy == Some(PolicyArg::All) {
        return Err(CliError::usage(
            "a simulation needs one policy, not `all` of them",
        ));
    }
    Ok(())
}

/// Parses a number of processors.
pub fn processors(text: &str) -> Result<NonZeroU32, String> {
    // a larger type tells a number out of range from what is no number
    let Ok(number) = text.parse::<i128>() else {
        return Err("expected a number of processors, such as 128".to_owned());
    };
    match text.parse() {
        Ok(processors) => Ok(processors),
        Err(_) if number < 1 => Err("`--processors` must be at least 1".to_owned()),
        Err(_) => Err(format!("`--processors` must be at most {}", u32::MAX)),
    }
}

/// Parses the interval of a decay.
pub fn decay_period(text: &str) -> Result<u64, String> {
    match parse_duration(text)? {
        0 => Err("expected at least a second".to_owned()),
        seconds => Ok(seconds),
    }
}

/// Parses the factor of a decay.
pub fn decay_factor(text: &str) -> Result<f64, String> {
    number_within(text, 0.0..=1.0, "a number from 0 to 1, such as 0.5")
}
