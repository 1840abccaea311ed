//! Ctrl-C during a simulation.

use std::ops::ControlFlow;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use jsf_simulate::Observer;
use signal_hook::consts::SIGINT;
use signal_hook::flag::{self, register_conditional_shutdown};

use crate::cli::Progress;

/// Whether Ctrl-C was pressed.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The exit code of a process that Ctrl-C ends.
const INTERRUPTED: i32 = 130;

/// From now on the first Ctrl-C ends the simulation, and what it has is written; the second one
/// ends the process. Where no handler can be set, the first one does.
pub(crate) fn end_simulation_at_interrupt() {
    static IS_SET: Once = Once::new();
    IS_SET.call_once(|| {
        let _ = register_conditional_shutdown(SIGINT, INTERRUPTED, &IS_INTERRUPTED)
            .and_then(|_| flag::register(SIGINT, &IS_INTERRUPTED));
    });
}

/// Whether Ctrl-C was pressed.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// Goes on until Ctrl-C was pressed.
pub(crate) fn until_interrupted() -> ControlFlow<()> {
    if is_interrupted() {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Ends a run after Ctrl-C.
pub(crate) struct Interruptible;

impl Observer for Interruptible {
    fn progress(&mut self, _started: usize) -> ControlFlow<()> {
        until_interrupted()
    }
}

/// Shows how far a simulation is, and ends it after Ctrl-C.
pub(crate) struct Counter {
    pub(crate) progress: Progress,
    pub(crate) jobs: usize,
    /// After how many starts it ends because Ctrl-C ended the one before there.
    pub(crate) most: Option<usize>,
}

impl Observer for Counter {
    fn progress(&mut self, started: usize) -> ControlFlow<()> {
        self.progress
            .show_fraction(started, self.most.unwrap_or(self.jobs));
        match self.most {
            Some(most) if started >= most => ControlFlow::Break(()),
            Some(_) => ControlFlow::Continue(()),
            None => until_interrupted(),
        }
    }
}
