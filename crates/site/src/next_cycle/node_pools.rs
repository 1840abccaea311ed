//! The nodes of a site as the pools of a scheduling cycle, and on which of them each chunk of a job
//! may be placed; and what jobs ask of placement and a cycle does without.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{
    Exclusive, Machine, Part, Placement, Placing, PoolOrder, PoolValue, Sharing,
};
use jsf_openpbs::files::nodes::{ListedReservation, Node, Nodes};
use jsf_openpbs::files::sched_priv::{NodeAmount, NodeSortKey, SortFirst};
use jsf_openpbs::job_attributes::{Chunk, array_and_index};
use jsf_openpbs::words::first_names;

use super::times_and_reservations::Reservations;
use crate::{LeftOut, Role, Site, SiteError};

/// The resource that every machine counts.
pub const PROCESSORS: &str = "ncpus";

/// The amount of which a job that has a node for itself takes all, and any other job 1. No resource
/// has this name.
pub const OCCUPATION: &str = "";

/// The most seconds between the documents of jobs and nodes of which both are of one moment.
const MAX_APART: u64 = 300;

/// The pools of the machine: one for each usable node, or one in all.
#[derive(Default)]
pub struct Pools {
    /// The amounts of each pool.
    pub names: Vec<Box<str>>,
    pub pools: Vec<Vec<i64>>,
    /// Pool by pool, its host.
    pub hosts: Vec<u32>,
    /// Pool by pool, its node; empty if only processors are counted.
    pub nodes: Vec<Node>,
    pub pool_of_node: HashMap<Box<str>, u32>,
    /// The pools with what reservations have, which follow those of the nodes, by their queues and
    /// nodes.
    pool_of_reserved: HashMap<(Box<str>, Box<str>), u32>,
    /// Pool by pool, the processors that are in use (`resources_assigned`); empty if that is not
    /// known of the moment.
    pub in_use: Vec<i64>,
    /// The subjobs that run on other nodes.
    pub subjobs_elsewhere: HashSet<Box<str>>,
    /// The attributes that limit which jobs run on a node, and that are not read.
    pub other_attributes: BTreeSet<Box<str>>,
}

/// The amounts that OpenPBS defines and that no node has: jobs that run do not take from them.
const NOT_CONSUMED: [&str; 13] = [
    "cpupercent",
    "energy",
    "file",
    "hpm",
    "mpiprocs",
    "nchunk",
    "nice",
    "nodect",
    "ompthreads",
    "pcap_accelerator",
    "pcap_node",
    "pmem",
    "pvmem",
];

/// A resource that is not an amount, and the value that a chunk asks for.
pub type WantedValue = (Box<str>, Box<str>);

impl Site {
    /// The nodes of the partition on which jobs may run, or for which a reservation is.
    pub(crate) fn usable_nodes<'n>(
        &self,
        nodes: &'n Nodes,
        reservations: &Reservations,
    ) -> Vec<&'n Node> {
        let mut usable = Vec::new();
        for node in &nodes.nodes {
            let has_jobs = node.is_usable || node.is_resv_exclusive && reservations.have(node);
            if has_jobs && node.partition.as_deref() == self.partition.as_deref() {
                usable.push(node);
            }
        }
        usable
    }
}

impl Pools {
    /// The pools for jobs of a moment.
    pub fn new(
        site: &Site,
        jobs: &[QueuedJob],
        timestamp: Option<i64>,
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
        let mut made = Self {
            names,
            other_attributes: nodes.other_attributes.clone(),
            ..Self::default()
        };
        made.names.extend(site.counted_resources()?);
        made.names.extend(on_no_node(site, jobs, &made.names));
        if has_exclusive(&nodes, jobs) {
            made.names.push(OCCUPATION.into());
        }
        for (host, node) in by_host(site.usable_nodes(&nodes, reservations)) {
            made.add(host, node);
        }
        if let (Some(of_nodes), Some(of_jobs)) = (nodes.timestamp, timestamp)
            && of_nodes.abs_diff(of_jobs) > MAX_APART
        {
            made.in_use.clear();
        } else {
            made.subjobs_elsewhere = made.subjobs_elsewhere(&nodes);
        }
        if made.pools.is_empty() {
            return Err(SiteError::content(
                "no node is usable: all are down, offline or of another partition",
            ));
        }
        for reservation in &reservations.confirmed {
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
            let key = (queue.clone(), node.name.clone());
            self.pool_of_reserved.insert(key, self.pools.len() as u32);
            let mut host = self.hosts.last().copied().unwrap_or_default();
            if let Some(last) = self.nodes.last()
                && (&last.host, &last.queue) != (&node.host, &node.queue)
            {
                host += 1;
            }
            self.hosts.push(host);
            self.nodes.push(node);
            self.pools.push(amounts);
        }
    }

    /// Pool by pool, whether jobs share it; empty if no job has a pool for itself.
    pub fn sharing(&self) -> Vec<Sharing> {
        let mut sharing = Vec::new();
        if self.names.last() == Some(&OCCUPATION.into()) {
            for node in &self.nodes {
                sharing.push(Sharing::from_name(&node.sharing));
            }
        }
        sharing
    }

    /// The number of pools that are nodes, or the one count of processors.
    pub fn of_nodes(&self) -> usize {
        self.pool_of_node.len().max(1)
    }

    /// What a reservation has in a pool that is a node.
    fn reserved(&self, reservation: &ListedReservation, pool: usize) -> Option<Vec<i64>> {
        let node = &self.nodes[pool];
        let mut amounts = vec![0_i64; self.names.len()];
        let mut is_here = false;
        for part in &reservation.nodes {
            if part.node != node.name {
                continue;
            }
            is_here = true;
            for (sum, name) in amounts.iter_mut().zip(&self.names) {
                *sum = sum.saturating_add(amount_of(&part.amounts, name));
            }
        }
        if !is_here {
            return None;
        }
        if reservation.is_exclusive || node.is_resv_exclusive {
            amounts.clone_from(&self.pools[pool]);
        }
        Some(amounts)
    }

    /// What a reservation has of the nodes.
    pub fn placement(&self, reservation: &ListedReservation) -> Placement {
        let mut parts = Vec::new();
        for pool in 0..self.of_nodes() {
            if let Some(amounts) = self.reserved(reservation, pool) {
                parts.push(Part {
                    pool: pool as u32,
                    amounts: amounts.into(),
                });
            }
        }
        Placement(parts.into())
    }

    /// The pool in which a running job of a queue is that is on a node.
    pub fn pool_of(&self, queue: &str, node: &str) -> Option<u32> {
        let reserved = self.pool_of_reserved.get(&(queue.into(), node.into()));
        reserved.or_else(|| self.pool_of_node.get(node)).copied()
    }

    /// The subjobs on nodes that are in no pool, such as those that go offline when their jobs end.
    fn subjobs_elsewhere(&self, nodes: &Nodes) -> HashSet<Box<str>> {
        let mut elsewhere = HashSet::new();
        for node in &nodes.nodes {
            if self.pool_of_node.contains_key(&node.name) {
                continue;
            }
            for id in &node.jobs {
                if array_and_index(id).is_some() {
                    elsewhere.insert(id.clone());
                }
            }
        }
        elsewhere
    }

    fn add(&mut self, host: u32, node: &Node) {
        let pool = self.pools.len() as u32;
        self.pool_of_node.insert(node.name.clone(), pool);
        self.hosts.push(host);
        self.nodes.push(node.clone());
        let in_use = node.assigned.get(PROCESSORS).copied();
        self.in_use.push(in_use.unwrap_or(0).max(0));
        let mut amounts = Vec::new();
        for name in &self.names {
            amounts.push(match &**name {
                OCCUPATION => Machine::UNOCCUPIED,
                name => amount_on(node, name),
            });
        }
        self.pools.push(amounts);
    }

    /// The keys by which nodes are ordered before each job is placed (`node_sort_key`).
    pub fn order(&self, keys: &[NodeSortKey]) -> Vec<PoolOrder> {
        let of_nodes = &self.nodes[..self.of_nodes().min(self.nodes.len())];
        let has_no_priorities = of_nodes.iter().all(|node| node.priority == 0);
        let mut order = Vec::new();
        for NodeSortKey { key, amount } in keys {
            let is_priority = key.name == "sort_priority";
            // the nodes stay as they are listed
            if is_priority && has_no_priorities {
                continue;
            }
            let index = self.names.iter().position(|name| **name == *key.name);
            let value = match (amount, index) {
                (NodeAmount::Unused, Some(index)) => PoolValue::Unused(index),
                (NodeAmount::Assigned, Some(index)) => PoolValue::Assigned(index),
                _ => {
                    let mut totals = Vec::new();
                    for node in &self.nodes {
                        totals.push(if is_priority {
                            node.priority
                        } else {
                            amount_on(node, &key.name)
                        });
                    }
                    PoolValue::Fixed(totals)
                }
            };
            order.push(PoolOrder {
                value,
                is_high_first: key.first == SortFirst::High,
            });
        }
        order
    }

    /// What a cycle does without when it places jobs, with the number of jobs that it concerns.
    pub fn left_out(&self, site: &Site, jobs: &[&QueuedJob]) -> Vec<LeftOut> {
        let mut concerned: BTreeMap<String, usize> = BTreeMap::new();
        // what jobs ask of nodes that are known is followed
        if self.nodes.is_empty() {
            for job in jobs {
                for word in self.of_place(job) {
                    *concerned.entry(format!("place={word}")).or_default() += 1;
                }
                let mut names: BTreeSet<Box<str>> = BTreeSet::new();
                for chunk in &job.chunks {
                    names.extend(site.wanted(chunk).into_iter().map(|(name, _)| name));
                }
                for name in names {
                    *concerned.entry(format!("{name} of nodes")).or_default() += 1;
                }
            }
        }
        for attribute in &self.other_attributes {
            *concerned
                .entry(format!("{attribute} of nodes"))
                .or_default() += jobs.len();
        }
        LeftOut::of_some_jobs(concerned)
    }

    /// The words of `place` that could decide where a job runs.
    fn of_place<'j>(&self, job: &'j QueuedJob) -> Vec<&'j str> {
        // two chunks on one machine are together, unless it has no room for two
        let mut asked: Vec<i64> = Vec::new();
        for chunk in &job.chunks {
            let processors = amount_of(&chunk.amounts, PROCESSORS);
            asked.extend(std::iter::repeat_n(processors, chunk.count.min(2) as usize));
        }
        asked.sort_unstable();
        let has_chunks = match *asked {
            [first, second, ..] => first.saturating_add(second) <= self.pools[0][0],
            _ => false,
        };
        let mut words: Vec<&str> = job.place.split(':').collect();
        words.retain(|word| match *word {
            "scatter" | "vscatter" => has_chunks,
            "excl" | "exclhost" => true,
            word => word.starts_with("group="),
        });
        words
    }

    /// The warning that jobs ask for amounts of nodes besides processors, such as GPUs, where a
    /// number of processors is all that is known.
    pub fn not_counted(&self, site: &Site, jobs: &[&QueuedJob]) -> Option<Message> {
        if !self.nodes.is_empty() {
            return None;
        }
        let names: BTreeSet<&str> = jobs.iter().flat_map(|job| site.consumed_by(job)).collect();
        if names.is_empty() {
            return None;
        }
        let found = format!(
            "the machine is a number of processors: waiting jobs ask for {} too, which is not counted, so none waits for it",
            first_names(names)
        );
        Some(found.into())
    }
}

impl Site {
    /// The values that a chunk asks for and the scheduler compares: of booleans, of `host` and
    /// `vnode`, and of the resources in the line `resources` of `sched_config`.
    pub(crate) fn wanted(&self, chunk: &Chunk) -> Vec<WantedValue> {
        let mut wanted = chunk.others.clone();
        wanted.retain(|(name, value)| {
            let is_boolean = match self.schema.input_type(name) {
                Some(kind) => kind == InputType::Bool,
                None => matches!(&**value, "True" | "False"),
            };
            is_boolean || matches!(&**name, "host" | "vnode") || self.is_checked(name)
        });
        wanted
    }

    /// The amounts besides processors that a job takes from the nodes, by name. Without a
    /// `sched_config` any may be looked at.
    fn consumed_by<'j>(&self, job: &'j QueuedJob) -> BTreeSet<&'j str> {
        let mut consumed: BTreeSet<&str> = BTreeSet::new();
        for (name, amount) in job.chunks.iter().flat_map(|chunk| &chunk.amounts) {
            if *amount > 0 {
                consumed.insert(name);
            }
        }
        if job.chunks.is_empty() {
            for (name, amount) in &job.amounts {
                if *amount > 0 {
                    consumed.insert(name);
                }
            }
        }
        consumed.retain(|name| self.is_consumed(&job.queue, name));
        consumed
    }

    /// Whether jobs of a queue take an amount from the nodes, and not from the server or the queue
    /// as a whole.
    fn is_consumed(&self, queue: &str, name: &str) -> bool {
        let is_held = self.available("", name).is_some() || self.available(queue, name).is_some();
        name != PROCESSORS
            && self.schema.input_type(name) != Some(InputType::Duration)
            && !NOT_CONSUMED.contains(&name)
            && (!self.files.has(Role::SchedConfig) || self.is_checked(name))
            && !is_held
    }
}

/// The resources of nodes that chunks ask for and no node has: these are 0, but for those that
/// nodes report by themselves.
fn on_no_node(site: &Site, jobs: &[QueuedJob], on_nodes: &[Box<str>]) -> BTreeSet<Box<str>> {
    let mut unknown = BTreeSet::new();
    for chunk in jobs.iter().flat_map(|job| &job.chunks) {
        for (name, _) in &chunk.amounts {
            let is_reported = matches!(&**name, "mem" | "vmem");
            if site.is_checked(name) && !on_nodes.contains(name) && !is_reported {
                unknown.insert(name.clone());
            }
        }
    }
    unknown
}

/// Whether a node or a job may have a node for itself.
fn has_exclusive(nodes: &Nodes, jobs: &[QueuedJob]) -> bool {
    let mut nodes = nodes.nodes.iter();
    nodes.any(|node| Sharing::from_name(&node.sharing) != Sharing::default())
        || jobs.iter().any(|job| {
            let exclusive = Placing::from_words(&job.place).exclusive;
            matches!(exclusive, Exclusive::Vnode | Exclusive::Host)
        })
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

/// The amount of a resource.
pub fn amount_of(amounts: &[(Box<str>, i64)], name: &str) -> i64 {
    for (other, amount) in amounts {
        if **other == *name {
            return *amount;
        }
    }
    0
}

/// The amounts of these resources.
pub fn amounts_of(amounts: &[(Box<str>, i64)], names: &[Box<str>]) -> Vec<i64> {
    names.iter().map(|name| amount_of(amounts, name)).collect()
}

/// What a node has of a resource.
pub fn amount_on(node: &Node, name: &str) -> i64 {
    node.amounts.get(name).copied().unwrap_or(0)
}
