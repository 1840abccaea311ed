//! Parallel work on rayon's threads.
//!
//! A panic in a piece of work propagates to the caller as soon as the pieces that have started are done.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use rayon::prelude::*;

/// The number of items in a wave of a pipeline, per processor: enough that all processors finish at about the same
/// time.
const ITEMS_PER_PROCESSOR: usize = 4;

/// The number of items that the calling thread works on alone; other threads would not speed up so little work.
const SERIAL_ITEMS: usize = 2;

/// Applies `work` to each item in parallel; the results are in the order of the items.
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() < 2 {
        return items.into_iter().map(work).collect();
    }
    items.into_par_iter().with_max_len(1).map(&work).collect()
}

/// Passes items through three stages until `fill` or `drain` returns `false`: `fill` prepares them one after the other,
/// `work` runs on several at once, and `drain` takes them one after the other in the order in which they were filled.
/// `new` creates an item; items are reused. The thread that works on an item also fills it, so that it is in its cache.
/// While one wave of items is filled and worked on, the calling thread drains the wave before it.
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
    let supply = Supply { fill, spare: Vec::new(), worked: Vec::new(), filled: 0, wave_end: SERIAL_ITEMS, end: None };
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
        let continues: io::Result<bool> = rayon::in_place_scope(|scope| {
            (1..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| fill_and_work()));
            let continues = drain_all();
            if matches!(continues, Ok(true)) {
                fill_and_work();
            } else {
                lock(&supply).wave_end = 0;
            }
            continues
        });
        if !continues? {
            return Ok(());
        }
    }
}

/// The items of a pipeline between its stages.
struct Supply<T, F> {
    fill: F,
    spare: Vec<T>,
    /// The finished items of the current wave, each with its number, in any order.
    worked: Vec<(usize, T)>,
    /// The number of items filled so far, and at the end of the current wave.
    filled: usize,
    wave_end: usize,
    /// Why no more items are filled.
    end: Option<io::Result<()>>,
}

impl<T, F: FnMut(&mut T) -> io::Result<bool>> Supply<T, F> {
    /// Fills the next item of the current wave; returns it with its number.
    fn next(&mut self, new: impl Fn() -> T) -> Option<(usize, T)> {
        if self.filled >= self.wave_end || self.end.is_some() {
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

    /// Ends the current wave and begins the next one, of `items` items. Returns the items of the ended wave in order, and
    /// whether it was the last.
    fn next_wave(&mut self, items: usize) -> (Vec<(usize, T)>, bool) {
        self.wave_end = self.filled + items;
        self.worked.sort_by_key(|(number, _)| *number);
        (std::mem::take(&mut self.worked), self.end.is_some())
    }
}

/// Locks a mutex, even after a panic: no holder of the lock leaves its value inconsistent.
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
