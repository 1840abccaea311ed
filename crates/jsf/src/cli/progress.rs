//! Work that takes long: a line on the terminal says what is being done, and Ctrl-C ends it early, so
//! that what was found until then is written.

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Once, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use job_sort_formula::parallel;
use signal_hook::consts::SIGINT;
use signal_hook::flag::{self, register_conditional_shutdown};

use crate::cli::outcome::CliError;

/// How long work takes before it is shown, and how often the line is rewritten.
const INTERVAL: Duration = Duration::from_secs(1);
/// Erases the line of the cursor.
const ERASE_LINE: &[u8] = b"\r\x1b[K";

/// Shows on standard error what is being done and for how long, if standard error is a terminal.
/// The line is erased when the value is dropped.
pub(crate) struct Progress {
    thread: Option<(Sender<()>, JoinHandle<()>)>,
    /// The percentage that is done; more than 100 if it is not known.
    per_cent: Arc<AtomicUsize>,
}

impl Progress {
    pub(crate) fn start(what: &'static str) -> Self {
        let per_cent = Arc::new(AtomicUsize::new(usize::MAX));
        let mut thread = None;
        if io::stderr().is_terminal() {
            let (sender, receiver) = mpsc::channel();
            let shown = Arc::clone(&per_cent);
            let show = move || show(what, &receiver, &shown);
            // where the system starts no thread the work is done all the same
            let started = thread::Builder::new().spawn(show);
            thread = started.ok().map(|thread| (sender, thread));
        }
        Self { thread, per_cent }
    }

    /// Shows how much of the work is done.
    fn show_fraction(&self, done: usize, all: usize) {
        let per_cent = done.saturating_mul(100).checked_div(all);
        self.per_cent
            .store(per_cent.unwrap_or(usize::MAX), Ordering::Relaxed);
    }
}

/// Shows the line until the sender is dropped.
fn show(what: &str, receiver: &Receiver<()>, per_cent: &AtomicUsize) {
    let begin = Instant::now();
    let mut is_shown = false;
    // unlike a sleep, this wait ends with the work, so that no command takes a second for it
    while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(INTERVAL) {
        let mut out = io::stderr().lock();
        let _ = out.write_all(ERASE_LINE);
        let _ = write!(out, "jsf: {what}, {} s", begin.elapsed().as_secs());
        if let done @ 0..=100 = per_cent.load(Ordering::Relaxed) {
            let _ = write!(out, ", {done} %");
        }
        let _ = out.flush();
        is_shown = true;
    }
    if is_shown {
        let _ = io::stderr().write_all(ERASE_LINE);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            // else the thread could erase what is written next
            let _ = thread.join();
        }
    }
}

/// Whether Ctrl-C was pressed.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a process that Ctrl-C ends, as shells give it: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// From now on the first Ctrl-C ends the simulation, and what it has is written; the second one
/// ends the process. Where no handler can be set, the first one does.
pub(crate) fn end_simulation_at_interrupt() {
    static IS_SET: Once = Once::new();
    IS_SET.call_once(|| {
        // the handlers run in this order: at the first Ctrl-C this one finds the flag unset
        let _ = register_conditional_shutdown(SIGINT, INTERRUPTED, &IS_INTERRUPTED)
            .and_then(|_| flag::register(SIGINT, &IS_INTERRUPTED));
    });
}

/// Goes on until Ctrl-C was pressed.
pub(crate) fn until_interrupted() -> ControlFlow<()> {
    if IS_INTERRUPTED.load(Ordering::Relaxed) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Shows how much of some work is done, and ends it after Ctrl-C, which ends the process before the
/// work has begun: until then there is no result that could be written.
pub(crate) fn watched(
    progress: &Progress,
) -> impl Fn(Option<(usize, usize)>) -> ControlFlow<()> + Sync {
    |done| {
        end_simulation_at_interrupt();
        if let Some((done, all)) = done {
            progress.show_fraction(done, all);
        }
        until_interrupted()
    }
}

/// The results of some runs on all cores in their order, without those that Ctrl-C has ended.
pub(crate) fn on_all_cores<T: Send>(
    what: &'static str,
    count: usize,
    run: impl Fn(usize) -> Result<Option<T>, CliError> + Sync,
) -> Result<Vec<T>, CliError> {
    let progress = Progress::start(what);
    let ended = AtomicUsize::new(0);
    let runs = parallel::map((0..count).collect(), |index| {
        if until_interrupted().is_break() {
            return Ok(None);
        }
        let result = run(index);
        progress.show_fraction(ended.fetch_add(1, Ordering::Relaxed) + 1, count);
        result
    });
    let runs: Vec<Option<T>> = runs.into_iter().collect::<Result<_, _>>()?;
    Ok(runs.into_iter().flatten().collect())
}
