//! The machine, the limits and the jobs of a site as a scheduling cycle needs them.

use std::collections::HashMap;

use job_sort_formula::diagnostic::Message;
use job_sort_formula::formula::Formula;
use job_sort_formula::jobs::{Exclusion, JobState, JobTable};
use job_sort_formula::python::Value;
use jsf_ingest::{CycleJobs, QueuedJob};
use jsf_openpbs::array_id::array_and_index;
use jsf_openpbs::chunks::Chunk;
use jsf_openpbs::cycle::{
    AdvanceReservation, CycleJob, CycleRules, JobSource, Limit, Limits, Machine, Part, Placement,
    RequestedChunks, UNLIMITED_WALLTIME,
};
use jsf_openpbs::files::reservations::ListedReservation;
use jsf_simulate::Names;

use crate::next_cycle::node_pools::{PoolLists, Pools, amount_of};
use crate::next_cycle::placement_sets::SetsOfPools;
use crate::next_cycle::queue_rules::LimitedNames;
use crate::next_cycle::reserved_nodes::Reservations;
use crate::simulation::simulation_rules::PROCESSORS;
use crate::{CycleProcessors, Site, SiteError};

/// What a cycle runs on.
pub(crate) struct CycleMachine {
    pub(crate) machine: Machine,
    pub(crate) limits: Limits,
    pub(crate) rules: CycleRules,
    pub(crate) jobs: RequestedJobs,
    pub(crate) pools: Pools,
    pub(crate) reservations: Reservations,
    /// The amounts of the machine, then those that only limits count.
    pub(crate) amounts: Vec<Box<str>>,
}

/// The jobs of a table, with what each asks for; their indices are their rows.
pub(crate) struct RequestedJobs(Vec<RequestedJob>);

struct RequestedJob {
    chunks: RequestedChunks,
    counted: Vec<i64>,
    subjobs: u32,
    /// The rest; its request is that of the chunks.
    job: CycleJob<'static>,
}

impl JobSource for RequestedJobs {
    fn job(&self, index: u32) -> CycleJob<'_> {
        let RequestedJob {
            chunks,
            counted,
            job,
            ..
        } = &self.0[index as usize];
        CycleJob {
            request: chunks.request(),
            counted,
            ..*job
        }
    }
}

/// A running job of which it is not known where it is.
struct Unplaced {
    row: usize,
    /// When its walltime ends.
    end: i64,
}

/// The most running subjobs of one array that are looked at: OpenPBS allows no larger array unless
/// `max_array_size` is raised.
const MAX_SUBJOBS: u32 = 10_000;

impl CycleMachine {
    /// The machine with the running jobs of the table on it, at the moment of a cycle.
    pub(crate) fn new(
        site: &Site,
        table: &JobTable,
        cycle: &CycleJobs,
        at: i64,
        processors: Option<u32>,
        warnings: &mut Vec<Message>,
    ) -> Result<Self, SiteError> {
        let queues: Vec<Box<str>> = table
            .queues()
            .iter()
            .map(|queue| (&**queue).into())
            .collect();
        let reservations = Reservations::read(site, cycle, at)?;
        let pools = Pools::new(site, cycle, processors, &reservations)?;
        let mut amounts = pools.names.clone();
        amounts.extend(
            site.limited_resources(&queues)
                .into_iter()
                .filter(|name| !pools.names.contains(name)),
        );
        let mut places = Places::new(site, &pools, &queues);
        let [mut users, mut groups, mut projects] =
            [Names::default(), Names::default(), Names::default()];
        let jobs = cycle
            .jobs
            .iter()
            .enumerate()
            .map(|(row, job)| RequestedJob {
                chunks: places.chunks(table.queue_index(row), job),
                counted: amounts.iter().map(|name| total_of(job, name)).collect(),
                subjobs: job.queued_subjobs.as_ref().map_or(1, |subjobs| {
                    u32::try_from(subjobs.len()).unwrap_or(u32::MAX)
                }),
                job: CycleJob {
                    walltime: job.walltime.unwrap_or(UNLIMITED_WALLTIME),
                    queue: table.queue_index(row) as u32,
                    user: users.index(&job.user),
                    group: groups.index(&job.group),
                    project: projects.index(&job.project),
                    array: array_row(table, job, row),
                    // the scheduler promises no start to jobs of reservations
                    can_be_reserved: job.is_topjob_eligible && !reservations.has_queue(&job.queue),
                    ..CycleJob::default()
                },
            });
        let mut jobs: Vec<RequestedJob> = jobs.collect();
        let mut advance = Vec::new();
        for reservation in reservations
            .confirmed()
            .iter()
            .filter(|_| !pools.nodes.is_empty())
        {
            let &ListedReservation { start, end, .. } = reservation;
            let placement = pools.placement(reservation);
            advance.push(AdvanceReservation {
                job: jobs.len() as u32,
                start,
                end,
                placement,
            });
            jobs.push(RequestedJob {
                chunks: RequestedChunks::default(),
                counted: Vec::new(),
                subjobs: 0,
                job: CycleJob {
                    is_reservation: true,
                    walltime: end - start,
                    ..CycleJob::default()
                },
            });
        }
        let jobs = RequestedJobs(jobs);
        let limited = LimitedNames {
            queues: &queues,
            users: users.names(),
            groups: groups.names(),
            projects: projects.names(),
            amounts: &amounts,
        };
        let levels = site.preemption_levels(&limited);
        let mut limits = site.cycle_limits(&limited);
        limits.extend(limit_of_arrays(&cycle.jobs));
        let limits = Limits::new(limits);
        let mut machine = places.machine().with_reservations(advance);
        machine.begin_reservations(at);
        let rules = CycleRules {
            levels,
            ..site.cycle_rules(&queues)
        };
        let mut made = Self {
            machine,
            limits,
            rules,
            jobs,
            pools,
            reservations,
            amounts,
        };
        let unplaced = made.run_jobs(table, cycle, at, warnings);
        made.run_unplaced(unplaced, warnings);
        Ok(made)
    }

    /// The processors of the nodes, and those that neither jobs nor reservations hold.
    pub(crate) fn processors(&self) -> CycleProcessors {
        let [total, free] = self.machine.of_first_pools(self.pools.of_nodes(), 0);
        CycleProcessors { total, free }
    }

    /// Why a job waits that would delay another one, which is promised a start, or run into a
    /// reservation.
    pub(crate) fn reason_delays(
        &self,
        delayed: u32,
        reserved_id: Option<&str>,
        table: &JobTable,
    ) -> String {
        let reservation = (delayed as usize).checked_sub(table.len());
        match reservation.and_then(|index| self.reservations.confirmed().get(index)) {
            Some(reservation) => format!("would run into the reservation {}", reservation.id),
            None => format!(
                "would delay {}, which is promised a start",
                reserved_id.unwrap_or("a job")
            ),
        }
    }

    /// How often each job can be started.
    pub(crate) fn subjobs(&self) -> Vec<u32> {
        self.jobs.0.iter().map(|job| job.subjobs).collect()
    }

    /// What a job asks for in all of an amount that a limit counts.
    pub(crate) fn counted(&self, row: usize, amount: usize) -> i64 {
        self.jobs.job(row as u32).counted[amount]
    }

    /// Ends the running jobs that end next, as far as the walltimes tell. Returns when, or before
    /// that when after this time other jobs may start.
    pub(crate) fn end_next(&mut self, at: i64) -> Option<i64> {
        let change = self.rules.times.changes_after(at).first().copied();
        let end = self.machine.next_end();
        if let Some(change) = change.filter(|&change| end.is_none_or(|end| change < end)) {
            return Some(change);
        }
        let Self {
            machine,
            limits,
            jobs,
            ..
        } = self;
        machine.end_next(jobs, |job| limits.end(job))
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
            let requested = self.jobs.job(row as u32);
            if job.stime.is_none() {
                without_start.push(table.id(row));
            }
            let end = job
                .stime
                .unwrap_or(latest_start)
                .saturating_add(requested.walltime);
            if job.placed.is_empty() && self.machine.pools() > 1 {
                without_place.push(table.id(row));
                unplaced.push(Unplaced { row, end });
                continue;
            }
            let placement = self.placement(job, &requested);
            self.run(row, placement, end);
        }
        for (attribute, jobs, assumption) in [
            ("stime", without_start, "started just now"),
            ("exec_vnode", without_place, "is where there is room"),
        ] {
            let Some(first) = jobs.first() else { continue };
            let (jobs, each) = match jobs.len() {
                1 => ("1 running job has".to_owned(), "it"),
                count => (format!("{count} running jobs have"), "each"),
            };
            let found = format!(
                "{jobs} no `{attribute}` (first `{first}`): {each} is taken as if it {assumption}"
            );
            warnings.push(found.into());
        }
        unplaced.extend(unlisted_subjobs(
            table,
            cycle,
            latest_start,
            &self.pools,
            warnings,
        ));
        unplaced.retain(|Unplaced { row, .. }| {
            !table.exclusion(*row).is_some_and(Exclusion::is_of_queue)
        });
        unplaced
    }

    /// Puts the running jobs on the machine whose places are not known, and what else is in use.
    fn run_unplaced(&mut self, unplaced: Vec<Unplaced>, warnings: &mut Vec<Message>) {
        let mut unexplained = self.machine.unexplained(&self.pools.in_use);
        for Unplaced { row, end } in unplaced {
            let job = self.jobs.job(row as u32);
            let placement = self.machine.place_running(&mut unexplained, &job.request);
            self.run(row, placement, end);
        }
        let unexplained = self.machine.unexplained(&self.pools.in_use);
        let held = self.machine.hold(&unexplained);
        if held > 0 {
            let processors = if held == 1 {
                "1 processor".to_owned()
            } else {
                format!("{held} processors")
            };
            let found = format!(
                "by `resources_assigned` of the nodes, {processors} more are in use than the running jobs of the document \
                 hold: nobody knows until when, so they are not free in what follows"
            );
            warnings.push(found.into());
        }
    }

    /// Puts a running job on the machine until its walltime ends.
    fn run(&mut self, row: usize, placement: Placement, end: i64) {
        let job = self.jobs.job(row as u32);
        self.machine.start(row as u32, placement, end);
        self.limits.start(&job);
        if let Some(levels) = &mut self.rules.levels {
            levels.soft_limits.start(&job);
        }
    }

    /// Where a running job is, as far as the document says.
    pub(crate) fn placement(&self, job: &QueuedJob, requested: &CycleJob<'_>) -> Placement {
        if self.machine.pools() == 1 {
            let total = (0..self.pools.names.len())
                .map(|amount| requested.request.total(amount))
                .collect();
            let whole = Part {
                pool: 0,
                amounts: total,
            };
            return self.machine.occupied(vec![whole], &requested.request);
        }
        let parts = job.placed.iter().filter_map(|chunk| {
            let pool = self.pools.pool_of(&job.queue, &chunk.node)?;
            let amounts = self
                .pools
                .names
                .iter()
                .map(|name| amount_of(&chunk.amounts, name))
                .collect();
            Some(Part { pool, amounts })
        });
        self.machine.occupied(parts.collect(), &requested.request)
    }
}

impl Site {
    /// What each job adds to the usage of its entity in a cycle in which it starts: its request
    /// under `fairshare_usage_res`.
    pub(crate) fn charges(&self, jobs: &[QueuedJob]) -> Vec<f64> {
        let program = Formula::parse(&self.config.fairshare_usage_res);
        let program = program
            .ok()
            .and_then(|formula| formula.compile(&self.schema).ok());
        let Some(program) = program else {
            return vec![0.0; jobs.len()];
        };
        let charge = |job: &QueuedJob| {
            let input = |name: &str| match name {
                PROCESSORS => Value::Int(job.ncpus.unwrap_or(0)),
                "walltime" => Value::Int(job.walltime.unwrap_or(0)),
                name => Value::Int(job.amounts.get(name).copied().unwrap_or(0)),
            };
            let inputs: Vec<Value> = program.inputs().iter().map(|name| input(name)).collect();
            program
                .evaluate(&inputs)
                .ok()
                .and_then(|value| value.to_f64())
                .unwrap_or(0.0)
        };
        jobs.iter().map(charge).collect()
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
    let mut known: HashMap<String, u32> = HashMap::new();
    // those that are suspended count as running
    let is_known = |state: JobState| {
        matches!(
            state,
            JobState::Running | JobState::Exiting | JobState::Suspended
        )
    };
    let running = (0..table.len()).filter(|&row| is_known(table.state(row)));
    let ids = running
        .map(|row| table.id(row))
        .chain(pools.subjobs_elsewhere.iter().map(|id| &**id));
    for (array, _) in ids.filter_map(array_and_index) {
        *known.entry(array).or_default() += 1;
    }
    let mut unlisted = Vec::new();
    let mut arrays = Vec::new();
    for (row, job) in cycle
        .jobs
        .iter()
        .enumerate()
        .filter(|(_, job)| job.running_subjobs > 0)
    {
        let known = known.get(table.id(row)).copied().unwrap_or(0);
        let count = job.running_subjobs.saturating_sub(known).min(MAX_SUBJOBS);
        let end = latest_start.saturating_add(job.walltime.unwrap_or(UNLIMITED_WALLTIME));
        unlisted.extend((0..count).map(|_| Unplaced { row, end }));
        if count > 0 {
            arrays.push(table.id(row));
        }
    }
    if let Some(first) = arrays.first() {
        let subjobs = if unlisted.len() == 1 {
            "1 running subjob"
        } else {
            &format!("{} running subjobs", unlisted.len())
        };
        let of = if arrays.len() == 1 {
            format!("`{first}`")
        } else {
            format!("{} arrays (first `{first}`)", arrays.len())
        };
        let found = format!(
            "the document does not list {subjobs} of {of}: each holds what its array asks for, and is taken to have started \
             just now"
        );
        warnings.push(found.into());
    }
    unlisted
}

/// Where the jobs of some queues may be placed.
pub(crate) struct Places<'a> {
    site: &'a Site,
    pools: &'a Pools,
    lists: PoolLists<'a>,
    sets: SetsOfPools<'a>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(site: &'a Site, pools: &'a Pools, queues: &[Box<str>]) -> Self {
        Self {
            site,
            pools,
            lists: PoolLists::new(site, pools, queues),
            sets: SetsOfPools::new(site, pools),
        }
    }

    /// What a job of a queue asks for, and where.
    pub(crate) fn chunks(&mut self, queue: usize, job: &QueuedJob) -> RequestedChunks {
        let names = &self.pools.names;
        let mut counts = vec![1];
        let mut amounts: Vec<i64> = names.iter().map(|name| total_of(job, name)).collect();
        if job.chunks.len() > 1 || job.chunks.iter().any(|chunk| chunk.count > 1) {
            counts = job.chunks.iter().map(|chunk| chunk.count).collect();
            amounts = job
                .chunks
                .iter()
                .flat_map(|chunk| names.iter().map(|name| amount_of(&chunk.amounts, name)))
                .collect();
        }
        RequestedChunks {
            counts,
            amounts,
            pool_lists: self.lists.of_job(queue, job),
            placing: self.sets.placing(job),
        }
    }

    /// The machine, on which nothing runs yet.
    pub(crate) fn machine(self) -> Machine {
        let order = self.pools.order(&self.site.config.node_sort_key.prime);
        Machine::new(&self.pools.pools)
            .with_hosts(self.pools.hosts.clone())
            .with_pool_lists(self.lists.into_lists())
            .with_sharing(self.pools.sharing())
            .with_placement_sets(self.sets.into_sets())
            .with_pool_order(order)
    }
}

/// What a job asks for in all of a resource; what its chunks ask for where the document has no sum
/// of them.
pub(crate) fn total_of(job: &QueuedJob, name: &str) -> i64 {
    match name {
        PROCESSORS => job.ncpus.unwrap_or(0),
        name => job
            .amounts
            .get(name)
            .copied()
            .unwrap_or_else(|| total_of_chunks(&job.chunks, name)),
    }
}

fn total_of_chunks(chunks: &[Chunk], name: &str) -> i64 {
    let mut total = 0_i64;
    for chunk in chunks {
        total = total
            .saturating_add(amount_of(&chunk.amounts, name).saturating_mul(chunk.count.into()));
    }
    total
}

/// The row of the array that a job is, or whose subjob it is.
fn array_row(table: &JobTable, job: &QueuedJob, row: usize) -> Option<u32> {
    if job.queued_subjobs.is_some() {
        return Some(row as u32);
    }
    let (array, _) = array_and_index(table.id(row))?;
    table.row(&array).map(|row| row as u32)
}

/// The limit of the subjobs that run at a time, if an array has one.
fn limit_of_arrays(jobs: &[QueuedJob]) -> Option<Limit> {
    let arrays = jobs
        .iter()
        .zip(0..)
        .filter_map(|(job, row)| Some((row, job.max_run_subjobs?.into())));
    let named: HashMap<u32, i64> = arrays.collect();
    (!named.is_empty()).then(|| Limit::of_subjobs(named))
}
