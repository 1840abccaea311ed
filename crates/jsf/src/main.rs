//! The command `jsf`, which shows what a PBS `job_sort_formula` does before the scheduler runs it.

use std::process::ExitCode;

use jsf::cli;

fn main() -> ExitCode {
    cli::exit_on_panic();
    cli::exit_on_abort();
    cli::ignore_limit_of_file_size();
    cli::with_enough_stack(cli::run_process)
}
