//! From arguments to meaning, from meaning to work, from work to an exit code.

pub mod args;
mod check;
mod codes;
mod error;
mod fmt;
mod formula;
mod pbsfs;
mod policy;
mod queue;
mod rank;
mod shares;
mod site;
mod tree;
mod usage_file;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use args::{Cli, Command};
pub use error::CliError;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to find fault with: exit code 0.
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

/// Does what was asked.
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

/// Says something on standard error that is no result.
fn remark(kind: &str, words: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "jsf: {kind}: {words}");
}

/// Whether what goes to standard error may have colours.
fn stderr_is_coloured() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}
