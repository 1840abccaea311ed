//! The nodes of a site as the pools of a scheduling cycle, and on which of them each chunk of a job
//! may be placed.

use std::collections::{BTreeSet, HashMap, HashSet};

use job_sort_formula::diagnostic::Need;
use job_sort_formula::schema::InputType;
use jsf_ingest::{CycleJobs, QueuedJob};
use jsf_openpbs::array_id::array_and_index;
use jsf_openpbs::chunks::{Chunk, PlacedChunk};
use jsf_openpbs::cycle::{Exclusive, Machine, Part, Placement, Placing, Sharing};
use jsf_openpbs::files::nodes::{Node, Nodes};
use jsf_openpbs::files::reservations::ListedReservation;

use crate::next_cycle::reserved_nodes::Reservations;
use crate::simulation::simulation_rules::{PROCESSORS, nodes_of};
use crate::{Site, SiteError};

/// The amount of which a job that has a node for itself takes all, and any other job 1. No resource
/// has this name.
pub(crate) const OCCUPATION: &str = "";

/// The most seconds between the documents of jobs and nodes of which both are of one moment.
const MAX_APART: u64 = 300;

/// The pools of the machine: one for each usable node, or one in all.
#[derive(Default)]
pub(crate) struct Pools {
    /// The amounts of each pool.
    pub(crate) names: Vec<Box<str>>,
    pub(crate) pools: Vec<Vec<i64>>,
    /// Pool by pool, its host.
    pub(crate) hosts: Vec<u32>,
    /// Pool by pool, its node; empty if only processors are counted.
    pub(crate) nodes: Vec<Node>,
    pub(crate) pool_of_node: HashMap<Box<str>, u32>,
    /// The pools with what reservations have, which follow those of the nodes, by their queues and
    /// nodes.
    pool_of_reserved: HashMap<(Box<str>, Box<str>), u32>,
    /// Pool by pool, the processors that are in use (`resources_assigned`); empty if that is not
    /// known of the moment.
    pub(crate) in_use: Vec<i64>,
    /// The subjobs that run on other nodes.
    pub(crate) subjobs_elsewhere: HashSet<Box<str>>,
    /// The attributes that limit which jobs run on a node, and that are not read.
    pub(crate) other_attributes: Vec<Box<str>>,
}

/// A resource that is not an amount, and the value that a chunk asks for.
type WantedValue = (Box<str>, Box<str>);

impl Pools {
    /// The pools for the jobs of a document.
    pub(crate) fn new(
        site: &Site,
        jobs: &CycleJobs,
        processors: Option<u32>,
        reservations: &Reservations,
    ) -> Result<Self, SiteError> {
        let names = vec![PROCESSORS.into()];
        if let Some(processors) = processors {
            return Ok(Self {
                names,
                pools: vec![vec![processors.into()]],
                hosts: vec![0],
                ..Self::default()
            });
        }
        let Some(nodes) = site.nodes()? else {
            return Err(SiteError::missing(
                "the nodes are not known: ",
                Need::Processors,
            ));
        };
        let other_attributes = nodes.other_attributes().map(Into::into).collect();
        let mut made = Self {
            names,
            other_attributes,
            ..Self::default()
        };
        made.names.extend(site.counted_resources()?);
        made.names.extend(on_no_node(site, jobs, &made.names));
        let has_sharing = |node: &Node| Sharing::from_name(&node.sharing) != Sharing::default();
        let is_exclusive = |job: &QueuedJob| {
            !matches!(
                Placing::from_words(&job.place).exclusive,
                Exclusive::Unsaid | Exclusive::Shared
            )
        };
        if nodes.iter().any(has_sharing) || jobs.jobs.iter().any(is_exclusive) {
            made.names.push(OCCUPATION.into());
        }
        let is_usable =
            |node: &Node| node.is_usable || node.is_resv_exclusive && reservations.have(node);
        for (host, node) in by_host(nodes_of(&nodes, site.partition.as_deref(), is_usable)) {
            made.add(host, node);
        }
        let are_apart = nodes
            .timestamp()
            .zip(jobs.timestamp)
            .is_some_and(|(nodes, jobs)| nodes.abs_diff(jobs) > MAX_APART);
        if are_apart {
            made.in_use.clear();
        } else {
            made.subjobs_elsewhere = made.subjobs_elsewhere(&nodes);
        }
        if made.pools.is_empty() {
            return Err(SiteError::content(
                "no node is usable: all are down, offline or of another partition",
            ));
        }
        for reservation in reservations.confirmed() {
            made.add_reserved(reservation);
        }
        Ok(made)
    }

    /// Adds the pools of what a reservation has, which its queue has for itself.
    fn add_reserved(&mut self, reservation: &ListedReservation) {
        let queue = &reservation.queue;
        for pool in 0..self.of_nodes() {
            let Some(amounts) = self.reserved(reservation, pool) else {
                continue;
            };
            let node = Node {
                queue: Some(queue.clone()),
                ..self.nodes[pool].clone()
            };
            self.pool_of_reserved
                .insert((queue.clone(), node.name.clone()), self.pools.len() as u32);
            let is_same_host = self
                .nodes
                .last()
                .is_some_and(|last| last.host == node.host && last.queue == node.queue);
            let last = self.hosts.last().copied().unwrap_or_default();
            self.hosts.push(if is_same_host { last } else { last + 1 });
            self.nodes.push(node);
            self.pools.push(amounts);
        }
    }

    /// Pool by pool, whether jobs share it; empty if no job has a pool for itself.
    pub(crate) fn sharing(&self) -> Vec<Sharing> {
        if self.names.last().is_none_or(|name| **name != *OCCUPATION) {
            return Vec::new();
        }
        let nodes = self.nodes.iter();
        nodes
            .map(|node| Sharing::from_name(&node.sharing))
            .collect()
    }

    /// The number of pools that are nodes, or the one count of processors.
    pub(crate) fn of_nodes(&self) -> usize {
        self.pool_of_node.len().max(1)
    }

    /// What a reservation has in a pool that is a node.
    fn reserved(&self, reservation: &ListedReservation, pool: usize) -> Option<Vec<i64>> {
        let node = &self.nodes[pool];
        let parts: Vec<&PlacedChunk> = reservation
            .nodes
            .iter()
            .filter(|reserved| reserved.node == node.name)
            .collect();
        if parts.is_empty() {
            return None;
        }
        if reservation.is_exclusive || node.is_resv_exclusive {
            return Some(self.pools[pool].clone());
        }
        let amounts = self
            .names
            .iter()
            .map(|name| parts.iter().map(|part| amount_of(&part.amounts, name)));
        Some(
            amounts
                .map(|amounts| amounts.fold(0, i64::saturating_add))
                .collect(),
        )
    }

    /// What a reservation has of the nodes.
    pub(crate) fn placement(&self, reservation: &ListedReservation) -> Placement {
        let parts = (0..self.of_nodes()).filter_map(|pool| {
            Some(Part {
                pool: pool as u32,
                amounts: self.reserved(reservation, pool)?.into(),
            })
        });
        Placement(parts.collect())
    }

    /// The pool in which a running job of a queue is that is on a node.
    pub(crate) fn pool_of(&self, queue: &str, node: &str) -> Option<u32> {
        let reserved = self.pool_of_reserved.get(&(queue.into(), node.into()));
        reserved.or_else(|| self.pool_of_node.get(node)).copied()
    }

    /// The subjobs on nodes that are in no pool, such as those that go offline when their jobs end.
    fn subjobs_elsewhere(&self, nodes: &Nodes) -> HashSet<Box<str>> {
        let jobs = nodes
            .iter()
            .filter(|node| !self.pool_of_node.contains_key(&node.name))
            .flat_map(|node| &node.jobs);
        jobs.filter(|id| array_and_index(id).is_some())
            .cloned()
            .collect()
    }

    fn add(&mut self, host: u32, node: &Node) {
        self.pool_of_node
            .insert(node.name.clone(), self.pools.len() as u32);
        self.hosts.push(host);
        self.nodes.push(node.clone());
        self.in_use
            .push(node.assigned.get(PROCESSORS).copied().unwrap_or(0).max(0));
        self.pools.push(
            self.names
                .iter()
                .map(|name| match &**name {
                    OCCUPATION => Machine::UNOCCUPIED,
                    name => node.amounts.get(name).copied().unwrap_or(0),
                })
                .collect(),
        );
    }

    /// The values of resources that the chunks of a job ask for and the scheduler compares with
    /// those of the nodes.
    pub(crate) fn wanted(&self, site: &Site, job: &QueuedJob) -> Vec<WantedValue> {
        job.chunks
            .iter()
            .flat_map(|chunk| wanted(site, chunk))
            .collect()
    }

    /// A value that a chunk of a job asks for and no node has.
    pub(crate) fn on_no_node(&self, site: &Site, job: &QueuedJob) -> Option<WantedValue> {
        let mut all = self.wanted(site, job).into_iter();
        all.find(|wanted| {
            !self.nodes.is_empty() && !self.nodes.iter().any(|node| has(site, node, wanted))
        })
    }
}

/// The resources of nodes that chunks ask for and no node has: these are 0, but for those that
/// nodes report by themselves.
fn on_no_node(site: &Site, jobs: &CycleJobs, on_nodes: &[Box<str>]) -> BTreeSet<Box<str>> {
    let chunks = jobs.jobs.iter().flat_map(|job| &job.chunks);
    let names = chunks
        .flat_map(|chunk| &chunk.amounts)
        .map(|(name, _)| name);
    let unknown = names.filter(|name| site.is_checked(name) && !on_nodes.contains(name));
    unknown
        .filter(|name| !matches!(&***name, "mem" | "vmem"))
        .cloned()
        .collect()
}

/// The nodes in their order, each with the number of its host; those of a host follow each other.
fn by_host(nodes: Vec<&Node>) -> Vec<(u32, &Node)> {
    let mut hosts: HashMap<&str, u32> = HashMap::new();
    let mut numbered = Vec::with_capacity(nodes.len());
    for node in nodes {
        let next = hosts.len() as u32;
        numbered.push((*hosts.entry(&node.host).or_insert(next), node));
    }
    numbered.sort_by_key(|(host, _)| *host);
    numbered
}

/// The values that a chunk asks for and the scheduler compares: of booleans, of `host` and `vnode`,
/// and of the resources in the line `resources` of `sched_config`.
pub(crate) fn wanted(site: &Site, chunk: &Chunk) -> Vec<WantedValue> {
    chunk
        .others
        .iter()
        .filter(|wanted| is_compared(site, wanted))
        .cloned()
        .collect()
}

fn is_compared(site: &Site, (name, value): &WantedValue) -> bool {
    let is_boolean = match kind(site, name) {
        Some(kind) => kind == InputType::Bool,
        None => matches!(&**value, "True" | "False"),
    };
    is_boolean || matches!(&**name, "host" | "vnode") || site.is_checked(name)
}

fn has(site: &Site, node: &Node, (name, value): &WantedValue) -> bool {
    node.matches(name, value, kind(site, name))
}

fn kind(site: &Site, resource: &str) -> Option<InputType> {
    site.schema.entry(resource).map(|entry| entry.input_type)
}

/// The lists of pools in which chunks may be placed.
pub(crate) struct PoolLists<'a> {
    site: &'a Site,
    pools: &'a Pools,
    /// By queue, then those of the chunks that ask for values.
    lists: Vec<Vec<u32>>,
    /// The lists of chunks that ask for values, by the queue and the values.
    known: HashMap<(usize, Vec<WantedValue>), u32>,
}

impl<'a> PoolLists<'a> {
    /// The lists of the queues.
    pub(crate) fn new(site: &'a Site, pools: &'a Pools, queues: &[Box<str>]) -> Self {
        let lists = queues
            .iter()
            .map(|queue| pools_of_queue(pools, queue))
            .collect();
        Self {
            site,
            pools,
            lists,
            known: HashMap::new(),
        }
    }

    /// The list of each chunk of a job.
    pub(crate) fn of_job(&mut self, queue: usize, job: &QueuedJob) -> Vec<u32> {
        if job.chunks.is_empty() {
            return vec![queue as u32];
        }
        job.chunks
            .iter()
            .map(|chunk| self.of_chunk(queue, chunk))
            .collect()
    }

    fn of_chunk(&mut self, queue: usize, chunk: &Chunk) -> u32 {
        let wanted = wanted(self.site, chunk);
        if wanted.is_empty() || self.pools.nodes.is_empty() {
            return queue as u32;
        }
        let Self {
            site,
            pools,
            lists,
            known,
        } = self;
        *known
            .entry((queue, wanted))
            .or_insert_with_key(|(_, wanted)| {
                let mut matching = lists[queue].clone();
                matching.retain(|&pool| {
                    wanted
                        .iter()
                        .all(|wanted| has(site, &pools.nodes[pool as usize], wanted))
                });
                lists.push(matching);
                lists.len() as u32 - 1
            })
    }

    pub(crate) fn into_lists(self) -> Vec<Vec<u32>> {
        self.lists
    }
}

/// The pools of the nodes that a queue has for itself, else of those that no queue has.
fn pools_of_queue(pools: &Pools, queue: &str) -> Vec<u32> {
    if pools.nodes.is_empty() {
        return (0..pools.pools.len() as u32).collect();
    }
    let own = pools_for(pools, Some(queue));
    if own.is_empty() {
        pools_for(pools, None)
    } else {
        own
    }
}

/// The pools of the nodes that only this queue has, or that no queue has for itself.
fn pools_for(pools: &Pools, queue: Option<&str>) -> Vec<u32> {
    (0..)
        .zip(&pools.nodes)
        .filter(|(_, node)| node.queue.as_deref() == queue)
        .map(|(pool, _)| pool)
        .collect()
}

/// The amount of a resource.
pub(crate) fn amount_of(amounts: &[(Box<str>, i64)], name: &str) -> i64 {
    amounts
        .iter()
        .find(|(other, _)| **other == *name)
        .map_or(0, |(_, amount)| *amount)
}
