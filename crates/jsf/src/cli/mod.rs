//! The command line: turns arguments into calls of the library, and results into text and an exit
//! code.

pub mod args;
pub(crate) mod atomic_file;
pub(crate) mod document;
pub(crate) mod failing_jobs;
pub(crate) mod formula;
mod help;
mod messages;
pub(crate) mod need;
mod outcome;
pub(crate) mod output;
pub(crate) mod page_file;
mod parse;
mod process;
pub(crate) mod progress;
pub(crate) mod queue;
pub(crate) mod standard_input;
pub(crate) mod warnings;

use std::io::{self, BufWriter, Write};

use crate::cli::args::{Cli, Command};
use crate::commands;

pub use crate::cli::atomic_file::ignore_limit_of_file_size;
pub(crate) use crate::cli::formula::{
    FormulaOptions, parsed_formula, read_formula, read_formula_of,
};
pub(crate) use crate::cli::messages::{draw, draw_all, report, show_site, warn, warn_all};
pub(crate) use crate::cli::need::{in_options, with_options};
pub use crate::cli::outcome::{CliError, Outcome};
pub use crate::cli::parse::{parse, print_answer};
pub use crate::cli::process::{exit_on_abort, exit_on_panic, with_enough_stack};
pub(crate) use crate::cli::progress::Progress;

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
