//! The stack of the command: parsing the arguments and a formula needs more than the least that a
//! system gives.

use std::process::ExitCode;
use std::thread;

/// What the main thread has on Linux unless `ulimit -s` changes it, in bytes.
const STACK: usize = 8 << 20;

/// Runs the command on a thread with a stack of 8 MiB, or on this one if the system starts no
/// other.
pub fn with_enough_stack(run: impl Fn() -> ExitCode + Sync) -> ExitCode {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, &run) {
            // a panic ends the process
            Ok(running) => running.join().unwrap_or(ExitCode::FAILURE),
            Err(_) => run(),
        }
    })
}
