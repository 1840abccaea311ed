//! Parallel work on rayon's threads.
//!
//! A panic in a piece of work propagates to the caller as soon as the pieces that have started are done.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use rayon::prelude::*;

/// How many items of a pipeline are worked on together, per processor: enough that all processors end at about the
/// same time.
const ITEMS_PER_PROCESSOR: usize = 4;

/// So many items are worked on before other threads are asked to help: less is worth no threads.
const SERIAL_ITEMS: usize = 2;

/// What `work` makes of each item, in the order of the items.
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() < 2 {
        return items.into_iter().map(work).collect();
    }
    items.into_par_iter().with_max_len(1).map(&work).collect()
}

/// Passes items through three stages until `fill` or `drain` returns `false`: `fill` prepares them one after the other,
/// `work` runs on several at once, and `drain` takes them one after the other in the order in which they were filled.
/// `new` makes an item; items are used again. An item is filled by the thread that works on it, whose caches then hold
/// it. While one wave of items is filled and worked on, the calling thread drains the wave before it.
///
/// # Errors
/// The first error of `fill` or `drain`.
pub(crate) fn pipeline<T: Send>(
    new: impl Fn() -> T + Sync,
    fill: impl FnMut(&mut T) -> io::Result<bool> + Send,
    work: impl Fn(&mut T) + Sync,
    mut drain: impl FnMut(&mut T) -> io::Result<bool>,
) -> io::Result<()> {
    let wave = available_parallelism().map_or(1, usize::from) * ITEMS_PER_PROCESSOR;
    let supply = Supply { fill, spare: Vec::new(), worked: Vec::new(), filled: 0, most: SERIAL_ITEMS, end: None };
    let supply = Mutex::new(supply);
    let next = || lock(&supply).next(&new);
    let fill_and_work = || {
        while let Some((number, mut item)) = next() {
            work(&mut item);
            lock(&supply).worked.push((number, item));
        }
    };
    fill_and_work();
    loop {
        let (mut items, is_over) = lock(&supply).next_wave(wave);
        let mut drain_all = || {
            for (_, mut item) in items.drain(..) {
                if !drain(&mut item)? {
                    return Ok(false);
                }
                lock(&supply).spare.push(item);
            }
            Ok(true)
        };
        if is_over {
            drain_all()?;
            return lock(&supply).end.take().unwrap_or(Ok(()));
        }
        let goes_on: io::Result<bool> = rayon::in_place_scope(|scope| {
            (1..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| fill_and_work()));
            let goes_on = drain_all();
            if matches!(goes_on, Ok(true)) {
                fill_and_work();
            } else {
                lock(&supply).most = 0;
            }
            goes_on
        });
        if !goes_on? {
            return Ok(());
        }
    }
}

/// The items of a pipeline, between its stages.
struct Supply<T, F> {
    fill: F,
    spare: Vec<T>,
    /// The items of the present wave that are done, each with its number, in any order.
    worked: Vec<(usize, T)>,
    /// How many items were filled so far, and how many will be at the end of the present wave.
    filled: usize,
    most: usize,
    /// How the supply ended.
    end: Option<io::Result<()>>,
}

impl<T, F: FnMut(&mut T) -> io::Result<bool>> Supply<T, F> {
    /// The next item of the present wave, filled, with its number.
    fn next(&mut self, new: impl Fn() -> T) -> Option<(usize, T)> {
        if self.filled >= self.most || self.end.is_some() {
            return None;
        }
        let mut item = self.spare.pop().unwrap_or_else(new);
        match (self.fill)(&mut item) {
            Ok(true) => {
                self.filled += 1;
                return Some((self.filled, item));
            }
            Ok(false) => self.end = Some(Ok(())),
            Err(error) => self.end = Some(Err(error)),
        }
        None
    }

    /// Ends the present wave and begins one of so many items: returns the items of the one that ended, in their order,
    /// and whether it was the last.
    fn next_wave(&mut self, items: usize) -> (Vec<(usize, T)>, bool) {
        self.most = self.filled + items;
        self.worked.sort_by_key(|(number, _)| *number);
        (std::mem::take(&mut self.worked), self.end.is_some())
    }
}

/// A lock whose holder leaves nothing half done when it panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for count in [0, 1, 2, 100] {
            let doubled: Vec<usize> = (0..count).map(|item| 2 * item).collect();
            assert_eq!(map((0..count).collect(), |item: usize| 2 * item), doubled);
        }
    }
}
