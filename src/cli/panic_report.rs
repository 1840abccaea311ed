//! Ends the process when a thread panics, so that no other thread waits for its work.

use std::io::Write;
use std::panic::{self, PanicHookInfo};
use std::process;

/// The exit code of an internal error, as in BSD's `sysexits.h`.
const INTERNAL_ERROR: i32 = 70;

/// From now on a panic in any thread writes one line to standard error and ends the process with exit code 70.
pub fn exit_on_panic() {
    panic::set_hook(Box::new(|panic| {
        let _ = writeln!(std::io::stderr(), "{}", message(panic));
        process::exit(INTERNAL_ERROR);
    }));
}

/// One line without control characters.
fn message(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let text = text.unwrap_or("unknown error").escape_debug();
    format!("jsf: internal error{place}: {text}; please report this line, the command and its files to the maintainers")
}
