//! Preemption: the levels of jobs (`preempt_prio`), by which a cycle orders them first, and which
//! running jobs give way to one of a higher level.
//!
//! Source: the cycles recorded in `tests/golden/cycles2`, and its `SPEC2.md`.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::machine::PlannedEnd;
use super::{Cycle, CycleJob, JobSource, Limit, Limits, Machine, Placement, Refusal, Shortage};

/// What a job is in preemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreemptionStatus {
    /// `express_queue`: its queue has at least the priority `preempt_queue_prio`.
    ExpressQueue,
    /// `normal_jobs`: nothing else.
    Normal,
    /// `server_softlimits`: more runs than a soft limit of the server allows.
    ServerSoftLimits,
    /// `queue_softlimits`: the same of its queue.
    QueueSoftLimits,
    /// `fairshare`: its entity has used more than its share, which is not found out here.
    Fairshare,
}

/// The levels of a scheduler.
#[derive(Debug, Clone, Default)]
pub struct PreemptionLevels {
    /// From high to low; the statuses of an entry hold at once.
    pub levels: Vec<Vec<PreemptionStatus>>,
    /// `preempt_queue_prio`
    pub express_priority: i64,
    /// The priority of each queue, by its index.
    pub queue_priorities: Vec<i64>,
    /// The soft limits, with what runs of them.
    pub soft_limits: Limits,
    /// `preempt_order`: how jobs give way, by how much of their walltime remains.
    pub methods: Vec<RemainingMethods>,
    /// By job, when it started, if it ran before the cycle.
    pub started: Vec<Option<i64>>,
    /// The jobs that earlier cycles suspended, with where they can go on.
    pub suspended: HashMap<u32, Placement>,
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

/// A running job that gives way.
#[derive(Debug, Clone)]
pub(super) struct Victim {
    pub(super) job: u32,
    pub(super) method: PreemptionMethod,
    pub(super) end: i64,
    pub(super) placement: Placement,
}

/// The distance of two levels, which leaves room for the priorities of queues.
const STEP: i64 = 1 << 20;

impl PreemptionLevels {
    /// Reads `preempt_prio`, such as `express_queue, normal_jobs, server_softlimits+queue_softlimits`.
    /// A word that is not a status has no level.
    pub fn read_levels(text: &str) -> Vec<Vec<PreemptionStatus>> {
        let entries = text.split(',').map(|entry| {
            let words = entry.split('+').map(str::trim);
            words.filter_map(PreemptionStatus::from_name).collect()
        });
        entries.filter(|entry: &Vec<_>| !entry.is_empty()).collect()
    }

    /// Reads `preempt_order`, such as `SCR` or `SR 50 R`: methods, and the percentage of the walltime
    /// down to which they hold. A checkpoint is left out: the scheduler that was recorded hung in
    /// each.
    pub fn read_order(text: &str) -> Vec<RemainingMethods> {
        let mut words = text.split_ascii_whitespace();
        let mut read = Vec::new();
        while let Some(letters) = words.next() {
            let percent = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
            let methods = letters.chars().filter_map(|letter| match letter {
                'S' => Some(PreemptionMethod::Suspend),
                'R' => Some(PreemptionMethod::Requeue),
                'D' => Some(PreemptionMethod::Delete),
                _ => None,
            });
            read.push(RemainingMethods {
                percent,
                methods: methods.collect(),
            });
        }
        read
    }

    /// Whether soft limits have a level, so that it changes with each start.
    pub fn has_soft_limits(&self) -> bool {
        !self.soft_limits.is_empty()
            && self.levels.iter().flatten().any(|status| {
                matches!(
                    status,
                    PreemptionStatus::ServerSoftLimits | PreemptionStatus::QueueSoftLimits
                )
            })
    }

    /// Whether a job is over a soft limit that has a level.
    pub(super) fn is_over_soft_limit(&self, job: &CycleJob<'_>) -> bool {
        use PreemptionStatus::{QueueSoftLimits, ServerSoftLimits};

        let is_over = |status: &PreemptionStatus| {
            matches!(status, ServerSoftLimits | QueueSoftLimits) && self.has(job, *status)
        };
        self.levels.iter().flatten().any(is_over)
    }

    /// Whether a job has a status, as far as it is found out here.
    fn has(&self, job: &CycleJob<'_>, status: PreemptionStatus) -> bool {
        let is_over_limit_of =
            |is_owner: fn(&Limit) -> bool| self.soft_limits.exceeded(job, is_owner);
        match status {
            PreemptionStatus::ExpressQueue => self.is_express(job),
            PreemptionStatus::ServerSoftLimits => is_over_limit_of(|limit| limit.queue.is_none()),
            PreemptionStatus::QueueSoftLimits => is_over_limit_of(|limit| limit.queue.is_some()),
            PreemptionStatus::Normal | PreemptionStatus::Fairshare => false,
        }
    }

    fn queue_priority(&self, job: &CycleJob<'_>) -> i64 {
        let priorities = &self.queue_priorities;
        priorities.get(job.queue as usize).copied().unwrap_or(0)
    }

    fn is_express(&self, job: &CycleJob<'_>) -> bool {
        self.queue_priority(job) >= self.express_priority
    }

    /// The level of a job; a job of a higher level comes first. The priority of an express queue is
    /// added to its level.
    pub(super) fn level(&self, job: &CycleJob<'_>) -> i64 {
        let has = |status: &PreemptionStatus| self.has(job, *status);
        // of several entries the lowest counts, but an entry that has all statuses comes first
        let several = self
            .levels
            .iter()
            .position(|entry| entry.len() > 1 && entry.iter().all(has));
        let single = self
            .levels
            .iter()
            .rposition(|entry| entry.len() == 1 && entry.iter().all(has));
        let normal = || {
            self.levels
                .iter()
                .position(|entry| entry[..] == [PreemptionStatus::Normal])
        };
        let Some(entry) = several.or(single).or_else(normal) else {
            return 0;
        };
        let level = (self.levels.len() - entry) as i64 * STEP;
        if self.levels[entry].contains(&PreemptionStatus::ExpressQueue) {
            level + self.queue_priority(job)
        } else {
            level
        }
    }
}

impl PreemptionStatus {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "express_queue" => Self::ExpressQueue,
            "normal_jobs" => Self::Normal,
            "server_softlimits" => Self::ServerSoftLimits,
            "queue_softlimits" => Self::QueueSoftLimits,
            "fairshare" => Self::Fairshare,
            _ => return None,
        })
    }
}

impl<S: JobSource> Cycle<'_, S> {
    /// The running jobs that give way to a job that does not start, the last one that was tried
    /// first; `None` if that does not help.
    ///
    /// One after the other is taken away until the job fits. Then, back from the last, each that
    /// has room beside it again is spared.
    pub(super) fn victims(&self, index: u32, refusal: Refusal) -> Option<Vec<Victim>> {
        let job = self.jobs.job(index);
        let before = self
            .levels
            .as_ref()
            .filter(|_| !self.gave_way.contains(&index))?;
        let own = before.level(&job);
        let mut next = self.next_victim(self.machine, own, &job, refusal, &[])?;
        let mut levels = before.clone();
        let mut machine = self.machine.clone();
        let mut limits = self.limits.clone();
        let mut refusal = refusal;
        let mut victims: Vec<Victim> = Vec::new();
        let mut passed_over: Vec<u32> = Vec::new();
        let placement = loop {
            let victim = self.jobs.job(next.job);
            levels.soft_limits.end(&victim);
            // its loss may bring jobs of its user back to a limit, and above this job
            let is_lifted = victims
                .iter()
                .chain([&next])
                .any(|one| levels.level(&self.jobs.job(one.job)) > own);
            if is_lifted {
                levels.soft_limits.start(&victim);
                passed_over.push(next.job);
            } else {
                machine.end(next.job, &victim.request, next.end);
                limits.end(&victim);
                victims.push(next);
                match self.place_on(&machine, &limits, index) {
                    Ok(placement) => break placement,
                    Err(found) => refusal = found,
                }
            }
            next = self.next_victim(&machine, own, &job, refusal, &passed_over)?;
        };
        machine.start(index, &job.request, placement, self.now + job.walltime);
        limits.start(&job);
        let mut kept = Vec::new();
        for victim in victims.into_iter().rev() {
            let one = self.jobs.job(victim.job);
            let has_room = machine.has_room_at(&victim.placement, &one.request)
                && limits.passed(limits.running(), &one).is_none();
            if has_room {
                machine.start(victim.job, &one.request, victim.placement, victim.end);
                limits.start(&one);
            } else {
                kept.push(victim);
            }
        }
        Some(kept)
    }

    /// The running job that is tried next: of those of a lower level the lowest, then the one that
    /// started last. Of those that started in the same second it is the one that ends first; OpenPBS
    /// takes them in its order of jobs, which is not known here of running ones.
    fn next_victim(
        &self,
        machine: &Machine,
        own: i64,
        job: &CycleJob<'_>,
        refusal: Refusal,
        passed_over: &[u32],
    ) -> Option<Victim> {
        let levels = self.levels.as_ref()?;
        let lacking = match refusal {
            Refusal::NotEnoughFree => match machine.shortage_of_free(&job.request) {
                Some(Shortage::InAll { amount, .. } | Shortage::OnHost { amount, .. }) => {
                    Some(amount)
                }
                _ => None,
            },
            Refusal::Limit(_) => None,
            _ => return None,
        };
        let helps = |other: &CycleJob<'_>| match refusal {
            Refusal::Limit(limit) => self
                .limits
                .get(limit)
                .is_some_and(|limit| limit.counts_with(job, other)),
            _ => lacking.is_none_or(|amount| other.request.total(amount) > 0),
        };
        let candidates = machine.ends().iter().filter_map(|end| {
            let other = self.jobs.job(end.job);
            let level = levels.level(&other);
            let is_express_only = levels.is_express(&other) && !levels.is_express(job);
            let is_kept = other.is_reservation
                || passed_over.contains(&end.job)
                || self.gave_way.contains(&end.job);
            if is_kept || is_express_only || level >= own || !helps(&other) {
                return None;
            }
            let method = self.method(levels, end, &other)?;
            let of_before = levels.started.get(end.job as usize).copied().flatten();
            let started = of_before.filter(|_| !self.started.contains(&end.job));
            Some(((level, Reverse(started.unwrap_or(self.now))), method, end))
        });
        let (_, method, end) = candidates.min_by_key(|(key, ..)| *key)?;
        Some(Victim {
            job: end.job,
            method,
            end: end.time,
            placement: end.placement.clone(),
        })
    }

    /// How a job gives way. One that started in this cycle cannot be suspended yet.
    fn method(
        &self,
        levels: &PreemptionLevels,
        end: &PlannedEnd,
        job: &CycleJob<'_>,
    ) -> Option<PreemptionMethod> {
        let remaining = (end.time - self.now).saturating_mul(100) / job.walltime.max(1);
        let entry = levels
            .methods
            .iter()
            .find(|entry| remaining >= entry.percent)?;
        let is_new = self.started.contains(&end.job);
        let mut methods = entry.methods.iter().copied();
        methods.find(|method| *method != PreemptionMethod::Suspend || !is_new)
    }
}
