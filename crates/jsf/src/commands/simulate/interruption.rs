//! Ctrl-C during simulations, one of which shows how far it is, and several of which run beside each
//! other.

use std::ops::ControlFlow;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use job_sort_formula::parallel;
use jsf_simulate::Observer;
use signal_hook::consts::SIGINT;
use signal_hook::flag::{self, register_conditional_shutdown};

use crate::cli::{CliError, Progress};

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
fn is_interrupted() -> bool {
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

/// The results of some runs on all cores in their order, without those that Ctrl-C has ended.
pub(crate) fn on_all_cores<T: Send>(
    what: &'static str,
    count: usize,
    run: impl Fn(usize) -> Result<Option<T>, CliError> + Sync,
) -> Result<Vec<T>, CliError> {
    let progress = Progress::start(what);
    let ended = AtomicUsize::new(0);
    let runs = parallel::map((0..count).collect(), |index| {
        if is_interrupted() {
            return Ok(None);
        }
        let result = run(index);
        progress.show_fraction(ended.fetch_add(1, Ordering::Relaxed) + 1, count);
        result
    });
    let runs: Vec<Option<T>> = runs.into_iter().collect::<Result<_, _>>()?;
    Ok(runs.into_iter().flatten().collect())
}
