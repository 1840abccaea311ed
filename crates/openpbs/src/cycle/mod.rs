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

use std::collections::{HashMap, HashSet};

pub use candidates::{Candidates, JobOrder, MostProcessors, SortedCandidates, UrgentJobs, Wanted};
pub use limits::{Limit, LimitKind, Limits};
pub use machine::{
    AdvanceReservation, Machine, Part, Placement, Request, RequestedChunks, Shortage,
};
pub use placing::{Arrangement, Exclusive, PlacementSets, Placing, PoolOrder, PoolValue, Sharing};
pub use times::{QueueTime, TimeConflict, Times};

pub use preemption::{
    PreemptionJob, PreemptionLevels, PreemptionMethod, PreemptionStatus, RemainingMethods,
    SuspendedJob,
};

use candidates::{Precedence, Room};
use preemption::Standing;
use reservations::Reservations;
use totals::Totals;

/// The walltime of a job that asks for none: five years, in seconds.
pub const UNLIMITED_WALLTIME: i64 = 157_680_000;

/// A job as a cycle sees it. Names are indices, in whichever order the caller has them.
#[derive(Debug, Clone, Copy, Default)]
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
        *self.queue_depths.get(queue as usize)?
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

/// One cycle.
#[derive(Debug)]
pub struct Cycle<'a, S> {
    now: i64,
    rules: &'a CycleRules,
    machine: &'a mut Machine,
    limits: &'a mut Limits,
    jobs: &'a S,
    reservations: Reservations,
    levels: Option<&'a PreemptionLevels>,
    /// The soft limits, with what runs of them now.
    soft_limits: Limits,
    /// By job, its level; empty where it is found when it is asked for.
    standings: Vec<Standing>,
    /// The jobs that started in this cycle.
    started: HashSet<u32>,
    /// The waiting jobs that gave way, and when.
    preempted: HashMap<u32, i64>,
    /// Those of them that are suspended.
    suspended: HashMap<u32, SuspendedJob>,
    /// How often jobs gave way.
    preemptions: usize,
    /// The classes of jobs of which one did not start, and why.
    refused_classes: HashMap<u32, Refusal>,
    totals: Totals,
    /// How many jobs of the server's and of each queue's own depth are promised a start.
    server_reserved: u32,
    queue_reserved: Vec<u32>,
    /// The job that holds back all others, and those that hold back the others of their queues.
    blocked_by: Option<u32>,
    blocked_queues: HashMap<u32, u32>,
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
        machine.begin_reservations(now);
        let levels = rules.levels.as_ref();
        let (soft_limits, preempted, suspended) = match levels {
            Some(levels) => (
                levels.soft_limits.clone(),
                levels.preempted.clone(),
                levels.suspended.clone(),
            ),
            None => Default::default(),
        };
        let mut cycle = Self {
            now,
            rules,
            reservations: Reservations::new(machine),
            machine,
            limits,
            jobs,
            levels,
            soft_limits,
            standings: Vec::new(),
            started: HashSet::new(),
            preempted,
            suspended,
            preemptions: 0,
            refused_classes: HashMap::new(),
            totals: Totals::default(),
            server_reserved: 0,
            queue_reserved: Vec::new(),
            blocked_by: None,
            blocked_queues: HashMap::new(),
        };
        cycle.find_standings();
        cycle
    }

    /// Decides the candidates one after the other.
    pub fn run(&mut self, candidates: &mut impl Candidates, observer: &mut impl CycleObserver) {
        while let Some(index) = self.next(candidates) {
            let job = self.job(index);
            if let Some(conflict) = self.rules.times.closes(job.queue, self.now) {
                observer.decided(index, Decision::Waits(Refusal::Time(conflict)), true);
                continue;
            }
            if let Some(blocking) = self.held_back_by(&job) {
                let is_eligible = !self.is_over_soft_limit(index);
                let refusal = Refusal::StrictOrdering(blocking);
                observer.decided(index, Decision::Waits(refusal), is_eligible);
                continue;
            }
            match self.find_place(index, candidates, observer) {
                Ok(placement) => {
                    self.start(index, placement);
                    if !self.soft_limits.is_empty() {
                        candidates.sort_again();
                    }
                    candidates.started(index);
                    observer.decided(index, Decision::Starts, true);
                }
                Err(refusal) => self.refused(index, refusal, candidates, observer),
            }
        }
    }

    /// Where a job starts now, if need be because others give way.
    fn find_place(
        &mut self,
        index: u32,
        candidates: &mut impl Candidates,
        observer: &mut impl CycleObserver,
    ) -> Result<Placement, Refusal> {
        if let Some(refusal) = self.class_refusal(index)
            && !self.suspended.contains_key(&index)
        {
            return Err(refusal);
        }
        let placed = self.place_now(index);
        let Err(refusal) = placed else {
            return placed;
        };
        self.preempt(index, candidates, observer).ok_or(refusal)
    }

    /// A job does not start.
    fn refused(
        &mut self,
        index: u32,
        refusal: Refusal,
        candidates: &mut impl Candidates,
        observer: &mut impl CycleObserver,
    ) {
        let job = self.job(index);
        if refusal == Refusal::NotEnoughFree {
            observer.short(index, self.machine, &job.request);
        }
        let is_eligible = self.is_eligible(&job, refusal) && !self.is_over_soft_limit(index);
        observer.decided(index, Decision::Waits(refusal), is_eligible);
        if let Some(reservation) = self.refuse(index, &job, refusal) {
            candidates.reserved(index);
            observer.reserved(reservation);
        }
        if let Some(class) = self.class(index)
            && !self.suspended.contains_key(&index)
        {
            self.refused_classes.entry(class).or_insert(refusal);
        }
    }

    fn class(&self, index: u32) -> Option<u32> {
        self.levels?.jobs.get(index as usize)?.class
    }

    /// Why a job of the same class did not start in this cycle.
    fn class_refusal(&self, index: u32) -> Option<Refusal> {
        self.refused_classes.get(&self.class(index)?).copied()
    }

    /// A job with what it still needs: a suspended one no more than the rest of its walltime.
    fn job(&self, index: u32) -> CycleJob<'a> {
        let mut job = self.jobs.job(index);
        if let Some(suspended) = self.suspended.get(&index) {
            job.walltime = suspended.left;
        }
        job
    }

    fn next(&self, candidates: &mut impl Candidates) -> Option<u32> {
        if self.preemptive_levels().is_none() {
            return candidates.next(&self.wanted());
        }
        let precedence = |job| {
            let standing = self.standing(job);
            Precedence {
                level: standing.level,
                preempted: self.preempted.get(&job).copied(),
                is_express: standing.has(PreemptionStatus::ExpressQueue),
                is_normal: standing.has(PreemptionStatus::Normal),
            }
        };
        candidates.next(&Wanted {
            precedence: Some(&precedence),
            room: None,
        })
    }

    /// Which candidates can still change anything.
    fn wanted(&self) -> Wanted<'_> {
        let mut wanted = Wanted {
            precedence: None,
            room: None,
        };
        if !self.rules.strict_ordering || self.blocked_by.is_some() || !self.may_reserve() {
            wanted.room = Some(Room {
                now: self.now,
                machine: self.machine,
                reservations: &self.reservations,
            });
        }
        wanted
    }

    /// Whether a further job may be promised a start, or may hold back others.
    fn may_reserve(&self) -> bool {
        !self.rules.queue_depths.is_empty()
            || self.rules.backfill_depth == 0
            || self.server_reserved < self.rules.backfill_depth
    }

    /// The job that holds back another one.
    fn held_back_by(&self, job: &CycleJob<'_>) -> Option<u32> {
        if self.blocked_by.is_some() {
            return self.blocked_by;
        }
        self.blocked_queues.get(&job.queue).copied()
    }

    /// Section 3: where a job starts now, or why it does not.
    fn place_now(&self, index: u32) -> Result<Placement, Refusal> {
        let job = self.job(index);
        let free = self.machine.free_amounts();
        let is_lacking = !self.suspended.contains_key(&index)
            && self.machine.lacking(free, &job.request).is_some();
        let placed = if is_lacking {
            Err(Refusal::NotEnoughFree)
        } else {
            self.place_beside(index)
        };
        let has_room = placed.is_ok() || !is_lacking && self.has_room(index, &job);
        if !has_room && !self.machine.can_ever_run(&job.request) {
            return Err(Refusal::TooLarge);
        }
        placed
    }

    fn has_room(&self, index: u32, job: &CycleJob<'_>) -> bool {
        let free = self.machine.free_amounts();
        match self.suspended.get(&index) {
            Some(suspended) => self.machine.has_room_at(free, &suspended.released),
            None => self.machine.place(free, &job.request).is_some(),
        }
    }

    /// Where a job starts now if the machine as a whole has enough free, or why it does not.
    fn place_beside(&self, index: u32) -> Result<Placement, Refusal> {
        if let Some(refusal) = self.refused_by_rules(index) {
            return Err(refusal);
        }
        let job = self.job(index);
        let free = self.machine.free_amounts();
        match self.reservations.place(self, index, &job, self.now, free) {
            Ok(placement) => match self.suspended.get(&index) {
                Some(suspended) => Ok(suspended.placement.clone()),
                None => Ok(placement),
            },
            Err(Some(delayed)) => Err(Refusal::DelaysReservation(delayed)),
            Err(None) => Err(Refusal::NotEnoughFree),
        }
    }

    /// The first rule that forbids a job to start now, whatever is free.
    fn refused_by_rules(&self, index: u32) -> Option<Refusal> {
        let job = self.job(index);
        let running = self.limits.running();
        match self
            .reservations
            .passed_limit(self, &job, self.now, running)
        {
            Some(limit) => Some(Refusal::Limit(limit)),
            None => self.rules.times.crossed(&job, self.now).map(Refusal::Time),
        }
    }

    /// All reasons why a job does not start, as far as preemption tells them apart: first what is
    /// free in all.
    fn refusals(&self, index: u32) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        refusals.extend(self.place_now(index).err());
        refusals.extend(self.refused_by_rules(index));
        if !self.has_room(index, &self.job(index)) {
            refusals.push(Refusal::NotEnoughFree);
        }
        refusals.dedup();
        refusals
    }

    fn start(&mut self, index: u32, placement: Placement) {
        let job = self.job(index);
        self.totals.count_started(self.limits, &job);
        let end = self.now + job.walltime;
        if let Some(suspended) = self.suspended.remove(&index) {
            self.machine
                .exchange(&suspended.placement, &suspended.released);
        }
        self.preempted.remove(&index);
        self.reservations.change(self.machine, &placement, end, -1);
        self.machine.start(index, placement, end);
        self.limits.start(&job);
        self.started.insert(index);
        self.count_soft_start(index);
    }

    /// Section 6: whether time that the job waits from now on counts.
    fn is_eligible(&mut self, job: &CycleJob<'_>, refusal: Refusal) -> bool {
        // the first limit that would be passed counts before the one that holds the job back
        let passed = match (self.totals.passed_limit(self.limits, job), refusal) {
            (None, Refusal::Limit(limit)) => Some(limit),
            (passed, _) => passed,
        };
        self.totals.count_refused(self.limits, job);
        let limit = passed.and_then(|limit| self.limits.get(limit));
        limit.is_none_or(|limit| !limit.is_personal())
    }

    /// Sections 4 and 5: what a job that does not start means for the others.
    ///
    /// A job that gave way is promised a start whatever the depth.
    fn refuse(&mut self, index: u32, job: &CycleJob<'_>, refusal: Refusal) -> Option<Reservation> {
        let is_strict = self.rules.strict_ordering;
        let is_preempted = self.preempted.contains_key(&index);
        let is_resumption =
            is_preempted && self.levels.is_some_and(|levels| levels.enforces_resumption);
        let is_enforced = is_resumption && self.is_normal_or_higher(index);
        if !is_strict && !is_enforced {
            return None;
        }
        if !self.rules.backfills() {
            self.blocked_by = if is_strict { Some(index) } else { None };
            return None;
        }
        let queue_depth = self.rules.queue_depth(job.queue);
        if queue_depth == Some(0) && is_strict {
            self.blocked_queues.entry(job.queue).or_insert(index);
        }
        let queue = job.queue as usize;
        if self.queue_reserved.len() <= queue {
            self.queue_reserved.resize(queue + 1, 0);
        }
        let (depth, reserved) = match queue_depth {
            Some(depth) => (depth, self.queue_reserved[queue]),
            None => (self.rules.backfill_depth, self.server_reserved),
        };
        let is_beyond_depth = !is_preempted && reserved >= depth;
        let is_ineligible = !is_enforced && !job.can_be_reserved;
        if is_beyond_depth || is_ineligible || refusal == Refusal::TooLarge {
            return None;
        }
        let start = Reservations::add(self, index, job)?;
        if !is_resumption {
            match queue_depth {
                Some(_) => self.queue_reserved[queue] += 1,
                None => self.server_reserved += 1,
            }
        }
        Some(Reservation { job: index, start })
    }
}
