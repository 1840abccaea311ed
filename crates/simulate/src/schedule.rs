//! Runs a workload through time: a machine of identical processors, a queue that a formula orders, and backfilling.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;

use job_sort_formula::diagnostic::Span;
use job_sort_formula::formula::program::Program;
use job_sort_formula::rank::{ColumnError, Consequence, OnError, ScoreError, ScorePrecision, double_key};

use super::fairshare::{Fairshare, RunningJob};
use super::limits::LimitedQueue;
use super::waiting::WaitingJobs;
use super::workload::{Workload, WorkloadJob};

/// Stands for a job that has not started.
const NOT_STARTED: i64 = i64::MIN;
/// The number of events between two calls of [`Observer::progress`].
const EVENTS_BETWEEN_REPORTS: u64 = 64;
/// How many jobs are taken from the top one by one before all others are sorted.
const SCANS: usize = 4;

/// Which jobs may start although a job before them does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Backfill {
    /// Those that do not delay the first job that does not fit, as far as the walltimes tell (EASY).
    #[default]
    #[cfg_attr(feature = "clap", value(help = "Those that do not delay the first job that does not fit"))]
    Easy,
    /// All that fit.
    Greedy,
    /// None.
    None,
}

/// The machine and the rules of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct SimulationOptions {
    /// The number of processors.
    pub processors: u32,
    /// Which jobs may start before their turn.
    pub backfill: Backfill,
    /// The precision to which values are rounded before they are compared; decimals are computed as doubles.
    pub precision: ScorePrecision,
    /// The value of a job for which the formula raises an error: 0, or less than every other one.
    pub on_error: OnError,
}

impl Default for SimulationOptions {
    /// One processor, EASY, doubles, 0 for an error.
    fn default() -> Self {
        Self {
            processors: 1,
            backfill: Backfill::Easy,
            precision: ScorePrecision::Double,
            on_error: OnError::ZeroLikePbs,
        }
    }
}

/// Follows a simulation.
pub trait Observer {
    /// Is called now and then with the number of jobs that have started; may end the simulation.
    fn progress(&mut self, _started: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The first job in the order that does not fit gets a reservation, under [`Backfill::Easy`].
    fn reserved(&mut self, _now: i64, _job: usize, _shadow_time: i64) {}
}

impl Observer for () {}

/// When the jobs of a workload start.
#[derive(Debug, Clone)]
pub struct Schedule {
    starts: Vec<i64>,
    /// The jobs that ask for more processors than there are, so that they can never start. They never wait either.
    pub too_large: Vec<usize>,
    /// The errors of the formula.
    pub errors: EvaluationErrors,
    /// Whether the simulation reached the end of the workload.
    pub is_complete: bool,
    /// The number of times at which jobs were evaluated.
    pub evaluations: u64,
    /// The number of values that were computed.
    pub values: u64,
}

impl Schedule {
    /// When a job starts; `None` if it does not.
    pub fn start(&self, job: usize) -> Option<i64> {
        self.starts.get(job).copied().filter(|&start| start != NOT_STARTED)
    }
}

/// The jobs for which the formula raised an error, at whatever time.
#[derive(Debug, Clone, Default)]
pub struct EvaluationErrors {
    failed: Vec<bool>,
    jobs: usize,
    kinds: BTreeMap<&'static str, ErrorKind>,
}

/// Errors of one kind.
#[derive(Debug, Clone)]
pub struct ErrorKind {
    /// The number of jobs whose first error is of this kind.
    pub jobs: usize,
    /// The first of these jobs.
    pub job: usize,
    /// Its error.
    pub message: String,
    /// What the scheduler of OpenPBS makes of it.
    pub consequence: Consequence,
    /// The part of the formula that failed; `None` where that cannot be told.
    pub span: Option<Span>,
}

impl EvaluationErrors {
    /// The number of jobs with an error.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// Whether the formula raised an error for a job.
    pub fn has_failed(&self, job: usize) -> bool {
        self.failed.get(job).copied().unwrap_or(false)
    }

    /// The errors by kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &ErrorKind)> + '_ {
        self.kinds.iter().map(|(name, kind)| (*name, kind))
    }

    pub(super) fn add(&mut self, job: u32, error: &ScoreError) {
        self.count(job, error.kind(), error.consequence(), || (error.to_string(), Some(error.span())));
    }

    pub(super) fn add_nan(&mut self, job: u32) {
        self.count(job, "not a number", Consequence::Zero, || ("the value is not a number (nan)".to_owned(), None));
    }

    fn count(
        &mut self,
        job: u32,
        kind: &'static str,
        consequence: Consequence,
        describe: impl FnOnce() -> (String, Option<Span>),
    ) {
        let job = job as usize;
        if self.failed.len() <= job {
            self.failed.resize(job + 1, false);
        }
        if !std::mem::replace(&mut self.failed[job], true) {
            self.jobs += 1;
            let entry = self.kinds.entry(kind).or_insert_with(|| {
                let (message, span) = describe();
                ErrorKind { jobs: 0, job, message, consequence, span }
            });
            entry.jobs += 1;
        }
    }
}

/// Simulates a workload: at each submission and each end of a job, the waiting jobs are ordered by the formula and started
/// as far as processors are free.
///
/// A job gets the inputs `ncpus` (its processors), `walltime`, `eligible_time` (the time since its submission) and, with a
/// tree, the fair-share numbers of its entity; all other inputs are 0. The higher value comes first, then the earlier
/// submission, then the lower id.
///
/// A job that is at a limit of running jobs is passed over: it neither starts nor gets a reservation, and holds back no other.
///
/// A job that asks for more processors than there are can never start, and would block all jobs behind it for ever. It is left
/// out ([`Schedule::too_large`]): it neither waits, nor is its submission an event.
///
/// ```
/// use jsf_simulate::{Backfill, LoggedJob, SimulationOptions, WorkloadBuilder, simulate};
/// use job_sort_formula::{Formula, Schema};
///
/// let mut builder = WorkloadBuilder::new();
/// for (id, processors, run) in [("1", 2, 60), ("2", 3, 30), ("3", 1, 30)] {
///     builder.push(&LoggedJob { id, run, walltime: run, processors, ..LoggedJob::default() })?;
/// }
/// let workload = builder.finish();
/// let program = Formula::parse("eligible_time")?.compile(&Schema::openpbs())?;
/// let rules = SimulationOptions { processors: 3, backfill: Backfill::Easy, ..SimulationOptions::default() };
/// let schedule = simulate(&program, &workload, &rules, None, Vec::new(), &mut ())?;
/// assert_eq!([0, 1, 2].map(|job| schedule.start(job)), [Some(0), Some(60), Some(0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The formula needs an input that cannot be given to it.
pub fn simulate(
    program: &Program,
    workload: &Workload,
    rules: &SimulationOptions,
    fairshare: Option<Fairshare>,
    limits: Vec<LimitedQueue>,
    observer: &mut dyn Observer,
) -> Result<Schedule, ColumnError> {
    let jobs = workload.jobs();
    let is_too_large = |job: &WorkloadJob| job.processors > rules.processors;
    let too_large = (0..jobs.len()).filter(|&job| is_too_large(&jobs[job])).collect();
    let mut simulation = Simulation {
        jobs,
        rules: *rules,
        now: 0,
        free: rules.processors.into(),
        ends: BinaryHeap::new(),
        planned_ends: Vec::new(),
        running: Vec::new(),
        waiting: WaitingJobs::new(program, workload, rules.precision, rules.on_error),
        fairshare,
        limits,
        keys: Vec::new(),
        started_rows: Vec::new(),
        started: 0,
        schedule: Schedule {
            starts: vec![NOT_STARTED; jobs.len()],
            too_large,
            errors: EvaluationErrors::default(),
            is_complete: false,
            evaluations: 0,
            values: 0,
        },
    };
    simulation.run(observer)?;
    Ok(simulation.schedule)
}

/// A running job in the order of the times at which the walltimes end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PlannedEnd {
    time: i64,
    job: u32,
    processors: u32,
}

struct Simulation<'a> {
    jobs: &'a [WorkloadJob],
    rules: SimulationOptions,
    now: i64,
    free: i64,
    /// When the running jobs end.
    ends: BinaryHeap<Reverse<(i64, u32)>>,
    /// When their walltimes end, sorted; kept for EASY only.
    planned_ends: Vec<PlannedEnd>,
    /// The running jobs in the order in which they started; kept for fair share only.
    running: Vec<RunningJob>,
    waiting: WaitingJobs<'a>,
    fairshare: Option<Fairshare>,
    limits: Vec<LimitedQueue>,
    /// The keys of waiting jobs that sort them, and their rows.
    keys: Vec<(u64, u32)>,
    started_rows: Vec<usize>,
    started: usize,
    schedule: Schedule,
}

impl Simulation<'_> {
    fn run(&mut self, observer: &mut dyn Observer) -> Result<(), ColumnError> {
        let mut submitted = self.next_that_fits(0);
        if let (Some(fairshare), Some(first)) = (&mut self.fairshare, self.jobs.first()) {
            fairshare.begin(first.submit);
        }
        for event in 1_u64.. {
            let next_submit = self.jobs.get(submitted).map(|job| job.submit);
            let next_end = self.ends.peek().map(|Reverse((end, _))| *end);
            let Some(now) = next_submit.into_iter().chain(next_end).min() else { break };
            self.now = now;
            if let Some(fairshare) = &mut self.fairshare {
                fairshare.advance(now, &self.running);
            }
            while let Some(&Reverse((_, job))) = self.ends.peek().filter(|Reverse((end, _))| *end == now) {
                self.ends.pop();
                self.end(job);
            }
            while let Some(job) = self.jobs.get(submitted).filter(|job| job.submit == now) {
                self.waiting.push(submitted as u32, job);
                submitted = self.next_that_fits(submitted + 1);
            }
            self.cycle(observer)?;
            if event % EVENTS_BETWEEN_REPORTS == 0 && observer.progress(self.started).is_break() {
                return Ok(());
            }
        }
        self.schedule.is_complete = true;
        Ok(())
    }

    /// The first job from this one on that does not ask for more processors than there are. The submission of a job that is
    /// left out is no event: nothing may depend on it.
    fn next_that_fits(&self, job: usize) -> usize {
        let left_out = self.jobs[job..].iter().take_while(|job| job.processors > self.rules.processors);
        job + left_out.count()
    }

    /// Frees the processors of a job.
    fn end(&mut self, job: u32) {
        let ended = &self.jobs[job as usize];
        self.free += i64::from(ended.processors);
        self.limits.iter_mut().for_each(|limit| limit.end(ended));
        if self.rules.backfill == Backfill::Easy {
            let time = self.schedule.starts[job as usize] + ended.walltime;
            let planned = PlannedEnd { time, job, processors: ended.processors };
            if let Ok(index) = self.planned_ends.binary_search(&planned) {
                self.planned_ends.remove(index);
            }
        }
        if self.fairshare.is_some()
            && let Some(index) = self.running.iter().position(|running| running.job == job)
        {
            self.running.remove(index);
        }
    }

    /// Starts the job of a row of the waiting ones, which stays there until the end of the cycle.
    fn start(&mut self, row: usize) {
        let job = self.waiting.jobs[row];
        let &WorkloadJob { processors, entity, walltime, .. } = &self.jobs[job as usize];
        self.free -= i64::from(processors);
        self.limits.iter_mut().for_each(|limit| limit.start(&self.jobs[job as usize]));
        self.schedule.starts[job as usize] = self.now;
        self.started += 1;
        self.started_rows.push(row);
        self.ends.push(Reverse((self.now + self.jobs[job as usize].duration(), job)));
        if self.rules.backfill == Backfill::Easy {
            let planned = PlannedEnd { time: self.now + walltime, job, processors };
            let index = self.planned_ends.partition_point(|other| *other < planned);
            self.planned_ends.insert(index, planned);
        }
        if let Some(fairshare) = &self.fairshare {
            let node = fairshare.node_index(entity);
            self.running.push(RunningJob { job, node, processors });
        }
    }

    /// Whether the limits of running jobs let the job of a row start now.
    fn is_allowed(&self, row: usize) -> bool {
        self.limits.is_empty() || {
            let job = &self.jobs[self.waiting.jobs[row] as usize];
            self.limits.iter().all(|limit| limit.allows(job))
        }
    }

    /// One cycle of the scheduler. Where no waiting job fits, nothing is evaluated: no order could start one.
    fn cycle(&mut self, observer: &mut dyn Observer) -> Result<(), ColumnError> {
        let least = self.waiting.least_processors();
        if least > self.free {
            return Ok(());
        }
        self.waiting.evaluate(self.now, self.fairshare.as_mut(), &mut self.schedule.errors)?;
        self.schedule.evaluations += 1;
        self.schedule.values += self.waiting.len() as u64;
        let blocked = self.collect_keys();
        if let Some(top) = self.start_in_order(least, blocked)
            && self.rules.backfill != Backfill::None
            && self.free >= least
        {
            self.backfill(top, observer);
        }
        self.started_rows.sort_unstable();
        self.waiting.remove(&self.started_rows);
        self.started_rows.clear();
        Ok(())
    }

    /// Collects the keys of the jobs that fit now, and returns that of the first job that does not. No other job that does not
    /// fit now matters in this cycle, since processors only get fewer in it, unless a limit lets that job be passed over.
    fn collect_keys(&mut self) -> Option<(u64, u32)> {
        let (free, has_limits) = (self.free, !self.limits.is_empty());
        let mut blocked: Option<(u64, u32)> = None;
        self.keys.clear();
        for ((&value, &processors), row) in self.waiting.values.iter().zip(&self.waiting.processors).zip(0..) {
            let key = double_key(value);
            if processors <= free || has_limits {
                self.keys.push((key, row));
            } else if blocked.is_none_or(|(first, _)| key < first) {
                blocked = Some((key, row));
            }
        }
        blocked
    }

    /// Starts jobs in the order of their values until one does not fit, which is `blocked` unless another one comes first, and
    /// returns the row of that one. The keys of the jobs behind it are left.
    fn start_in_order(&mut self, least: i64, blocked: Option<(u64, u32)>) -> Option<usize> {
        let is_before = |key: &(u64, u32)| blocked.is_none_or(|blocked| *key < blocked);
        let mut scans = 0;
        while self.free >= least {
            let row = if scans < SCANS {
                scans += 1;
                let first = (0..self.keys.len()).min_by_key(|&index| self.keys[index]);
                let Some(first) = first.filter(|&index| is_before(&self.keys[index])) else { break };
                self.keys.swap_remove(first).1 as usize
            } else {
                if scans == SCANS {
                    scans += 1;
                    self.keys.sort_unstable_by_key(|&key| Reverse(key));
                }
                if !self.keys.last().is_some_and(is_before) {
                    break;
                }
                self.keys.pop()?.1 as usize
            };
            if !self.is_allowed(row) {
                continue;
            }
            if self.waiting.processors[row] > self.free {
                return Some(row);
            }
            self.start(row);
        }
        blocked.map(|(_, row)| row as usize)
    }

    /// Starts jobs behind the top job, which does not fit.
    fn backfill(&mut self, top: usize, observer: &mut dyn Observer) {
        let reservation = match self.rules.backfill {
            Backfill::Easy => Some(self.reserve(self.waiting.processors[top])),
            _ => None,
        };
        if let Some((shadow_time, _)) = reservation {
            observer.reserved(self.now, self.waiting.jobs[top] as usize, shadow_time);
        }
        let (shadow_time, mut extra) = reservation.unwrap_or((i64::MAX, 0));
        let mut keys = std::mem::take(&mut self.keys);
        let ends_in_time =
            |waiting: &WaitingJobs<'_>, now: i64, row: usize| now + waiting.walltimes[row] <= shadow_time;
        // neither `free` nor `extra` grows, so a job that cannot start now cannot start later in this cycle
        keys.retain(|&(_, row)| {
            let (row, processors) = (row as usize, self.waiting.processors[row as usize]);
            processors <= self.free && (ends_in_time(&self.waiting, self.now, row) || processors <= extra)
        });
        keys.sort_unstable();
        for &(_, row) in &keys {
            let (row, processors) = (row as usize, self.waiting.processors[row as usize]);
            if processors > self.free || !self.is_allowed(row) {
                continue;
            }
            if ends_in_time(&self.waiting, self.now, row) {
                self.start(row);
            } else if processors <= extra {
                extra -= processors;
                self.start(row);
            }
        }
        self.keys = keys;
    }

    /// The time at which this many processors are free if every running job takes its whole walltime, and how many more are
    /// free then.
    fn reserve(&self, processors: i64) -> (i64, i64) {
        let mut free = self.free;
        let mut shadow_time = None;
        for end in &self.planned_ends {
            if shadow_time.is_some_and(|time| end.time > time) {
                break;
            }
            free += i64::from(end.processors);
            if free >= processors {
                shadow_time = Some(end.time);
            }
        }
        (shadow_time.unwrap_or(i64::MAX), free - processors)
    }
}
