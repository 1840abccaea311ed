//! The limits of running jobs: how many jobs, or how much of an amount, the jobs of a user, of a
//! group, of a project or of all may hold at the same time in a queue or at the server; how many
//! subjobs of an array may run; and the resources that a queue or the server has as a whole.

use std::collections::HashMap;

use super::CycleJob;

/// Whose jobs a limit counts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitKind {
    /// Those of a group.
    Group,
    /// Those of a project.
    Project,
    /// All.
    All,
    /// Those of a user.
    User,
    /// The subjobs of an array, by its `max_run_subjobs`.
    Subjobs,
    /// All: what `resources_available` has.
    Available,
}

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
        }
    }

    /// The one of a job that the limit counts; `None` if the limit does not concern the job.
    fn subject(&self, job: &CycleJob<'_>) -> Option<u32> {
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

    fn counted(&self, job: &CycleJob<'_>) -> i64 {
        match self.amount {
            Some(amount) => job.counted[amount],
            None => 1,
        }
    }

    /// What the limit leaves of those whose jobs are counted with a job; `None` if it does not limit
    /// them.
    fn left(&self, used: &HashMap<u32, i64>, job: &CycleJob<'_>) -> Option<i64> {
        let subject = self.subject(job)?;
        let most = self.named.get(&subject).copied().or(self.generic)?;
        Some(most.saturating_sub(*used.get(&subject).unwrap_or(&0)))
    }

    /// Whether the limit counts two jobs together.
    pub(super) fn counts_with(&self, job: &CycleJob<'_>, other: &CycleJob<'_>) -> bool {
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
    fn is_of_running_jobs(&self) -> bool {
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
    pub(super) limits: Vec<Limit>,
    /// What the running jobs use.
    pub(super) running: Counts,
    has_server: bool,
}

impl Limits {
    /// Limits of which nothing is used yet.
    pub fn new(mut limits: Vec<Limit>) -> Self {
        // counts of jobs before amounts, the queue before the server, then group, project, all,
        // user; arrays; resources
        limits.sort_by_key(|limit| {
            let of_others = if limit.is_of_running_jobs() {
                None
            } else {
                Some(limit.kind)
            };
            (
                of_others,
                limit.amount.is_some(),
                limit.queue.is_none(),
                limit.kind,
            )
        });
        let running = Counts(vec![HashMap::new(); limits.len()]);
        let mut of_jobs = limits.iter().filter(|limit| limit.is_of_running_jobs());
        let has_server = of_jobs.any(|limit| limit.queue.is_none());
        Self {
            limits,
            running,
            has_server,
        }
    }

    /// Whether there is no limit.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// Whether a limit of a user, a group or a project can make a job not eligible.
    pub fn has_personal(&self) -> bool {
        self.limits.iter().any(Limit::is_personal)
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

    /// The limits that allow less than what runs of those whose jobs are counted with a job; of an
    /// amount only if the job asks for it. These are soft limits.
    pub(super) fn exceeded(&self, job: &CycleJob<'_>) -> Vec<&Limit> {
        let mut exceeded = Vec::new();
        for (limit, used) in self.limits.iter().zip(&self.running.0) {
            if let Some(left) = limit.left(used, job)
                && left < 0
                && limit.counted(job) > 0
            {
                exceeded.push(limit);
            }
        }
        exceeded
    }

    /// A job runs from now on.
    pub fn start(&mut self, job: &CycleJob<'_>) {
        self.running.add(&self.limits, job, 1);
    }

    /// A job has ended.
    pub fn end(&mut self, job: &CycleJob<'_>) {
        self.running.add(&self.limits, job, -1);
    }

    /// Adds a job that was considered to the totals of a cycle. Where the server has limits, those
    /// of the queues are not counted.
    pub(super) fn count_considered(&self, totals: &mut Counts, job: &CycleJob<'_>) {
        for (limit, counts) in self.limits.iter().zip(&mut totals.0) {
            if !self.has_server || limit.queue.is_none() {
                add(limit, counts, job, 1);
            }
        }
    }

    /// The first limit that a job would pass, if this much is used of them.
    pub(super) fn passed(&self, counts: &Counts, job: &CycleJob<'_>) -> Option<usize> {
        let mut limits = self.limits.iter().zip(&counts.0);
        limits.position(|(limit, used)| match limit.left(used, job) {
            Some(left) => limit.counted(job) > left,
            None => false,
        })
    }

    /// The first limit of `max_run` or `max_run_res` that a job would pass.
    pub(super) fn passed_by_jobs(&self, counts: &Counts, job: &CycleJob<'_>) -> Option<usize> {
        let passed = self.passed(counts, job);
        passed.filter(|&limit| self.limits[limit].is_of_running_jobs())
    }
}

fn add(limit: &Limit, counts: &mut HashMap<u32, i64>, job: &CycleJob<'_>, sign: i64) {
    if let Some(subject) = limit.subject(job) {
        *counts.entry(subject).or_default() += sign * limit.counted(job);
    }
}

impl Counts {
    /// Nothing is used.
    pub(super) fn none(limits: &Limits) -> Self {
        Self(vec![HashMap::new(); limits.limits.len()])
    }

    /// Adds a job, or with -1 takes it away.
    pub(super) fn add(&mut self, limits: &[Limit], job: &CycleJob<'_>, sign: i64) {
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
