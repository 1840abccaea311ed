//! `jsf fmt`, and what clap writes about the command itself.

use std::io::Write;

use clap::CommandFactory;
use job_sort_formula::Formula;
use job_sort_formula::report::finding;

use super::args::{Cli, FmtArgs};
use super::{CliError, Outcome, formula, stderr_is_coloured};

pub(super) fn run(arguments: &FmtArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let source = formula::source(&arguments.formula, None)?;
    match Formula::parse(&source.text) {
        Ok(formula) => {
            writeln!(out, "{formula}")?;
            Ok(Outcome::Fine)
        }
        Err(error) => {
            let drawn = finding::draw(&source.text, &source.origin, &error.diagnostic(), stderr_is_coloured());
            anstream::eprintln!("{drawn}");
            Ok(Outcome::Findings)
        }
    }
}

pub(super) fn completions(shell: clap_complete::Shell, out: &mut impl Write) -> Outcome {
    clap_complete::generate(shell, &mut Cli::command(), "jsf", out);
    Outcome::Fine
}

pub(super) fn man(out: &mut impl Write) -> Result<Outcome, CliError> {
    clap_mangen::Man::new(Cli::command()).render(out)?;
    Ok(Outcome::Fine)
}
