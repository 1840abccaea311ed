//! One cycle of OpenPBS's scheduler: which waiting jobs start, which are promised a start, and why
//! each other one waits.
//!
//! In: the [`CycleState`], which is the machine with the running jobs and what they use of limits,
//! the waiting jobs in their order ([`Candidates`]), and the [`CycleRules`]. Out: what happens,
//! [`CycleEvent`] by [`CycleEvent`].
//!
//! Source: the cycles of a real scheduler recorded in `tests/golden/cycles`, and the rules in its
//! `SPEC.md`, whose sections the comments name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use backfilling::Reservations;
use limits::Counts;

use crate::files::server::DEFAULT_BACKFILL_FUZZY;

mod backfilling;
mod candidates;
mod limits;
mod machine;
mod preemption;
mod queue_times;

#[cfg(test)]
mod tests;

pub use candidates::*;
pub use limits::*;
pub use machine::*;
pub use preemption::*;
pub use queue_times::*;

/// The walltime of a job that asks for none: five years, in seconds.
pub const UNLIMITED_WALLTIME: i64 = 157_680_000;

/// A job as a cycle sees it. Names are indices, in whichever order the caller has them.
#[derive(Debug, Clone, Default)]
pub struct CycleJob {
    /// What it asks for; many jobs ask for the same.
    pub request: Arc<Request>,
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
    /// Its fair-share entity.
    pub entity: u32,
    /// The value of the formula.
    pub value: f64,
    /// Its place among jobs with equal values: by `job_sort_key`, then by submission.
    pub place_among_equals: u32,
    /// What its entity is charged, for the rest of the cycle, when it starts or is promised a start.
    // what it asks for: what it will use is not known yet
    pub charge: f64,
    /// How many subjobs of an array wait; of another job it need not be set.
    pub subjobs: u32,
    /// The array that it is, or whose subjob it is.
    pub array: Option<u32>,
    /// Whether it may be promised a start (`topjob_ineligible` is not set).
    pub can_be_reserved: bool,
    /// Whether it is an advance reservation, which no limit counts, and no job.
    pub is_reservation: bool,
    /// When it started, if it ran before the cycle. This and what follows counts in preemption
    /// alone.
    pub started: Option<i64>,
    /// Its place among the running jobs that started in the same second: queue by queue, in each in
    /// the order of the scheduler.
    pub place: u32,
    /// What it has used of its walltime, as far as its host has reported.
    pub used: Option<i64>,
    /// Whether it may be requeued (`qsub -r`).
    pub is_rerunable: bool,
    /// Whether its fair-share entity has used more than its share.
    pub is_over_share: bool,
    /// The jobs that it may preempt (`preempt_targets`), in ascending order; `None`: all.
    pub targets: Option<Arc<[u32]>>,
    /// The scheduler looks at jobs of a class once: if one does not start, the others do not
    /// either. `None`: it is in no class.
    pub class: Option<u32>,
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
    /// The levels of jobs in preemption; by default no job is above another.
    pub levels: PreemptionLevels,
    /// Whether it is found what is short of jobs for which too little is free.
    pub explains: bool,
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
            levels: PreemptionLevels::default(),
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

/// What a cycle changes, and the next one goes on with.
#[derive(Debug, Clone, Default)]
pub struct CycleState {
    /// The machine with the running jobs.
    pub machine: Machine,
    /// The limits, with what runs of them.
    pub limits: Limits,
    /// The jobs that are suspended.
    pub suspended: HashMap<u32, SuspendedJob>,
    /// The waiting jobs that gave way, with these, and when; the least time where that is not known.
    pub preempted: HashMap<u32, i64>,
}

/// One cycle.
pub struct Cycle<'a> {
    now: i64,
    rules: &'a CycleRules,
    state: &'a mut CycleState,
    /// The jobs by their indices.
    jobs: &'a [CycleJob],
    reservations: Reservations,
    /// By job, its level; empty where it is found when it is asked for.
    standings: Vec<Standing>,
    /// The jobs that started in this cycle.
    started: HashSet<u32>,
    /// How often jobs gave way.
    preemptions: usize,
    /// The classes of jobs of which one did not start, and why.
    refused_classes: HashMap<u32, Refusal>,
    /// What the limits would count if all jobs ran that were considered so far. It comes into being,
    /// as a copy of what runs, with the first job that is decided.
    totals: Option<Counts>,
    /// How many jobs of each queue's own depth are promised a start, and of the server's (`None`).
    reserved: HashMap<Option<u32>, u32>,
    /// By queue the job that holds back the others there; under `None` the one that holds back all.
    blocked_by: HashMap<Option<u32>, u32>,
    events: Vec<CycleEvent>,
}

impl<'a> Cycle<'a> {
    /// A cycle at a moment, in seconds.
    pub fn new(
        now: i64,
        rules: &'a CycleRules,
        state: &'a mut CycleState,
        jobs: &'a [CycleJob],
    ) -> Self {
        state.machine.postpone_overdue(now);
        state.machine.begin_reservations(now);
        let mut cycle = Self {
            now,
            rules,
            reservations: Reservations::new(&state.machine),
            state,
            jobs,
            standings: Vec::new(),
            started: HashSet::new(),
            preemptions: 0,
            refused_classes: HashMap::new(),
            totals: None,
            reserved: HashMap::new(),
            blocked_by: HashMap::new(),
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
                // its time counts all the same: recorded jobs of closed queues have accrue_type 2
                self.waits(index, Refusal::Time(conflict), true);
            } else if let Some(&blocking) =
                (self.blocked_by.get(&None)).or_else(|| self.blocked_by.get(&Some(job.queue)))
            {
                let is_eligible = !self.is_over_soft_limit(index);
                self.waits(index, Refusal::StrictOrdering(blocking), is_eligible);
            } else {
                match self.find_place(index, candidates) {
                    Ok(placement) => {
                        self.start(index, placement);
                        if self.state.limits.has_soft() {
                            // the start may bring its user over a soft limit, and behind all others
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
            shortage = self.state.machine.shortage_of_free(&self.job(job).request);
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
        if let Some(refusal) = self.class_refusal(index) {
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
        let is_eligible = self.is_eligible(index, refusal) && !self.is_over_soft_limit(index);
        self.waits(index, refusal, is_eligible);
        if let Some(start) = self.promise(index, refusal) {
            candidates.reserved(index);
            self.events.push(CycleEvent::Reserved { job: index, start });
        }
        if let Some(class) = self.class(index) {
            self.refused_classes.entry(class).or_insert(refusal);
        }
    }

    /// The class of a job, unless it is suspended: it goes on only where it was.
    fn class(&self, index: u32) -> Option<u32> {
        if self.state.suspended.contains_key(&index) {
            return None;
        }
        self.job(index).class
    }

    /// Why a job of the same class did not start in this cycle.
    fn class_refusal(&self, index: u32) -> Option<Refusal> {
        self.refused_classes.get(&self.class(index)?).copied()
    }

    fn job(&self, index: u32) -> &'a CycleJob {
        &self.jobs[index as usize]
    }

    /// When a job ends that starts at a time: a suspended one takes no more than the rest of its
    /// walltime.
    fn end_of(&self, index: u32, start: i64) -> i64 {
        let walltime = match self.state.suspended.get(&index) {
            Some(suspended) => suspended.left,
            None => self.job(index).walltime,
        };
        start.saturating_add(walltime)
    }

    /// Whether a job of so many processors and such a walltime is still wanted: on a machine that is
    /// one count of processors exactly those that can start, or may if several starts are promised;
    /// on another one more than these.
    pub fn wanted(&self) -> impl Fn(i64, i64) -> bool + use<> {
        let is_blocked = self.blocked_by.contains_key(&None);
        let is_any = self.rules.strict_ordering && !is_blocked && self.may_reserve();
        let machine = &self.state.machine;
        let free = machine.free(0);
        let reserved = self.reservations.jobs.iter();
        let (start, beside) = match reserved.map(|job| (job.start, job.free[0])).min() {
            // what is free beside the job whose start is the first one
            Some(first) if machine.total.len() == 1 => first,
            _ => (i64::MAX, free),
        };
        let until_start = start.saturating_sub(self.now);
        move |processors, walltime| {
            let overlaps = walltime > until_start;
            is_any || processors <= if overlaps { free.min(beside) } else { free }
        }
    }

    /// Whether a further job may be promised a start, or may hold back others.
    fn may_reserve(&self) -> bool {
        !self.rules.queue_depths.is_empty()
            || self.rules.backfill_depth == 0
            || self.reserved(None) < self.rules.backfill_depth
    }

    fn reserved(&self, queue: Option<u32>) -> u32 {
        self.reserved.get(&queue).copied().unwrap_or(0)
    }

    /// Section 3: where a job starts now, or why it does not.
    fn place_now(&self, index: u32) -> Result<Placement, Refusal> {
        let request = &self.job(index).request;
        let CycleState {
            machine, suspended, ..
        } = &*self.state;
        let is_lacking =
            !suspended.contains_key(&index) && machine.lacking(&machine.free, request).is_some();
        let placed = if is_lacking {
            Err(Refusal::NotEnoughFree)
        } else {
            self.place_beside(index)
        };
        let has_room = placed.is_ok() || !is_lacking && self.has_room(index);
        if !has_room && !machine.can_ever_run(request) {
            return Err(Refusal::TooLarge);
        }
        placed
    }

    /// What a job takes of what is available, if there is room: a suspended job goes on where it was,
    /// and takes what it has given back.
    fn fit(&self, index: u32, available: &[i64]) -> Option<Placement> {
        let machine = &self.state.machine;
        match self.state.suspended.get(&index) {
            None => machine.place(available, &self.job(index).request),
            Some(suspended) => {
                let has_room = machine.holds(available, &suspended.released);
                has_room.then(|| suspended.released.clone())
            }
        }
    }

    fn has_room(&self, index: u32) -> bool {
        self.fit(index, &self.state.machine.free).is_some()
    }

    /// Where a job starts now if the machine as a whole has enough free, or why it does not.
    fn place_beside(&self, index: u32) -> Result<Placement, Refusal> {
        if let Some(refusal) = self.refused_by_rules(index) {
            return Err(refusal);
        }
        let free = &self.state.machine.free;
        match self.reservations.place(self, index, self.now, free) {
            Ok(placement) => match self.state.suspended.get(&index) {
                Some(suspended) => Ok(suspended.placement.clone()),
                None => Ok(placement),
            },
            Err(Some(delayed)) => Err(Refusal::DelaysReservation(delayed)),
            Err(None) => Err(Refusal::NotEnoughFree),
        }
    }

    /// The first rule that forbids a job to start now, whatever is free.
    fn refused_by_rules(&self, index: u32) -> Option<Refusal> {
        let used = &self.state.limits.running;
        if let Some(limit) = self.reservations.passed_limit(self, index, self.now, used) {
            return Some(Refusal::Limit(limit));
        }
        let runs = self.now..self.end_of(index, self.now);
        let conflict = self.rules.times.crossed(self.job(index).queue, runs)?;
        Some(Refusal::Time(conflict))
    }

    /// All reasons why a job does not start, as far as preemption tells them apart: first what is
    /// free in all.
    fn refusals(&self, index: u32) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        refusals.extend(self.place_now(index).err());
        refusals.extend(self.refused_by_rules(index));
        if !self.has_room(index) {
            refusals.push(Refusal::NotEnoughFree);
        }
        refusals.dedup();
        refusals
    }

    fn start(&mut self, index: u32, placement: Placement) {
        let job = self.job(index);
        let end = self.end_of(index, self.now);
        let state = &mut *self.state;
        if state.limits.has_personal() {
            let running = &state.limits.running;
            let totals = self.totals.get_or_insert_with(|| running.clone());
            totals.add(&state.limits.limits, job, 1);
        }
        if let Some(suspended) = state.suspended.remove(&index) {
            state
                .machine
                .exchange(&suspended.placement, &suspended.released);
        }
        state.preempted.remove(&index);
        self.reservations
            .change(&state.machine, &placement, end, -1);
        state.machine.start(index, placement, end);
        state.limits.start(job);
        self.started.insert(index);
        self.update_standings(index);
    }

    /// Section 6: whether time that the job waits from now on counts. It does not if the first limit
    /// that the job would pass if all jobs ran that were considered is one of its user, its group or
    /// its project.
    fn is_eligible(&mut self, index: u32, refusal: Refusal) -> bool {
        let job = self.job(index);
        let limits = &self.state.limits;
        if !limits.has_personal() {
            return true;
        }
        // the scheduler makes its totals with the first job that starts or waits, and only after it
        // has tested that job, which so sees zeros
        let nothing = Counts::none(limits);
        let mut passed = limits.passed(self.totals.as_ref().unwrap_or(&nothing), job);
        passed = passed.filter(|&limit| limits.limits[limit].is_of_running_jobs());
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
    fn promise(&mut self, index: u32, refusal: Refusal) -> Option<i64> {
        let job = self.job(index);
        let is_strict = self.rules.strict_ordering;
        let is_preempted = self.state.preempted.contains_key(&index);
        let is_resumption = is_preempted && self.rules.levels.enforces_resumption;
        let is_enforced = is_resumption && self.is_normal_or_higher(index);
        if !is_strict && !is_enforced {
            return None;
        }
        let queue_depths = &self.rules.queue_depths;
        let all_depth = self.rules.backfill_depth;
        if all_depth == 0 && queue_depths.iter().flatten().all(|&depth| depth == 0) {
            if is_strict {
                self.blocked_by.insert(None, index);
            }
            return None;
        }
        let (queue, depth) = match queue_depths.get(job.queue as usize) {
            Some(&Some(depth)) => (Some(job.queue), depth),
            _ => (None, all_depth),
        };
        // such a queue promises no start, but its first job that waits holds back the others there
        if queue.is_some() && depth == 0 && is_strict {
            self.blocked_by.entry(queue).or_insert(index);
        }
        let is_beyond_depth = !is_preempted && self.reserved(queue) >= depth;
        let is_ineligible = !is_enforced && !job.can_be_reserved;
        // a job that can never run has no start that could be promised
        if is_beyond_depth || is_ineligible || refusal == Refusal::TooLarge {
            return None;
        }
        let start = Reservations::add(self, index)?;
        // a job that gave way counts towards the depth too, unless its resumption is enforced
        if !is_resumption {
            *self.reserved.entry(queue).or_default() += 1;
        }
        Some(start)
    }
}
