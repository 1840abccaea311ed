//! A line on the terminal while work takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long work takes before it is shown, and how often the line is rewritten.
const INTERVAL: Duration = Duration::from_secs(1);
/// Erases the line of the cursor.
const ERASE_LINE: &[u8] = b"\r\x1b[K";

/// Shows on standard error what is being done and for how long, if standard error is a terminal. The line is erased when
/// the value is dropped.
pub(super) struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

impl Progress {
    pub(super) fn start(what: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let (sender, receiver) = mpsc::channel();
        let show = move || {
            let begin = Instant::now();
            let mut is_shown = false;
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(INTERVAL) {
                let mut out = io::stderr().lock();
                let _ = out.write_all(ERASE_LINE);
                let _ = write!(out, "jsf: {what}, {} s", begin.elapsed().as_secs());
                let _ = out.flush();
                is_shown = true;
            }
            if is_shown {
                let _ = io::stderr().write_all(ERASE_LINE);
            }
        };
        Self(thread::Builder::new().spawn(show).ok().map(|thread| (sender, thread)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}
