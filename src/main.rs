//! The command `jsf`, which shows what a PBS `job_sort_formula` does before the scheduler runs it.

mod cli;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use job_sort_formula::report::printable;

fn main() -> ExitCode {
    cli::exit_on_panic();
    let result = match cli::args::Cli::try_parse() {
        Ok(arguments) => cli::run(&arguments).map(ExitCode::from),
        Err(message) => print(&message).map_err(cli::CliError::from),
    };
    match result {
        Ok(code) => code,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // there is no other place to say that standard error cannot be written
            let _ = writeln!(anstream::stderr(), "jsf: {}", printable(&cli::with_options(&error.to_string())));
            ExitCode::from(2)
        }
    }
}

/// Prints the help or the version to standard output, and an error in the arguments to standard error.
fn print(message: &clap::Error) -> io::Result<ExitCode> {
    let printed = message.print().and_then(|()| io::stdout().flush());
    if message.use_stderr() {
        return Ok(ExitCode::from(2));
    }
    printed.map(|()| ExitCode::SUCCESS)
}
