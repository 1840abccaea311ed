//! The process: its stack, and how it ends where it cannot go on: when a thread panics, so that no
//! other thread waits for its work, and when an allocation fails.

use std::io::Write;
use std::panic::{self, PanicHookInfo};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use signal_hook::consts::{SIGABRT, SIGXFSZ};
use signal_hook::flag::register_conditional_shutdown;

/// The exit code of an internal error, as in BSD's `sysexits.h`.
const INTERNAL_ERROR: i32 = 70;
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

/// From now on a panic in any thread writes one line to standard error and ends the process with
/// exit code 70.
pub fn exit_on_panic() {
    panic::set_hook(Box::new(|panic| {
        if is_refused_memory(panic) {
            let _ = writeln!(
                std::io::stderr(),
                "jsf: memory allocation failed while zstd was decompressed or a thread was started"
            );
            process::exit(2);
        }
        let _ = writeln!(std::io::stderr(), "{}", message(panic));
        process::exit(INTERNAL_ERROR);
    }));
}

/// From now on an abort ends the process with exit code 2. The runtime aborts when an allocation
/// fails, after it has written how many bytes it could not get, and when a stack is exhausted; what
/// was written so far is useless in either case.
pub fn exit_on_abort() {
    static ALWAYS: AtomicBool = AtomicBool::new(true);
    // without the handler the process ends too, but as an aborted one
    let _ = register_conditional_shutdown(SIGABRT, 2, &ALWAYS);
}

/// From now on a file that would exceed the limit of `ulimit -f` is an error of the function that
/// writes it.
pub fn ignore_limit_of_file_size() {
    // without the handler the process ends, as it would have
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::<AtomicBool>::default());
}

/// Whether the system refused memory to the decoder of zstd, or to the runtime for the signal stack
/// of a thread, which both report this by a panic.
fn is_refused_memory(panic: &PanicHookInfo<'_>) -> bool {
    let is_in = |file: &str| panic.location().is_some_and(|at| at.file().contains(file));
    is_in("sys/pal/unix/stack_overflow.rs")
        || is_in("ruzstd") && text(panic).is_some_and(|text| text.starts_with("Allocating"))
}

fn text<'p>(panic: &'p PanicHookInfo<'_>) -> Option<&'p str> {
    let payload = panic.payload();
    match payload.downcast_ref::<String>() {
        Some(text) => Some(text),
        None => payload.downcast_ref::<&str>().copied(),
    }
}

/// One line without control characters.
fn message(panic: &PanicHookInfo<'_>) -> String {
    let place = panic
        .location()
        .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let text = text(panic).unwrap_or("unknown error").escape_debug();
    format!(
        "jsf: internal error{place}: {text}; please report this line, the command and its files to the maintainers"
    )
}
