//! The command `jsf`, which shows what a PBS `job_sort_formula` does before the scheduler runs it.

use std::process::ExitCode;

use jsf::command_line;

fn main() -> ExitCode {
    command_line::exit_on_panic();
    command_line::exit_on_abort();
    command_line::ignore_limit_of_file_size();
    command_line::with_enough_stack(command_line::run_process)
}
