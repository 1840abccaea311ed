//! One cycle for the jobs of a document, what it answers by their ids, and the cycles after it that
//! say when a job starts that is asked for.

use std::collections::{BTreeMap, HashSet};

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::{Formula, JobTable, Value};
use jsf_ingest::{CycleJobs, QueuedJob};
use jsf_openpbs::Time;
use jsf_openpbs::cycle::{Cycle, CycleEvent, CycleState, MAX_CHANGES, SortedCandidates, Times};
use jsf_openpbs::job_attributes::array_and_index;
use jsf_words::count;
use serde::Serialize;

use crate::cycle::cycle_settings::starts_in_words;
use crate::cycle::decisions::Decisions;
use crate::cycle::running_jobs::CycleMachine;
use crate::rank::by_heading;
use crate::shares::AppliedTree;
use crate::site_jobs::ColumnsRequest;
use crate::{JobsToRank, LeftOut, RankedQueue, Role, Rule, SharesRequest, Site, SiteError};

/// A cycle that is further than this from all times of the jobs is probably not meant, in seconds.
const FAR: u64 = 366 * 86400;

/// What a cycle is asked.
#[derive(Default)]
pub struct CycleRequest<'a> {
    /// The formula; `None`: the scheduler has none.
    pub formula: Option<&'a Formula>,
    /// The moment of the cycle; `None`: that of the document of jobs.
    pub at: Option<Time>,
    /// The number of processors, instead of the nodes.
    pub processors: Option<u32>,
    /// The jobs and subjobs that are asked for. It is estimated when they start if the cycle
    /// neither starts them nor promises them a start.
    pub asked: Vec<String>,
}

/// A cycle of the scheduler.
#[derive(Debug, Serialize)]
pub struct CycledQueue {
    /// The moment of the cycle, in seconds since 1970.
    pub at: i64,
    /// The processors of the machine, and those that were free before the cycle.
    pub processors: CycleProcessors,
    /// The ids of the jobs that start, in their order.
    pub started: Vec<String>,
    /// The jobs that are promised a start, in their order.
    pub reserved: Vec<ReservedJob>,
    /// The running jobs that give way to jobs of a higher level.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preempted: Vec<PreemptedJob>,
    /// The jobs that wait, in the order in which the scheduler looks at them, with those that it
    /// does not look at last.
    pub waiting: Vec<WaitingJob>,
    /// The accrue type of every job after the cycle, by id: 0 not known, 1 not eligible, 2
    /// eligible, 3 running.
    pub accrue_types: BTreeMap<String, u8>,
    /// The ids of the jobs and subjobs that were asked for, as the document has them.
    #[serde(skip)]
    pub asked: Vec<String>,
    /// What was asked for and is no job that waits or runs, one sentence each.
    #[serde(skip)]
    pub unknown: Vec<String>,
    /// When the jobs that were asked for start, if nothing else is submitted and every job takes
    /// its whole walltime.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub estimates: Vec<EstimatedStart>,
    /// The order of the jobs, and the settings that decide what the cycle starts.
    #[serde(serialize_with = "by_heading")]
    pub rules: [Rule; 2],
    /// What the site has and the cycle does without.
    #[serde(rename = "without")]
    pub left_out: Vec<LeftOut>,
    /// The jobs with their ranking before the cycle; of a scheduler without a formula they all have
    /// the value 0, and there are no findings.
    #[serde(skip)]
    pub ranked: RankedQueue,
    /// The warning that jobs ask for amounts that are not counted, because only a number of
    /// processors is known.
    #[serde(skip)]
    pub not_counted: Option<Message>,
}

/// When a job starts that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EstimatedStart {
    /// Its id.
    pub id: String,
    /// The moment, in seconds since 1970; `None` if no end of a running job lets it start.
    pub start: Option<i64>,
    #[serde(skip)]
    pub(super) row: usize,
    /// How many starts of its row are left up to its own, as far as the cycle has decided: of an
    /// array, the subjobs start one after the other. 0 for whichever is the next one of the row.
    #[serde(skip)]
    pub(super) starts: usize,
}

impl EstimatedStart {
    fn new(id: &str, row: usize, starts: usize) -> Self {
        Self {
            id: id.to_owned(),
            start: None,
            row,
            starts,
        }
    }
}

/// The processors of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CycleProcessors {
    /// All.
    pub total: i64,
    /// Those that no job held before the cycle.
    pub free: i64,
}

/// A job that is promised a start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReservedJob {
    /// Its id; for an array that of the subjob.
    pub id: String,
    /// When it starts at the latest, in seconds since 1970, if all jobs end by their walltimes.
    pub start: i64,
    #[serde(skip)]
    pub(super) row: usize,
}

/// A running job that gives way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreemptedJob {
    /// Its id.
    pub id: String,
    /// How: `suspended`, `requeued` or `deleted`.
    pub method: &'static str,
    /// The id of the job to which it gives way; empty until that is decided.
    pub by: String,
    #[serde(skip)]
    pub(super) row: usize,
}

/// A job that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingJob {
    /// Its id.
    pub id: String,
    /// Why it waits, in a few words.
    pub reason: String,
}

impl CycledQueue {
    /// Keeps what the cycle decides about these rows of its table.
    pub fn retain_rows(&mut self, rows: &HashSet<usize>) {
        let table = &self.ranked.table;
        let is_kept = |id: &String| row_of(table, id).is_some_and(|row| rows.contains(&row));
        self.started.retain(is_kept);
        self.preempted
            .retain(|one| is_kept(&one.id) || is_kept(&one.by));
        self.reserved.retain(|one| is_kept(&one.id));
        self.waiting.retain(|one| is_kept(&one.id));
        self.accrue_types.retain(|id, _| is_kept(id));
        self.estimates.retain(|estimate| is_kept(&estimate.id));
        self.asked.retain(is_kept);
    }

    /// The running jobs that give way to a job, in words; `None` if none does.
    pub fn preempted_by(&self, id: &str) -> Option<String> {
        let mut each = Vec::new();
        for one in &self.preempted {
            if one.by == id {
                each.push(format!("{} ({})", one.id, one.method));
            }
        }
        if each.is_empty() {
            return None;
        }
        Some(format!("{}: {}", count(each.len(), "job"), each.join(", ")))
    }

    /// The row of a job, or of the array of a subjob that has no row.
    pub fn row(&self, id: &str) -> Option<usize> {
        row_of(&self.ranked.table, id)
    }
}

fn row_of(table: &JobTable, id: &str) -> Option<usize> {
    table.row(id).or_else(|| table.row(&array_and_index(id)?.0))
}

impl Site {
    /// The next cycle of the scheduler.
    ///
    /// # Errors
    /// The jobs, the nodes or the tree cannot be read, the formula is not arithmetic, neither nodes
    /// nor a number of processors are known, or the moment is not.
    pub fn cycle(&self, request: &CycleRequest<'_>) -> Result<CycledQueue, SiteError> {
        if self.priorities_at().is_some() {
            return Err(SiteError::content(
                "a cycle is one of OpenPBS's scheduler, and the jobs are Slurm's",
            ));
        }
        // without a formula, what follows the value orders the jobs
        let no_formula = Formula::parse("0")?;
        let formula = request.formula.unwrap_or(&no_formula);
        let names = formula.names();
        let columns = ColumnsRequest {
            cycle: true,
            ..self.request(&names)
        };
        let mut read = self.read_for_formula(formula, &columns)?;
        let jobs = &mut read.jobs;
        let cycle = jobs.cycle.get_or_insert_default();
        if cycle.timestamp.is_none() {
            cycle.timestamp = self.files.jobs_taken_at();
        }
        let at = match request.at {
            Some(time) => cycle.clock.utc(time),
            None => cycle.timestamp.ok_or_else(|| {
                let unknown = "the document of jobs does not say when it was written: ";
                SiteError::missing(unknown, Need::Moment)
            })?,
        };
        let times = self.times(&cycle.clock, at, MAX_CHANGES, &mut jobs.warnings)?;
        let other_settings = self.config.in_non_prime_time();
        match other_settings.filter(|_| !times.is_prime_at(at)) {
            Some(config) => {
                // a site is not cloned: it keeps the jobs that it has read last
                let opened = Self::from_files(self.files.clone(), self.options)?;
                Self { config, ..opened }.cycle_of(request, read, at, times)
            }
            None => self.cycle_of(request, read, at, times),
        }
    }

    /// Which running jobs would give way to these jobs in the next cycle, and to which jobs they
    /// would themselves, a sentence each; none where it cannot be known.
    pub fn preemption_of(&self, request: &CycleRequest<'_>, ids: &[&str]) -> Vec<String> {
        let least = i64::from(self.config.preempt_queue_prio);
        let mut priorities = self.queues.iter();
        let has_levels = priorities.any(|(_, priority)| priority.unwrap_or(0) >= least)
            || !self.queues.limits.soft_attributes.is_empty();
        let preempts = self.config.preemptive_sched.prime && has_levels;
        if ids.is_empty() || !preempts || !self.files.has(Role::Nodes) {
            return Vec::new();
        }
        // what the jobs are explained by besides does not need it
        let Ok(cycle) = self.cycle(request) else {
            return Vec::new();
        };
        let mut sentences = Vec::new();
        for id in ids {
            if let Some(jobs) = cycle.preempted_by(id) {
                sentences.push(format!("{id} would preempt {jobs}"));
            }
            for one in &cycle.preempted {
                if one.id == *id {
                    sentences.push(format!("{id} would be {} for {}", one.method, one.by));
                }
            }
        }
        sentences
    }

    /// The cycle of these jobs by the settings of a time.
    fn cycle_of(
        &self,
        request: &CycleRequest<'_>,
        mut read: JobsToRank,
        at: i64,
        times: Times,
    ) -> Result<CycledQueue, SiteError> {
        let cycle = read.jobs.cycle.take().unwrap_or_default();
        let warnings = &mut read.jobs.warnings;
        warnings.extend(far_moment(&cycle, at));
        warnings.extend(uncertain_clock(&cycle, request, self));
        age(&mut read.jobs.table, &cycle, at);
        let has_formula = request.formula.is_some();
        // the scheduler compares only the value of a formula with it (SPEC.md, 1)
        let threshold = if has_formula { self.threshold() } else { None };
        let mut ranked = self.rank_assuming(read, &SharesRequest::default(), threshold)?;
        let table = &ranked.table;
        let tree = ranked.tree.as_ref().and_then(AppliedTree::pbs);
        let processors = request.processors;
        let mut machine =
            CycleMachine::new(self, table, &cycle, at, processors, &mut ranked.warnings)?;
        machine.rules.times = Times {
            queues: self.queue_times(table.queues(), &machine.reservations),
            ..times
        };
        let of_nodes = machine.pools.of_nodes();
        let [total, free] = machine.state.machine.of_first_pools(of_nodes, 0);
        let order = self.order_rules(tree, threshold);
        machine.queues = order.queues(table);
        machine.paths = order.set_order(&mut machine.jobs, ranked.ranking.scores(), table);
        machine.add_preemption(table, &cycle.jobs, tree);
        let mut decided = Decisions::new(table, &cycle.jobs);
        let rows = decided.set_aside(self, &ranked, &machine.reservations, at);
        let mut waiting = rows.clone();
        let before = machine.state.clone();
        decided.note(machine.decide(at, &mut waiting));
        let (asked, unknown) = find_asked(table, &cycle.jobs, &request.asked);
        let mut estimates = Vec::new();
        for job in &asked {
            estimates.extend(decided.estimated(job));
        }
        machine.estimate(at, waiting, &mut estimates);
        let mut considered = Vec::new();
        let mut queues = Vec::new();
        for queue in table.queues() {
            queues.push((&**queue, 0));
        }
        for row in table.considered_rows() {
            considered.extend(cycle.jobs.get(row));
            queues[table.queue_index(row)].1 += 1;
        }
        let mut left_out = self.left_out(&queues);
        for (role, of_times) in self.uses_of_times(&queues) {
            if !self.files.has(role) {
                left_out.push(of_times);
            }
        }
        left_out.extend(machine.left_out_of_preemption(&before, &rows, &decided.preempted));
        left_out.extend(machine.pools.left_out(&considered));
        left_out.extend(machine.reservations.left_out(table, &machine.pools.nodes));
        Ok(CycledQueue {
            at,
            processors: CycleProcessors { total, free },
            waiting: decided.waiting(&machine),
            accrue_types: decided.accrue_types(),
            preempted: decided.preempted,
            started: decided.started.into_iter().map(|(_, id)| id).collect(),
            reserved: decided.reserved,
            asked: asked.into_iter().map(|job| job.id).collect(),
            unknown,
            estimates,
            rules: [
                Rule::new("order", self.order_in_words(table, tree, has_formula)),
                Rule::new("starts", starts_in_words(&machine.rules)).notable_if(true),
            ],
            left_out,
            not_counted: machine.pools.not_counted(&considered),
            ranked,
        })
    }
}

/// Adds to the `eligible_time` of eligible jobs the time from the document to the cycle.
fn age(table: &mut JobTable, cycle: &CycleJobs, at: i64) {
    let Some(written) = cycle.timestamp else {
        return;
    };
    if written == at {
        return;
    }
    for (row, job) in cycle.jobs.iter().enumerate() {
        if let (Some(2), Some(eligible_time)) = (job.accrue_type, job.eligible_time) {
            let waited = at.saturating_sub(written);
            let aged = Value::Int(eligible_time.saturating_add(waited).max(0));
            // the formula need not read it
            let _ = table.set(row, "eligible_time", aged);
        }
    }
}

/// A warning about a moment that is far from all times of the jobs.
fn far_moment(cycle: &CycleJobs, at: i64) -> Option<Message> {
    let jobs = cycle.jobs.iter();
    let times = jobs.flat_map(|job| [job.stime, job.qtime, job.etime]);
    let times = times.flatten().map(|time| cycle.clock.utc(time));
    let times = times.chain(cycle.timestamp);
    let nearest = times.map(|time| time.abs_diff(at)).min()?;
    if nearest <= FAR {
        return None;
    }
    let days = nearest / 86400;
    let found =
        format!("the moment of the cycle is {days} days from every time in the document of jobs");
    Some(found.into())
}

/// A warning if times on the server's clock count and its distance from UTC is not known: that of
/// the cycle, those of running jobs, and those in files of the site.
fn uncertain_clock(cycle: &CycleJobs, request: &CycleRequest<'_>, site: &Site) -> Option<Message> {
    if cycle.clock.is_known() {
        return None;
    }
    let mut uncertain = Vec::new();
    if cycle.jobs.iter().any(|job| is_on_clock(job.stime)) {
        uncertain.push("start times of running jobs");
    }
    if is_on_clock(request.at) {
        uncertain.push("the moment of the cycle");
    }
    for (role, times) in [
        (Role::Reservations, "reservations"),
        (Role::Holidays, "prime time"),
        (Role::DedicatedTime, "dedicated time"),
    ] {
        if site.files.has(role) {
            uncertain.push(times);
        }
    }
    if uncertain.is_empty() {
        return None;
    }
    let times = uncertain.join(", ");
    let found = format!(
        "the time zone is not known and taken to be UTC, so these may be off by hours: {times}"
    );
    Some(found.into())
}

/// Whether a time is that of the clock of qstat's host.
fn is_on_clock(time: Option<Time>) -> bool {
    matches!(time, Some(Time::Wall(_)))
}

/// The most cycles that are run to estimate when a job starts.
const MAX_LATER_CYCLES: usize = 2000;
/// The most decisions about jobs in all these cycles.
const MAX_LATER_DECISIONS: usize = 5_000_000;

/// Finds jobs by their ids, and says what no job is called.
fn find_asked(
    table: &JobTable,
    queued: &[QueuedJob],
    ids: &[String],
) -> (Vec<EstimatedStart>, Vec<String>) {
    let mut jobs = Vec::new();
    let mut unmatched = Vec::new();
    let mut known = HashSet::new();
    for found in ids.iter().flat_map(|id| find_jobs(table, queued, id)) {
        match found {
            Ok(job) => {
                if known.insert(job.id.clone()) {
                    jobs.push(job);
                }
            }
            Err(why) => unmatched.push(why),
        }
    }
    (jobs, unmatched)
}

/// The jobs of an id, or why there are none. A subjob that waits and of which the document has only
/// the array is found by that.
fn find_jobs(
    table: &JobTable,
    queued: &[QueuedJob],
    id: &str,
) -> Vec<Result<EstimatedStart, String>> {
    let unknown = match table.find_jobs(id) {
        Ok(rows) => {
            let jobs = rows.into_iter();
            let jobs = jobs.map(|row| Ok(EstimatedStart::new(table.id(row), row, 0)));
            return jobs.collect();
        }
        Err(why) => Err(why),
    };
    let Some((array, index)) = array_and_index(id) else {
        return vec![unknown];
    };
    let mut found = Vec::new();
    for row in table.find_jobs(&array).unwrap_or_default() {
        let array = table.id(row);
        let Some(of_array) = queued.get(row) else {
            continue;
        };
        let waiting = of_array.queued_subjobs.as_ref();
        found.push(match waiting.and_then(|waiting| waiting.position(index)) {
            Some(position) => {
                let id = array.replacen("[]", &format!("[{index}]"), 1);
                Ok(EstimatedStart::new(&id, row, position + 1))
            }
            None => Err(why_no_subjob_waits(of_array, array, index)),
        });
    }
    if found.is_empty() {
        found.push(unknown);
    }
    found
}

/// Why a subjob of an array does not wait, as far as the document says.
fn why_no_subjob_waits(job: &QueuedJob, array: &str, index: u32) -> String {
    let (Some(queued), Some(all), true) = (
        &job.queued_subjobs,
        &job.submitted_subjobs,
        job.are_queued_subjobs_listed,
    ) else {
        return format!("no subjob {index} of `{array}` waits");
    };
    if all.position(index).is_none() {
        return format!("the array `{array}` has no subjob {index}");
    }
    // those that have ended are not listed
    let begun = all.len().saturating_sub(queued.len());
    if begun == u64::from(job.running_subjobs) {
        format!("the subjob {index} of `{array}` runs")
    } else {
        format!("the subjob {index} of `{array}` does not wait: it runs or has ended")
    }
}

impl CycleMachine<'_> {
    /// Lets one cycle decide these rows, of which those stay that still wait.
    pub fn decide(&mut self, at: i64, rows: &mut Vec<usize>) -> Vec<CycleEvent> {
        let Self {
            state, jobs, rules, ..
        } = self;
        let waiting = rows.iter().map(|&row| row as u32);
        let paths = self.paths.clone();
        let mut candidates = SortedCandidates::new(&self.queues, jobs, waiting, paths);
        let events = Cycle::new(at, rules, state, jobs).run(&mut candidates);
        let mut left = candidates.subjobs;
        rows.retain(|&row| {
            jobs[row].subjobs = left.remove(&(row as u32)).unwrap_or(0);
            jobs[row].subjobs > 0
        });
        // the others ran before the cycle, and gave way
        left.retain(|_, subjobs| *subjobs > 0);
        let mut gave_way = Vec::from_iter(left);
        gave_way.sort_unstable();
        for (job, subjobs) in gave_way {
            jobs[job as usize].subjobs = subjobs;
            rows.push(job as usize);
        }
        events
    }

    /// Ends the running jobs that end next, as far as the walltimes tell. Returns when, or before
    /// that when after this time other jobs may start.
    pub fn end_next(&mut self, at: i64) -> Option<i64> {
        let end = self.state.machine.next_end();
        if let Some(change) = self.rules.times.next_change(at)
            && end.is_none_or(|end| change < end)
        {
            return Some(change);
        }
        let CycleState {
            machine, limits, ..
        } = &mut self.state;
        machine.end_next(|job| limits.end(&self.jobs[job as usize]))
    }

    /// Runs the cycles after that of a time, at the ends of the running jobs, until all jobs that
    /// are asked for have started, or that cannot be found out.
    pub fn estimate(
        &mut self,
        mut at: i64,
        mut rows: Vec<usize>,
        estimates: &mut [EstimatedStart],
    ) {
        self.rules.explains = false;
        let mut decisions = 0;
        for _ in 0..MAX_LATER_CYCLES {
            decisions += rows.len();
            let is_known = estimates.iter().all(|one| one.start.is_some());
            if is_known || decisions > MAX_LATER_DECISIONS {
                return;
            }
            let Some(next) = self.end_next(at) else {
                return;
            };
            at = next;
            for event in self.decide(at, &mut rows) {
                let CycleEvent::Starts(job) = event else {
                    continue;
                };
                for one in &mut *estimates {
                    if one.row == job as usize {
                        one.starts = one.starts.saturating_sub(1);
                    }
                    if one.starts == 0 && one.start.is_none() {
                        one.start = Some(at);
                    }
                }
            }
        }
    }
}
