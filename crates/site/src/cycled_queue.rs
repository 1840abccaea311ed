//! The next cycle of a site's scheduler.
//!
//! In: the jobs of a site with their values, its nodes, reservations, limits and times. Out: which
//! jobs start, which are promised a start, why each other one waits, and when a job that is asked
//! for starts.

use std::collections::{BTreeMap, HashSet};

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::formula::Formula;
use job_sort_formula::jobs::{JobState, JobTable};
use job_sort_formula::python::Value;
use job_sort_formula::schema::InputType;
use jsf_ingest::{CycleJobs, QueuedJob};
use jsf_openpbs::amounts::Time;
use jsf_openpbs::amounts::{ArrayIndices, array_and_index};
use jsf_openpbs::cycle::{
    CycleEvent, Limit, MAX_CHANGES, PreemptionMethod, Refusal, RequestedChunk, Shortage, Times,
};
use jsf_openpbs::files::queues::LimitKind;
use jsf_openpbs::order::NotConsidered;
use jsf_words::count;
use serde::Serialize;

use crate::cycle_rules::{Reservations, starts_in_words};
use crate::node_pools::PROCESSORS;
use crate::ranked_queue::by_heading;
use crate::share_tree::AppliedTree;
use crate::site_jobs::ColumnsRequest;
use crate::site_machine::CycleMachine;
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
    row: usize,
    /// How many starts of its row are left up to its own: of an array, the subjobs start one after
    /// the other.
    #[serde(skip)]
    starts: usize,
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
    row: usize,
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
    row: usize,
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
        let at = moment(request.at, cycle)?;
        let times = self.times(&cycle.clock, at, MAX_CHANGES, &mut jobs.warnings)?;
        let other_settings = self.config.in_non_prime_time();
        match other_settings.filter(|_| !times.is_prime_at(at)) {
            Some(config) => {
                let opened = Self::from_files(self.files.clone(), self.rules)?;
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
        let threshold = if has_formula { self.threshold() } else { None };
        let mut ranked = self.rank_assuming(read, &SharesRequest::default(), threshold)?;
        if !has_formula {
            ranked.findings.clear();
        }
        let table = &ranked.table;
        let tree = ranked.tree.as_ref().and_then(AppliedTree::pbs);
        let processors = request.processors;
        let mut machine =
            CycleMachine::new(self, table, &cycle, at, processors, &mut ranked.warnings)?;
        machine.rules.times = Times {
            queues: self.queue_times(table.queues(), &machine.reservations),
            ..times
        };
        let processors = machine.processors();
        let order = self.order_rules(tree, threshold);
        machine.set_order(&order, ranked.ranking.scores(), table);
        machine.add_preemption(self, table, &cycle.jobs, tree);
        let mut decided = Decisions::new(table, &cycle.jobs);
        let rows = decided.set_aside(self, &ranked, &machine.reservations, at);
        let mut waiting = rows.clone();
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
        left_out.extend(machine.left_out_of_preemption(self, &rows, &decided.preempted));
        left_out.extend(machine.pools.left_out(self, &considered));
        left_out.extend(machine.reservations.left_out(table, &machine.pools.nodes));
        Ok(CycledQueue {
            at,
            processors,
            waiting: decided.waiting(self, &machine),
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
            not_counted: machine.pools.not_counted(self, &considered),
            ranked,
        })
    }
}

/// The moment of the cycle.
fn moment(asked: Option<Time>, cycle: &CycleJobs) -> Result<i64, SiteError> {
    if let Some(time) = asked {
        return Ok(cycle.clock.utc(time));
    }
    cycle.timestamp.ok_or_else(|| {
        let unknown = "the document of jobs does not say when it was written: ";
        SiteError::missing(unknown, Need::Moment)
    })
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
    let times = times.chain([cycle.timestamp]).flatten();
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
    let is_known = cycle.clock.is_known();
    let has_running = cycle.jobs.iter().any(|job| job.stime.is_some());
    let mut uncertain = Vec::new();
    if has_running && !cycle.is_time_zone_known {
        uncertain.push("start times of running jobs");
    }
    if matches!(request.at, Some(Time::Wall(_))) && !is_known {
        uncertain.push("the moment of the cycle");
    }
    for (role, times) in [
        (Role::Reservations, "reservations"),
        (Role::Holidays, "prime time"),
        (Role::DedicatedTime, "dedicated time"),
    ] {
        if site.files.has(role) && !is_known {
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

/// The most cycles that are run to estimate when a job starts.
const MAX_LATER_CYCLES: usize = 2000;
/// The most decisions about jobs in all these cycles.
const MAX_LATER_DECISIONS: usize = 5_000_000;

/// A job or a subjob that is asked for.
pub struct AskedJob {
    row: usize,
    pub id: String,
    /// The place of a subjob among those of its array that wait, where the document has the array
    /// only.
    position: Option<usize>,
}

/// Finds jobs by their ids, and says what no job is called. A subjob that waits and of which the
/// document has only the array is found by that.
fn find_asked(
    table: &JobTable,
    queued: &[QueuedJob],
    ids: &[String],
) -> (Vec<AskedJob>, Vec<String>) {
    let mut jobs = Vec::new();
    let mut unmatched = Vec::new();
    for id in ids {
        match table.find_jobs(id) {
            Ok(rows) => {
                for row in rows {
                    jobs.push(AskedJob {
                        row,
                        id: table.id(row).to_owned(),
                        position: None,
                    });
                }
            }
            Err(why) => {
                let subjobs = find_subjobs(table, queued, id);
                if subjobs.is_empty() {
                    unmatched.push(why);
                }
                for subjob in subjobs {
                    match subjob {
                        Ok(job) => jobs.push(job),
                        Err(why) => unmatched.push(why),
                    }
                }
            }
        }
    }
    let mut known = HashSet::new();
    jobs.retain(|job: &AskedJob| known.insert(job.id.clone()));
    (jobs, unmatched)
}

/// A subjob in each array of its name, or why it does not wait.
fn find_subjobs(table: &JobTable, queued: &[QueuedJob], id: &str) -> Vec<Result<AskedJob, String>> {
    let mut found = Vec::new();
    let Some((array, index)) = array_and_index(id) else {
        return found;
    };
    for row in table.find_jobs(&array).unwrap_or_default() {
        let array = table.id(row);
        let Some(job) = queued.get(row) else { continue };
        let is_missing =
            matches!(&job.submitted_subjobs, Some(all) if all.position(index).is_none());
        let waiting = job.queued_subjobs.as_ref();
        found.push(match waiting.and_then(|waiting| waiting.position(index)) {
            _ if is_missing => Err(format!("the array `{array}` has no subjob {index}")),
            Some(position) => Ok(AskedJob {
                row,
                id: array.replacen("[]", &format!("[{index}]"), 1),
                position: Some(position),
            }),
            None => Err(format!(
                "the subjob {index} of `{array}` does not wait any more"
            )),
        });
    }
    found
}

impl CycleMachine {
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

/// What the cycle decides about each job.
pub struct Decisions<'t> {
    pub table: &'t JobTable,
    jobs: &'t [QueuedJob],
    pub started: Vec<(u32, String)>,
    pub reserved: Vec<ReservedJob>,
    pub preempted: Vec<PreemptedJob>,
    /// In the order in which the scheduler looks at them.
    refused: Vec<(u32, Refusal, Option<Shortage>)>,
    /// The waiting jobs that it does not look at, and why.
    set_aside: Vec<(usize, String)>,
    /// By row: whether the job was found eligible.
    eligible: Vec<Option<bool>>,
    /// By row: how many subjobs of an array have started.
    begun: Vec<usize>,
}

impl<'t> Decisions<'t> {
    pub fn new(table: &'t JobTable, jobs: &'t [QueuedJob]) -> Self {
        Self {
            table,
            jobs,
            started: Vec::new(),
            reserved: Vec::new(),
            preempted: Vec::new(),
            refused: Vec::new(),
            set_aside: Vec::new(),
            eligible: vec![None; table.len()],
            begun: vec![0; table.len()],
        }
    }

    /// Sets aside the waiting jobs that the scheduler does not look at. Returns the rows of the
    /// others.
    fn set_aside(
        &mut self,
        site: &Site,
        ranked: &RankedQueue,
        reservations: &Reservations,
        at: i64,
    ) -> Vec<usize> {
        // as recorded, jobs that are held or under the threshold become not eligible, and those of a
        // stopped queue or without shares stay as they are
        let mut rows = Vec::new();
        for &row in ranked.ranking.order() {
            let queue = self.table.queue(row);
            if let Some(reason) = reservations.not_begun(queue, at) {
                self.set_aside.push((row, reason));
            } else if !site.queues.is_started(queue) {
                let reason = format!("queue {queue} is not started");
                self.set_aside.push((row, reason));
            } else if self
                .queued_subjobs(row)
                .is_some_and(|indices| indices.len() == 0)
            {
                self.eligible[row] = Some(false);
            } else {
                rows.push(row);
            }
        }
        for (row, why) in &ranked.not_considered {
            let reason = match why {
                NotConsidered::NoShares => {
                    "can never run: its fair-share entity has no shares".to_owned()
                }
                NotConsidered::UnderThreshold { value, threshold } => {
                    self.eligible[*row] = Some(false);
                    format!(
                        "its value {value} does not exceed job_sort_formula_threshold {threshold}"
                    )
                }
            };
            self.set_aside.push((*row, reason));
        }
        for row in 0..self.table.len() {
            let reason = match (self.table.state(row), self.table.exclusion(row)) {
                (_, Some(exclusion)) if exclusion.is_of_queue() => exclusion.to_string(),
                (JobState::Held, _) => {
                    self.eligible[row] = Some(false);
                    "it is held".to_owned()
                }
                (JobState::Waiting, _) => {
                    "it waits for the time at which it may start (qsub -a)".to_owned()
                }
                _ => continue,
            };
            self.set_aside.push((row, reason));
        }
        rows
    }

    /// The id of the job that starts next: of an array that of its first subjob.
    fn id_of_next(&self, row: usize) -> String {
        let id = self.table.id(row);
        if let Some(indices) = self.queued_subjobs(row)
            && let Some(index) = indices.iter().nth(self.begun[row])
        {
            return id.replacen("[]", &format!("[{index}]"), 1);
        }
        id.to_owned()
    }

    /// The subjobs of an array that waited before the cycle.
    fn queued_subjobs(&self, row: usize) -> Option<&ArrayIndices> {
        self.jobs.get(row)?.queued_subjobs.as_ref()
    }

    /// What is to be found out of a job that neither starts nor is promised a start.
    pub fn estimated(&self, job: &AskedJob) -> Option<EstimatedStart> {
        let mut refused = self.refused.iter();
        let is_refused = refused.any(|(row, ..)| *row as usize == job.row);
        let mut reserved = self.reserved.iter();
        let (is_reserved, starts) = match job.position {
            None => (reserved.any(|reserved| reserved.row == job.row), 1),
            Some(position) => (
                reserved.any(|reserved| reserved.id == job.id),
                (position + 1).saturating_sub(self.begun[job.row]),
            ),
        };
        if !is_refused || is_reserved || starts == 0 {
            return None;
        }
        Some(EstimatedStart {
            id: job.id.clone(),
            start: None,
            row: job.row,
            starts,
        })
    }

    /// The jobs that wait, and why.
    pub fn waiting(&self, site: &Site, machine: &CycleMachine) -> Vec<WaitingJob> {
        let mut waiting = Vec::new();
        for &(job, refusal, shortage) in &self.refused {
            let row = job as usize;
            let words = JobInWords {
                site,
                machine,
                row,
                job: &self.jobs[row],
            };
            let mut reason = words.refusal(refusal, shortage, self);
            // how and for which job it gave way in this cycle
            if let Some(one) = self.preempted.iter().rfind(|one| one.row == row) {
                reason = format!("{} for {}: {reason}", one.method, one.by);
            }
            waiting.push((row, reason));
        }
        waiting.extend_from_slice(&self.set_aside);
        let waiting = waiting.into_iter().map(|(row, reason)| WaitingJob {
            id: self.table.id(row).to_owned(),
            reason,
        });
        waiting.collect()
    }

    /// The accrue type of every job after the cycle.
    pub fn accrue_types(&self) -> BTreeMap<String, u8> {
        let mut types = BTreeMap::new();
        for (row, eligible) in self.eligible.iter().enumerate() {
            let before = self.jobs.get(row).and_then(|job| job.accrue_type);
            let accrue_type = match eligible {
                Some(true) => 2,
                Some(false) => 1,
                None => before.unwrap_or(0),
            };
            types.insert(self.table.id(row).to_owned(), accrue_type);
        }
        for (row, id) in &self.started {
            let row = *row as usize;
            let array = self.queued_subjobs(row);
            // a job may have given way again after its start
            if array.is_some() || self.eligible[row].is_none() {
                types.insert(id.clone(), 3);
            }
            // nothing of the array waits any more
            if array.is_some_and(|subjobs| subjobs.len() == self.begun[row] as u64) {
                types.insert(self.table.id(row).to_owned(), 1);
            }
        }
        types
    }

    /// Notes what happens in the cycle.
    pub fn note(&mut self, events: Vec<CycleEvent>) {
        for event in events {
            match event {
                CycleEvent::Starts(job) => {
                    let id = self.id_of_job_preempted_for(job);
                    self.started.push((job, id));
                    self.begun[job as usize] += 1;
                    if self.preempted.iter().any(|one| one.row == job as usize) {
                        self.eligible[job as usize] = None;
                    }
                }
                CycleEvent::Waits {
                    job,
                    refusal,
                    is_eligible,
                    shortage,
                } => {
                    self.id_of_job_preempted_for(job);
                    self.refused.push((job, refusal, shortage));
                    self.eligible[job as usize] = Some(is_eligible);
                }
                CycleEvent::GivesWay(job, method) => {
                    let row = job as usize;
                    self.eligible[row] = Some(true);
                    self.preempted.push(PreemptedJob {
                        id: self.table.id(row).to_owned(),
                        method: match method {
                            PreemptionMethod::Suspend => "suspended",
                            PreemptionMethod::Requeue => "requeued",
                            PreemptionMethod::Delete => "deleted",
                        },
                        by: String::new(),
                        row,
                    });
                }
                CycleEvent::Reserved { job, start } => {
                    let row = job as usize;
                    let id = self.id_of_next(row);
                    self.reserved.push(ReservedJob { id, start, row });
                }
            }
        }
    }

    /// The id of a job that is decided, for which those gave way that did so just before.
    fn id_of_job_preempted_for(&mut self, job: u32) -> String {
        let id = self.id_of_next(job as usize);
        for one in self.preempted.iter_mut().rev() {
            if !one.by.is_empty() {
                break;
            }
            one.by.clone_from(&id);
        }
        id
    }
}

/// A job that waits.
#[derive(Clone, Copy)]
pub struct JobInWords<'m> {
    pub site: &'m Site,
    pub machine: &'m CycleMachine,
    pub row: usize,
    pub job: &'m QueuedJob,
}

impl JobInWords<'_> {
    /// Why a cycle with these decisions does not start it.
    pub fn refusal(
        self,
        refusal: Refusal,
        shortage: Option<Shortage>,
        decided: &Decisions<'_>,
    ) -> String {
        match refusal {
            Refusal::TooLarge => {
                let machine = &self.machine.machine;
                let request = &self.machine.jobs[self.row].request;
                let mut chunks = request.chunks.iter();
                let is_nowhere =
                    |chunk: &RequestedChunk| machine.pool_list(chunk.pool_list).is_empty();
                if let Some(chunk) = chunks.position(is_nowhere) {
                    let (queue, with) = (&self.job.queue, self.with_values(chunk));
                    return format!("can never run: queue {queue} has no node{with}");
                }
                match machine.shortage(request) {
                    Some(shortage) => format!("can never run: {}", self.short(shortage, "exist")),
                    None => "can never run".to_owned(),
                }
            }
            Refusal::NotEnoughFree => match shortage {
                Some(shortage) => self.short(shortage, "free"),
                None => "not enough was free when it, or a job that asks for the same, was tried"
                    .to_owned(),
            },
            Refusal::Limit(limit) => match self.machine.limits.get(limit) {
                Some(limit) => self.limit(limit),
                None => String::new(),
            },
            Refusal::DelaysReservation(delayed) => self.delays(delayed, decided),
            Refusal::Time(why) => why.to_owned(),
            Refusal::StrictOrdering(blocking) => {
                let blocking = decided.table.id(blocking as usize);
                format!("strict_ordering: {blocking} comes first and does not start")
            }
        }
    }

    /// It would delay another job, which is promised a start, or run into a reservation.
    fn delays(self, delayed: u32, decided: &Decisions<'_>) -> String {
        if let Some(index) = (delayed as usize).checked_sub(decided.table.len())
            && let Some(reservation) = self.machine.reservations.confirmed.get(index)
        {
            return format!("would run into the reservation {}", reservation.id);
        }
        let mut reserved = decided.reserved.iter();
        let id = match reserved.find(|reserved| reserved.row == delayed as usize) {
            Some(reserved) => &*reserved.id,
            None => "a job",
        };
        format!("would delay {id}, which is promised a start")
    }

    /// What is short of all that exists, or of what is free.
    fn short(self, shortage: Shortage, of: &str) -> String {
        match shortage {
            Shortage::Amount {
                chunk,
                amount,
                asked,
                available,
                is_on_host,
            } => {
                let name = self.name(amount);
                let resource = resource_in_words(name);
                let with = self.with_values(chunk);
                // how many processors of all are free is said once, above the jobs
                if of == "free" && !is_on_host && name == PROCESSORS && with.is_empty() {
                    return "not enough processors".to_owned();
                }
                let asked = self.amount(name, asked);
                let available = self.amount(name, available);
                let host = if is_on_host {
                    " on one host, at most"
                } else {
                    ","
                };
                format!("not enough {resource}: asks for {asked}{with}{host} {available} {of}")
            }
            Shortage::Together { chunk } => {
                let with = self.with_values(chunk);
                format!("no host{with} has all at once that a chunk asks for")
            }
            Shortage::Placing => "no room as the job is to be placed".to_owned(),
        }
    }

    /// The values that a chunk asks for, such as ` with color=red:fast=True`; empty if it asks for
    /// none.
    fn with_values(self, chunk: usize) -> String {
        let mut values = Vec::new();
        if !self.machine.pools.nodes.is_empty()
            && let Some(chunk) = self.job.chunks.get(chunk)
        {
            for (name, value) in self.site.wanted(chunk) {
                values.push(format!("{name}={value}"));
            }
        }
        if values.is_empty() {
            return String::new();
        }
        format!(" with {}", values.join(":"))
    }

    fn name(&self, amount: usize) -> &str {
        &self.machine.amounts[amount]
    }

    /// An amount, a size with its unit as PBS writes it.
    fn amount(self, name: &str, amount: i64) -> String {
        if self.site.schema.input_type(name) == Some(InputType::Size) {
            size_in_words(amount)
        } else {
            amount.to_string()
        }
    }

    /// A limit that the job is at.
    fn limit(self, limit: &Limit) -> String {
        let job = self.job;
        let of = match limit.queue {
            None => "the server".to_owned(),
            Some(_) => format!("queue {}", job.queue),
        };
        let whose = match limit.kind {
            LimitKind::All => "all users together".to_owned(),
            LimitKind::User => format!("user {}", job.user),
            LimitKind::Group => format!("group {}", job.group),
            LimitKind::Project => format!("project {}", job.project),
            LimitKind::Subjobs => {
                let most = job.max_run_subjobs.unwrap_or(0) as usize;
                return format!(
                    "max_run_subjobs: at most {} of the array may run at a time",
                    count(most, "subjob")
                );
            }
            LimitKind::Available => return self.not_available(limit, &of),
        };
        match limit
            .amount
            .and_then(|amount| self.machine.amounts.get(amount))
        {
            None => format!("max_run of {of}: {whose} may run no more jobs"),
            Some(resource) => format!("max_run_res.{resource} of {of}: {whose} may use no more"),
        }
    }

    /// Why the job waits for a resource that the server or a queue has as a whole.
    fn not_available(self, limit: &Limit, owner: &str) -> String {
        let amount = limit.amount.unwrap_or(0);
        let name = self.name(amount);
        let most = limit.generic.unwrap_or(0);
        let asked = self.machine.jobs[self.row].request.counted[amount];
        let never = if asked > most { "can never run: " } else { "" };
        let (asked, most) = (self.amount(name, asked), self.amount(name, most));
        let name = resource_in_words(name);
        format!(
            "{never}not enough {name}: asks for {asked}, {owner} has {most} (resources_available)"
        )
    }
}

/// A resource in a sentence.
fn resource_in_words(name: &str) -> &str {
    if name == PROCESSORS {
        "processors"
    } else {
        name
    }
}

/// A size of so many kb in the largest unit, with what is below a hundredth of it cut off.
fn size_in_words(kilobytes: i64) -> String {
    let mut unit = 1;
    let mut name = "kb";
    for larger in ["mb", "gb", "tb", "pb"] {
        if kilobytes / unit < 1024 {
            break;
        }
        unit *= 1024;
        name = larger;
    }
    let hundredths = (i128::from(kilobytes) * 100 / i128::from(unit)) as f64;
    format!("{}{name}", hundredths / 100.0)
}

#[cfg(test)]
mod tests {
    use super::size_in_words;

    #[test]
    fn sizes_have_their_largest_unit() {
        for (kilobytes, words) in [
            (0, "0kb"),
            (1023, "1023kb"),
            (1024, "1mb"),
            (1536, "1.5mb"),
            (64 << 20, "64gb"),
            ((64 << 20) - 1, "63.99gb"),
            (3 << 30, "3tb"),
            (i64::MAX, "8388607.99pb"),
        ] {
            assert_eq!(size_in_words(kilobytes), words);
        }
    }
}
