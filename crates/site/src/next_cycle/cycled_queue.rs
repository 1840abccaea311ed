//! The next cycle of the site's scheduler: which jobs start, which are promised a start, why each
//! other one waits.

use std::collections::{BTreeMap, HashMap, HashSet};

use job_sort_formula::diagnostic::{Diagnostic, Message, Need};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::lint::lint;
use job_sort_formula::formula::program::Program;
use job_sort_formula::jobs::{JobState, JobTable};
use job_sort_formula::python::Value;
use job_sort_formula::rank::{Ranking, Scores};
use job_sort_formula::schema::Schema;
use jsf_ingest::{CycleJobs, QueuedJob};
use jsf_openpbs::array_id::array_and_index;
use jsf_openpbs::cycle::{
    Cycle, CycleObserver, Decision, Limit, LimitKind, Machine, PreemptionMethod, Refusal, Request,
    Reservation, Shortage, Times,
};
use jsf_openpbs::order::{Criterion, NotConsidered, Order, Ordered};
use jsf_openpbs::share_tree::PbsTree;
use jsf_openpbs::wall_clock::Time;
use serde::Serialize;

use crate::jobs::site_jobs::ColumnsRequest;
use crate::next_cycle::prime_and_dedicated::{MAX_CHANGES, conflict_in_words};
use crate::next_cycle::shortage_in_words::{
    ChunkWords, amount_in_words, counted_in_words, resource_in_words,
};
use crate::next_cycle::site_machine::CycleMachine;
use crate::opening::role::Role;
use crate::opening::site_files::SiteFiles;
use crate::simulation::simulation_rules::{LeftOut, starts_in_words};
use crate::{SharesRequest, Site, SiteError, SiteJobs};

/// The most cycles that are run to estimate when a job starts.
const MAX_LATER_CYCLES: usize = 2000;
/// The most decisions about jobs in all these cycles.
const MAX_LATER_DECISIONS: usize = 5_000_000;

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
    /// The rules of the scheduler.
    pub rules: RulesInWords,
    /// What the site has and the cycle does without.
    #[serde(rename = "without")]
    pub left_out: Vec<LeftOut>,
    /// The jobs.
    #[serde(skip)]
    pub table: JobTable,
    /// The names that the formula may use: the site's, and those that only its jobs contain.
    #[serde(skip)]
    pub schema: Schema,
    /// The scores of the jobs before the cycle, and the rows that the scheduler considers, best
    /// first.
    #[serde(skip)]
    pub ranking: Ranking,
    /// The waiting rows that the scheduler does not consider, and why.
    #[serde(skip)]
    pub not_considered: Vec<(usize, NotConsidered)>,
    /// The formula, compiled for this site.
    #[serde(skip)]
    pub program: Program,
    /// OpenPBS's fair-share tree, where the formula or the order needs it.
    #[serde(skip)]
    pub tree: Option<PbsTree>,
    /// The findings about the formula.
    #[serde(skip)]
    pub findings: Vec<Diagnostic>,
    /// The warnings, one sentence each.
    #[serde(skip)]
    pub warnings: Vec<Message>,
    /// The warning that jobs ask for amounts that are not counted, because only a number of
    /// processors is known.
    #[serde(skip)]
    pub not_counted: Option<Message>,
}

/// The rules of a scheduler, in words.
#[derive(Debug, Serialize)]
pub struct RulesInWords {
    /// The order of the jobs.
    pub order: String,
    /// The settings that decide what a cycle starts.
    pub starts: String,
}

/// When a job starts that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EstimatedStart {
    /// Its id.
    pub id: String,
    /// The moment, in seconds since 1970; `None` if no end of a running job lets it start.
    pub start: Option<i64>,
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
}

/// A running job that gives way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreemptedJob {
    /// Its id.
    pub id: String,
    /// How: `suspended`, `requeued` or `deleted`.
    pub method: &'static str,
    /// The id of the job to which it gives way.
    pub by: String,
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
        let Self {
            table,
            started,
            reserved,
            preempted,
            waiting,
            accrue_types,
            estimates,
            asked,
            ..
        } = self;
        let is_kept = |id: &str| row_of(table, id).is_some_and(|row| rows.contains(&row));
        started.retain(|id| is_kept(id));
        preempted.retain(|one| is_kept(&one.id) || is_kept(&one.by));
        reserved.retain(|one| is_kept(&one.id));
        waiting.retain(|one| is_kept(&one.id));
        accrue_types.retain(|id, _| is_kept(id));
        estimates.retain(|estimate| is_kept(&estimate.id));
        asked.retain(|id| is_kept(id));
    }

    /// The running jobs that give way to a job, in words; `None` if none does.
    pub fn preempted_by(&self, id: &str) -> Option<String> {
        let preempted = self.preempted.iter().filter(|one| one.by == id);
        let each: Vec<String> = preempted
            .map(|one| format!("{} ({})", one.id, one.method))
            .collect();
        match each.len() {
            0 => None,
            1 => Some(format!("1 job: {}", each[0])),
            many => Some(format!("{many} jobs: {}", each.join(", "))),
        }
    }

    /// The row of a job, or of the array of a subjob that has no row.
    pub fn row(&self, id: &str) -> Option<usize> {
        row_of(&self.table, id)
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
        let no_formula = Formula::parse("0").map_err(SiteError::content)?;
        let formula = request.formula.unwrap_or(&no_formula);
        let names = formula.names();
        let columns = ColumnsRequest {
            cycle: true,
            ..self.request(&names)
        };
        let mut jobs = self.read_for_formula(formula, &columns)?;
        let cycle = jobs.cycle.get_or_insert_default();
        cycle.timestamp = cycle.timestamp.or_else(|| self.files.jobs_taken_at());
        let at = moment(request.at, cycle)?;
        let times = self.times(&cycle.clock, at, MAX_CHANGES, &mut jobs.warnings)?;
        let other_settings = if times.is_prime_at(at) {
            None
        } else {
            self.in_non_prime_time()?
        };
        other_settings
            .as_ref()
            .unwrap_or(self)
            .cycle_of(request, jobs, at, times)
    }

    /// Which running jobs would give way to these jobs in the next cycle, and to which jobs they
    /// would themselves, a sentence each; none where it cannot be known.
    pub fn preemption_of(&self, request: &CycleRequest<'_>, ids: &[&str]) -> Vec<String> {
        let least = i64::from(self.config.preempt_queue_prio);
        let is_express = |priority: Option<i64>| priority.unwrap_or(0) >= least;
        let has_levels = self.queues.iter().any(|(_, priority)| is_express(priority))
            || self.queues.soft_limit_attributes().next().is_some();
        let preempts = self.config.preemptive_sched.prime && has_levels;
        if ids.is_empty() || !preempts || !self.files.has(Role::Nodes) {
            return Vec::new();
        }
        let Ok(cycle) = self.cycle(request) else {
            return Vec::new();
        };
        let mut sentences = Vec::new();
        for id in ids {
            let preempted = cycle.preempted_by(id);
            sentences.extend(preempted.map(|jobs| format!("{id} would preempt {jobs}")));
            let given_way = cycle.preempted.iter().filter(|one| one.id == *id);
            sentences.extend(
                given_way.map(|one| format!("{id} would be {} for {}", one.method, one.by)),
            );
        }
        sentences
    }

    /// The cycle of these jobs by the settings of a time.
    fn cycle_of(
        &self,
        request: &CycleRequest<'_>,
        jobs: SiteJobs,
        at: i64,
        times: Times,
    ) -> Result<CycledQueue, SiteError> {
        let SiteJobs {
            mut table,
            schema,
            program,
            mut warnings,
            cycle,
            ..
        } = jobs;
        let cycle = cycle.unwrap_or_default();
        warnings.extend(far_moment(&cycle, at));
        age(&mut table, &cycle, at);
        warnings.extend(uncertain_clock(&cycle, &self.files));
        if matches!(request.at, Some(Time::Wall(_))) && !cycle.clock.is_known() {
            warnings.push(
                "the time zone of the moment of the cycle is not known and taken to be UTC".into(),
            );
        }
        let program = program.ok_or(SiteError::NotArithmetic)?;
        let tree = self.fill_shares(
            program.inputs(),
            &mut table,
            &SharesRequest::default(),
            &mut warnings,
        )?;
        let threshold = self.threshold().filter(|_| request.formula.is_some());
        let ordered = self.score_and_order(&program, &table, tree.as_ref(), threshold, usize::MAX);
        let mut machine =
            CycleMachine::new(self, &table, &cycle, at, request.processors, &mut warnings)?;
        machine.rules.times = Times {
            queues: self.queue_times(table.queues(), &machine.reservations),
            ..times
        };
        let processors = machine.processors();
        let order = self.order_rules(tree.as_ref(), threshold);
        let charges = self.charges(&cycle.jobs);
        let scores = ordered.ranking.scores();
        machine.add_preemption(self, &table, &cycle.jobs, tree.as_ref(), || {
            order.places_of_running(scores, &table)
        });
        let queue = OrderedQueue {
            order,
            scores,
            table: &table,
            charges,
        };
        let mut subjobs = machine.subjobs();
        let mut decided = Decided {
            short: Some(HashMap::new()),
            ..Decided::new(&table, &cycle.jobs)
        };
        let rows = decided.set_aside(self, &ordered, &subjobs, |queue| {
            machine.reservations.not_begun(queue, at)
        });
        queue.decide(at, &rows, &mut subjobs, &mut machine, &mut decided);
        let AskedJobs {
            jobs: asked,
            unmatched,
        } = AskedJobs::find(&table, &cycle.jobs, &request.asked);
        let waiting_rows = rows.clone();
        let mut estimates: Vec<Estimate> = asked
            .iter()
            .filter_map(|job| decided.estimated(job))
            .collect();
        queue.estimate(
            at,
            rows,
            &mut subjobs,
            &mut machine,
            &cycle.jobs,
            &mut estimates,
        );
        let waiting = decided.waiting(self, &machine);
        let queues = table.queues().iter().map(|queue| &**queue);
        let queues: Vec<(&str, usize)> = queues
            .map(|queue| (queue, waiting_in(&table, queue)))
            .collect();
        let mut left_out = self.left_out(&queues);
        for (role, of_times) in self.uses_of_times(&queues) {
            if !self.files.has(role) {
                left_out.push(of_times);
            }
        }
        let considered: Vec<&QueuedJob> = table
            .considered_rows()
            .filter_map(|row| cycle.jobs.get(row))
            .collect();
        left_out.extend(machine.left_out_of_preemption(self, &waiting_rows, &decided.preempted));
        left_out.extend(machine.pools.left_out(self, &considered));
        left_out.extend(machine.reservations.left_out(&table, &machine.pools.nodes));
        Ok(CycledQueue {
            at,
            processors,
            started: decided.started.iter().map(|(_, id)| id.clone()).collect(),
            reserved: decided
                .reserved
                .iter()
                .map(|(_, reserved)| reserved.clone())
                .collect(),
            preempted: decided.preempted_jobs(),
            waiting,
            accrue_types: decided.accrue_types(),
            asked: asked.into_iter().map(|job| job.id).collect(),
            unknown: unmatched,
            estimates: estimates.into_iter().map(|one| one.found).collect(),
            rules: RulesInWords {
                order: self.order_in_words(&table, tree.as_ref(), request.formula.is_some()),
                starts: starts_in_words(&machine.rules),
            },
            left_out,
            findings: request
                .formula
                .map_or_else(Vec::new, |formula| lint(formula.expr(), &schema)),
            warnings,
            not_counted: machine.pools.not_counted(self, &considered),
            table,
            schema,
            ranking: ordered.ranking,
            not_considered: ordered.not_considered,
            program,
            tree,
        })
    }

    /// What orders the jobs, in words.
    fn order_in_words(
        &self,
        table: &JobTable,
        tree: Option<&PbsTree>,
        has_formula: bool,
    ) -> String {
        let mut criteria = self.criteria(table, tree);
        criteria.retain(|(criterion, _)| has_formula || *criterion != Criterion::Value);
        criteria
            .into_iter()
            .map(|(_, words)| words)
            .collect::<Vec<_>>()
            .join(", then ")
    }
}

/// A job or a subjob that is asked for.
struct AskedJob {
    row: usize,
    id: String,
    /// The place of a subjob among those of its array that wait, where the document has the array
    /// only.
    position: Option<usize>,
}

/// The jobs that are asked for, and what no job is called.
struct AskedJobs {
    jobs: Vec<AskedJob>,
    unmatched: Vec<String>,
}

impl AskedJobs {
    /// Finds jobs by their ids. A subjob that waits and of which the document has only the array is
    /// found by that.
    fn find(table: &JobTable, queued: &[QueuedJob], ids: &[String]) -> Self {
        let mut found = Self {
            jobs: Vec::new(),
            unmatched: Vec::new(),
        };
        for id in ids {
            match table.find_jobs(id) {
                Ok(rows) => {
                    let jobs = rows.into_iter();
                    found.jobs.extend(jobs.map(|row| AskedJob {
                        row,
                        id: table.id(row).to_owned(),
                        position: None,
                    }));
                }
                Err(why) => found.find_subjob(table, queued, id, why),
            }
        }
        let mut known = HashSet::new();
        found.jobs.retain(|job| known.insert(job.id.clone()));
        found
    }

    fn find_subjob(&mut self, table: &JobTable, queued: &[QueuedJob], id: &str, why: String) {
        let array = array_and_index(id);
        let rows = array
            .as_ref()
            .and_then(|(array, _)| table.find_jobs(array).ok());
        let (Some((_, index)), Some(rows)) = (array, rows) else {
            return self.unmatched.push(why);
        };
        for (row, job) in rows
            .into_iter()
            .filter_map(|row| Some((row, queued.get(row)?)))
        {
            match waiting_subjob(table.id(row), job, index) {
                Ok(position) => {
                    let id = table.id(row).replacen("[]", &format!("[{index}]"), 1);
                    self.jobs.push(AskedJob {
                        row,
                        id,
                        position: Some(position),
                    });
                }
                Err(why) => self.unmatched.push(why),
            }
        }
    }
}

/// The place of a subjob among those of its array that wait, or why it does not wait.
fn waiting_subjob(array: &str, job: &QueuedJob, index: u32) -> Result<usize, String> {
    let position = job
        .queued_subjobs
        .as_ref()
        .and_then(|waiting| waiting.position(index));
    let is_submitted = job
        .submitted_subjobs
        .as_ref()
        .is_none_or(|submitted| submitted.position(index).is_some());
    position
        .filter(|_| is_submitted)
        .ok_or_else(|| match (is_submitted, job.running_subjobs) {
            (false, _) => format!("the array `{array}` has no subjob {index}"),
            (true, 0) => {
                format!("the subjob {index} of `{array}` does not wait any more: it has ended")
            }
            (true, _) => format!(
                "the subjob {index} of `{array}` does not wait any more: it runs or has ended"
            ),
        })
}

/// The moment of the cycle.
fn moment(asked: Option<Time>, cycle: &CycleJobs) -> Result<i64, SiteError> {
    let missing = || {
        SiteError::missing(
            "the document of jobs does not say when it was written: ",
            Need::Moment,
        )
    };
    asked
        .map(|time| cycle.clock.utc(time))
        .or(cycle.timestamp)
        .ok_or_else(missing)
}

/// Adds to the `eligible_time` of eligible jobs the time from the document to the cycle.
fn age(table: &mut JobTable, cycle: &CycleJobs, at: i64) {
    let Some(written) = cycle.timestamp.filter(|written| *written != at) else {
        return;
    };
    for (row, job) in cycle.jobs.iter().enumerate() {
        if let (Some(2), Some(eligible_time)) = (job.accrue_type, job.eligible_time) {
            let aged = Value::Int(eligible_time.saturating_add(at - written).max(0));
            // the formula need not read it
            let _ = table.set(row, "eligible_time", aged);
        }
    }
}

/// A warning about a moment that is far from all times of the jobs.
fn far_moment(cycle: &CycleJobs, at: i64) -> Option<Message> {
    let times = cycle
        .jobs
        .iter()
        .flat_map(|job| [job.stime, job.qtime, job.etime])
        .chain([cycle.timestamp])
        .flatten();
    let nearest = times.map(|time| time.abs_diff(at)).min()?;
    (nearest > FAR).then(|| {
        let years = nearest / FAR;
        let years = if years == 1 {
            "a year".to_owned()
        } else {
            format!("{years} years")
        };
        format!(
            "the moment of the cycle is more than {years} from every time in the document of jobs"
        )
        .into()
    })
}

/// A warning if times on qstat's clock count and its distance from UTC is not known: those of
/// running jobs, and those in files of the site.
fn uncertain_clock(cycle: &CycleJobs, files: &SiteFiles) -> Option<Message> {
    let has_running = cycle.jobs.iter().any(|job| job.stime.is_some());
    let is_known = cycle.clock.is_known();
    let has_times = files.has(Role::Holidays) || files.has(Role::DedicatedTime);
    let (whose, what) = if has_running && !cycle.is_time_zone_known {
        ("start times of running jobs", "the times of reservations")
    } else if files.has(Role::Reservations) && !is_known {
        ("times of reservations", "the times of reservations")
    } else if has_times && !is_known {
        ("server's clock", "prime time and dedicated time")
    } else {
        return None;
    };
    let found = format!(
        "the time zone of the {whose} is not known and taken to be UTC: {what} may be off by hours"
    );
    Some(found.into())
}

/// The number of waiting jobs in a queue.
fn waiting_in(table: &JobTable, queue: &str) -> usize {
    table
        .considered_rows()
        .filter(|&row| table.queue(row) == queue)
        .count()
}

/// The jobs of a table with what orders them.
struct OrderedQueue<'a> {
    order: Order<'a>,
    scores: &'a Scores,
    table: &'a JobTable,
    /// What each row adds to the usage of its entity when it starts.
    charges: Vec<f64>,
}

impl OrderedQueue<'_> {
    /// Lets one cycle decide these rows.
    fn decide(
        &self,
        at: i64,
        rows: &[usize],
        subjobs: &mut [u32],
        machine: &mut CycleMachine,
        observer: &mut Decided<'_>,
    ) {
        let rows = rows.iter().copied();
        let mut candidates =
            self.order
                .candidates(self.scores, self.table, rows, self.charges.clone(), subjobs);
        let CycleMachine {
            machine,
            limits,
            jobs,
            rules,
            ..
        } = machine;
        let mut cycle = Cycle::new(at, rules, machine, limits, jobs);
        cycle.run(&mut candidates, observer);
    }

    /// Runs the cycles after that of a time, at the ends of the running jobs, until all jobs that
    /// are asked for have started, or that cannot be found out.
    fn estimate(
        &self,
        mut at: i64,
        mut rows: Vec<usize>,
        subjobs: &mut [u32],
        machine: &mut CycleMachine,
        jobs: &[QueuedJob],
        estimates: &mut [Estimate],
    ) {
        let mut decisions = 0;
        for _ in 0..MAX_LATER_CYCLES {
            rows.retain(|&row| subjobs[row] > 0);
            decisions += rows.len();
            let is_known = estimates.iter().all(|one| one.found.start.is_some());
            if is_known || decisions > MAX_LATER_DECISIONS {
                return;
            }
            let Some(next) = machine.end_next(at) else {
                return;
            };
            at = next;
            let mut decided = Decided::new(self.table, jobs);
            self.decide(at, &rows, subjobs, machine, &mut decided);
            for Estimate { row, starts, found } in &mut *estimates {
                *starts = starts.saturating_sub(decided.begun[*row]);
                if *starts == 0 && found.start.is_none() {
                    found.start = Some(at);
                }
            }
        }
    }
}

/// A running job that gives way.
pub(crate) struct GaveWay {
    job: u32,
    pub(crate) method: PreemptionMethod,
    /// The id of the job to which it gives way; empty until that is decided.
    by: String,
}

/// What the cycle decides about each job.
struct Decided<'t> {
    table: &'t JobTable,
    jobs: &'t [QueuedJob],
    started: Vec<(u32, String)>,
    reserved: Vec<(u32, ReservedJob)>,
    preempted: Vec<GaveWay>,
    /// In the order in which the scheduler looks at them.
    refused: Vec<(u32, Refusal)>,
    /// By row, what was short of those for which too little was free; `None` if nobody asks.
    short: Option<HashMap<usize, Shortage>>,
    /// The waiting jobs that it does not look at, and why.
    set_aside: Vec<(usize, String)>,
    /// By row: whether the job was found eligible.
    eligible: Vec<Option<bool>>,
    /// By row: how many subjobs of an array have started.
    begun: Vec<usize>,
}

impl<'t> Decided<'t> {
    fn new(table: &'t JobTable, jobs: &'t [QueuedJob]) -> Self {
        let count = table.len();
        Self {
            table,
            jobs,
            started: Vec::new(),
            reserved: Vec::new(),
            preempted: Vec::new(),
            refused: Vec::new(),
            short: None,
            set_aside: Vec::new(),
            eligible: vec![None; count],
            begun: vec![0; count],
        }
    }

    /// Sets aside the waiting jobs that the scheduler does not look at. Returns the rows of the
    /// others.
    fn set_aside(
        &mut self,
        site: &Site,
        ordered: &Ordered,
        subjobs: &[u32],
        not_begun: impl Fn(&str) -> Option<String>,
    ) -> Vec<usize> {
        let mut rows = Vec::new();
        for &row in ordered.ranking.order() {
            let queue = self.table.queue(row);
            if let Some(reason) = not_begun(queue) {
                self.set_aside.push((row, reason));
            } else if !site.queues.is_started(queue) {
                self.set_aside
                    .push((row, format!("queue {queue} is not started")));
            } else if subjobs[row] > 0 {
                rows.push(row);
            } else {
                self.eligible[row] = Some(false);
            }
        }
        for (row, why) in &ordered.not_considered {
            if matches!(why, NotConsidered::UnderThreshold { .. }) {
                self.eligible[*row] = Some(false);
            }
            self.set_aside.push((*row, reason_not_considered(why)));
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
        let indices = self
            .jobs
            .get(row)
            .and_then(|job| job.queued_subjobs.as_ref());
        match indices.and_then(|indices| indices.iter().nth(self.begun[row])) {
            Some(index) => id.replacen("[]", &format!("[{index}]"), 1),
            None => id.to_owned(),
        }
    }

    /// What is to be found out of a job that neither starts nor is promised a start.
    fn estimated(&self, job: &AskedJob) -> Option<Estimate> {
        let is_refused = self
            .refused
            .iter()
            .any(|(refused, _)| *refused as usize == job.row);
        let is_reserved = self
            .reserved
            .iter()
            .any(|(row, reserved)| match job.position {
                None => *row as usize == job.row,
                Some(_) => reserved.id == job.id,
            });
        let starts = match job.position {
            None => 1,
            Some(position) => (position + 1).saturating_sub(self.begun[job.row]),
        };
        (is_refused && !is_reserved && starts > 0).then(|| Estimate {
            row: job.row,
            starts,
            found: EstimatedStart {
                id: job.id.clone(),
                start: None,
            },
        })
    }

    /// The jobs that wait, and why.
    fn waiting(&self, site: &Site, machine: &CycleMachine) -> Vec<WaitingJob> {
        let refused = self.refused.iter().map(|(row, refusal)| {
            let row = *row as usize;
            let words = ChunkWords {
                site,
                machine,
                job: &self.jobs[row],
            };
            let reason = match refusal {
                Refusal::TooLarge => words.too_large(row),
                Refusal::NotEnoughFree => {
                    let shortage = self.short.as_ref().and_then(|short| short.get(&row));
                    shortage.map_or_else(String::new, |shortage| words.not_enough(*shortage))
                }
                Refusal::Limit(limit) => {
                    let limit = machine.limits.get(*limit);
                    limit.map_or_else(String::new, |limit| {
                        limit_in_words(site, limit, machine, row, &self.jobs[row])
                    })
                }
                Refusal::DelaysReservation(delayed) => {
                    let reserved = self.reserved.iter().find(|(row, _)| row == delayed);
                    machine.reason_delays(
                        *delayed,
                        reserved.map(|(_, reserved)| &*reserved.id),
                        self.table,
                    )
                }
                Refusal::Time(conflict) => conflict_in_words(*conflict).to_owned(),
                Refusal::StrictOrdering(blocking) => {
                    let blocking = self.table.id(*blocking as usize);
                    format!("strict_ordering: {blocking} comes first and does not start")
                }
            };
            let gave_way = self.gave_way(row as u32);
            WaitingJob {
                id: self.table.id(row).to_owned(),
                reason: gave_way.map_or(reason.clone(), |gave_way| format!("{gave_way}: {reason}")),
            }
        });
        let aside = self.set_aside.iter();
        refused
            .chain(aside.map(|(row, why)| WaitingJob {
                id: self.table.id(*row).to_owned(),
                reason: why.clone(),
            }))
            .collect()
    }

    fn preempted_jobs(&self) -> Vec<PreemptedJob> {
        let preempted = self.preempted.iter().map(|one| PreemptedJob {
            id: self.table.id(one.job as usize).to_owned(),
            method: method_in_words(one.method),
            by: one.by.clone(),
        });
        preempted.collect()
    }

    /// How and for whom a job gave way in this cycle.
    fn gave_way(&self, job: u32) -> Option<String> {
        let one = self.preempted.iter().rfind(|one| one.job == job)?;
        Some(format!("{} for {}", method_in_words(one.method), one.by))
    }

    /// The accrue type of every job after the cycle.
    fn accrue_types(&self) -> BTreeMap<String, u8> {
        let mut types: Vec<u8> = self
            .jobs
            .iter()
            .map(|job| job.accrue_type.unwrap_or(0))
            .collect();
        types.resize(self.table.len(), 0);
        for (row, eligible) in self.eligible.iter().enumerate() {
            if let Some(is_eligible) = eligible {
                types[row] = if *is_eligible { 2 } else { 1 };
            }
        }
        for (row, _) in &self.started {
            let row = *row as usize;
            let subjobs = self
                .jobs
                .get(row)
                .and_then(|job| job.queued_subjobs.as_ref());
            match subjobs {
                // unless it started and gave way again
                None if self.eligible[row].is_none() => types[row] = 3,
                None => {}
                // nothing of the array waits any more
                Some(subjobs) if subjobs.len() == self.begun[row] as u64 => types[row] = 1,
                Some(_) => {}
            }
        }
        let subjobs = self
            .started
            .iter()
            .filter(|(row, id)| *id != self.table.id(*row as usize));
        let rows = (0..self.table.len()).map(|row| (self.table.id(row).to_owned(), types[row]));
        rows.chain(subjobs.map(|(_, id)| (id.clone(), 3))).collect()
    }
}

impl CycleObserver for Decided<'_> {
    fn decided(&mut self, job: u32, decision: Decision, is_eligible: bool) {
        let row = job as usize;
        let id = self.id_of_next(row);
        let undecided = self.preempted.iter_mut().rev();
        for one in undecided.take_while(|one| one.by.is_empty()) {
            one.by.clone_from(&id);
        }
        match decision {
            Decision::Starts => {
                self.started.push((job, id));
                self.begun[row] += 1;
                if self.preempted.iter().any(|one| one.job == job) {
                    self.eligible[row] = None;
                }
            }
            Decision::Waits(refusal) => {
                self.refused.push((job, refusal));
                self.eligible[row] = Some(is_eligible);
            }
        }
    }

    fn short(&mut self, job: u32, machine: &Machine, request: &Request<'_>) {
        if let (Some(short), Some(shortage)) = (&mut self.short, machine.shortage_of_free(request))
        {
            short.insert(job as usize, shortage);
        }
    }

    fn preempted(&mut self, job: u32, method: PreemptionMethod) {
        let row = job as usize;
        self.eligible[row] = Some(true);
        self.preempted.push(GaveWay {
            job,
            method,
            by: String::new(),
        });
    }

    fn reserved(&mut self, Reservation { job, start }: Reservation) {
        let id = self.id_of_next(job as usize);
        self.reserved.push((job, ReservedJob { id, start }));
    }
}

fn method_in_words(method: PreemptionMethod) -> &'static str {
    match method {
        PreemptionMethod::Suspend => "suspended",
        PreemptionMethod::Requeue => "requeued",
        PreemptionMethod::Delete => "deleted",
    }
}

fn reason_not_considered(why: &NotConsidered) -> String {
    match why {
        NotConsidered::NoShares => "can never run: its fair-share entity has no shares".to_owned(),
        NotConsidered::UnderThreshold { value, threshold } => {
            format!("its value {value} does not exceed job_sort_formula_threshold {threshold}")
        }
    }
}

/// A limit that a job is at, in words.
fn limit_in_words(
    site: &Site,
    limit: &Limit,
    machine: &CycleMachine,
    row: usize,
    job: &QueuedJob,
) -> String {
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
            let most = job.max_run_subjobs.unwrap_or(0);
            return format!(
                "max_run_subjobs: at most {} of the array may run at a time",
                subjobs(most)
            );
        }
        LimitKind::Available => return not_available(site, limit, machine, row, &of),
    };
    match limit.amount.and_then(|amount| machine.amounts.get(amount)) {
        None => format!("max_run of {of}: {whose} may run no more jobs"),
        Some(resource) => format!("max_run_res.{resource} of {of}: {whose} may use no more"),
    }
}

/// Why a job waits for a resource that the server or a queue has as a whole.
fn not_available(
    site: &Site,
    limit: &Limit,
    machine: &CycleMachine,
    row: usize,
    owner: &str,
) -> String {
    let amount = limit.amount.unwrap_or(0);
    let name = &*machine.amounts[amount];
    let most = limit.generic.unwrap_or(0);
    let asked = machine.counted(row, amount);
    let available = amount_in_words(site, name, most);
    if asked > most {
        let asked = counted_in_words(site, name, asked);
        return format!(
            "can never run: it asks for {asked}, and {owner} has {available} (resources_available)"
        );
    }
    format!(
        "not enough {}: {owner} has {available} (resources_available)",
        resource_in_words(name)
    )
}

fn subjobs(count: u32) -> String {
    if count == 1 {
        "1 subjob".to_owned()
    } else {
        format!("{count} subjobs")
    }
}

/// When a job that is asked for starts.
struct Estimate {
    row: usize,
    /// How many starts of its row are left up to its own: of an array, the subjobs start one after
    /// the other.
    starts: usize,
    /// Its start is `None` until it is known.
    found: EstimatedStart,
}
