//! The command `jsf`, which shows what a PBS `job_sort_formula` does before the scheduler runs it.

use std::process::ExitCode;

use jsf::process;

fn main() -> ExitCode {
    // before there is another thread, and before anything is read or written
    process::exit_on_panic();
    process::exit_on_abort();
    process::ignore_limit_of_file_size();
    process::with_enough_stack(process::run_process)
}
