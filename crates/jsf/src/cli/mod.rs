//! The command line: turns arguments into calls of the library, and results into text and an exit
//! code.

pub mod args;
pub(crate) mod formula;
mod help;
pub(crate) mod messages;
pub(crate) mod output;
pub(crate) mod page_file;
mod parse;
mod process;
mod progress;
pub(crate) mod queue;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::rank::Ranking;
use jsf_site::SiteError;
use thiserror::Error;

use crate::cli::args::{Cli, Command};
use crate::commands;

pub(crate) use crate::cli::args::{
    AnswerArgs, CsvArgs, EntityArgs, FilterArgs, FormulaArgs, JobArgs, QueueArgs, ReportArgs,
    listed_name, number_of_jobs,
};
pub(crate) use crate::cli::formula::{FormulaOptions, GivenFormula, read_formula, read_formula_of};
pub(crate) use crate::cli::messages::{
    Warnings, draw, draw_all, in_options, report, report_errors, show_site, warn, warn_all,
    with_options,
};
pub(crate) use crate::cli::output::{Output, format};
pub use crate::cli::parse::{parse, print_answer};
pub use crate::cli::process::{
    exit_on_abort, exit_on_panic, ignore_limit_of_file_size, with_enough_stack,
};
pub(crate) use crate::cli::progress::Progress;
pub(crate) use crate::cli::queue::{
    MAX_UNKNOWN, OpenedQueue, check_and_report, select_rows_or_warn, unknown_jobs_error,
};

/// Runs a command.
pub fn run(arguments: &Cli) -> Result<Outcome, CliError> {
    arguments.color.write_global();
    let mut out = BufWriter::new(io::stdout().lock());
    let outcome = match &arguments.command {
        Command::Rank(arguments) => commands::rank::run::run(arguments, &mut out)?,
        Command::Explain(arguments) => commands::explain::run::run(arguments, &mut out)?,
        Command::Page(arguments) => commands::page::run::run(arguments, &mut out)?,
        Command::Trajectory(arguments) => commands::trajectory::run::run(arguments, &mut out)?,
        Command::Check(arguments) => commands::check::run::run(arguments, &mut out)?,
        Command::Compare(arguments) => commands::compare::run::run(arguments, &mut out)?,
        Command::Shares(arguments) => commands::shares::run::run(arguments, &mut out)?,
        Command::Cycle(arguments) => commands::cycle::run::run(arguments, &mut out)?,
        Command::Simulate(arguments) => commands::simulate::run::run(arguments, &mut out)?,
        Command::Fit(arguments) => commands::fit::run::run(arguments, &mut out)?,
        Command::Replay(arguments) => commands::replay::run::run(arguments, &mut out)?,
        Command::Translate(arguments) => commands::translate::run(arguments, &mut out)?,
        Command::Fmt(arguments) => commands::fmt::run(arguments, &mut out)?,
        Command::Codes(arguments) => commands::codes::run(arguments, &mut out)?,
        Command::Pbsfs(arguments) => commands::pbsfs::run(arguments)?,
        Command::Completions { shell } => commands::completions::run(*shell, &mut out)?,
        Command::Names(arguments) => commands::names::run(arguments, &mut out)?,
        Command::Capture {
            without_environment,
        } => commands::capture::run(*without_environment, &mut out)?,
        Command::Man { command } => commands::man::run(command.as_deref(), &mut out)?,
    };
    out.flush()?;
    Ok(outcome)
}

/// The result of a command that could be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No findings: exit code 0.
    Fine,
    /// Findings: exit code 1.
    Findings,
}

impl Outcome {
    /// Findings unless all is fine.
    pub(crate) fn fine_if(is_fine: bool) -> Self {
        if is_fine { Self::Fine } else { Self::Findings }
    }

    /// What a ranking says of its formula: findings if it cannot work, fails for every job, or
    /// failed under `--on-error fail`.
    pub(crate) fn of_ranking(findings: &[Diagnostic], ranking: &Ranking) -> Self {
        let mut is_fine = ranking.failure().is_none();
        for finding in findings {
            is_fine &= finding.severity != Severity::Error;
        }
        let jobs = ranking.scores().count();
        let all_fail = jobs > 0 && ranking.error_count() == jobs;
        Self::fine_if(is_fine && !all_fail)
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::Findings => Self::from(1),
        }
    }
}

/// Why a command cannot be carried out, which gives exit code 2 unless it is what was found.
#[derive(Debug, Error)]
pub enum CliError {
    /// A file of the site cannot be used, or something is missing.
    #[error("{}", with_options(&.0.message()))]
    Site(#[from] SiteError),
    /// The arguments are invalid, or contradict each other.
    #[error("{0}")]
    Usage(String),
    /// The result cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    /// The formula cannot be used, and what is found about it is drawn: exit code 1.
    #[error("the formula cannot be used")]
    Findings,
}

impl CliError {
    /// Whether the reader has closed the output, which is not an error.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::Usage(message.to_string())
    }

    pub(crate) fn content(message: impl ToString) -> Self {
        Self::Site(SiteError::Content(message.to_string().into()))
    }
}
