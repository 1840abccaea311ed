//! Parallel work on rayon's threads: those of the pool that the caller runs in, or those of a pool of this crate. Where the
//! system starts no threads, and in a process that was forked after they had started, the calling thread does all work.
//!
//! A panic in a piece of work propagates to the caller as soon as the pieces that have started are done.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{process, thread};

/// A number of threads for work on whole tables. Without it, all processors are used: by threads of the crate, which the first
/// call with enough work starts, and which stay.
///
/// A process that is forked has none of its parent's threads. Work in it that is not in a `Threads` of its own is done by the
/// calling thread; `run` of a `Threads` that the parent has made never returns there.
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
pub struct Threads(rayon_core::ThreadPool);

impl Threads {
    /// Starts `count` threads, which wait for work; one for each processor if it is 0.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn new(count: usize) -> io::Result<Self> {
        build_pool(count).map(Self).map_err(io::Error::other)
    }

    /// Runs `work` on one of the threads; all that `work` does in parallel is done by these threads.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.0.install(work)
    }
}

/// The number of items of a pipeline in memory, per thread: enough that no thread waits while another one drains.
const ITEMS_PER_THREAD: usize = 4;

/// The number of items that the calling thread works on alone; other threads would not speed up so little work.
const SERIAL_ITEMS: usize = 2;

/// Threads, and the process that started them.
struct Pool {
    process: u32,
    threads: rayon_core::ThreadPool,
}

/// The threads for callers outside a pool of rayon: one for each processor, or half as many as often as the system refuses
/// them; `None` if it starts fewer than two.
static POOL: OnceLock<Option<Pool>> = OnceLock::new();

/// The threads of this process; `None` in one that was forked afterwards, where they do not exist.
fn pool() -> Option<&'static rayon_core::ThreadPool> {
    let started = POOL.get_or_init(|| start_threads().map(|threads| Pool { process: process::id(), threads }));
    started.as_ref().filter(|pool| pool.process == process::id()).map(|pool| &pool.threads)
}

fn start_threads() -> Option<rayon_core::ThreadPool> {
    let mut pool = build_pool(0);
    let mut count = thread::available_parallelism().map_or(1, usize::from);
    while pool.is_err() && count > 2 {
        count /= 2;
        pool = build_pool(count);
    }
    pool.ok().filter(|pool| pool.current_num_threads() > 1)
}

fn build_pool(threads: usize) -> Result<rayon_core::ThreadPool, rayon_core::ThreadPoolBuildError> {
    rayon_core::ThreadPoolBuilder::new().num_threads(threads).build()
}

/// Whether the caller runs on a thread of a pool.
fn is_in_pool() -> bool {
    rayon_core::current_thread_index().is_some()
}

/// The number of threads that work in parallel, at least 1.
pub(crate) fn threads() -> usize {
    if is_in_pool() {
        return rayon_core::current_num_threads();
    }
    pool().map_or(1, rayon_core::ThreadPool::current_num_threads)
}

/// Runs `parallel` in a pool, where functions of rayon find its threads, or `serial` without a pool.
fn in_pool<T: Send, R: Send>(input: T, parallel: impl FnOnce(T) -> R + Send, serial: impl FnOnce(T) -> R) -> R {
    if is_in_pool() {
        return parallel(input);
    }
    match pool() {
        Some(pool) => pool.install(|| parallel(input)),
        None => serial(input),
    }
}

/// Applies `work` to each item in parallel; the results are in the order of the items.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() < 2 {
        return items.into_iter().map(work).collect();
    }
    in_pool(items, |items| map_in_pool(items, &work), |items| items.into_iter().map(&work).collect())
}

fn map_in_pool<T: Send, R: Send>(items: Vec<T>, work: &(impl Fn(T) -> R + Sync)) -> Vec<R> {
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    rayon_core::scope_fifo(|scope| {
        for (item, result) in items.into_iter().zip(&mut results) {
            scope.spawn_fifo(|_| *result = Some(work(item)));
        }
    });
    results.into_iter().flatten().collect()
}

/// Sorts the items in parallel if they are many. The order of equal items is not kept.
pub(crate) fn sort_unstable<T: Ord + Send>(items: &mut [T]) {
    if items.len() < PARALLEL_ROWS {
        return items.sort_unstable();
    }
    let parts = items.chunks_mut(items.len().div_ceil(threads())).collect();
    map(parts, <[T]>::sort_unstable);
    // merges the sorted parts; with rayon's own sort, a million keys took a third more processor time
    items.sort();
}

/// The number of rows of a table from which two threads are faster than one at work that takes nanoseconds per row.
const PARALLEL_ROWS: usize = 10_000;

/// The number of threads that work in parallel on so many rows of a table.
pub(crate) fn threads_for(rows: usize) -> usize {
    if rows < PARALLEL_ROWS { 1 } else { threads() }
}

/// Does two pieces of work, in parallel if they concern many rows of a table.
pub(crate) fn join<A: Send, B: Send>(
    rows: usize,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if rows < PARALLEL_ROWS {
        return (one(), other());
    }
    in_pool((one, other), |(one, other)| rayon_core::join(one, other), |(one, other)| (one(), other()))
}

/// Passes items through three stages until `fill` or `drain` returns `false`: `fill` prepares them one after the other,
/// `work` runs on several at once, and `drain` takes them one after the other in the order in which they were filled.
/// `new` creates an item; items are reused. The thread that works on an item also fills it, so that the item is in its
/// cache. The calling thread drains; while no item is ready to be drained, it fills and works as the other threads do.
///
/// # Errors
/// The first error of `fill` or `drain`.
pub fn pipeline<T: Send>(
    new: impl Fn() -> T + Sync,
    fill: impl FnMut(&mut T) -> io::Result<bool> + Send,
    work: impl Fn(&mut T) + Sync,
    mut drain: impl FnMut(&mut T) -> io::Result<bool>,
) -> io::Result<()> {
    // one item more than the calling thread works on alone
    let pipeline = Pipeline { state: Mutex::new(State::new(fill, SERIAL_ITEMS + 1)), changed: Condvar::new() };
    let work_on = |number: usize, mut item: T| {
        work(&mut item);
        pipeline.change(|state| _ = state.ready.insert(number, item));
    };
    let run_worker = || {
        let _guard = StopOnPanic(&pipeline);
        while let Step::Work(number, item) = pipeline.next_step(false, &new) {
            work_on(number, item);
        }
    };
    // works and drains until the end, or returns the first item that should be worked on in parallel
    let mut run_and_drain = |is_serial: bool| {
        let _guard = StopOnPanic(&pipeline);
        loop {
            match pipeline.next_step(true, &new) {
                Step::Work(number, item) if is_serial && number == SERIAL_ITEMS => return Some((number, item)),
                Step::Work(number, item) => work_on(number, item),
                Step::Drain(mut item) => match drain(&mut item) {
                    Ok(true) => pipeline.change(|state| state.put_back(item)),
                    end => {
                        pipeline.change(|state| state.stop(end.map(drop)));
                        return None;
                    }
                },
                Step::End => return None,
            }
        }
    };
    if let Some((number, item)) = run_and_drain(true) {
        let threads = threads();
        pipeline.change(|state| state.capacity = threads * ITEMS_PER_THREAD);
        let run_rest = || {
            let _guard = StopOnPanic(&pipeline);
            work_on(number, item);
            run_and_drain(false);
        };
        match pool().filter(|_| !is_in_pool()) {
            Some(pool) => pool.in_place_scope(|scope| {
                spawn(scope, threads - 1, &run_worker);
                run_rest();
            }),
            None if is_in_pool() => rayon_core::in_place_scope(|scope| {
                spawn(scope, threads - 1, &run_worker);
                run_rest();
            }),
            None => run_rest(),
        }
    }
    pipeline.lock().end.take().unwrap_or(Ok(()))
}

/// Runs `work` on several threads at once.
fn spawn<'s>(scope: &rayon_core::Scope<'s>, threads: usize, work: &'s (impl Fn() + Sync)) {
    (0..threads).for_each(|_| scope.spawn(|_| work()));
}

/// What a thread of a pipeline does next.
enum Step<T> {
    /// Work on the item of this number, from 0, which has just been filled.
    Work(usize, T),
    Drain(T),
    End,
}

/// A pipeline, shared between its threads.
struct Pipeline<T, F> {
    state: Mutex<State<T, F>>,
    changed: Condvar,
}

impl<T, F> Pipeline<T, F> {
    /// Locks the state, even after a panic: no holder of the lock leaves it inconsistent.
    fn lock(&self) -> MutexGuard<'_, State<T, F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes the threads that wait for a change.
    fn change(&self, change: impl FnOnce(&mut State<T, F>)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until there is something to do.
    fn next_step(&self, drains: bool, new: &impl Fn() -> T) -> Step<T>
    where
        F: FnMut(&mut T) -> io::Result<bool>,
    {
        let mut state = self.lock();
        loop {
            if let Some(step) = state.next_step(drains, new) {
                return step;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The items of a pipeline that no thread works on.
struct State<T, F> {
    fill: F,
    /// The items to be filled again.
    spare: Vec<T>,
    /// The items to be drained, by number.
    ready: BTreeMap<usize, T>,
    filled: usize,
    drained: usize,
    /// The most items that are filled and not yet drained.
    capacity: usize,
    /// Why no more items are filled.
    end: Option<io::Result<()>>,
    /// Whether no more items are drained either.
    is_stopped: bool,
}

impl<T, F> State<T, F> {
    fn new(fill: F, capacity: usize) -> Self {
        Self {
            fill,
            spare: Vec::new(),
            ready: BTreeMap::new(),
            filled: 0,
            drained: 0,
            capacity,
            end: None,
            is_stopped: false,
        }
    }

    /// What a thread can do now, if anything.
    fn next_step(&mut self, drains: bool, new: impl Fn() -> T) -> Option<Step<T>>
    where
        F: FnMut(&mut T) -> io::Result<bool>,
    {
        if drains && let Some(item) = self.ready.remove(&self.drained) {
            return Some(Step::Drain(item));
        }
        if self.end.is_none() && self.filled - self.drained < self.capacity {
            let mut item = self.spare.pop().unwrap_or_else(new);
            match (self.fill)(&mut item) {
                Ok(true) => {
                    self.filled += 1;
                    return Some(Step::Work(self.filled - 1, item));
                }
                end => self.end = Some(end.map(drop)),
            }
        }
        let is_over = self.end.is_some() && (!drains || self.drained == self.filled);
        (is_over || self.is_stopped).then_some(Step::End)
    }

    /// Makes a drained item available again.
    fn put_back(&mut self, item: T) {
        self.spare.push(item);
        self.drained += 1;
    }

    fn stop(&mut self, end: io::Result<()>) {
        self.end = Some(end);
        self.is_stopped = true;
    }
}

/// Stops a pipeline when the thread panics, so that no other thread waits for its item.
struct StopOnPanic<'p, T, F>(&'p Pipeline<T, F>);

impl<T, F> Drop for StopOnPanic<'_, T, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.change(|state| state.stop(Ok(())));
        }
    }
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
