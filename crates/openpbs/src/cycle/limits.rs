//! What of limits forbids a job to run although the machine has room for it.
//!
//! Limits say how many jobs, or how much of an amount, the jobs of a user, of a group, of a project or
//! of all may hold at the same time in a queue or at the server; how many subjobs of an array may run;
//! and which resources a queue or the server has as a whole.

use std::collections::HashMap;

use crate::cycle::CycleJob;
use crate::files::run_limits::LimitKind;

/// A limit of a queue or of the server.
#[derive(Debug, Clone)]
pub struct Limit {
    /// The index of the queue; `None`: the server.
    pub queue: Option<u32>,
    /// Whose jobs are counted together.
    pub kind: LimitKind,
    /// The index of the limited amount; `None`: the number of jobs.
    pub amount: Option<usize>,
    /// The most for each that has none of its own.
    pub generic: Option<i64>,
    /// The most for single ones, by their indices.
    pub named: HashMap<u32, i64>,
    /// Whether it holds back no job, and only lowers the level of those beyond it
    /// (`max_run_soft`).
    pub is_soft: bool,
}

impl Limit {
    /// A limit that bounds nobody yet.
    pub fn new(queue: Option<u32>, kind: LimitKind, amount: Option<usize>) -> Self {
        Self {
            queue,
            kind,
            amount,
            generic: None,
            named: HashMap::new(),
            is_soft: false,
        }
    }

    /// The one of a job that the limit counts; `None` if the limit does not concern the job.
    fn subject(&self, job: &CycleJob) -> Option<u32> {
        if job.is_reservation || !self.is_for_queue(job.queue) {
            return None;
        }
        Some(match self.kind {
            LimitKind::Group => job.group,
            LimitKind::Project => job.project,
            LimitKind::All | LimitKind::Available => 0,
            LimitKind::User => job.user,
            LimitKind::Subjobs => job.array?,
        })
    }

    fn is_for_queue(&self, queue: u32) -> bool {
        self.queue.is_none() || self.queue == Some(queue)
    }

    fn counted(&self, job: &CycleJob) -> i64 {
        match self.amount {
            Some(amount) => job.request.counted[amount],
            None => 1,
        }
    }

    /// What the limit leaves of those whose jobs are counted with a job; `None` if it does not limit
    /// them.
    fn left(&self, used: &HashMap<u32, i64>, job: &CycleJob) -> Option<i64> {
        let subject = self.subject(job)?;
        let most = self.named.get(&subject).copied().or(self.generic)?;
        Some(most.saturating_sub(*used.get(&subject).unwrap_or(&0)))
    }

    /// Whether the limit counts two jobs together.
    pub(super) fn counts_with(&self, job: &CycleJob, other: &CycleJob) -> bool {
        let subject = self.subject(job);
        subject.is_some() && subject == self.subject(other) && self.counted(other) > 0
    }

    /// Whether a job that is held back by it is not eligible: the limit is that of its user, group
    /// or project.
    pub fn is_personal(&self) -> bool {
        use LimitKind::{Group, Project, User};
        matches!(self.kind, Group | Project | User)
    }

    /// Whether it is one of `max_run` or `max_run_res`.
    pub(super) fn is_of_running_jobs(&self) -> bool {
        !matches!(self.kind, LimitKind::Subjobs | LimitKind::Available)
    }
}

/// How much of each limit is used, by limit and by the one whose jobs are counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts(Vec<HashMap<u32, i64>>);

/// The limits of a site, in the order in which OpenPBS asks them, and what the running jobs use of
/// them.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// The soft ones last.
    pub(super) limits: Vec<Limit>,
    /// What the running jobs use.
    pub(super) running: Counts,
}

impl Limits {
    /// Limits of which nothing is used yet.
    pub fn new(mut limits: Vec<Limit>) -> Self {
        // counts of jobs before amounts, the queue before the server, then group, project, all,
        // user; arrays; resources
        limits.sort_by_key(|limit| {
            let kind_of_others = if limit.is_of_running_jobs() {
                None
            } else {
                Some(limit.kind)
            };
            (
                limit.is_soft,
                kind_of_others,
                limit.amount.is_some(),
                limit.queue.is_none(),
                limit.kind,
            )
        });
        let running = Counts(vec![HashMap::new(); limits.len()]);
        Self { limits, running }
    }

    /// Whether there is no limit.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// Whether there are soft limits.
    pub fn has_soft(&self) -> bool {
        self.limits.last().is_some_and(|limit| limit.is_soft)
    }

    /// Whether a limit of a user, a group or a project can make a job not eligible.
    pub fn has_personal(&self) -> bool {
        let mut limits = self.limits.iter();
        limits.any(|limit| limit.is_personal() && !limit.is_soft)
    }

    /// A limit by its index.
    pub fn get(&self, limit: usize) -> Option<&Limit> {
        self.limits.get(limit)
    }

    /// Whether a queue has a limit of its own.
    pub fn has_queue(&self, queue: u32) -> bool {
        let mut limits = self.limits.iter();
        limits.any(|limit| limit.queue == Some(queue))
    }

    /// Whether a queue or the server has a limit of a kind.
    pub fn has_kind(&self, kind: LimitKind, queue: u32) -> bool {
        let mut limits = self.limits.iter();
        limits.any(|limit| limit.kind == kind && limit.is_for_queue(queue))
    }

    /// The soft limits that allow less than what runs of those whose jobs are counted with a job; of
    /// an amount only if the job asks for it.
    pub(super) fn exceeded(&self, job: &CycleJob) -> Vec<&Limit> {
        let mut exceeded = Vec::new();
        for (limit, used) in self.limits.iter().zip(&self.running.0) {
            if limit.is_soft
                // more than the limit, and not as much, makes a difference (SPEC2.md, b1)
                && limit.left(used, job).is_some_and(|left| left < 0)
                && limit.counted(job) > 0
            {
                exceeded.push(limit);
            }
        }
        exceeded
    }

    /// A job runs from now on.
    pub fn start(&mut self, job: &CycleJob) {
        self.running.add(&self.limits, job, 1);
    }

    /// A job has ended.
    pub fn end(&mut self, job: &CycleJob) {
        self.running.add(&self.limits, job, -1);
    }

    /// Adds a job that was considered to the totals of a cycle. Where the server has limits, those
    /// of the queues are not counted.
    pub(super) fn count_considered(&self, totals: &mut Counts, job: &CycleJob) {
        let mut limits = self.limits.iter();
        let has_server = limits
            .any(|limit| !limit.is_soft && limit.is_of_running_jobs() && limit.queue.is_none());
        for (limit, counts) in self.limits.iter().zip(&mut totals.0) {
            // `update_total_counts` of the scheduler has an `else` between the two
            if !has_server || limit.queue.is_none() {
                add(limit, counts, job, 1);
            }
        }
    }

    /// The first limit that a job would pass, if this much is used of them.
    pub(super) fn passed(&self, counts: &Counts, job: &CycleJob) -> Option<usize> {
        let mut limits = self.limits.iter().zip(&counts.0);
        limits.position(|(limit, used)| match limit.left(used, job) {
            Some(left) => !limit.is_soft && limit.counted(job) > left,
            None => false,
        })
    }
}

fn add(limit: &Limit, counts: &mut HashMap<u32, i64>, job: &CycleJob, sign: i64) {
    if let Some(subject) = limit.subject(job) {
        let used = counts.entry(subject).or_default();
        *used = used.saturating_add(sign * limit.counted(job));
    }
}

impl Counts {
    /// Nothing is used.
    pub(super) fn none(limits: &Limits) -> Self {
        Self(vec![HashMap::new(); limits.limits.len()])
    }

    /// Adds a job, or with -1 takes it away.
    pub(super) fn add(&mut self, limits: &[Limit], job: &CycleJob, sign: i64) {
        for (limit, counts) in limits.iter().zip(&mut self.0) {
            add(limit, counts, job, sign);
        }
    }

    /// The larger of both, limit by limit.
    pub(super) fn max(&mut self, other: &Self) {
        for (counts, others) in self.0.iter_mut().zip(&other.0) {
            for (&subject, &used) in others {
                let most = counts.entry(subject).or_insert(used);
                *most = used.max(*most);
            }
        }
    }
}
