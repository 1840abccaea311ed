//! Preemption: the levels of jobs (`preempt_prio`), by which a cycle orders them first, and which
//! running jobs give way to one of a higher level.
//!
//! Source: the cycles recorded in `tests/golden/cycles2`, its `SPEC2.md`, and what OpenPBS's
//! scheduler does where these are silent.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{Candidates, Cycle, CycleEvent, CycleJob, CycleState, Placement, Refusal, Shortage};
use crate::files::run_limits::LimitKind;

/// What a job is in preemption, as bits.
pub mod status {
    /// `express_queue`: its queue has at least the priority `preempt_queue_prio`.
    pub const EXPRESS_QUEUE: u8 = 1;
    /// `normal_jobs`: nothing else.
    pub const NORMAL: u8 = 2;
    /// `server_softlimits`: more runs than a soft limit of the server allows.
    pub const SERVER_SOFT_LIMITS: u8 = 4;
    /// `queue_softlimits`: the same of its queue.
    pub const QUEUE_SOFT_LIMITS: u8 = 8;
    /// `fairshare`: its entity has used more than its share.
    pub const FAIRSHARE: u8 = 16;
}

use status::{EXPRESS_QUEUE, FAIRSHARE, NORMAL, QUEUE_SOFT_LIMITS, SERVER_SOFT_LIMITS};

/// The levels of a scheduler.
#[derive(Debug, Clone, Default)]
pub struct PreemptionLevels {
    /// Whether jobs of a higher level come first and preempt (`preemptive_sched`). If not, soft
    /// limits still decide whether a job is eligible.
    pub is_preemptive: bool,
    /// From high to low; the statuses of an entry hold at once.
    pub levels: Vec<u8>,
    /// `preempt_queue_prio`
    pub express_priority: i64,
    /// The priority of each queue, by its index.
    pub queue_priorities: Vec<i64>,
    /// `preempt_order`: how jobs give way, by how much of their walltime remains.
    pub methods: Vec<RemainingMethods>,
    /// `sched_preempt_enforce_resumption`: jobs that gave way are promised a start, and do not count
    /// towards the depth.
    pub enforces_resumption: bool,
    /// The amounts that a suspended job gives back (`restrict_res_to_release_on_suspend`), by their
    /// indices; `None`: all.
    pub released: Option<Vec<usize>>,
    /// Whether the ends of running jobs tell what is left of their walltimes. If not, what their
    /// hosts have reported does.
    pub knows_ends: bool,
}

/// A suspended job.
#[derive(Debug, Clone)]
pub struct SuspendedJob {
    /// Where it goes on, with all that it has there.
    pub placement: Placement,
    /// What of it it gave back.
    pub released: Placement,
    /// How much of its walltime is left.
    pub left: i64,
}

/// How a job gives way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreemptionMethod {
    /// It is suspended, and can go on where it was.
    Suspend,
    /// It waits again and runs from its start.
    Requeue,
    /// It is deleted.
    Delete,
}

/// The methods for jobs of whose walltime at least a percentage remains, in the order in which they
/// are tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemainingMethods {
    /// The least percentage.
    pub percent: i64,
    /// The methods.
    pub methods: Vec<PreemptionMethod>,
}

/// The level of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    /// A job of a higher level comes first.
    level: i64,
    /// See [`status`].
    statuses: u8,
    /// Whether the priority of the queue is part of the level.
    has_queue_priority: bool,
}

/// A running job that gives way.
#[derive(Debug, Clone)]
struct Victim {
    job: u32,
    /// `None`: no method is left, which only its trial shows.
    method: Option<PreemptionMethod>,
    /// Whether it is suspended as far as the scheduler foresees.
    is_suspended: bool,
    end: i64,
    placement: Placement,
}

/// What a job lacks of which the loss of a running job has to give something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// It is at this limit.
    Limit(usize),
    /// This amount is short.
    Amount(usize),
    /// A place.
    Any,
}

/// The level of the first entry of `preempt_prio`.
// one step below the level of a job that is run by `qrun`
const HIGHEST: i64 = 99_000;
/// The distance of two levels. The priority of an express queue is added to its level.
const STEP: i64 = 1000;

/// How often running jobs are chosen again if some of them cannot give way.
// as often as the scheduler does (`MAX_PREEMPT_RETRIES`)
const MAX_TRIES: usize = 5;

/// How often each job may give way in a cycle, on average, so that it ends.
const MAX_PREEMPTIONS: usize = 4;

impl PreemptionLevels {
    /// Reads `preempt_prio`, such as `express_queue, normal_jobs, server_softlimits+queue_softlimits`.
    /// An entry with a word that is not a status does not count.
    pub fn read_levels(text: &str) -> Vec<u8> {
        let mut levels = Vec::new();
        'entries: for entry in text.split(',') {
            let mut statuses = 0;
            for word in entry.split('+') {
                statuses |= match word.trim() {
                    "express_queue" => EXPRESS_QUEUE,
                    "normal_jobs" => NORMAL,
                    "server_softlimits" => SERVER_SOFT_LIMITS,
                    "queue_softlimits" => QUEUE_SOFT_LIMITS,
                    "fairshare" => FAIRSHARE,
                    _ => continue 'entries,
                };
            }
            levels.push(statuses);
        }
        levels
    }

    /// Reads `preempt_order`, such as `SCR` or `SR 50 R`: methods, and the percentage of the walltime
    /// down to which they hold. A checkpoint is left out: the scheduler that was recorded hung in
    /// each.
    pub fn read_order(text: &str) -> Vec<RemainingMethods> {
        let mut words = text.split_ascii_whitespace();
        let mut read = Vec::new();
        while let Some(letters) = words.next() {
            let percent = words.next().unwrap_or_default().parse().unwrap_or(0);
            let mut methods = Vec::new();
            for letter in letters.chars() {
                methods.push(match letter {
                    'S' => PreemptionMethod::Suspend,
                    'R' => PreemptionMethod::Requeue,
                    'D' => PreemptionMethod::Delete,
                    _ => continue,
                });
            }
            read.push(RemainingMethods { percent, methods });
        }
        read
    }

    /// Whether one of these statuses has a level.
    pub fn has_level_of(&self, statuses: u8) -> bool {
        self.levels.iter().any(|level| level & statuses != 0)
    }

    /// What a job that is suspended gives back of what it has.
    pub fn released(&self, placement: &Placement) -> Placement {
        match &self.released {
            None => placement.clone(),
            Some(released) => placement.with_amounts(released),
        }
    }

    /// The level of a job, if this much runs of the soft limits. Of the entries that hold those with
    /// the most statuses come first, then the first one.
    fn standing(&self, job: &CycleJob, over_soft_limits: u8) -> Standing {
        let mut statuses = over_soft_limits;
        let queue_priority = *self.queue_priorities.get(job.queue as usize).unwrap_or(&0);
        if queue_priority >= self.express_priority {
            statuses |= EXPRESS_QUEUE;
        }
        if job.is_over_share {
            statuses |= FAIRSHARE;
        }
        if statuses == 0 {
            statuses = NORMAL;
        }
        let mut standing = Standing {
            level: self.normal_level(),
            statuses: NORMAL,
            has_queue_priority: false,
        };
        let mut most = 0;
        for (place, &entry) in self.levels.iter().enumerate() {
            if entry & statuses == entry && entry.count_ones() > most {
                most = entry.count_ones();
                standing = Standing {
                    level: level_of(place),
                    statuses,
                    has_queue_priority: entry & EXPRESS_QUEUE != 0,
                };
            }
        }
        if standing.has_queue_priority {
            standing.level = standing.level.saturating_add(queue_priority);
        }
        standing
    }

    fn normal_level(&self) -> i64 {
        let place = self.levels.iter().position(|&entry| entry == NORMAL);
        place.map_or(0, level_of)
    }

    /// The methods by which a running job may give way, in the order in which they are tried.
    fn methods(&self, job: &CycleJob, left: i64) -> Vec<PreemptionMethod> {
        let walltime = job.walltime;
        let used = walltime.saturating_sub(left);
        // the server cuts the rest off as C does
        let left = (100.0 - used as f32 / walltime.max(1) as f32 * 100.0) as i64;
        // a job beyond its walltime gives way as one does that nearly is
        let percent = if left < 0 { 1 } else { left };
        let Some(entry) = self.methods.iter().find(|entry| percent >= entry.percent) else {
            return Vec::new();
        };
        let mut methods = entry.methods.clone();
        if !job.is_rerunable {
            methods.retain(|method| *method != PreemptionMethod::Requeue);
        }
        methods
    }
}

/// The level of an entry of `preempt_prio`.
fn level_of(place: usize) -> i64 {
    HIGHEST - STEP * place as i64
}

impl Standing {
    fn has(self, statuses: u8) -> bool {
        self.statuses & statuses != 0
    }
}

impl<'a> Cycle<'a> {
    /// Finds the levels of all jobs, where they do not follow each change: those of limits of all
    /// users together.
    pub(super) fn find_standings(&mut self) {
        let levels = &self.rules.levels;
        let mut limits = self.state.limits.limits.iter();
        if levels.is_preemptive
            && !levels.knows_ends
            && limits.any(|limit| limit.is_soft && limit.kind == LimitKind::All)
        {
            for index in 0..self.jobs.len() as u32 {
                self.standings.push(self.standing_now(index));
            }
        }
    }

    pub(super) fn standing(&self, index: u32) -> Standing {
        let known = self.standings.get(index as usize).copied();
        known.unwrap_or_else(|| self.standing_now(index))
    }

    /// What comes before the order of jobs where there is preemption: the higher level, and of a
    /// level those that gave way, the earliest first.
    pub(super) fn precedence(&self, index: u32) -> (Reverse<i64>, i64) {
        let preempted = self.state.preempted.get(&index).copied();
        (
            Reverse(self.standing(index).level),
            preempted.unwrap_or(i64::MAX),
        )
    }

    /// Whether a job comes first under `by_queue`, whatever its queue.
    pub(super) fn is_urgent(&self, index: u32) -> bool {
        self.state.preempted.contains_key(&index) || self.standing(index).has(EXPRESS_QUEUE)
    }

    pub(super) fn is_normal(&self, index: u32) -> bool {
        self.standing(index).has(NORMAL)
    }

    pub(super) fn is_normal_or_higher(&self, index: u32) -> bool {
        self.standing(index).level >= self.rules.levels.normal_level()
    }

    fn standing_now(&self, index: u32) -> Standing {
        let job = self.job(index);
        let mut over = 0;
        for limit in self.state.limits.exceeded(job) {
            // without preemption the soft limits are compared only when a job starts
            let mut started = self.started.iter();
            if self.rules.levels.is_preemptive
                || started.any(|&started| limit.counts_with(self.job(started), job))
            {
                over |= match limit.queue {
                    None => SERVER_SOFT_LIMITS,
                    Some(_) => QUEUE_SOFT_LIMITS,
                };
            }
        }
        self.rules.levels.standing(job, over)
    }

    /// Whether a job that does not start is over a soft limit now.
    pub(super) fn is_over_soft_limit(&mut self, index: u32) -> bool {
        if !self.state.limits.has_soft() {
            return false;
        }
        let standing = self.standing_now(index);
        if let Some(known) = self.standings.get_mut(index as usize) {
            *known = standing;
        }
        standing.has(SERVER_SOFT_LIMITS | QUEUE_SOFT_LIMITS)
    }

    /// After the start or the end of a job, the levels of those change that limits count with it.
    pub(super) fn update_standings(&mut self, index: u32) {
        if self.standings.is_empty() {
            return;
        }
        let changed = self.job(index);
        let is_limited = |kind| self.state.limits.has_kind(kind, changed.queue);
        let [users, groups, projects] =
            [LimitKind::User, LimitKind::Group, LimitKind::Project].map(is_limited);
        for other in 0..self.standings.len() as u32 {
            let job = self.job(other);
            // the limits of all users together are not looked at here
            let is_changed = other == index
                || users && job.user == changed.user
                || groups && job.group == changed.group
                || projects && job.project == changed.project;
            if is_changed {
                self.standings[other as usize] = self.standing_now(other);
            }
        }
    }

    /// Lets running jobs of a lower level give way to a job that does not start. Returns where it
    /// starts now.
    pub(super) fn preempt(
        &mut self,
        index: u32,
        candidates: &mut dyn Candidates,
    ) -> Option<Placement> {
        if !self.rules.levels.is_preemptive {
            return None;
        }
        let mut failed = Vec::new();
        for _ in 0..MAX_TRIES {
            if self.preemptions > MAX_PREEMPTIONS * self.jobs.len() {
                return None;
            }
            let victims = self.victims(index, &failed)?;
            let before = failed.len();
            self.preemptions += victims.len();
            for victim in victims {
                let Some(method) = victim.method else {
                    failed.push(victim.job);
                    continue;
                };
                let suspended = self.stop(&victim);
                self.events.push(CycleEvent::GivesWay(victim.job, method));
                if method == PreemptionMethod::Delete {
                    continue;
                }
                self.state.preempted.insert(victim.job, self.now);
                if method == PreemptionMethod::Suspend {
                    self.suspend(victim.job, suspended);
                }
                candidates.add(victim.job);
            }
            candidates.sort_again();
            if failed.len() == before {
                return self.place_now(index).ok();
            }
        }
        None
    }

    /// Ends a running job, which gives all back.
    fn stop(&mut self, victim: &Victim) -> SuspendedJob {
        let job = self.job(victim.job);
        let state = &mut *self.state;
        self.reservations
            .change(&state.machine, &victim.placement, victim.end, 1);
        state.machine.end(victim.job);
        state.limits.end(job);
        if let Some(totals) = &mut self.totals {
            totals.add(&state.limits.limits, job, -1);
        }
        self.started.remove(&victim.job);
        self.update_standings(victim.job);
        let placement = victim.placement.clone();
        SuspendedJob {
            released: if victim.is_suspended {
                self.rules.levels.released(&placement)
            } else {
                placement.clone()
            },
            placement,
            left: self.left(job, victim.end),
        }
    }

    /// A job that was ended is suspended: it keeps what it does not give back.
    fn suspend(&mut self, index: u32, job: SuspendedJob) {
        self.state.machine.exchange(&job.released, &job.placement);
        self.state.suspended.insert(index, job);
    }

    /// What is left of the walltime of a running job, as far as the scheduler knows.
    fn left(&self, job: &CycleJob, end: i64) -> i64 {
        let left = match job.used {
            Some(used) => job.walltime.saturating_sub(used),
            None if self.rules.levels.knows_ends => end.saturating_sub(self.now),
            None => job.walltime,
        };
        left.max(0)
    }

    /// The running jobs that give way to a job, the last one that was tried first; `None` if that
    /// does not help.
    ///
    /// One after the other is taken away in a copy of the world until the job fits. Then, back from
    /// the last, each that has room beside it again is spared.
    fn victims(&self, index: u32, failed: &[u32]) -> Option<Vec<Victim>> {
        let mut candidates = self.running_below(index, failed);
        let refusals = self.refusals(index);
        let is_beyond_help = refusals.iter().any(|refusal| match refusal {
            Refusal::TooLarge | Refusal::Time(_) | Refusal::StrictOrdering(_) => true,
            Refusal::Limit(limit) => self.state.limits.limits[*limit].kind == LimitKind::Subjobs,
            Refusal::NotEnoughFree | Refusal::DelaysReservation(_) => false,
        });
        if candidates.is_empty() || is_beyond_help {
            return None;
        }
        let mut state = self.state.clone();
        let mut trial = self.trial(&mut state);
        let mut need = trial.need(index, *refusals.first()?);
        let own = self.standing(index).level;
        let mut victims: Vec<Victim> = Vec::new();
        let mut lifted = Vec::new();
        let mut first = 0;
        let placement = loop {
            let candidate = candidates.get_mut(first)?;
            let Some(victim) = candidate.take_if(|one| trial.helps(index, need, one)) else {
                first += 1;
                continue;
            };
            let suspended = trial.stop(&victim);
            let job = victim.job;
            victims.push(victim);
            // its loss may bring jobs of its user back to a limit, and above this job
            if victims
                .iter()
                .any(|one| trial.standing(one.job).level > own)
            {
                trial.start(job, suspended.placement);
                lifted.push(victims.pop());
                continue;
            }
            // whatever the method will be: the scheduler tries all of them as suspended
            trial.suspend(job, suspended);
            let before = need;
            match trial.place_beside(index) {
                Ok(placement) => break placement,
                Err(refusal) => need = trial.need(index, refusal),
            }
            if need != before {
                first = 0;
                candidates.append(&mut lifted);
            }
        };
        trial.start(index, placement.clone());
        // its own start may bring it over a soft limit: the next cycle would preempt it at once
        if trial.standing(index).level < own {
            return None;
        }
        let mut kept = Vec::new();
        // backwards, since the first ones taken away have the lowest level
        for victim in victims.into_iter().rev() {
            let mut refusals = refusals.iter();
            if !refusals.any(|refusal| self.is_similar(index, &placement, *refusal, &victim)) {
                continue;
            }
            let placed = match self.class_refusal(victim.job) {
                Some(refusal) => Err(refusal),
                None => trial.place_beside(victim.job),
            };
            match placed {
                Ok(placement) => trial.start(victim.job, placement),
                Err(_) => kept.push(victim),
            }
        }
        // this should not happen; the scheduler gives up then, too
        if kept.is_empty() {
            return None;
        }
        Some(kept)
    }

    /// A copy of the world.
    fn trial<'t>(&'t self, state: &'t mut CycleState) -> Cycle<'t> {
        Cycle {
            state,
            reservations: self.reservations.clone(),
            standings: self.standings.clone(),
            started: self.started.clone(),
            refused_classes: self.refused_classes.clone(),
            totals: None,
            blocked_by: HashMap::new(),
            reserved: HashMap::new(),
            events: Vec::new(),
            ..*self
        }
    }

    /// The running jobs that may give way to a job, the first one to try first: the lowest level,
    /// then the latest start.
    fn running_below(&self, index: u32, failed: &[u32]) -> Vec<Option<Victim>> {
        let own = self.standing(index);
        let targets = self.job(index).targets.as_deref();
        let usable = self.usable_pools(index);
        let mut is_tried = false;
        let mut running = Vec::new();
        for end in &self.state.machine.ends {
            let standing = self.standing(end.job);
            let job = self.job(end.job);
            if standing.level >= own.level || job.is_reservation {
                continue;
            }
            // jobs of express queues alone are no reason for another job to try
            is_tried |= own.has(EXPRESS_QUEUE) || !standing.has_queue_priority;
            if let Some(targets) = targets
                && targets.binary_search(&end.job).is_err()
            {
                continue;
            }
            let mut pools = end.placement.pools();
            if failed.contains(&end.job)
                || !pools.any(|pool| usable.get(pool as usize) == Some(&true))
            {
                continue;
            }
            let left = self.left(job, end.time);
            let mut methods = self.rules.levels.methods(job, left);
            let Some(&first) = methods.first() else {
                continue;
            };
            let mut started = job.started.unwrap_or(self.now);
            if self.started.contains(&end.job) {
                started = self.now;
                // one that started in this cycle cannot be suspended yet
                methods.retain(|method| *method != PreemptionMethod::Suspend);
            }
            let victim = Victim {
                job: end.job,
                method: methods.first().copied(),
                is_suspended: first == PreemptionMethod::Suspend,
                end: end.time,
                placement: end.placement.clone(),
            };
            running.push(((standing.level, Reverse(started), job.place), Some(victim)));
        }
        if !is_tried {
            return Vec::new();
        }
        running.sort_by_key(|(key, _)| *key);
        running.into_iter().map(|(_, victim)| victim).collect()
    }

    /// Pool by pool, whether a job could use what a running one has there: a suspended job goes on
    /// only where it was.
    fn usable_pools(&self, index: u32) -> Vec<bool> {
        let request = &self.job(index).request;
        let Some(suspended) = self.state.suspended.get(&index) else {
            return self.state.machine.usable_pools(request);
        };
        let mut usable = Vec::new();
        for pool in suspended.placement.pools() {
            let pool = pool as usize;
            usable.resize(usable.len().max(pool + 1), false);
            usable[pool] = true;
        }
        usable
    }

    /// Of which running jobs the loss can help a job that does not start.
    fn need(&self, index: u32, refusal: Refusal) -> Need {
        if let Refusal::Limit(limit) = refusal {
            return Need::Limit(limit);
        }
        match self
            .state
            .machine
            .shortage_of_free(&self.job(index).request)
        {
            Some(Shortage::Amount { amount, .. }) => Need::Amount(amount),
            _ => Need::Any,
        }
    }

    /// Whether the loss of a running job can help a job.
    fn helps(&self, index: u32, need: Need, victim: &Victim) -> bool {
        if self.standing(victim.job).level >= self.standing(index).level {
            return false;
        }
        let other = self.job(victim.job);
        match need {
            Need::Limit(limit) => {
                self.state.limits.limits[limit].counts_with(self.job(index), other)
            }
            Need::Amount(amount) => other.request.total(amount) > 0,
            Need::Any => true,
        }
    }

    /// Whether a running job has to do with why a job does not start.
    fn is_similar(
        &self,
        index: u32,
        placement: &Placement,
        refusal: Refusal,
        victim: &Victim,
    ) -> bool {
        let [job, other] = [index, victim.job].map(|index| self.job(index));
        match refusal {
            Refusal::Limit(limit) => self.state.limits.limits[limit].counts_with(job, other),
            Refusal::NotEnoughFree | Refusal::DelaysReservation(_) => {
                placement.shares_pool(&victim.placement)
            }
            _ => true,
        }
    }
}
