//! Parallel work on threads that a call starts and joins, so that nothing outlives it: neither a pool
//! nor what a forked process would lack. Where the system starts no threads, the calling thread does
//! all work.
//!
//! A panic in a piece of work propagates to the caller, after the other threads have ended.

use std::cell::Cell;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, available_parallelism};

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
    let work_until_done = || {
        let mut done = Vec::new();
        // one by one, because a thread that took several would end last
        while let Some((index, item)) = next(&items) {
            done.push((index, ALONE.run(|| work(item))));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let mut others = Vec::new();
        // the calling thread is one of them
        for _ in 1..threads {
            match Builder::new().spawn_scoped(scope, work_until_done) {
                Ok(thread) => others.push(thread),
                // where the system starts no more threads, those that there are do all work
                Err(_) => break,
            }
        }
        let mut done = work_until_done();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    // the threads end in any order
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The next item that no thread has taken.
fn next<I: Iterator>(items: &Mutex<I>) -> Option<I::Item> {
    // no thread panics while it holds the lock
    let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
    items.next()
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
