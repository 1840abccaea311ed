//! The machine, the limits and the jobs of a site as a scheduling cycle needs them.

use hashbrown::HashMap;
use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::formula::Formula;
use job_sort_formula::jobs::{JobState, JobTable};
use job_sort_formula::python::Value;
use jsf_ingest::{CycleJobs, QueuedJob};
use jsf_openpbs::cycle::{
    CycleJob, CycleRules, JobSource, Limits, Machine, Part, Placement, Request, UNLIMITED_WALLTIME,
};
use jsf_openpbs::files::nodes::Node;

use jsf_simulate::Names;

use super::scheduling::LimitedNames;
use super::simulation_rules::{PROCESSORS, usable_nodes};
use super::{Site, SiteError};

/// What a cycle runs on.
pub(super) struct CycleMachine {
    pub(super) machine: Machine,
    pub(super) limits: Limits,
    pub(super) rules: CycleRules,
    pub(super) jobs: RequestedJobs,
    pub(super) names: CountedNames,
}

/// The names that are counted by their indices.
pub(super) struct CountedNames {
    /// The amounts of the machine.
    pub(super) amounts: Vec<Box<str>>,
}

/// The jobs of a table, with what each asks for; their indices are their rows.
pub(super) struct RequestedJobs(Vec<RequestedJob>);

struct RequestedJob {
    counts: Vec<u32>,
    amounts: Vec<i64>,
    walltime: i64,
    queue: u32,
    user: u32,
    group: u32,
    project: u32,
    subjobs: u32,
    can_be_reserved: bool,
}

impl JobSource for RequestedJobs {
    fn job(&self, index: u32) -> CycleJob<'_> {
        let job = &self.0[index as usize];
        CycleJob {
            request: Request { counts: &job.counts, amounts: &job.amounts },
            walltime: job.walltime,
            queue: job.queue,
            user: job.user,
            group: job.group,
            project: job.project,
            subjobs: job.subjobs,
            can_be_reserved: job.can_be_reserved,
        }
    }
}

/// The pools of the machine: one for each host.
struct Pools {
    names: Vec<Box<str>>,
    pools: Vec<Vec<i64>>,
    /// The queue that a host is reserved for.
    queues: Vec<Option<Box<str>>>,
    pool_of_node: HashMap<Box<str>, u32>,
}

impl CycleMachine {
    /// The machine with the running jobs of the table on it.
    pub(super) fn new(
        site: &Site,
        table: &JobTable,
        cycle: &CycleJobs,
        processors: Option<u32>,
        warnings: &mut Vec<Message>,
    ) -> Result<Self, SiteError> {
        let Pools { names, pools, queues, pool_of_node } = Pools::new(site, processors)?;
        let [mut users, mut groups, mut projects] = [Names::default(), Names::default(), Names::default()];
        let jobs = cycle.jobs.iter().enumerate().map(|(row, job)| RequestedJob {
            walltime: job.walltime.unwrap_or(UNLIMITED_WALLTIME),
            queue: table.queue_index(row) as u32,
            user: users.index(&job.user),
            group: groups.index(&job.group),
            project: projects.index(&job.project),
            subjobs: job.queued_subjobs.as_ref().map_or(1, |subjobs| u32::try_from(subjobs.len()).unwrap_or(u32::MAX)),
            can_be_reserved: job.is_topjob_eligible,
            ..requested(job, &names)
        });
        let jobs = RequestedJobs(jobs.collect());
        let queue_names: Vec<Box<str>> = table.queues().iter().map(|queue| (&**queue).into()).collect();
        let limited = LimitedNames {
            queues: &queue_names,
            users: users.names(),
            groups: groups.names(),
            projects: projects.names(),
            amounts: &names,
        };
        let limits = Limits::new(site.cycle_limits(&limited));
        let pools_of_queue = |queue: &str| -> Vec<u32> {
            let own = queues.iter().zip(0..).filter(|(of, _)| of.as_deref() == Some(queue));
            let own: Vec<u32> = own.map(|(_, pool)| pool).collect();
            match own.is_empty() {
                true => queues.iter().zip(0..).filter(|(of, _)| of.is_none()).map(|(_, pool)| pool).collect(),
                false => own,
            }
        };
        let mut of_queues: Vec<Vec<u32>> = queue_names.iter().map(|queue| pools_of_queue(queue)).collect();
        of_queues.push(pools_of_queue(""));
        let machine = Machine::new(&pools).pools_of_queues(of_queues);
        let rules = site.cycle_rules(&queue_names);
        let mut made = Self { machine, limits, rules, jobs, names: CountedNames { amounts: names } };
        made.run_jobs(table, cycle, &pool_of_node, warnings);
        Ok(made)
    }

    /// How often each job can be started.
    pub(super) fn subjobs(&self) -> Vec<u32> {
        self.jobs.0.iter().map(|job| job.subjobs).collect()
    }

    /// Why a job can never run, as it asks for more than there is.
    pub(super) fn reason_too_large(&self, row: usize) -> String {
        let request = self.jobs.job(row as u32).request;
        let counted = self.names.amounts.iter().enumerate();
        let lacking = counted.filter(|(amount, _)| request.total(*amount) > self.machine.total(*amount));
        let in_words = |name: &str| if name == PROCESSORS { "processors".to_owned() } else { name.to_owned() };
        match lacking.map(|(amount, name)| (amount, in_words(name))).next() {
            Some((amount, name)) => format!(
                "can never run: it asks for {} {name}, and the machine has {}",
                request.total(amount),
                self.machine.total(amount)
            ),
            None => "can never run: a chunk of it asks for more than any host has".to_owned(),
        }
    }

    /// Ends the running jobs that end next, as far as the walltimes tell. Returns when.
    pub(super) fn end_next(&mut self) -> Option<i64> {
        let Self { machine, limits, jobs, .. } = self;
        machine.end_next(jobs, |job| limits.end(job))
    }

    /// Puts the running jobs on the machine.
    fn run_jobs(
        &mut self,
        table: &JobTable,
        cycle: &CycleJobs,
        pool_of_node: &HashMap<Box<str>, u32>,
        warnings: &mut Vec<Message>,
    ) {
        let mut without_start = Vec::new();
        let mut without_place = Vec::new();
        for (row, job) in cycle.jobs.iter().enumerate() {
            if !matches!(table.state(row), JobState::Running | JobState::Exiting) {
                continue;
            }
            let requested = self.jobs.job(row as u32);
            let Some(stime) = job.stime else {
                without_start.push(table.id(row));
                continue;
            };
            if job.placed.is_empty() && self.machine.pools() > 1 {
                without_place.push(table.id(row));
            }
            let placement = self.placement(job, pool_of_node, &requested);
            self.machine.start(row as u32, &requested.request, placement, stime.saturating_add(requested.walltime));
            self.limits.start(&requested);
        }
        for (attribute, jobs) in [("stime", without_start), ("exec_vnode", without_place)] {
            let Some(first) = jobs.first() else { continue };
            let count = jobs.len();
            let jobs = if count == 1 { "running job has" } else { "running jobs have" };
            let found = format!("{count} {jobs} no `{attribute}` (first `{first}`), so what is held counts as free");
            warnings.push(found.into());
        }
    }

    /// Where a running job is, as far as the document says.
    fn placement(&self, job: &QueuedJob, pool_of_node: &HashMap<Box<str>, u32>, requested: &CycleJob<'_>) -> Placement {
        if self.machine.pools() == 1 {
            let total = (0..self.names.amounts.len()).map(|amount| requested.request.total(amount)).collect();
            return Placement::Parts([Part { pool: 0, amounts: total }].into());
        }
        let parts = job.placed.iter().filter_map(|chunk| {
            let pool = *pool_of_node.get(&chunk.node)?;
            let amounts = self.names.amounts.iter().map(|name| amount_of(&chunk.amounts, name)).collect();
            Some(Part { pool, amounts })
        });
        Placement::Parts(parts.collect())
    }
}

impl Site {
    /// What each job adds to the usage of its entity in a cycle in which it starts: its request under `fairshare_usage_res`.
    pub(super) fn charges(&self, jobs: &[QueuedJob]) -> Vec<f64> {
        let program = Formula::parse(&self.config.fairshare_usage_res);
        let program = program.ok().and_then(|formula| formula.compile(&self.schema).ok());
        let Some(program) = program else { return vec![0.0; jobs.len()] };
        let charge = |job: &QueuedJob| {
            let input = |name: &str| match name {
                PROCESSORS => Value::Int(job.ncpus.unwrap_or(0)),
                "walltime" => Value::Int(job.walltime.unwrap_or(0)),
                name => Value::Int(job.amounts.get(name).copied().unwrap_or(0)),
            };
            let inputs: Vec<Value> = program.inputs().iter().map(|name| input(name)).collect();
            program.evaluate(&inputs).ok().and_then(|value| value.to_f64()).unwrap_or(0.0)
        };
        jobs.iter().map(charge).collect()
    }
}

impl Pools {
    fn new(site: &Site, processors: Option<u32>) -> Result<Self, SiteError> {
        if let Some(processors) = processors {
            return Ok(Self {
                names: vec![PROCESSORS.into()],
                pools: vec![vec![processors.into()]],
                queues: vec![None],
                pool_of_node: HashMap::new(),
            });
        }
        let Some(nodes) = site.nodes()? else {
            return Err(SiteError::missing("the nodes are not known: ", Need::Processors));
        };
        let mut names: Vec<Box<str>> = vec![PROCESSORS.into()];
        names.extend(site.counted_resources()?);
        let mut pool_of_host: HashMap<&str, u32> = HashMap::new();
        let mut made = Self { names, pools: Vec::new(), queues: Vec::new(), pool_of_node: HashMap::new() };
        for node in usable_nodes(&nodes, site.partition.as_deref()) {
            let next = made.pools.len() as u32;
            let pool = *pool_of_host.entry(&*node.host).or_insert(next);
            if pool == next {
                made.pools.push(vec![0; made.names.len()]);
                made.queues.push(node.queue.clone());
            }
            made.add(pool, node);
        }
        if made.pools.is_empty() {
            return Err(SiteError::content("no node is usable: all are down, offline or of another partition"));
        }
        Ok(made)
    }

    fn add(&mut self, pool: u32, node: &Node) {
        self.pool_of_node.insert(node.name.clone(), pool);
        for (sum, name) in self.pools[pool as usize].iter_mut().zip(&self.names) {
            *sum = sum.saturating_add(node.amounts.get(name).copied().unwrap_or(0));
        }
    }
}

/// What a job asks for; the rest is filled in by the caller.
fn requested(job: &QueuedJob, names: &[Box<str>]) -> RequestedJob {
    let total = |name: &str| match name {
        PROCESSORS => job.ncpus.unwrap_or(0),
        name => job.amounts.get(name).copied().unwrap_or(0),
    };
    let mut counts = vec![1];
    let mut amounts: Vec<i64> = names.iter().map(|name| total(name)).collect();
    if job.chunks.len() > 1 || job.chunks.iter().any(|chunk| chunk.count > 1) {
        counts = job.chunks.iter().map(|chunk| chunk.count).collect();
        amounts =
            job.chunks.iter().flat_map(|chunk| names.iter().map(|name| amount_of(&chunk.amounts, name))).collect();
    }
    RequestedJob {
        counts,
        amounts,
        walltime: 0,
        queue: 0,
        user: 0,
        group: 0,
        project: 0,
        subjobs: 1,
        can_be_reserved: true,
    }
}

fn amount_of(amounts: &[(Box<str>, i64)], name: &str) -> i64 {
    amounts.iter().find(|(other, _)| **other == *name).map_or(0, |(_, amount)| *amount)
}
