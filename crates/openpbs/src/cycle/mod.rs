//! One cycle of OpenPBS's scheduler: which waiting jobs start, which are promised a start, and why
//! each other one waits.
//!
//! In: the [`Machine`] with the running jobs, the waiting jobs in their order ([`Candidates`]), the
//! [`Limits`] and the [`CycleRules`]. Out: a [`Decision`] for each job that is considered, in
//! order.
//!
//! Source: the cycles of a real scheduler recorded in `tests/golden/cycles`, and the rules in its
//! `SPEC.md`, whose sections the comments name.

mod candidates;
mod limits;
mod machine;
mod placing;
mod preemption;
mod reservations;
mod times;
mod totals;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use candidates::{Candidates, JobOrder, MostProcessors, SortedCandidates, Wanted};
pub use limits::{Limit, LimitKind, Limits};
pub use machine::{
    AdvanceReservation, Machine, Part, Placement, Request, RequestedChunks, Shortage, Unexplained,
};
pub use placing::{Arrangement, Exclusive, PlacementSets, Placing, PoolOrder, PoolValue, Sharing};
pub use times::{QueueTime, TimeConflict, Times};

pub use preemption::{PreemptionLevels, PreemptionMethod, PreemptionStatus, RemainingMethods};

use preemption::Victim;
use reservations::Reservations;
use totals::Totals;

/// The walltime of a job that asks for none: five years, in seconds.
pub const UNLIMITED_WALLTIME: i64 = 157_680_000;

/// A job as a cycle sees it. Names are indices, in whichever order the caller has them.
#[derive(Debug, Clone, Copy)]
pub struct CycleJob<'a> {
    /// What it asks for.
    pub request: Request<'a>,
    /// The time that it asks for, in seconds.
    pub walltime: i64,
    /// Its queue.
    pub queue: u32,
    /// Its user.
    pub user: u32,
    /// The user's group.
    pub group: u32,
    /// Its project.
    pub project: u32,
    /// The array that it is, or whose subjob it is.
    pub array: Option<u32>,
    /// What it asks for in all of the amounts that limits count, by [`Limit::amount`].
    pub counted: &'a [i64],
    /// Whether it may be promised a start (`topjob_ineligible` is not set).
    pub can_be_reserved: bool,
    /// Whether it is an advance reservation, which no limit counts, and no job.
    pub is_reservation: bool,
}

/// The jobs by their indices.
pub trait JobSource {
    /// A job.
    fn job(&self, index: u32) -> CycleJob<'_>;
}

/// The settings of a cycle.
#[derive(Debug, Clone)]
pub struct CycleRules {
    /// `strict_ordering`: the first job that does not start holds back those behind it, but for
    /// backfilling.
    pub strict_ordering: bool,
    /// `backfill_depth` of the server: how many jobs are promised a start.
    pub backfill_depth: u32,
    /// `backfill_depth` of each queue that has one, by its index; the queues beyond the list have
    /// none.
    pub queue_depths: Vec<Option<u32>>,
    /// The seconds by which the ends of jobs are taken together where a start is estimated
    /// (`opt_backfill_fuzzy`); 0: only those of the same second.
    pub window: i64,
    /// Prime time and dedicated time.
    pub times: Times,
    /// The levels of jobs in preemption; `None` if no job is above another.
    pub levels: Option<PreemptionLevels>,
}

impl CycleRules {
    /// The value of `opt_backfill_fuzzy low`, the default, in seconds.
    pub const DEFAULT_WINDOW: i64 = 60;

    fn queue_depth(&self, queue: u32) -> Option<u32> {
        self.queue_depths.get(queue as usize).copied().flatten()
    }

    /// Whether jobs behind one that does not start may start (section 5).
    fn backfills(&self) -> bool {
        self.backfill_depth > 0 || self.queue_depths.iter().flatten().any(|&depth| depth > 0)
    }
}

impl Default for CycleRules {
    /// What OpenPBS is shipped with: no strict ordering, and a depth of 1.
    fn default() -> Self {
        Self {
            strict_ordering: false,
            backfill_depth: 1,
            queue_depths: Vec::new(),
            window: Self::DEFAULT_WINDOW,
            times: Times::default(),
            levels: None,
        }
    }
}

/// What becomes of a job in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It starts, or a subjob of the array does.
    Starts,
    /// It does not start.
    Waits(Refusal),
}

/// Why a job does not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It asks for more than the machine has.
    TooLarge,
    /// Too little is free, see [`CycleObserver::short`].
    NotEnoughFree,
    /// A limit, by its index, see [`Limits::get`].
    Limit(usize),
    /// It would delay this job, which was promised a start, or run into this advance reservation.
    DelaysReservation(u32),
    /// It may not run at this time, or not as long.
    Time(TimeConflict),
    /// This job before it does not start, and there is no backfilling: at all, or in its queue.
    StrictOrdering(u32),
}

/// A job that is promised a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// The job.
    pub job: u32,
    /// When it starts, at the latest, as far as the walltimes tell.
    pub start: i64,
}

/// Follows a cycle.
pub trait CycleObserver {
    /// A job was considered. `is_eligible` tells whether it is eligible (`accrue_type` 2): no limit
    /// of its user, its group or its project holds it back, even if the jobs before it ran.
    fn decided(&mut self, job: u32, decision: Decision, is_eligible: bool);

    /// Before it is decided that a job waits for too little that is free: what
    /// [`Machine::shortage_of_free`] it is can be asked.
    fn short(&mut self, _job: u32, _machine: &Machine, _request: &Request<'_>) {}

    /// A job was promised a start.
    fn reserved(&mut self, _reservation: Reservation) {}

    /// A running job gives way to the one that is decided next.
    fn preempted(&mut self, _job: u32, _method: PreemptionMethod) {}
}

/// The jobs that earlier cycles suspended, with where they can go on and their walltimes.
fn suspended(rules: &CycleRules, jobs: &impl JobSource) -> HashMap<u32, (Placement, i64)> {
    let suspended = rules.levels.iter().flat_map(|levels| &levels.suspended);
    suspended
        .map(|(&job, placement)| (job, (placement.clone(), jobs.job(job).walltime)))
        .collect()
}

/// One cycle.
#[derive(Debug)]
pub struct Cycle<'a, S> {
    now: i64,
    rules: &'a CycleRules,
    machine: &'a mut Machine,
    limits: &'a mut Limits,
    jobs: &'a S,
    reservations: Reservations,
    /// The levels, with what runs of the soft limits now.
    levels: Option<PreemptionLevels>,
    /// The jobs that started in this cycle.
    started: Vec<u32>,
    /// The jobs that gave way in this cycle: they may go on in it, but neither preempt nor give way
    /// again, so that it ends.
    gave_way: Vec<u32>,
    /// The suspended jobs, with where they can go on and how much of their walltime is left.
    suspended: HashMap<u32, (Placement, i64)>,
    totals: Totals,
    /// How many jobs of the server's and of each queue's own depth are promised a start.
    server_reserved: u32,
    queue_reserved: Vec<u32>,
    /// The job that holds back all others, and those that hold back the others of their queues.
    blocked_by: Option<u32>,
    blocked_queues: Vec<(u32, u32)>,
}

impl<'a, S: JobSource> Cycle<'a, S> {
    /// A cycle at a moment, in seconds. What starts in it is added to the machine and the limits.
    pub fn new(
        now: i64,
        rules: &'a CycleRules,
        machine: &'a mut Machine,
        limits: &'a mut Limits,
        jobs: &'a S,
    ) -> Self {
        machine.postpone_overdue(now);
        machine.begin_reservations(now, jobs);
        let reservations = Reservations::new(machine, jobs);
        Self {
            now,
            rules,
            machine,
            limits,
            jobs,
            reservations,
            levels: rules.levels.clone(),
            started: Vec::new(),
            gave_way: Vec::new(),
            suspended: suspended(rules, jobs),
            totals: Totals::default(),
            server_reserved: 0,
            queue_reserved: Vec::new(),
            blocked_by: None,
            blocked_queues: Vec::new(),
        }
    }

    /// Decides the candidates one after the other.
    pub fn run(&mut self, candidates: &mut impl Candidates, observer: &mut impl CycleObserver) {
        while let Some(index) = self.next(candidates) {
            let job = self.jobs.job(index);
            if let Some(conflict) = self.rules.times.closes(job.queue, self.now) {
                observer.decided(index, Decision::Waits(Refusal::Time(conflict)), true);
                continue;
            }
            if let Some(blocking) = self.held_back_by(&job) {
                observer.decided(
                    index,
                    Decision::Waits(Refusal::StrictOrdering(blocking)),
                    true,
                );
                continue;
            }
            let mut placed = self.place_on(self.machine, self.limits, index);
            if let Err(refusal) = placed
                && let Some(victims) = self.victims(index, refusal)
            {
                for victim in victims {
                    self.give_way(&victim);
                    observer.preempted(victim.job, victim.method);
                    if victim.method != PreemptionMethod::Delete {
                        candidates.add(victim.job);
                    }
                }
                placed = self.place_on(self.machine, self.limits, index);
            }
            match placed {
                Ok(placement) => {
                    self.start(index, &job, placement);
                    candidates.started(index);
                    observer.decided(index, Decision::Starts, true);
                }
                Err(refusal) => {
                    if refusal == Refusal::NotEnoughFree {
                        observer.short(index, self.machine, &job.request);
                    }
                    let is_eligible = self.is_eligible(&job, refusal);
                    observer.decided(index, Decision::Waits(refusal), is_eligible);
                    if self.rules.strict_ordering
                        && let Some(reservation) = self.refuse(index, &job, refusal)
                    {
                        candidates.reserved(index);
                        observer.reserved(reservation);
                    }
                }
            }
        }
    }

    fn next(&self, candidates: &mut impl Candidates) -> Option<u32> {
        let Some(levels) = &self.levels else {
            return candidates.next(&self.wanted());
        };
        // of a level, those that can go on come first
        let level = |job| {
            2 * levels.level(&self.jobs.job(job)) + i64::from(self.suspended.contains_key(&job))
        };
        candidates.next(&Wanted::of_highest(&level))
    }

    /// Whether a job is over a soft limit at the end of the cycle, so that time that it waits does
    /// not count.
    pub fn is_over_soft_limit(&self, index: u32) -> bool {
        let job = self.jobs.job(index);
        self.levels
            .as_ref()
            .is_some_and(|levels| levels.is_over_soft_limit(&job))
    }

    /// The levels after the cycle, with what runs of the soft limits, and the suspended jobs with the
    /// seconds that are left of their walltimes.
    pub fn into_levels(self) -> (Option<PreemptionLevels>, HashMap<u32, i64>) {
        let mut levels = self.levels;
        let mut left = HashMap::new();
        if let Some(levels) = &mut levels {
            levels.suspended.clear();
            for (job, (placement, seconds)) in self.suspended {
                levels.suspended.insert(job, placement);
                left.insert(job, seconds);
            }
        }
        (levels, left)
    }

    /// Which candidates can still change anything.
    fn wanted(&self) -> Wanted<'_> {
        let decides_others =
            self.rules.strict_ordering && self.blocked_by.is_none() && self.may_reserve();
        if decides_others {
            return Wanted::ANY;
        }
        Wanted::that_may_start(self.now, self.machine, &self.reservations)
    }

    /// Whether a further job may be promised a start, or may hold back others.
    fn may_reserve(&self) -> bool {
        !self.rules.queue_depths.is_empty()
            || self.rules.backfill_depth == 0
            || self.server_reserved < self.rules.backfill_depth
    }

    /// The job that holds back another one.
    fn held_back_by(&self, job: &CycleJob<'_>) -> Option<u32> {
        let in_queue = || {
            self.blocked_queues
                .iter()
                .find(|(queue, _)| *queue == job.queue)
                .map(|(_, blocking)| *blocking)
        };
        self.blocked_by.or_else(in_queue)
    }

    /// Section 3: where a job starts now on a machine with what runs of the limits, or why it does
    /// not.
    fn place_on(
        &self,
        machine: &Machine,
        limits: &Limits,
        index: u32,
    ) -> Result<Placement, Refusal> {
        let job = &self.jobs.job(index);
        let free = machine.free_amounts();
        let resumed = self.suspended.get(&index).map(|(placement, _)| placement);
        let is_lacking = machine.lacking(free, &job.request).is_some();
        let has_room = match resumed {
            Some(placement) => machine.has_room_at(placement, &job.request),
            None => !is_lacking && machine.place(free, &job.request).is_some(),
        };
        if !has_room && !machine.can_ever_run(&job.request) {
            return Err(Refusal::TooLarge);
        }
        if !has_room && is_lacking {
            return Err(Refusal::NotEnoughFree);
        }
        if let Some(limit) = self
            .reservations
            .passed_limit(self, job, self.now, limits.running())
        {
            return Err(Refusal::Limit(limit));
        }
        if let Some(conflict) = self.rules.times.crossed(job, self.now) {
            return Err(Refusal::Time(conflict));
        }
        if !has_room {
            return Err(Refusal::NotEnoughFree);
        }
        if let Some(placement) = resumed {
            return Ok(placement.clone());
        }
        let placement = self.reservations.place(machine, job, self.now, free);
        placement.ok_or_else(|| {
            Refusal::DelaysReservation(self.reservations.delayed(machine, job, self.now, free))
        })
    }

    /// A running job gives way.
    fn give_way(&mut self, victim: &Victim) {
        let job = self.jobs.job(victim.job);
        self.machine.end(victim.job, &job.request, victim.end);
        self.limits.end(&job);
        if let Some(levels) = &mut self.levels {
            levels.soft_limits.end(&job);
        }
        self.started.retain(|started| *started != victim.job);
        self.gave_way.push(victim.job);
        if victim.method == PreemptionMethod::Suspend {
            let left = victim.end - self.now;
            self.suspended
                .insert(victim.job, (victim.placement.clone(), left));
        }
    }

    fn start(&mut self, index: u32, job: &CycleJob<'_>, placement: Placement) {
        self.totals.count_started(self.limits, job);
        let left = self
            .suspended
            .remove(&index)
            .map_or(job.walltime, |(_, left)| left);
        self.reservations
            .take(self.machine, job, &placement, self.now + left);
        self.machine
            .start(index, &job.request, placement, self.now + left);
        self.limits.start(job);
        self.started.push(index);
        if let Some(levels) = &mut self.levels {
            levels.soft_limits.start(job);
        }
    }

    /// Section 6: whether time that the job waits from now on counts.
    fn is_eligible(&mut self, job: &CycleJob<'_>, refusal: Refusal) -> bool {
        let refused_by = match refusal {
            Refusal::Limit(limit) => Some(limit),
            _ => None,
        };
        // the first limit that would be passed counts before the one that holds the job back
        let passed = self.totals.passed_limit(self.limits, job).or(refused_by);
        self.totals.count_refused(self.limits, job);
        passed
            .and_then(|limit| self.limits.get(limit))
            .is_none_or(|limit| !limit.is_personal())
    }

    /// Sections 4 and 5: what a job that does not start means for the others, with strict ordering.
    fn refuse(&mut self, index: u32, job: &CycleJob<'_>, refusal: Refusal) -> Option<Reservation> {
        if !self.rules.backfills() {
            self.blocked_by = Some(index);
            return None;
        }
        let queue_depth = self.rules.queue_depth(job.queue);
        if queue_depth == Some(0) {
            self.blocked_queues.push((job.queue, index));
            return None;
        }
        if refusal == Refusal::TooLarge || !job.can_be_reserved {
            return None;
        }
        let queue = job.queue as usize;
        if self.queue_reserved.len() <= queue {
            self.queue_reserved.resize(queue + 1, 0);
        }
        let (depth, reserved) = match queue_depth {
            Some(depth) => (depth, self.queue_reserved[queue]),
            None => (self.rules.backfill_depth, self.server_reserved),
        };
        if reserved >= depth {
            return None;
        }
        let start = Reservations::add(self, index, job)?;
        match queue_depth {
            Some(_) => self.queue_reserved[queue] += 1,
            None => self.server_reserved += 1,
        }
        Some(Reservation { job: index, start })
    }
}
