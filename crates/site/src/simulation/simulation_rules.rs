//! The machine, the jobs and the rules of a simulation, which are made of the same settings and nodes as
//! those of the next cycle.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use job_sort_formula::diagnostic::Need;
use jsf_ingest::QueuedJob;
use jsf_openpbs::amounts::{AmountSource, server_float};
use jsf_openpbs::cycle::{CycleJob, CycleRules, QueueOrder, Times};
use jsf_openpbs::files::sched_config::{ByTime, SchedConfig, SortFirst};
use jsf_openpbs::job_attributes::{Chunk, array_and_index};
use jsf_simulate::{
    Backfill, MAX_RUN_SUBJOBS, NonPrimeRules, OrderRules, SimulationRules, Workload,
};

use crate::cycle::{LimitedNames, PROCESSORS, Pools, Reservations, starts_in_words};
use crate::simulation::job_logs::is_always_known;
use crate::simulation::simulated_queue::ProcessorsSource;
use crate::{LeftOut, Role, SimulationOptions, Site, SiteError};

impl Site {
    /// The resources besides processors that the nodes have and the scheduler looks at, so that
    /// jobs wait for them.
    pub(crate) fn counted_resources(&self) -> Result<Vec<Box<str>>, SiteError> {
        let Some(nodes) = self.nodes()? else {
            return Ok(Vec::new());
        };
        let mut names = BTreeSet::new();
        for node in self.usable_nodes(&nodes, &Reservations::default()) {
            names.extend(node.amounts.keys().cloned());
        }
        names.retain(|name| **name != *PROCESSORS && self.is_checked(name));
        Ok(names.into_iter().collect())
    }

    /// The names by which `job_sort_key` orders jobs with equal values and that are taken from the
    /// log.
    pub(crate) fn sorted_resources(&self) -> Vec<Box<str>> {
        let mut names = Vec::new();
        let ByTime { prime, non_prime } = &self.config.job_sort_key;
        // without holidays it is always prime time
        let has_non_prime = self.files.has(Role::Holidays);
        let non_prime = non_prime.iter().filter(|_| has_non_prime);
        for key in prime.iter().chain(non_prime) {
            let name = name_of_key(&key.name);
            if self.schema.is_numeric(name) && !is_always_known(name) {
                names.push(name.into());
            }
        }
        names
    }

    /// The machine and the rules by which a workload is simulated, where the processors are from,
    /// and how many jobs are placed by their `select`. The nodes are told apart only where the log
    /// has chunks. `left_out` gets what of the nodes and of the chunks the simulation does without.
    pub(crate) fn simulation_rules(
        &self,
        workload: &Workload,
        options: &SimulationOptions,
        times: Times,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<(SimulationRules, ProcessorsSource, usize), SiteError> {
        let queues = workload.queues();
        let mut placed_jobs = 0;
        if options.processors.is_none() && self.files.has(Role::Nodes) {
            for job in workload.jobs() {
                placed_jobs += usize::from(!workload.chunks(job).0.is_empty());
            }
        }
        let mut amounts = self.limited_resources(queues);
        amounts.extend(self.counted_resources()?);
        let (distinct, of_jobs) = self.queued_jobs(workload, &amounts, placed_jobs > 0);
        let (mut pools, source) = if let Some(processors) = options.processors {
            let pools = Pools::of_processors(self, processors);
            (pools, ProcessorsSource::Given)
        } else if placed_jobs > 0 {
            let pools = Pools::new(self, &distinct, None, &Reservations::default())?;
            let jobs = of_jobs.iter().map(|&job| &distinct[job as usize]);
            left_out.extend(pools.left_out(&jobs.collect::<Vec<_>>()));
            left_out.extend(LeftOut::of_some_jobs([(
                "chunks of jobs without `select` in the log (each is placed as one)",
                workload.jobs().len() - placed_jobs,
            )]));
            (pools, ProcessorsSource::Nodes)
        } else {
            self.merged_pools(workload, left_out)?
        };
        pools.set_queues(queues);
        let mut requests = Vec::with_capacity(distinct.len());
        for job in &distinct {
            // always found, as `queued_jobs` takes the name from this list
            let queue = queues.iter().position(|queue| *queue == job.queue);
            requests.push(Arc::new(pools.request(queue.unwrap_or(0), job)));
        }
        let mut jobs = workload.cycle_jobs(|job| requests[of_jobs[job] as usize].clone());
        let in_log = workload.names_in_log();
        let limited = LimitedNames {
            users: &in_log.users,
            groups: &in_log.unix_groups,
            projects: &in_log.projects,
        };
        let of_arrays = limits_of_arrays(workload, &mut jobs);
        let mut non_prime_config = self.config.in_non_prime_time();
        // without times it is prime time for the whole log
        non_prime_config = non_prime_config.filter(|_| !times.is_empty());
        let in_prime = self.config.preemptive_sched.prime;
        let in_non_prime =
            (non_prime_config.as_ref()).is_some_and(|config| config.preemptive_sched.prime);
        let preempts_at_all = in_prime || in_non_prime;
        let (state, mut cycle) = pools.cycle(&limited, of_arrays, preempts_at_all, true);
        let has_levels = cycle.levels.is_preemptive;
        // the levels are made if jobs preempt at any time, and begin as in prime time
        cycle.levels.is_preemptive &= in_prime;
        cycle.times = times;
        if let Some(backfill) = self.backfill(options) {
            let CycleRules { times, levels, .. } = cycle;
            cycle = CycleRules {
                times,
                levels,
                ..backfill.rules()
            };
        }
        // depth and window are not in `sched_config`, of which alone settings differ with prime time
        let non_prime = non_prime_config.map(|config| NonPrimeRules {
            strict_ordering: match options.backfill {
                Some(_) => cycle.strict_ordering,
                None => config.strict_ordering.prime,
            },
            is_preemptive: has_levels && config.preemptive_sched.prime,
            order: self.simulated_order(&config, workload),
        });
        let rules = SimulationRules {
            state,
            jobs,
            cycle,
            order: self.simulated_order(&self.config, workload),
            non_prime,
            threshold: self.threshold().map(server_float),
            has_accrual: self.server.eligible_time_enable().unwrap_or(false),
            max_age: self.slurm.as_ref().map(|slurm| slurm.settings().max_age),
            precision: self.precision(),
            on_error: self.options.on_error,
        };
        Ok((rules, source, placed_jobs))
    }

    /// How a simulation backfills that does not do so by the site's `sched_config`.
    fn backfill(&self, options: &SimulationOptions) -> Option<Backfill> {
        let by_default = (!self.files.has(Role::SchedConfig)).then_some(Backfill::Easy);
        options.backfill.or(by_default)
    }

    /// What a cycle starts, in words.
    pub(crate) fn backfilling(&self, options: &SimulationOptions, rules: &CycleRules) -> String {
        let words = match self.backfill(options) {
            Some(Backfill::Easy) => "backfill easy",
            Some(Backfill::Greedy) => "backfill greedy",
            Some(Backfill::None) => "backfill none",
            None => return starts_in_words(rules),
        };
        words.to_owned()
    }

    /// The machine on which jobs have no hosts: the site's nodes, else the machine of the log.
    fn merged_pools(
        &self,
        workload: &Workload,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<(Pools<'_>, ProcessorsSource), SiteError> {
        if let Some(nodes) = self.nodes()? {
            let usable = self.usable_nodes(&nodes, &Reservations::default());
            if usable.iter().any(|node| node.host != usable[0].host) {
                left_out.push(LeftOut {
                    what: "the hosts of jobs without `select` in the log".to_owned(),
                    jobs: workload.jobs().len(),
                });
            }
            let pools = Pools::merged(self, &usable)?;
            return Ok((pools, ProcessorsSource::Nodes));
        }
        let slurm = self.slurm.as_ref();
        let (processors, source) = if let Some(processors) =
            slurm.and_then(|slurm| slurm.cluster.usable_processors())
        {
            (processors, ProcessorsSource::Nodes)
        } else if let Some(processors) = workload.machine_processors {
            (processors, ProcessorsSource::Log)
        } else {
            return Err(SiteError::missing(
                "the number of processors is not known: no log has `; MaxProcs: N` in its header; ",
                Need::Processors,
            ));
        };
        Ok((Pools::of_processors(self, processors), source))
    }

    /// In which order a cycle considers the jobs of a workload.
    fn simulated_order(&self, config: &SchedConfig, workload: &Workload) -> OrderRules {
        let queues = workload.queues();
        let stopped = queues.iter().map(|queue| !self.queues.is_started(queue));
        // queues of the log that the site does not list are one
        let mut order = QueueOrder::new(config, &self.queues, queues, false);
        order.by_fair_share &= self.tree.is_some();
        OrderRules {
            queues: order,
            ties: ties(config, workload),
            stopped: stopped.collect(),
        }
    }

    /// The jobs of a log as a cycle reads them, those that are alike once; and job by job, which of
    /// these it is. Their chunks are of use only where they are placed.
    fn queued_jobs(
        &self,
        workload: &Workload,
        amounts: &BTreeSet<Box<str>>,
        takes_chunks: bool,
    ) -> (Vec<QueuedJob>, Vec<u32>) {
        let mut columns = Vec::new();
        for name in amounts {
            if **name != *PROCESSORS
                && let Some(column) = workload.amounts_of(name)
            {
                columns.push((name, column));
            }
        }
        let mut distinct = Vec::new();
        let mut known = HashMap::new();
        let mut job_amounts = Vec::with_capacity(workload.jobs().len());
        for (index, job) in workload.jobs().iter().enumerate() {
            let mut amounts = Vec::with_capacity(columns.len());
            for (_, column) in &columns {
                amounts.push(column[index].ceil() as i64);
            }
            let chunks = takes_chunks.then(|| workload.chunks(job));
            let key = (job.queue, chunks, job.processors, amounts);
            let next = distinct.len() as u32;
            job_amounts.push(*known.entry(key).or_insert_with_key(
                |(_, chunks, _, amounts): &(_, _, _, Vec<i64>)| {
                    let (select, place) = chunks.unwrap_or_default();
                    let mut named = BTreeMap::new();
                    for ((name, _), &amount) in columns.iter().zip(amounts) {
                        if amount > 0 {
                            named.insert((*name).clone(), amount);
                        }
                    }
                    let mut chunks = Vec::new();
                    if !select.is_empty() {
                        chunks = Chunk::read_select(select, AmountSource::Server, &self.schema);
                    }
                    distinct.push(QueuedJob {
                        queue: workload.queues()[job.queue as usize].clone(),
                        ncpus: Some(job.processors.into()),
                        chunks,
                        place: place.into(),
                        amounts: named,
                        ..QueuedJob::default()
                    });
                    next
                },
            ));
        }
        (distinct, job_amounts)
    }
}

/// The places of jobs with equal values by `job_sort_key`, then by submission; empty if there
/// is no key that the log has.
fn ties(config: &SchedConfig, workload: &Workload) -> Vec<u32> {
    let jobs = workload.jobs();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for key in &config.job_sort_key.prime {
        let mut column = match name_of_key(&key.name) {
            PROCESSORS => jobs.iter().map(|job| f64::from(job.processors)).collect(),
            "walltime" => jobs.iter().map(|job| job.walltime as f64).collect(),
            name => match workload.amounts_of(name) {
                Some(column) => column,
                None => continue,
            },
        };
        if key.first == SortFirst::High {
            for value in &mut column {
                *value = -*value;
            }
        }
        columns.push(column);
    }
    if columns.is_empty() {
        return Vec::new();
    }
    let mut order: Vec<u32> = (0..jobs.len() as u32).collect();
    // the last key counts least
    for column in columns.iter().rev() {
        order.sort_by(|&left, &right| column[left as usize].total_cmp(&column[right as usize]));
    }
    let mut ties = vec![0; jobs.len()];
    for (&job, place) in order.iter().zip(0..) {
        ties[job as usize] = place;
    }
    ties
}

/// Sets the array of each subjob, if the log says how many of it may run at a time. Returns this
/// number by array.
fn limits_of_arrays(workload: &Workload, jobs: &mut [CycleJob]) -> HashMap<u32, i64> {
    let most = workload.amounts_of(MAX_RUN_SUBJOBS).unwrap_or_default();
    let mut arrays: HashMap<String, u32> = HashMap::new();
    let mut limits = HashMap::new();
    for (index, &most) in most.iter().enumerate() {
        if most > 0.0
            && let Some((array, _)) = array_and_index(workload.id(index))
        {
            let next = arrays.len() as u32;
            let array = *arrays.entry(array).or_insert(next);
            limits.insert(array, most as i64);
            jobs[index].array = Some(array);
        }
    }
    limits
}

/// The name of a formula for what a key of `job_sort_key` orders by.
fn name_of_key(key: &str) -> &str {
    if key == "sort_priority" {
        "job_priority"
    } else {
        key
    }
}
