//! The command `jsf`, which shows what a PBS `job_sort_formula` does before the scheduler runs it.

mod cli;

use std::process::ExitCode;

use clap::Parser;
use job_sort_formula::report::printable;

fn main() -> ExitCode {
    let arguments = cli::args::Cli::parse();
    match cli::run(&arguments) {
        Ok(outcome) => outcome.into(),
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("jsf: {}", printable(&cli::with_options(&error.to_string())));
            ExitCode::from(2)
        }
    }
}
