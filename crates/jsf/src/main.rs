//! The command `jsf`, which shows what a PBS `job_sort_formula` does before the scheduler runs it.

use std::io::Write;
use std::process::ExitCode;

use jsf::cli;
use jsf::view::words::printable;

fn main() -> ExitCode {
    cli::exit_on_panic();
    cli::exit_on_abort();
    cli::ignore_limit_of_file_size();
    cli::with_enough_stack(run)
}

fn run() -> ExitCode {
    let result = match cli::parse(std::env::args_os()) {
        Ok(arguments) => cli::run(&arguments).map(ExitCode::from),
        Err(answer) => cli::print_answer(answer).map_err(cli::CliError::from),
    };
    match result {
        Ok(code) => code,
        Err(cli::CliError::Findings) => cli::Outcome::Findings.into(),
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // there is no other place to say that standard error cannot be written
            let _ = writeln!(anstream::stderr(), "jsf: {}", printable(&error.to_string()));
            ExitCode::from(2)
        }
    }
}
