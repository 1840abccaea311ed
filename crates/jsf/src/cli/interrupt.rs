//! Long work that ends early after Ctrl-C, so that what was found until then is written.

use std::ops::ControlFlow;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use job_sort_formula::parallel;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use signal_hook::flag::register_conditional_shutdown;

use crate::cli::messages::Progress;
use crate::cli::outcome::CliError;

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
