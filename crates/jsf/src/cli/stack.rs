//! The stack of the command: parsing the arguments and a formula needs more than the least that a
//! system gives.

use std::process::ExitCode;
use std::thread;

use crate::cli::report;

/// What the main thread has on Linux unless `ulimit -s` changes it, in bytes.
const STACK: usize = 8 << 20;

/// Runs the command on a stack of at least 8 MiB, on another thread if that of the main thread is
/// smaller.
pub fn with_enough_stack(run: impl Fn() -> ExitCode + Sync) -> ExitCode {
    if has_enough_stack() {
        return run();
    }
    let on_thread = thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, &run)
            .ok()?;
        thread.join().ok()
    });
    on_thread.unwrap_or_else(|| {
        report(
            "note",
            "the stack is small (`ulimit -s`), and the system starts no thread with a larger one",
        );
        run()
    })
}

#[cfg(unix)]
fn has_enough_stack() -> bool {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Stack)
        .current
        .is_none_or(|bytes| bytes >= STACK as u64)
}

#[cfg(not(unix))]
fn has_enough_stack() -> bool {
    false
}
