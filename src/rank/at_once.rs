//! Work on all processors.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// What `work` gives for each of these, in their order. Each thread takes the next one when it is done with one.
pub(super) fn each<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let waiting = Mutex::new(items.into_iter().enumerate());
    let run = || {
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((place, item)) = next else { return };
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
        }
    };
    thread::scope(|scope| {
        // a thread that cannot be had leaves its items to the others
        (1..threads).for_each(|_| drop(thread::Builder::new().spawn_scoped(scope, run)));
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        for count in [0, 1, 2, 100] {
            let doubled: Vec<usize> = (0..count).map(|item| 2 * item).collect();
            assert_eq!(each((0..count).collect(), |item: usize| 2 * item), doubled);
        }
    }
}
