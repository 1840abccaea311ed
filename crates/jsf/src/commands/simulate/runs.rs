//! Simulations that are run beside each other, on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

use job_sort_formula::parallel;

use crate::cli::{CliError, Progress};
use crate::commands::simulate::interruption::is_interrupted;

/// The results of some runs in their order, without those that Ctrl-C has ended.
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
