//! The jobs of a document as a scheduling cycle needs them: what they request, where the running and
//! the suspended ones are on the machine, and what preemption has to know of each.

use std::collections::HashMap;
use std::sync::Arc;

use job_sort_formula::diagnostic::Message;
use job_sort_formula::jobs::{Exclusion, JobState, JobTable};
use job_sort_formula::{Formula, Value};
use jsf_ingest::{CycleJobs, QueuedJob};
use jsf_openpbs::cycle::{
    AdvanceReservation, CycleJob, CycleRules, CycleState, Part, Placement, PreemptionMethod,
    QueueOrder, Request, SuspendedJob, UNLIMITED_WALLTIME,
};
use jsf_openpbs::files::run_limits::{LimitKind, whole_amount};
use jsf_openpbs::job_attributes::{ArrayIndices, array_and_index};
use jsf_openpbs::pbs_tree::{PbsTree, SharePaths};
use jsf_simulate::Names;
use jsf_words::count;

use crate::cycle::cycle_settings::LimitedNames;
use crate::cycle::node_pools::{PROCESSORS, Pools, amounts_of};
use crate::cycle::reservations::Reservations;
use crate::{Site, SiteError};

/// What a cycle runs on.
pub struct CycleMachine<'s> {
    pub state: CycleState,
    pub rules: CycleRules,
    /// The jobs of the table, then what keeps the places of reservations.
    pub jobs: Vec<CycleJob>,
    pub pools: Pools<'s>,
    pub reservations: Reservations,
    /// The order of the queues of the table.
    pub queues: QueueOrder,
    /// The path of each fair-share entity of the table.
    pub paths: SharePaths,
}

/// A running job of which it is not known where it is: its row, and when its walltime ends.
type Unplaced = (usize, i64);

/// The most running subjobs of one array that are looked at: OpenPBS allows no larger array unless
/// `max_array_size` is raised.
const MAX_SUBJOBS: u32 = 10_000;

impl<'s> CycleMachine<'s> {
    /// The machine with the running jobs of the table on it, at the moment of a cycle.
    pub fn new(
        site: &'s Site,
        table: &JobTable,
        cycle: &CycleJobs,
        at: i64,
        processors: Option<u32>,
        warnings: &mut Vec<Message>,
    ) -> Result<Self, SiteError> {
        let mut queues: Vec<Box<str>> = Vec::new();
        for queue in table.queues() {
            queues.push((&**queue).into());
        }
        let reservations = Reservations::read(site, &cycle.clock, at)?;
        let mut pools = match processors {
            Some(processors) => Pools::of_processors(site, processors),
            None => Pools::new(site, &cycle.jobs, cycle.timestamp, &reservations)?,
        };
        pools.set_queues(&queues);
        // of users, groups and projects
        let mut names = Names::default();
        let charges = site.charges(&cycle.jobs);
        let mut jobs = Vec::with_capacity(cycle.jobs.len());
        for (row, job) in cycle.jobs.iter().enumerate() {
            let waiting = job.queued_subjobs.as_ref().map_or(1, ArrayIndices::len);
            jobs.push(CycleJob {
                request: pools.request(table.queue_index(row), job).into(),
                walltime: job.walltime.unwrap_or(UNLIMITED_WALLTIME),
                queue: table.queue_index(row) as u32,
                user: names.index(&job.user),
                group: names.index(&job.group),
                project: names.index(&job.project),
                array: array_row(table, job, row),
                subjobs: u32::try_from(waiting).unwrap_or(u32::MAX),
                charge: charges[row],
                // the scheduler promises no start to jobs of reservations
                can_be_reserved: job.is_topjob_eligible && !reservations.has_queue(&job.queue),
                started: cycle.start(job),
                used: job.used_walltime,
                is_rerunable: job.is_rerunable,
                ..CycleJob::default()
            });
        }
        let mut advance = Vec::new();
        // a number of processors has no places that a reservation could hold
        if !pools.nodes.is_empty() {
            for reservation in &reservations.confirmed {
                advance.push(AdvanceReservation {
                    job: jobs.len() as u32,
                    start: reservation.start,
                    end: reservation.end,
                    placement: pools.placement(reservation),
                });
                jobs.push(CycleJob {
                    is_reservation: true,
                    walltime: reservation.end - reservation.start,
                    ..CycleJob::default()
                });
            }
        }
        let mut of_arrays = HashMap::new();
        for (job, row) in cycle.jobs.iter().zip(0..) {
            if let Some(most) = job.max_run_subjobs {
                of_arrays.insert(row, most.into());
            }
        }
        let limited = LimitedNames {
            users: names.names(),
            groups: names.names(),
            projects: names.names(),
        };
        let is_preemptive = site.config.preemptive_sched.prime;
        let (mut state, rules) = pools.cycle(&limited, of_arrays, is_preemptive, false);
        state.machine.advance = advance;
        state.machine.begin_reservations(at);
        let mut made = Self {
            state,
            rules: CycleRules {
                explains: true,
                ..rules
            },
            jobs,
            pools,
            reservations,
            queues: QueueOrder::default(),
            paths: SharePaths::default(),
        };
        let unplaced = made.run_jobs(table, cycle, at, warnings);
        made.run_unplaced(unplaced, warnings);
        Ok(made)
    }

    /// Puts the running jobs on the machine whose places are known. Returns the others.
    fn run_jobs(
        &mut self,
        table: &JobTable,
        cycle: &CycleJobs,
        at: i64,
        warnings: &mut Vec<Message>,
    ) -> Vec<Unplaced> {
        // what runs while the document is written began before
        let latest_start = cycle.timestamp.unwrap_or(at);
        let mut without_start = Vec::new();
        let mut without_place = Vec::new();
        let mut unplaced = Vec::new();
        for (row, job) in cycle.jobs.iter().enumerate() {
            if !matches!(table.state(row), JobState::Running | JobState::Exiting) {
                continue;
            }
            let walltime = self.jobs[row].walltime;
            if job.stime.is_none() {
                without_start.push(table.id(row));
            }
            let start = cycle.start(job).unwrap_or(latest_start);
            let end = start.saturating_add(walltime);
            if job.placed.is_empty() && self.state.machine.pools() > 1 {
                without_place.push(table.id(row));
                unplaced.push((row, end));
                continue;
            }
            let placement = self.placement(job, row);
            self.run(row, placement, end);
        }
        for (attribute, jobs, assumption) in [
            ("stime", without_start, "started just now"),
            ("exec_vnode", without_place, "is where there is room"),
        ] {
            let Some(first) = jobs.first() else { continue };
            let jobs = count(jobs.len(), "running job");
            let found = format!(
                "no `{attribute}` of {jobs} (first `{first}`): each is taken as if it {assumption}"
            );
            warnings.push(found.into());
        }
        let pools = &self.pools;
        unplaced.extend(unlisted_subjobs(
            table,
            cycle,
            latest_start,
            pools,
            warnings,
        ));
        unplaced.retain(|(row, _)| !table.exclusion(*row).is_some_and(Exclusion::is_of_queue));
        unplaced
    }

    /// Puts the running jobs on the machine whose places are not known, and what else is in use.
    fn run_unplaced(&mut self, unplaced: Vec<Unplaced>, warnings: &mut Vec<Message>) {
        let mut unexplained = self.state.machine.unexplained(&self.pools.in_use);
        for (row, end) in unplaced {
            let request = &self.jobs[row].request;
            let placement = self.state.machine.place_running(&mut unexplained, request);
            self.run(row, placement, end);
        }
        // whoever holds them, a job that was started there would find them taken
        let unexplained = self.state.machine.unexplained(&self.pools.in_use);
        let held = self.state.machine.hold(&unexplained);
        if held > 0 {
            let processors = count(held as usize, "processor");
            let found = format!(
                "by `resources_assigned` of the nodes, {processors} more are in use than the running jobs of the document \
                 hold: nobody knows until when, so they are not free in what follows"
            );
            warnings.push(found.into());
        }
    }

    /// Puts a running job on the machine until its walltime ends.
    fn run(&mut self, row: usize, placement: Placement, end: i64) {
        self.state.machine.start(row as u32, placement, end);
        self.state.limits.start(&self.jobs[row]);
    }

    /// Where a running job is, as far as the document says.
    fn placement(&self, job: &QueuedJob, row: usize) -> Placement {
        let request = &self.jobs[row].request;
        let names = &self.pools.names;
        let mut parts = Vec::new();
        let mut placed = &*job.placed;
        if self.state.machine.pools() == 1 {
            let total = (0..names.len()).map(|amount| request.total(amount));
            parts.push(Part {
                pool: 0,
                amounts: total.collect(),
            });
            placed = &[];
        }
        for chunk in placed {
            if let Some(pool) = self.pools.pool_of(&job.queue, &chunk.node) {
                let amounts = amounts_of(&chunk.amounts, names).into();
                parts.push(Part { pool, amounts });
            }
        }
        self.state.machine.occupied(parts, request)
    }
}

impl Site {
    /// What each job adds to the usage of its entity in a cycle in which it starts: its request
    /// under `fairshare_usage_res`.
    pub(crate) fn charges(&self, jobs: &[QueuedJob]) -> Vec<f64> {
        let mut charges = vec![0.0; jobs.len()];
        let formula = Formula::parse(&self.config.fairshare_usage_res).ok();
        let program = formula.and_then(|formula| formula.compile(&self.schema).ok());
        let Some(program) = program else {
            return charges;
        };
        for (charge, job) in charges.iter_mut().zip(jobs) {
            let mut inputs = Vec::new();
            for name in program.inputs() {
                let amount = match &**name {
                    PROCESSORS => job.ncpus,
                    "walltime" => job.walltime,
                    name => job.amounts.get(name).copied(),
                };
                inputs.push(Value::Int(amount.unwrap_or(0)));
            }
            if let Ok(value) = program.evaluate(&inputs) {
                *charge = value.to_f64().unwrap_or(0.0);
            }
        }
        charges
    }
}

/// The running subjobs that arrays count and the document does not list: `qstat -f` lists subjobs
/// only with `-t`.
fn unlisted_subjobs(
    table: &JobTable,
    cycle: &CycleJobs,
    latest_start: i64,
    pools: &Pools,
    warnings: &mut Vec<Message>,
) -> Vec<Unplaced> {
    use JobState::{Exiting, Running, Suspended};

    let mut known: HashMap<String, u32> = HashMap::new();
    let mut ids: Vec<&str> = pools.subjobs_elsewhere.iter().map(|id| &**id).collect();
    for row in 0..table.len() {
        // those that are suspended count as running
        if matches!(table.state(row), Running | Exiting | Suspended) {
            ids.push(table.id(row));
        }
    }
    for id in ids {
        if let Some((array, _)) = array_and_index(id) {
            *known.entry(array).or_default() += 1;
        }
    }
    let mut unlisted = Vec::new();
    let mut first = None;
    for (row, job) in cycle.jobs.iter().enumerate() {
        let known = known.get(table.id(row)).copied().unwrap_or(0);
        let count = job.running_subjobs.saturating_sub(known).min(MAX_SUBJOBS);
        let end = latest_start.saturating_add(job.walltime.unwrap_or(UNLIMITED_WALLTIME));
        for _ in 0..count {
            unlisted.push((row, end));
        }
        if count > 0 {
            first.get_or_insert(table.id(row));
        }
    }
    if let Some(first) = first {
        let subjobs = count(unlisted.len(), "running subjob");
        let found = format!(
            "the document does not list {subjobs} (first of `{first}`): each holds what its array asks for, and is taken \
             to have started just now"
        );
        warnings.push(found.into());
    }
    unlisted
}

/// The row of the array that a job is, or whose subjob it is.
fn array_row(table: &JobTable, job: &QueuedJob, row: usize) -> Option<u32> {
    if job.queued_subjobs.is_some() {
        return Some(row as u32);
    }
    let (array, _) = array_and_index(table.id(row))?;
    Some(table.row(&array)? as u32)
}

/// The resource of a job that names the jobs that it may preempt.
const TARGETS: &str = "preempt_targets";

impl CycleMachine<'_> {
    /// Completes the levels with the jobs.
    pub fn add_preemption(
        &mut self,
        table: &JobTable,
        queued: &[QueuedJob],
        tree: Option<&PbsTree>,
    ) {
        if !self.rules.levels.is_preemptive && !self.state.limits.has_soft() {
            return;
        }
        let mut submitted: Vec<u32> = (0..table.len() as u32).collect();
        submitted.sort_by_key(|&row| table.submit_order(row as usize));
        self.queues
            .set_places_of_running(&mut self.jobs, submitted, &self.paths);
        let mut targets = Targets {
            site: self.pools.site,
            table,
            queued,
            found: HashMap::new(),
        };
        let mut methods = self.rules.levels.methods.iter();
        let requeues = methods.any(|entry| entry.methods.contains(&PreemptionMethod::Requeue));
        let mut classes: HashMap<JobClass<'_>, u32> = HashMap::new();
        for (row, job) in queued.iter().enumerate() {
            let class = self.class(row, job);
            let count = classes.len() as u32;
            let class = *classes.entry(class).or_insert(count);
            let state = table.state(row);
            // no document says of a job that waits again whether it gave way
            if requeues && state == JobState::Queued && job.has_run {
                self.state.preempted.insert(row as u32, i64::MIN);
            }
            let cycle_job = &mut self.jobs[row];
            cycle_job.is_over_share = tree.is_some_and(|tree| is_over_share(tree, &job.entity));
            cycle_job.targets = targets.of(job);
            // a suspended job resumes only where it was, so that its refusal says nothing of others
            cycle_job.class = (state != JobState::Suspended).then_some(class);
        }
        for (row, job) in queued.iter().enumerate() {
            if table.state(row) == JobState::Suspended && !job.placed.is_empty() {
                self.suspend(row as u32, job);
            }
        }
    }

    /// A suspended job keeps what it did not give back.
    fn suspend(&mut self, row: u32, job: &QueuedJob) {
        let walltime = self.jobs[row as usize].walltime;
        let placement = self.placement(job, row as usize);
        let released = self.rules.levels.released(&placement);
        let state = &mut self.state;
        state.machine.exchange(&released, &placement);
        let used = job.used_walltime.unwrap_or(0).max(0);
        let suspended = SuspendedJob {
            left: walltime.saturating_sub(used).max(0),
            placement,
            released,
        };
        state.suspended.insert(row, suspended);
        // no document says when, so that all are equal (`left_out_of_preemption`)
        state.preempted.insert(row, i64::MIN);
    }

    /// What a job has in common with those that the scheduler takes to be like it.
    fn class<'j>(&self, row: usize, job: &'j QueuedJob) -> JobClass<'j> {
        let requested = &self.jobs[row];
        let queue = requested.queue;
        let limits = &self.state.limits;
        let subjects = [
            (LimitKind::User, requested.user),
            (LimitKind::Group, requested.group),
            (LimitKind::Project, requested.project),
        ];
        JobClass {
            request: requested.request.clone(),
            walltime: requested.walltime,
            targets: job.texts.get(TARGETS).map(Box::as_ref),
            queue: limits.has_queue(queue).then_some(queue),
            subjects: subjects
                .map(|(kind, subject)| limits.has_kind(kind, queue).then_some(subject)),
        }
    }
}

#[derive(PartialEq, Eq, Hash)]
struct JobClass<'j> {
    request: Arc<Request>,
    walltime: i64,
    targets: Option<&'j str>,
    queue: Option<u32>,
    subjects: [Option<u32>; 3],
}

/// The jobs that others may preempt.
struct Targets<'s> {
    site: &'s Site,
    table: &'s JobTable,
    queued: &'s [QueuedJob],
    /// By `preempt_targets`.
    found: HashMap<&'s str, Arc<[u32]>>,
}

impl<'s> Targets<'s> {
    /// Those of a job; `None`: all.
    fn of(&mut self, job: &'s QueuedJob) -> Option<Arc<[u32]>> {
        if !self.site.server.has_preempt_targets() {
            return None;
        }
        let text = &**job.texts.get(TARGETS)?;
        if let Some(found) = self.found.get(text) {
            return Some(found.clone());
        }
        let mut rows = Vec::new();
        for row in 0..self.queued.len() {
            if text.split(',').any(|target| self.is_target(target, row)) {
                rows.push(row as u32);
            }
        }
        let found: Arc<[u32]> = rows.into();
        self.found.insert(text, found.clone());
        Some(found)
    }

    /// Whether a job is in a queue as in `queue=low`, or asks for a resource as in
    /// `Resource_List.ngpus=1`. `NONE` is no job.
    fn is_target(&self, target: &str, row: usize) -> bool {
        let Some((name, value)) = target.trim().split_once('=') else {
            return false;
        };
        if name.eq_ignore_ascii_case("queue") {
            return self.table.queue(row) == value;
        }
        let Some((list, resource)) = name.split_once('.') else {
            return false;
        };
        let job = &self.queued[row];
        let asks = match job.texts.get(resource) {
            Some(asked) => **asked == *value,
            None => {
                let kind = self.site.schema.input_type(resource);
                let value = whole_amount(value, kind);
                value.is_some() && value.as_ref() == job.amounts.get(resource)
            }
        };
        list.eq_ignore_ascii_case("Resource_List") && asks
    }
}

/// Whether an entity has used more than its share of all usage.
fn is_over_share(tree: &PbsTree, entity: &str) -> bool {
    let usages = tree.tree();
    let node = usages.find(entity).unwrap_or(tree.unknown);
    let shares = tree.shares().get(node);
    let share = shares.map_or(0.0, |shares| shares.fairshare_perc);
    usages.usage(usages.root()) * share < usages.usage(node)
}
