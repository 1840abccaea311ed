//! The waiting jobs of a cycle in their order ([`Candidates`]): queue by queue ([`QueueOrder`]), in
//! a queue by their values, their fair share and their places among equal ones, which change while
//! the cycle starts jobs.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

use job_sort_formula::rank::{higher_first, merge_sort};

use super::{Cycle, CycleJob};
use crate::files::queues::Queues;
use crate::files::sched_config::SchedConfig;
use crate::pbs_tree::SharePaths;

/// The waiting jobs in their order. Each is returned once, but an array as often as a subjob of it
/// starts.
pub trait Candidates {
    /// The next job that has not been decided. Jobs that are not [wanted](Cycle::wanted) do not start;
    /// they may be left out where nobody needs to know why they wait.
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

/// The group of a queue, of those with the same priority, and its place among all.
pub type QueuePlace = (u32, u32);

/// In which order the queues of one scheduler have their turns. The default is one list of all jobs.
#[derive(Debug, Clone, Default)]
pub struct QueueOrder {
    /// By queue: its place among all; those beyond the list are at the first place. Unless the queue
    /// is chosen first, there is one group, of all queues in the server's order.
    pub places: Vec<QueuePlace>,
    /// Whether the jobs of a queue follow each other (`by_queue`, `round_robin`).
    pub chooses_queue_first: bool,
    /// Whether the queues of a group take turns (`round_robin`).
    pub takes_turns: bool,
    /// Whether fair share orders jobs with equal values (`fair_share`).
    pub by_fair_share: bool,
}

impl QueueOrder {
    /// The order of these queues in prime time. Queues that the server does not list come last in
    /// their group, each at a place of its own, or all at one.
    pub fn new(
        config: &SchedConfig,
        queues: &Queues,
        names: impl IntoIterator<Item = impl AsRef<str>>,
        tells_unlisted_apart: bool,
    ) -> Self {
        let takes_turns = config.round_robin.prime;
        let chooses_queue_first = config.by_queue.prime || takes_turns;
        let mut keys = Vec::new();
        for (index, name) in names.into_iter().enumerate() {
            let name = name.as_ref();
            let mut priority = 0;
            if chooses_queue_first {
                priority = queues.priority(name).unwrap_or(0);
            }
            // queues of one priority stay in the order in which they were created
            let position = queues.position(name).unwrap_or(usize::MAX);
            let is_apart = tells_unlisted_apart && position == usize::MAX;
            let place_apart = if is_apart { index } else { 0 };
            keys.push((Reverse(priority), position, place_apart));
        }
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let mut place_of = HashMap::new();
        for (queues, group) in sorted.chunk_by(|one, other| one.0 == other.0).zip(0..) {
            for key in queues {
                place_of.insert(*key, (group, place_of.len() as u32));
            }
        }
        Self {
            places: keys.iter().map(|key| place_of[key]).collect(),
            chooses_queue_first,
            takes_turns,
            by_fair_share: config.fair_share.prime,
        }
    }

    /// The place of a queue among all.
    pub fn place(&self, queue: usize) -> QueuePlace {
        self.places.get(queue).copied().unwrap_or_default()
    }

    /// The same if the queue is chosen first; otherwise all queues are at one place.
    pub fn chosen_place(&self, queue: usize) -> QueuePlace {
        if self.chooses_queue_first {
            self.place(queue)
        } else {
            QueuePlace::default()
        }
    }

    /// Merges the sorted jobs of each queue into one order, if the queue is chosen first.
    pub fn merged(&self, of_queues: &[Vec<usize>]) -> Vec<usize> {
        let mut queues: Vec<usize> = (0..of_queues.len()).collect();
        queues.sort_by_key(|&queue| self.place(queue));
        let mut order = Vec::new();
        for group in queues.chunk_by(|&one, &other| self.place(one).0 == self.place(other).0) {
            let lists = group.iter().map(|&queue| &of_queues[queue]);
            // with both it is `round_robin` that counts, as the installed file has `by_queue` on
            if self.takes_turns {
                let longest = lists.clone().map(Vec::len).max().unwrap_or(0);
                for turn in 0..longest {
                    order.extend(lists.clone().filter_map(|list| list.get(turn)));
                }
            } else {
                order.extend(lists.flatten());
            }
        }
        order
    }

    /// Sets the places of jobs, which are in the order of their submission, in the order in which
    /// those give way that started in the same second: queue by queue, in a queue by the order of
    /// the scheduler, which sorts them only where it chooses the queue first.
    pub fn set_places_of_running(
        &self,
        jobs: &mut [CycleJob],
        mut submitted: Vec<u32>,
        paths: &SharePaths,
    ) {
        let has_nan = submitted
            .iter()
            .any(|&job| jobs[job as usize].value.is_nan());
        sort_jobs(&mut submitted, has_nan, |one, other| {
            let [one, other] = [one, other].map(|job| &jobs[job as usize]);
            let [place, other_place] = [one, other].map(|job| self.place(job.queue as usize));
            match place.cmp(&other_place) {
                Ordering::Equal if self.chooses_queue_first => one.compare(other, paths),
                by_place => by_place,
            }
        });
        for (job, place) in submitted.into_iter().zip(0..) {
            jobs[job as usize].place = place;
        }
    }
}

impl CycleJob {
    /// Which of two jobs of the same level in preemption comes first, whether they wait or run.
    fn compare(&self, other: &Self, paths: &SharePaths) -> Ordering {
        let [entity, other_entity] = [self.entity, other.entity].map(|entity| entity as usize);
        higher_first(self.value, other.value)
            .then_with(|| paths.compare(entity, other_entity))
            .then(self.place_among_equals.cmp(&other.place_among_equals))
    }
}

/// Sorts jobs. A value that is not a number equals every other one, which is no order: only the
/// scheduler's own sort gives its result then.
fn sort_jobs<T: Copy>(jobs: &mut [T], has_nan: bool, mut compare: impl FnMut(T, T) -> Ordering) {
    if has_nan {
        merge_sort(jobs, &mut compare);
    } else {
        jobs.sort_by(|one, other| compare(*one, *other));
    }
}

/// The waiting jobs by their order, which fair share and starts change.
pub struct SortedCandidates<'c> {
    order: &'c QueueOrder,
    jobs: &'c [CycleJob],
    /// The path of each fair-share entity; empty if fair share does not order jobs.
    paths: SharePaths,
    /// The jobs of the queues at each place.
    queues: BTreeMap<QueuePlace, VecDeque<u32>>,
    /// How many subjobs of each array wait; 1 for another job that waits.
    pub subjobs: HashMap<u32, u32>,
    /// The place from which on the next queue with jobs is looked for.
    turn: QueuePlace,
    /// Whether the jobs of express queues, and those that gave way, come before the queues are looked
    /// at (`by_queue`): until the first one in the order of all jobs is of neither kind, or under
    /// `fair_share` the first one of all queues that have one, queue by queue.
    are_urgent_first: bool,
    /// Whether the job that was returned last came first because it gave way.
    has_resumed: bool,
    /// The place of the queue of the job that was returned last.
    last: QueuePlace,
    is_sorted: bool,
    /// Whether the jobs were not sorted since they were given, which is in their order.
    is_as_given: bool,
}

impl<'c> SortedCandidates<'c> {
    /// These of the jobs.
    pub fn new(
        order: &'c QueueOrder,
        jobs: &'c [CycleJob],
        waiting: impl IntoIterator<Item = u32>,
        paths: SharePaths,
    ) -> Self {
        let mut candidates = Self {
            order,
            jobs,
            paths,
            queues: BTreeMap::new(),
            subjobs: HashMap::new(),
            turn: (0, 0),
            // `round_robin` takes the place of `by_queue`
            are_urgent_first: order.chooses_queue_first && !order.takes_turns,
            has_resumed: false,
            last: (0, 0),
            is_sorted: false,
            is_as_given: true,
        };
        for job in waiting {
            candidates.subjobs.insert(job, jobs[job as usize].subjobs);
            candidates.push(job);
        }
        candidates
    }

    fn push(&mut self, job: u32) {
        let queue = self.jobs[job as usize].queue;
        let place = self.order.chosen_place(queue as usize);
        self.queues.entry(place).or_default().push_back(job);
    }

    /// The place of the queue whose job comes next; `None` if all are empty.
    fn next_queue(&self) -> Option<QueuePlace> {
        let first_of = |places: Range<QueuePlace>| {
            let mut queues = self.queues.range(places);
            Some(*queues.find(|(_, list)| !list.is_empty())?.0)
        };
        let (group, _) = self.turn;
        let next_group = (group + 1, 0);
        let mut next = first_of(self.turn..next_group);
        if self.order.takes_turns {
            next = next.or_else(|| first_of((group, 0)..self.turn));
        }
        next.or_else(|| first_of(next_group..(u32::MAX, 0)))
    }

    fn sort(&mut self, cycle: &Cycle<'_>) {
        let Self {
            jobs,
            paths,
            queues,
            ..
        } = self;
        let compare = |one: u32, other: u32| {
            let [one, other] = [one, other].map(|job| &jobs[job as usize]);
            one.compare(other, paths)
        };
        for list in queues.values_mut() {
            let list = list.make_contiguous();
            let has_nan = list.iter().any(|&job| jobs[job as usize].value.is_nan());
            if !cycle.rules.levels.is_preemptive {
                // the scheduler has sorted them once, and to sort numbers and NaN again gives
                // another order
                if !(has_nan && self.is_as_given) {
                    sort_jobs(list, has_nan, compare);
                }
                continue;
            }
            let mut keyed = Vec::with_capacity(list.len());
            for &job in &*list {
                keyed.push((cycle.precedence(job), job));
            }
            sort_jobs(&mut keyed, has_nan, |(key, job), (other_key, other)| {
                key.cmp(&other_key).then_with(|| compare(job, other))
            });
            for (job, (_, sorted)) in list.iter_mut().zip(keyed) {
                *job = sorted;
            }
        }
        self.is_sorted = true;
        self.is_as_given = false;
    }

    /// Takes the first job of an express queue, or that gave way, unless another one comes before.
    fn next_urgent(&mut self, cycle: &Cycle<'_>) -> Option<u32> {
        let mut first: Option<(QueuePlace, usize, u32)> = None;
        for (&queue, list) in &self.queues {
            let mut jobs = list.iter();
            let Some(index) = jobs.position(|&job| cycle.is_urgent(job) || cycle.is_normal(job))
            else {
                continue;
            };
            let job = list[index];
            let is_first = match first {
                None => true,
                Some((.., other)) if !self.order.by_fair_share => {
                    let by_key = cycle.precedence(job).cmp(&cycle.precedence(other));
                    by_key.is_lt() || by_key.is_eq() && self.compare(job, other).is_lt()
                }
                Some(_) => false,
            };
            if is_first {
                first = Some((queue, index, job));
            }
        }
        let (queue, index, job) = first?;
        if !cycle.is_urgent(job) {
            return None;
        }
        self.has_resumed = cycle.is_normal(job);
        self.last = queue;
        self.queues.get_mut(&queue)?.remove(index)
    }

    fn compare(&self, one: u32, other: u32) -> Ordering {
        self.jobs[one as usize].compare(&self.jobs[other as usize], &self.paths)
    }
}

impl Candidates for SortedCandidates<'_> {
    fn next(&mut self, cycle: &Cycle<'_>) -> Option<u32> {
        if !self.is_sorted {
            self.sort(cycle);
        }
        if cycle.rules.levels.is_preemptive && self.are_urgent_first {
            if let Some(job) = self.next_urgent(cycle) {
                return Some(job);
            }
            self.are_urgent_first = false;
        }
        let (group, place) = self.next_queue()?;
        self.last = (group, place);
        // the turn moves on after every job, also after one that does not start
        self.turn = (group, place + u32::from(self.order.takes_turns));
        self.queues.get_mut(&self.last)?.pop_front()
    }

    fn started(&mut self, job: u32) {
        // the scheduler goes on from it, and takes it for a job of neither kind; ordered by fair
        // share, the jobs are sorted again before
        if self.has_resumed && self.is_sorted && !self.order.by_fair_share {
            self.are_urgent_first = false;
        }
        // an array is one entry, whose subjobs start until one does not
        let waiting = self.subjobs.entry(job).or_default();
        *waiting = waiting.saturating_sub(1);
        if *waiting > 0 {
            self.queues.entry(self.last).or_default().push_front(job);
        }
        self.reserved(job);
    }

    fn add(&mut self, job: u32) {
        let waiting = self.subjobs.entry(job).or_default();
        *waiting += 1;
        // a subjob that gives way waits beside those that its array has still queued
        if *waiting == 1 {
            self.push(job);
        }
    }

    fn sort_again(&mut self) {
        self.is_sorted = false;
    }

    // what starts or is promised a start is charged for this cycle, and the rest is sorted again
    fn reserved(&mut self, job: u32) {
        let CycleJob { entity, charge, .. } = self.jobs[job as usize];
        self.is_sorted &= !self.paths.charge(entity as usize, charge);
    }
}
