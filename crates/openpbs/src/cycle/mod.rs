//! One cycle of OpenPBS's scheduler: which waiting jobs start, which are promised a start, and why
//! each other one waits.
//!
//! In: the [`Machine`] with the running jobs, the waiting jobs in their order ([`Candidates`]), the
//! [`Limits`] and the [`CycleRules`]. Out: what happens, [`CycleEvent`] by [`CycleEvent`].
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

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

pub use candidates::*;
pub use limits::*;
pub use machine::*;
pub use placing::*;
pub use preemption::*;
pub use times::*;

use crate::files::server::DEFAULT_BACKFILL_FUZZY;
use reservations::Reservations;

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
    /// Whether it is found what is short of jobs for which too little is free.
    pub explains: bool,
}

impl CycleRules {
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
            window: DEFAULT_BACKFILL_FUZZY.into(),
            times: Times::default(),
            levels: None,
            explains: false,
        }
    }
}

/// What happens in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CycleEvent {
    /// A job starts, or a subjob of the array does.
    Starts(u32),
    /// A job does not start.
    Waits {
        /// The job.
        job: u32,
        /// Why.
        refusal: Refusal,
        /// Whether it is eligible (`accrue_type` 2): no limit of its user, its group or its project
        /// holds it back, even if the jobs before it ran.
        is_eligible: bool,
        /// What is short if too little is free and [`CycleRules::explains`] is set.
        shortage: Option<Shortage>,
    },
    /// The job that waits is promised a start.
    Reserved {
        /// The job.
        job: u32,
        /// When it starts, at the latest, as far as the walltimes tell.
        start: i64,
    },
    /// A running job gives way to the one that starts or waits next.
    GivesWay(u32, PreemptionMethod),
}

/// Why a job does not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It asks for more than the machine has.
    TooLarge,
    /// Too little is free.
    NotEnoughFree,
    /// A limit, by its index, see [`Limits::get`].
    Limit(usize),
    /// It would delay this job, which was promised a start, or run into this advance reservation.
    DelaysReservation(u32),
    /// It may not run at this time, or not as long: why, in words.
    Time(&'static str),
    /// This job before it does not start, and there is no backfilling: at all, or in its queue.
    StrictOrdering(u32),
}

/// One cycle.
pub struct Cycle<'a> {
    now: i64,
    rules: &'a CycleRules,
    machine: &'a mut Machine,
    limits: &'a mut Limits,
    jobs: &'a dyn JobSource,
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
    /// What the limits would count if all jobs ran that were considered so far. It comes into being,
    /// as a copy of what runs, with the first job that is decided.
    totals: Option<Counts>,
    /// How many jobs of the server's and of each queue's own depth are promised a start.
    server_reserved: u32,
    queue_reserved: Vec<u32>,
    /// The job that holds back all others, and those that hold back the others of their queues.
    blocked_by: Option<u32>,
    blocked_queues: HashMap<u32, u32>,
    events: Vec<CycleEvent>,
}

impl<'a> Cycle<'a> {
    /// A cycle at a moment, in seconds. What starts in it is added to the machine and the limits.
    pub fn new(
        now: i64,
        rules: &'a CycleRules,
        machine: &'a mut Machine,
        limits: &'a mut Limits,
        jobs: &'a dyn JobSource,
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
            totals: None,
            server_reserved: 0,
            queue_reserved: Vec::new(),
            blocked_by: None,
            blocked_queues: HashMap::new(),
            events: Vec::new(),
        };
        cycle.find_standings();
        cycle
    }

    /// Decides the candidates one after the other. Returns what happens.
    pub fn run(&mut self, candidates: &mut dyn Candidates) -> Vec<CycleEvent> {
        while let Some(index) = candidates.next(self) {
            let job = self.job(index);
            if let Some(conflict) = self.rules.times.closes(job.queue, self.now) {
                self.waits(index, Refusal::Time(conflict), true);
            } else if let Some(blocking) = self.held_back_by(&job) {
                let is_eligible = !self.is_over_soft_limit(index);
                self.waits(index, Refusal::StrictOrdering(blocking), is_eligible);
            } else {
                match self.find_place(index, candidates) {
                    Ok(placement) => {
                        self.start(index, placement);
                        if !self.soft_limits.is_empty() {
                            candidates.sort_again();
                        }
                        candidates.started(index);
                        self.events.push(CycleEvent::Starts(index));
                    }
                    Err(refusal) => self.refuse(index, refusal, candidates),
                }
            }
        }
        std::mem::take(&mut self.events)
    }

    fn waits(&mut self, job: u32, refusal: Refusal, is_eligible: bool) {
        let mut shortage = None;
        if self.rules.explains && refusal == Refusal::NotEnoughFree {
            shortage = self.machine.shortage_of_free(&self.job(job).request);
        }
        self.events.push(CycleEvent::Waits {
            job,
            refusal,
            is_eligible,
            shortage,
        });
    }

    /// Where a job starts now, if need be because others give way.
    fn find_place(
        &mut self,
        index: u32,
        candidates: &mut dyn Candidates,
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
        self.preempt(index, candidates).ok_or(refusal)
    }

    /// A job does not start.
    fn refuse(&mut self, index: u32, refusal: Refusal, candidates: &mut dyn Candidates) {
        let job = self.job(index);
        let is_eligible = self.is_eligible(&job, refusal) && !self.is_over_soft_limit(index);
        self.waits(index, refusal, is_eligible);
        if let Some(start) = self.promise(index, &job, refusal) {
            candidates.reserved(index);
            self.events.push(CycleEvent::Reserved { job: index, start });
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

    /// The most processors with which a job is still wanted: on a machine that is one count of
    /// processors exactly those that can start, on another one no more than a bound.
    pub fn most_processors(&self) -> MostProcessors {
        if self.rules.strict_ordering && self.blocked_by.is_none() && self.may_reserve() {
            return MostProcessors::ANY;
        }
        let free = self.machine.free(0);
        let (start, beside) = match self.reservations.first() {
            Some(first) if self.machine.total.len() == 1 => first,
            _ => (i64::MAX, free),
        };
        MostProcessors {
            free,
            overlapping: free.min(beside),
            least_overlapping_walltime: start.saturating_sub(self.now).saturating_add(1),
        }
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
        let free = &self.machine.free;
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
        let free = &self.machine.free;
        match self.suspended.get(&index) {
            Some(suspended) => holds(free, &self.machine.taken(&suspended.released)),
            None => self.machine.place(free, &job.request).is_some(),
        }
    }

    /// Where a job starts now if the machine as a whole has enough free, or why it does not.
    fn place_beside(&self, index: u32) -> Result<Placement, Refusal> {
        if let Some(refusal) = self.refused_by_rules(index) {
            return Err(refusal);
        }
        let job = self.job(index);
        let free = &self.machine.free;
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
        let used = &self.limits.running;
        match self.reservations.passed_limit(self, &job, self.now, used) {
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
        if self.limits.has_personal() {
            let totals = self
                .totals
                .get_or_insert_with(|| self.limits.running.clone());
            totals.add(&self.limits.limits, &job, 1);
        }
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
        self.soft_limits.start(&self.jobs.job(index));
        self.update_standings(index);
    }

    /// Section 6: whether time that the job waits from now on counts. It does not if the first limit
    /// that the job would pass if all jobs ran that were considered is one of its user, its group or
    /// its project.
    fn is_eligible(&mut self, job: &CycleJob<'_>, refusal: Refusal) -> bool {
        let limits = &*self.limits;
        if !limits.has_personal() {
            return true;
        }
        let nothing = Counts::none(limits);
        let mut passed = limits.passed_by_jobs(self.totals.as_ref().unwrap_or(&nothing), job);
        let totals = self.totals.get_or_insert_with(|| limits.running.clone());
        limits.count_considered(totals, job);
        // that limit counts before the one that holds the job back
        if let (None, Refusal::Limit(limit)) = (passed, refusal) {
            passed = Some(limit);
        }
        let limit = passed.and_then(|limit| limits.get(limit));
        limit.is_none_or(|limit| !limit.is_personal())
    }

    /// Sections 4 and 5: what a job that does not start means for the others. Returns
    /// when it is promised a start, if it is. A job that gave way is, whatever the depth.
    fn promise(&mut self, index: u32, job: &CycleJob<'_>, refusal: Refusal) -> Option<i64> {
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
        Some(start)
    }
}
