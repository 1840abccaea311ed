//! The waiting jobs in the order in which a cycle considers them.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::Cycle;

/// The most processors with which a job can start on a machine that is one count of processors.
#[derive(Debug, Clone, Copy)]
pub struct MostProcessors {
    /// For a job that ends before the first start that is promised.
    pub(super) free: i64,
    /// For a job with at least this walltime.
    pub(super) overlapping: i64,
    pub(super) least_overlapping_walltime: i64,
}

impl MostProcessors {
    /// As many as a job asks for.
    pub const ANY: Self = Self {
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

/// The waiting jobs in their order. Each is returned once, but an array as often as a subjob of it
/// starts.
pub trait Candidates {
    /// The next job that has not been decided. Jobs of more than [`Cycle::most_processors`] do not
    /// start; they may be left out where nobody needs to know why they wait.
    fn next(&mut self, cycle: &Cycle<'_>) -> Option<u32>;

    /// The job that was returned last starts, or a subjob of it.
    fn started(&mut self, _job: u32) {}

    /// The job that was returned last is promised a start.
    fn reserved(&mut self, _job: u32) {}

    /// A running job gave way and waits again.
    fn add(&mut self, _job: u32) {}

    /// The levels of jobs have changed.
    fn sort_again(&mut self) {}
}

/// The order of jobs under `by_queue`, `round_robin` or neither, by comparing them.
pub struct SortedCandidates<O> {
    order: O,
    /// By queue: its group, and its place there.
    places: Vec<(u32, u32)>,
    groups: Vec<QueueGroup>,
    /// The first group that is not empty.
    group: usize,
    /// Whether the queues of a group take turns (`round_robin`).
    takes_turns: bool,
    /// Which jobs come before the queues are looked at.
    urgent: UrgentJobs,
    /// Whether the job that was returned last came first because it gave way.
    has_resumed: bool,
    /// The queue of the job that was returned last: its group, and its place there.
    last: (usize, usize),
    is_sorted: bool,
}

/// The jobs of express queues, and those that gave way, which come first under `by_queue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrgentJobs {
    /// They do not.
    None,
    /// They do, until the first one in the order of all jobs is of neither kind.
    OfAll,
    /// They do, until the first one is of neither kind, queue by queue (`fair_share`).
    QueueByQueue,
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

    /// The index of the queue of a job.
    fn queue(&self, job: u32) -> usize;

    /// Counts a start of a job. Returns whether another subjob of it waits.
    fn start(&mut self, _job: u32) -> bool {
        false
    }
}

/// The queues with the same priority.
#[derive(Debug, Default)]
struct QueueGroup {
    queues: Vec<VecDeque<u32>>,
    /// The queue whose turn it is; without turns the first one that was not empty.
    turn: usize,
}

impl QueueGroup {
    /// The queue whose job comes next; `None` if all are empty.
    fn next_queue(&mut self, takes_turns: bool) -> Option<usize> {
        let count = self.queues.len();
        let last = if takes_turns {
            self.turn + count
        } else {
            count
        };
        for turn in self.turn..last {
            let queue = turn % count;
            if !self.queues[queue].is_empty() {
                self.turn = queue + usize::from(takes_turns);
                return Some(queue);
            }
        }
        None
    }
}

impl<O: JobOrder> SortedCandidates<O> {
    /// The jobs of queues. `queues` has for each one the place of its group, of those with the same
    /// priority, and its place there: under `by_queue` its jobs follow each other, under
    /// `round_robin` those of a group take turns. Queues at one place are one list.
    pub fn new(
        order: O,
        queues: &[(u32, u32)],
        jobs: impl IntoIterator<Item = u32>,
        takes_turns: bool,
        urgent: UrgentJobs,
    ) -> Self {
        let mut groups: Vec<QueueGroup> = Vec::new();
        for &(group, place) in queues {
            let (group, place) = (group as usize, place as usize);
            groups.resize_with(groups.len().max(group + 1), QueueGroup::default);
            let lists = &mut groups[group].queues;
            lists.resize_with(lists.len().max(place + 1), VecDeque::new);
        }
        let mut candidates = Self {
            order,
            places: queues.to_vec(),
            groups,
            group: 0,
            takes_turns,
            urgent,
            has_resumed: false,
            last: (0, 0),
            is_sorted: false,
        };
        for job in jobs {
            candidates.push(job);
        }
        candidates
    }

    fn push(&mut self, job: u32) {
        let (group, place) = self.places[self.order.queue(job)];
        self.groups[group as usize].queues[place as usize].push_back(job);
    }

    fn sort(&mut self, cycle: &Cycle<'_>) {
        for group in &mut self.groups {
            for list in &mut group.queues {
                let list = list.make_contiguous();
                if cycle.preemptive_levels().is_none() {
                    list.sort_by(|&one, &other| self.order.compare(one, other));
                    continue;
                }
                let mut keyed = Vec::with_capacity(list.len());
                for &job in &*list {
                    keyed.push((cycle.precedence(job), job));
                }
                keyed.sort_by(|(key, job), (other_key, other)| {
                    let by_key = key.cmp(other_key);
                    by_key.then_with(|| self.order.compare(*job, *other))
                });
                for (job, (_, sorted)) in list.iter_mut().zip(keyed) {
                    *job = sorted;
                }
            }
        }
        self.is_sorted = true;
    }

    /// Takes the first job of an express queue, or that gave way, unless another one comes before.
    fn next_urgent(&mut self, cycle: &Cycle<'_>) -> Option<u32> {
        let mut first: Option<(usize, usize, usize, u32)> = None;
        for (group, queues) in self.groups.iter().enumerate() {
            for (queue, list) in queues.queues.iter().enumerate() {
                let mut jobs = list.iter();
                let Some(place) =
                    jobs.position(|&job| cycle.is_urgent(job) || cycle.is_normal(job))
                else {
                    continue;
                };
                let job = list[place];
                let is_first = match first {
                    None => true,
                    Some((.., other)) if self.urgent == UrgentJobs::OfAll => {
                        let by_key = cycle.precedence(job).cmp(&cycle.precedence(other));
                        by_key.is_lt() || by_key.is_eq() && self.order.compare(job, other).is_lt()
                    }
                    Some(_) => false,
                };
                if is_first {
                    first = Some((group, queue, place, job));
                }
            }
        }
        let (group, queue, place, job) = first?;
        if !cycle.is_urgent(job) {
            return None;
        }
        self.has_resumed = cycle.is_normal(job);
        self.last = (group, queue);
        self.groups[group].queues[queue].remove(place)
    }
}

impl<O: JobOrder> Candidates for SortedCandidates<O> {
    fn next(&mut self, cycle: &Cycle<'_>) -> Option<u32> {
        if !self.is_sorted {
            self.sort(cycle);
        }
        if cycle.preemptive_levels().is_some() && self.urgent != UrgentJobs::None {
            if let Some(job) = self.next_urgent(cycle) {
                return Some(job);
            }
            self.urgent = UrgentJobs::None;
        }
        while let Some(group) = self.groups.get_mut(self.group) {
            let Some(queue) = group.next_queue(self.takes_turns) else {
                self.group += 1;
                continue;
            };
            self.last = (self.group, queue);
            return group.queues[queue].pop_front();
        }
        None
    }

    fn started(&mut self, job: u32) {
        // the scheduler goes on from it, and takes it for a job of neither kind; ordered by fair
        // share, the jobs are sorted again before
        if self.has_resumed && self.is_sorted && self.urgent == UrgentJobs::OfAll {
            self.urgent = UrgentJobs::None;
        }
        if self.order.start(job) {
            let (group, queue) = self.last;
            self.groups[group].queues[queue].push_front(job);
        }
        self.reserved(job);
    }

    fn add(&mut self, job: u32) {
        self.order.add(job);
        self.push(job);
    }

    fn sort_again(&mut self) {
        self.is_sorted = false;
    }

    fn reserved(&mut self, job: u32) {
        self.is_sorted &= !self.order.charge(job);
    }
}
