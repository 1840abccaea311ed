//! The waiting jobs in the order in which a cycle considers them.

use std::cmp::{Ordering, Reverse};
use std::collections::VecDeque;

use super::Machine;
use super::reservations::Reservations;

/// Which candidates a cycle still asks for. A source may return others too, which do not start; it
/// may leave out those that are not wanted where nobody needs to know why they wait.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The level of a job in preemption, which comes before the order; `None` if it changes in no
    /// cycle.
    pub(super) level: Option<&'a dyn Fn(u32) -> i64>,
    /// What those leave that run or are promised a start, if only jobs are wanted that may start
    /// now.
    room: Option<Room<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct Room<'a> {
    now: i64,
    machine: &'a Machine,
    reservations: &'a Reservations,
}

/// The most processors with which a job can start on a machine that is one count of processors.
#[derive(Debug, Clone, Copy)]
pub struct MostProcessors {
    /// For a job that ends before the first start that is promised.
    free: i64,
    /// For a job with at least this walltime.
    overlapping: i64,
    least_overlapping_walltime: i64,
}

impl MostProcessors {
    /// As many as a job may ask for.
    const UNBOUNDED: Self = Self {
        free: i64::MAX,
        overlapping: i64::MAX,
        least_overlapping_walltime: i64::MAX,
    };

    /// The most processors of a job of a walltime; more than these are too many, and these may be
    /// if several starts are promised.
    pub fn of(&self, walltime: i64) -> i64 {
        if walltime >= self.least_overlapping_walltime {
            self.overlapping
        } else {
            self.free
        }
    }
}

impl<'a> Wanted<'a> {
    /// The next candidate of the highest level.
    pub(super) fn of_highest(level: &'a dyn Fn(u32) -> i64) -> Self {
        Self {
            level: Some(level),
            room: None,
        }
    }

    /// The next candidate, whether it can start or not.
    pub(super) const ANY: Self = Self {
        level: None,
        room: None,
    };

    /// The candidates that may start at a moment.
    pub(super) fn that_may_start(
        now: i64,
        machine: &'a Machine,
        reservations: &'a Reservations,
    ) -> Self {
        Self {
            level: None,
            room: Some(Room {
                now,
                machine,
                reservations,
            }),
        }
    }

    /// Whether the next candidate is wanted even if it cannot start.
    pub fn is_any(&self) -> bool {
        self.room.is_none()
    }

    /// The most processors with which jobs are wanted: on a machine that is one count of processors
    /// exactly those that can start, on another one no more than a bound.
    pub fn most(&self) -> MostProcessors {
        let Some(Room {
            now,
            machine,
            reservations,
        }) = self.room
        else {
            return MostProcessors::UNBOUNDED;
        };
        let free = machine.free(0);
        match reservations.first().filter(|_| machine.is_one_count()) {
            None => MostProcessors {
                free,
                overlapping: free,
                least_overlapping_walltime: i64::MAX,
            },
            Some((start, beside)) => MostProcessors {
                free,
                overlapping: free.min(beside),
                least_overlapping_walltime: start - now + 1,
            },
        }
    }
}

/// The waiting jobs in their order. Each is returned once, but an array as often as a subjob of it
/// starts.
pub trait Candidates {
    /// The next job that has not been decided.
    fn next(&mut self, wanted: &Wanted<'_>) -> Option<u32>;

    /// The job that was returned last starts, or a subjob of it.
    fn started(&mut self, job: u32);

    /// The job that was returned last is promised a start.
    fn reserved(&mut self, _job: u32) {}

    /// A running job gave way and waits again.
    fn add(&mut self, _job: u32) {}
}

/// The order of jobs under `by_queue`, `round_robin` or neither, by comparing them.
pub struct SortedCandidates<O> {
    order: O,
    groups: VecDeque<QueueGroup>,
    /// Whether the queues of a group take turns (`round_robin`).
    takes_turns: bool,
    /// The place of the job that was returned last: the index of its queue in the first group.
    last: usize,
    is_sorted: bool,
}

/// Compares jobs by all but the queue.
pub trait JobOrder {
    /// Which of two jobs comes first.
    fn compare(&mut self, left: u32, right: u32) -> Ordering;

    /// Charges a job, for the rest of the cycle, to its fair-share entity. Returns whether that can
    /// change the order.
    fn charge(&mut self, _job: u32) -> bool {
        false
    }

    /// A job that ran waits again.
    fn add(&mut self, _job: u32) {}

    /// Counts a start of a job. Returns whether another subjob of it waits.
    fn start(&mut self, _job: u32) -> bool {
        false
    }
}

/// The queues with the same priority.
#[derive(Debug)]
struct QueueGroup {
    queues: Vec<VecDeque<u32>>,
    /// The queue whose turn it is, where queues take turns.
    turn: usize,
}

impl QueueGroup {
    /// The queue whose job comes next; `None` if all are empty.
    fn next_queue(&self, takes_turns: bool) -> Option<usize> {
        let first = if takes_turns { self.turn } else { 0 };
        let count = self.queues.len();
        (first..first + count)
            .map(|queue| queue % count)
            .find(|&queue| !self.queues[queue].is_empty())
    }
}

impl<O: JobOrder> SortedCandidates<O> {
    /// The jobs of each queue, in groups of queues with the same priority, the highest first: under
    /// `by_queue` a queue of its own each, in turn under `round_robin`. Without both there is one
    /// group of one list.
    pub fn new(order: O, groups: Vec<Vec<Vec<u32>>>, takes_turns: bool) -> Self {
        let mut filled = VecDeque::with_capacity(groups.len());
        for queues in groups {
            filled.push_back(QueueGroup {
                queues: queues.into_iter().map(VecDeque::from).collect(),
                turn: 0,
            });
        }
        Self {
            order,
            groups: filled,
            takes_turns,
            last: 0,
            is_sorted: false,
        }
    }

    fn sort(&mut self) {
        let Self { groups, order, .. } = self;
        for list in groups.iter_mut().flat_map(|group| &mut group.queues) {
            list.make_contiguous()
                .sort_by(|&left, &right| order.compare(left, right));
        }
        self.is_sorted = true;
    }
}

impl<O: JobOrder> Candidates for SortedCandidates<O> {
    fn next(&mut self, wanted: &Wanted<'_>) -> Option<u32> {
        if !self.is_sorted {
            self.sort();
        }
        while let Some(group) = self.groups.front_mut() {
            let Some(queue) = group.next_queue(self.takes_turns) else {
                self.groups.pop_front();
                continue;
            };
            group.turn = queue + 1;
            self.last = queue;
            let list = &mut group.queues[queue];
            let highest = wanted.level.and_then(|level| {
                let levels = list.iter().map(|&job| level(job)).zip(0..);
                levels.max_by_key(|(level, place)| (*level, Reverse(*place)))
            });
            return match highest {
                Some((_, place)) => list.remove(place),
                None => list.pop_front(),
            };
        }
        None
    }

    fn started(&mut self, job: u32) {
        if self.order.start(job)
            && let Some(group) = self.groups.front_mut()
        {
            group.queues[self.last].push_front(job);
        }
        self.reserved(job);
    }

    fn add(&mut self, job: u32) {
        self.order.add(job);
        let is_one_list = self.groups.len() == 1 && self.groups[0].queues.len() == 1;
        if is_one_list {
            self.groups[0].queues[0].push_back(job);
        } else {
            self.groups.push_back(QueueGroup {
                queues: vec![VecDeque::from([job])],
                turn: 0,
            });
        }
        self.is_sorted = false;
    }

    fn reserved(&mut self, job: u32) {
        if self.order.charge(job) {
            self.is_sorted = false;
        }
    }
}
