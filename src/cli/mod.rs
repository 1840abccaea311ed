//! The command line: arguments become calls of the library, results become text and an exit code.

pub mod args;
mod check;
mod codes;
mod error;
mod fmt;
mod formula;
mod pbsfs;
mod rank;
mod shares;
mod usage_file;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use args::{Cli, Command};
use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::report::finding;
use job_sort_formula::site::FormulaText;

pub use error::CliError;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No findings: exit code 0.
    Fine,
    /// Findings: exit code 1.
    Findings,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::Findings => Self::from(1),
        }
    }
}

/// Carries out a command.
pub fn run(arguments: &Cli) -> Result<Outcome, CliError> {
    arguments.color.write_global();
    let mut out = BufWriter::new(io::stdout().lock());
    let outcome = match &arguments.command {
        Command::Rank(arguments) => rank::run(arguments, &mut out)?,
        Command::Check(arguments) => check::run(arguments, &mut out)?,
        Command::Shares(arguments) => shares::run(arguments, &mut out)?,
        Command::Fmt(arguments) => fmt::run(arguments, &mut out)?,
        Command::Codes(arguments) => codes::run(arguments, &mut out)?,
        Command::Pbsfs(arguments) => pbsfs::run(arguments)?,
        Command::Completions { shell } => fmt::completions(*shell, &mut out),
        Command::Man => fmt::man(&mut out)?,
    };
    out.flush()?;
    Ok(outcome)
}

/// Writes a line about the command's work to standard error.
fn report(kind: &str, message: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "jsf: {kind}: {message}");
}

/// Writes a warning to standard error.
fn warn(message: impl std::fmt::Display) {
    report("warning", message);
}

fn warn_all(messages: &[String]) {
    messages.iter().for_each(warn);
}

/// Draws a finding under the formula, on standard error.
fn draw(source: &FormulaText, found: &Diagnostic) {
    let coloured = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    let drawn = finding::draw(&source.text, &source.origin, found, coloured);
    let _ = writeln!(anstream::stderr(), "{drawn}\n");
}
