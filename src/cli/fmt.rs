//! `jsf fmt`, and the texts that clap generates: completions and manual pages.

use std::io::Write;

use clap::CommandFactory;
use job_sort_formula::Formula;

use super::args::{Cli, FmtArgs};
use super::{CliError, Outcome, draw, formula};

pub(super) fn run(arguments: &FmtArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let source = formula::read(&arguments.formula, None)?;
    match Formula::parse(&source.text) {
        Ok(formula) => {
            writeln!(out, "{formula}")?;
            Ok(Outcome::Fine)
        }
        Err(error) => {
            draw(&source, &error.diagnostic());
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
