//! Parallel work on threads that a call starts and joins, so that nothing outlives it: neither a pool
//! nor what a forked process would lack. Where the system starts no threads, the calling thread does
//! all work.
//!
//! A panic in a piece of work propagates to the caller, after the other threads have ended.

use std::cell::Cell;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, ScopedJoinHandle, available_parallelism};
use std::{io, mem};

thread_local! {
    /// The number of threads for the work of this thread; 0: one for each processor.
    static THREADS: Cell<usize> = const { Cell::new(0) };
}

/// A number of threads for work on whole tables. Without it, all processors are used.
///
/// ```
/// use job_sort_formula::rank::{OnError, ScorePrecision};
/// use job_sort_formula::{Formula, Job, JobTable, Ranking, Schema, Threads, Value};
///
/// let program = Formula::parse("ncpus * 2")?.compile(&Schema::openpbs())?;
/// let mut table = JobTable::new(["ncpus"]);
/// table.push(&Job { id: "1.vm", ..Job::default() }, &[Ok(Value::Int(4))])?;
/// let threads = Threads::new(1);
/// let ranking = threads.run(|| Ranking::new(&program, &table, ScorePrecision::Float32, OnError::ZeroLikePbs));
/// assert_eq!(ranking.order(), [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Threads(usize);

impl Threads {
    /// So many threads; one for each processor if `count` is 0.
    pub fn new(count: usize) -> Self {
        Self(count)
    }

    /// Runs `work` on the calling thread; what it does in parallel is done by this many threads.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        // restored by its drop, which a panic of the work does not skip
        let _before = Restored(THREADS.replace(self.0));
        work()
    }
}

/// The number of threads before a call.
struct Restored(usize);

impl Drop for Restored {
    fn drop(&mut self) {
        THREADS.set(self.0);
    }
}

/// A piece of work is done by one thread: what it could do in parallel would only add threads to
/// those that are busy with the other pieces.
const ALONE: Threads = Threads(1);

/// The items of a pipeline that each thread works on while as many others are drained and filled:
/// enough that no thread waits long for the last one.
const ITEMS_PER_THREAD: usize = 2;

/// The number of items that the calling thread works on alone; other threads would not speed up so
/// little work.
const SERIAL_ITEMS: usize = 2;

/// The number of threads that work in parallel, at least 1.
fn threads() -> usize {
    match THREADS.get() {
        0 => available_parallelism().map_or(1, NonZero::get),
        count => count,
    }
}

/// Applies `work` to each item in parallel; the results are in the order of the items.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = threads().min(items.len());
    if threads < 2 {
        return items.into_iter().map(work).collect();
    }
    let items = Mutex::new(items.into_iter().enumerate());
    let work_off = || {
        let mut done = Vec::new();
        while let Some((index, item)) = next(&items) {
            done.push((index, ALONE.run(|| work(item))));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        // the calling thread is one of them
        let others = start(threads - 1, scope, &work_off);
        let mut done = work_off();
        for other in others {
            done.extend(joined(other));
        }
        done
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The next item that no thread has taken: one by one, because a thread that took several would end
/// last.
fn next<I: Iterator>(items: &Mutex<I>) -> Option<I::Item> {
    // no thread panics while it holds the lock
    let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
    items.next()
}

/// Starts so many threads, or as many as the system starts.
fn start<'s, R: Send + 's>(
    count: usize,
    scope: &'s thread::Scope<'s, '_>,
    work: &'s (impl Fn() -> R + Sync),
) -> Vec<ScopedJoinHandle<'s, R>> {
    let mut started = Vec::new();
    for _ in 0..count {
        match Builder::new().spawn_scoped(scope, work) {
            Ok(thread) => started.push(thread),
            // the calling thread does what is left, so this is no error
            Err(_) => break,
        }
    }
    started
}

fn joined<R>(thread: ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Passes items through three stages until `fill` or `drain` returns `false`: `fill` prepares them
/// one after the other, `work` runs on several at once, and `drain` takes them one after the other
/// in the order in which they were filled. `new` creates an item; items are reused. The calling
/// thread drains some items and fills others while threads work on those between them.
///
/// # Errors
/// The first error of `fill` or `drain`. All items before it are drained.
pub fn pipeline<T: Send>(
    new: impl Fn() -> T,
    mut fill: impl FnMut(&mut T) -> io::Result<bool>,
    work: impl Fn(&mut T) + Sync,
    mut drain: impl FnMut(&mut T) -> io::Result<bool>,
) -> io::Result<()> {
    let mut end = None;
    let mut fill_batch = |batch: &mut Batch<T>, count: usize| {
        batch.filled = 0;
        while end.is_none() && batch.filled < count {
            if batch.filled == batch.items.len() {
                batch.items.push(new());
            }
            match fill(&mut batch.items[batch.filled]) {
                Ok(true) => batch.filled += 1,
                // an error is returned only after the items before it are drained
                other => end = Some(other.map(drop)),
            }
        }
    };
    let mut fresh = Batch {
        items: Vec::new(),
        filled: 0,
    };
    let mut worked = Batch {
        items: Vec::new(),
        filled: 0,
    };
    let mut count = SERIAL_ITEMS;
    fill_batch(&mut fresh, count);
    while fresh.filled + worked.filled > 0 {
        // a document that fills the first items is worth starting threads
        if fresh.filled == SERIAL_ITEMS {
            count = threads() * ITEMS_PER_THREAD;
        }
        let goes_on = while_working(&mut fresh.items[..fresh.filled], &work, || {
            for item in &mut worked.items[..worked.filled] {
                if !drain(item)? {
                    return io::Result::Ok(false);
                }
            }
            fill_batch(&mut worked, count);
            Ok(true)
        });
        if !goes_on? {
            return Ok(());
        }
        mem::swap(&mut fresh, &mut worked);
    }
    end.unwrap_or(Ok(()))
}

/// Items of a pipeline, of which the first ones are filled.
struct Batch<T> {
    items: Vec<T>,
    filled: usize,
}

/// Works on the items in parallel while the calling thread does something else, and then with it; on
/// few of them before it does so.
fn while_working<T: Send, R>(
    items: &mut [T],
    work: &(impl Fn(&mut T) + Sync),
    other: impl FnOnce() -> R,
) -> R {
    let threads = threads();
    if threads < 2 || items.len() <= SERIAL_ITEMS {
        items.iter_mut().for_each(work);
        return other();
    }
    let items = Mutex::new(items.iter_mut());
    let work_off = || {
        while let Some(item) = next(&items) {
            ALONE.run(|| work(item));
        }
    };
    thread::scope(|scope| {
        // besides the calling thread, which mostly waits for what it reads or writes
        let others = start(threads, scope, &work_off);
        let result = other();
        work_off();
        others.into_iter().for_each(joined);
        result
    })
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

    #[test]
    fn all_items_before_an_error_are_drained_in_order() {
        for count in [0, 1, 2, 3, 100] {
            let mut next = 0;
            let mut drained = Vec::new();
            let fill = |item: &mut usize| {
                next += 1;
                *item = next;
                if next > count {
                    Err(io::ErrorKind::NotFound.into())
                } else {
                    Ok(true)
                }
            };
            let drain = |item: &mut usize| {
                drained.push(*item);
                Ok(true)
            };
            let error = pipeline(usize::default, fill, |item| *item *= 2, drain).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert_eq!(
                drained,
                (1..=count).map(|item| 2 * item).collect::<Vec<_>>()
            );
        }
    }
}
