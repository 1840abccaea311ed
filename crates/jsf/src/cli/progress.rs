//! A line on the terminal while work takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

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
            let started = thread::Builder::new().spawn(show);
            thread = started.ok().map(|thread| (sender, thread));
        }
        Self { thread, per_cent }
    }

    /// Shows how much of the work is done.
    pub(crate) fn show_fraction(&self, done: usize, all: usize) {
        let per_cent = done.saturating_mul(100).checked_div(all);
        self.per_cent
            .store(per_cent.unwrap_or(usize::MAX), Ordering::Relaxed);
    }
}

/// Shows the line until the sender is dropped.
fn show(what: &str, receiver: &Receiver<()>, per_cent: &AtomicUsize) {
    let begin = Instant::now();
    let mut is_shown = false;
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
            let _ = thread.join();
        }
    }
}
