//! Parallel work on rayon's threads: those of the pool that the caller runs in, or those of a pool
//! of this crate. Where the system starts no threads, and in a process that was forked after they
//! had started, the calling thread does all work.
//!
//! A panic in a piece of work propagates to the caller as soon as the pieces that have started are
//! done.

use std::sync::OnceLock;
use std::{io, mem, process};

use rayon::prelude::*;

/// A number of threads for work on whole tables. Without it, all processors are used: by threads of
/// the crate, which the first call with enough work starts, and which stay.
///
/// A process that is forked has none of its parent's threads. Work in it that is not in a `Threads`
/// of its own is done by the calling thread; `run` of a `Threads` that the parent has made never
/// returns there.
///
/// ```
/// use job_sort_formula::rank::{OnError, ScorePrecision};
/// use job_sort_formula::{Formula, Job, JobTable, Ranking, Schema, Threads, Value};
///
/// let program = Formula::parse("ncpus * 2")?.compile(&Schema::openpbs())?;
/// let mut table = JobTable::new(["ncpus"]);
/// table.push(&Job { id: "1.vm", ..Job::default() }, &[Ok(Value::Int(4))])?;
/// let threads = Threads::new(1)?;
/// let ranking = threads.run(|| Ranking::new(&program, &table, ScorePrecision::Float32, OnError::ZeroLikePbs));
/// assert_eq!(ranking.order(), [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Threads(rayon::ThreadPool);

impl Threads {
    /// Starts `count` threads, which wait for work; one for each processor if it is 0.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn new(count: usize) -> io::Result<Self> {
        build_pool(count).map(Self).map_err(io::Error::other)
    }

    /// Runs `work` on one of the threads; all that `work` does in parallel is done by these
    /// threads.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.0.install(work)
    }
}

/// The items of a pipeline that each thread works on while as many others are drained and filled:
/// enough that no thread waits long for the last one.
const ITEMS_PER_THREAD: usize = 2;

/// The number of items that the calling thread works on alone; other threads would not speed up so
/// little work.
const SERIAL_ITEMS: usize = 2;

/// Threads, and the process that started them.
struct Pool {
    process: u32,
    threads: rayon::ThreadPool,
}

/// The threads for callers outside a pool of rayon: one for each processor; `None` if the system
/// does not start at least two.
static POOL: OnceLock<Option<Pool>> = OnceLock::new();

/// The threads of this process; `None` in one that was forked afterwards, where they do not exist.
fn pool() -> Option<&'static rayon::ThreadPool> {
    let started = POOL.get_or_init(start_pool).as_ref()?;
    // a forked process has the pool's memory, but none of its threads
    if started.process == process::id() {
        Some(&started.threads)
    } else {
        None
    }
}

fn start_pool() -> Option<Pool> {
    // where the system refuses threads, the calling thread does all work, so this is no error
    let threads = build_pool(0).ok()?;
    // the caller would wait for a single thread instead of doing the work itself
    if threads.current_num_threads() == 1 {
        return None;
    }
    Some(Pool {
        process: process::id(),
        threads,
    })
}

fn build_pool(threads: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()
}

/// Whether the caller runs on a thread of a pool.
fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

/// The number of threads that work in parallel, at least 1.
fn threads() -> usize {
    if is_in_pool() {
        return rayon::current_num_threads();
    }
    match pool() {
        Some(pool) => pool.current_num_threads(),
        None => 1,
    }
}

/// Applies `work` to each item in parallel; the results are in the order of the items.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let is_in_pool = is_in_pool();
    // outside a pool, rayon starts its global one, and panics where the system starts no threads
    let pool = if is_in_pool { None } else { pool() };
    if items.len() < 2 || !is_in_pool && pool.is_none() {
        return items.into_iter().map(work).collect();
    }
    // one by one, because each is much work: a thread that took several would end last
    let map = || items.into_par_iter().with_max_len(1).map(&work).collect();
    match pool {
        Some(pool) => pool.install(map),
        None => map(),
    }
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

/// Works on the items in parallel while the calling thread does something else; on few of them
/// before it does so.
fn while_working<T: Send, R>(
    items: &mut [T],
    work: &(impl Fn(&mut T) + Sync),
    other: impl FnOnce() -> R,
) -> R {
    let pool = if is_in_pool() || items.len() <= SERIAL_ITEMS {
        None
    } else {
        pool()
    };
    if let Some(pool) = pool {
        // the calling thread is not one of the pool, and goes on with its own part
        return pool.in_place_scope(|scope| {
            spawn(scope, items, work);
            other()
        });
    }
    if is_in_pool() {
        return rayon::in_place_scope(|scope| {
            spawn(scope, items, work);
            other()
        });
    }
    items.iter_mut().for_each(work);
    other()
}

fn spawn<'s, T: Send>(
    scope: &rayon::Scope<'s>,
    items: &'s mut [T],
    work: &'s (impl Fn(&mut T) + Sync),
) {
    scope.spawn(move |_| items.par_iter_mut().with_max_len(1).for_each(work));
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
