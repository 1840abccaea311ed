//! The nodes of a site as the pools of a scheduling cycle: what each has, what advance reservations
//! hold of it, and in which pools and placement sets each chunk of a job may be placed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use job_sort_formula::diagnostic::Need;
use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{
    Exclusive, Machine, Part, Placement, PlacementSets, Placing, PoolOrder, PoolValue, Request,
    RequestedChunk, Sharing,
};
use jsf_openpbs::files::nodes::{Node, Nodes};
use jsf_openpbs::files::pbs_rstat::ListedReservation;
use jsf_openpbs::files::sched_config::{NodeAmount, NodeSortKey, SortFirst};
use jsf_openpbs::job_attributes::{Chunk, array_and_index};

use crate::cycle::reservations::Reservations;
use crate::{Site, SiteError};

/// The resource that every machine counts.
pub const PROCESSORS: &str = "ncpus";

/// The amount of which a job that has a node for itself takes all, and any other job 1. No resource
/// has this name.
const OCCUPATION: &str = "";

/// The most seconds between the documents of jobs and nodes of which both are of one moment.
const MAX_APART: u64 = 300;

/// The pools of the machine: one for each usable node, or one in all, and for a simulation also one
/// for the nodes of each queue; and where the jobs of the queues may be placed.
pub struct Pools<'s> {
    pub site: &'s Site,
    /// The amounts of each pool.
    pub names: Vec<Box<str>>,
    pub pools: Vec<Vec<i64>>,
    /// Pool by pool, the queue that has it for itself.
    queues: Vec<Option<Box<str>>>,
    /// Pool by pool, its host.
    pub hosts: Vec<u32>,
    /// Pool by pool, its node; empty if nodes are not told apart.
    pub nodes: Vec<Node>,
    pool_of_node: HashMap<Box<str>, u32>,
    /// The pools with what reservations have, which follow those of the nodes, by their queues and
    /// nodes.
    pool_of_reserved: HashMap<(Box<str>, Box<str>), u32>,
    /// Pool by pool, the processors that are in use (`resources_assigned`); empty if that is not
    /// known of the moment.
    pub in_use: Vec<i64>,
    /// The subjobs that run on nodes that are in no pool.
    pub subjobs_elsewhere: HashSet<Box<str>>,
    /// The attributes that limit which jobs run on a node, and that are not read.
    pub other_attributes: BTreeSet<Box<str>>,
    /// The queues of the jobs, by their indices.
    pub queue_names: Vec<Box<str>>,
    /// The amounts of the machine, then those that only limits count.
    pub amounts: Vec<Box<str>>,
    /// The lists of pools in which chunks may be placed: by queue, then those of the chunks that ask
    /// for values.
    lists: Vec<Vec<u32>>,
    /// The lists of chunks that ask for values, by the queue and the values.
    known_lists: HashMap<(usize, Vec<WantedValue>), u32>,
    /// The placement sets that jobs ask for, by the resources whose values make them.
    sets: Vec<(Box<str>, PlacementSets)>,
}

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

impl<'s> Pools<'s> {
    /// One count of processors.
    pub fn of_processors(site: &'s Site, processors: u32) -> Self {
        Self {
            site,
            names: vec![PROCESSORS.into()],
            pools: vec![vec![processors.into()]],
            queues: vec![None],
            hosts: vec![0],
            nodes: Vec::new(),
            pool_of_node: HashMap::new(),
            pool_of_reserved: HashMap::new(),
            in_use: Vec::new(),
            subjobs_elsewhere: HashSet::new(),
            other_attributes: BTreeSet::new(),
            queue_names: Vec::new(),
            amounts: Vec::new(),
            lists: Vec::new(),
            known_lists: HashMap::new(),
            sets: Vec::new(),
        }
    }

    /// One pool for the nodes that no queue has for itself, and one for those of each queue that has
    /// some.
    pub fn merged(site: &'s Site, nodes: &[&Node]) -> Result<Self, SiteError> {
        let mut made = Self::of_processors(site, 0);
        made.names.extend(site.counted_resources()?);
        made.pools[0].resize(made.names.len(), 0);
        for node in nodes {
            let known = made.queues.iter().position(|queue| *queue == node.queue);
            let pool = known.unwrap_or(made.pools.len());
            if known.is_none() {
                made.pools.push(vec![0; made.names.len()]);
                made.queues.push(node.queue.clone());
                made.hosts.push(pool as u32);
            }
            for (sum, name) in made.pools[pool].iter_mut().zip(&made.names) {
                *sum = sum.saturating_add(amount_of(&node.amounts, name));
            }
        }
        Ok(made)
    }

    /// The pools for jobs of a moment.
    pub fn new(
        site: &'s Site,
        jobs: &[QueuedJob],
        timestamp: Option<i64>,
        reservations: &Reservations,
    ) -> Result<Self, SiteError> {
        let Some(nodes) = site.nodes()? else {
            return Err(SiteError::missing(
                "the nodes are not known: ",
                Need::Processors,
            ));
        };
        let mut made = Self {
            pools: Vec::new(),
            queues: Vec::new(),
            hosts: Vec::new(),
            other_attributes: nodes.other_attributes.clone(),
            ..Self::of_processors(site, 0)
        };
        made.names.extend(site.counted_resources()?);
        made.names.extend(on_no_node(site, jobs, &made.names));
        if has_exclusive(&nodes, jobs) {
            // the last of the names, by which `has_occupation` knows whether there is one
            made.names.push(OCCUPATION.into());
        }
        for (host, node) in by_host(site.usable_nodes(&nodes, reservations)) {
            let pool = made.pools.len() as u32;
            made.pool_of_node.insert(node.name.clone(), pool);
            made.hosts.push(host);
            made.queues.push(node.queue.clone());
            made.nodes.push(node.clone());
            let in_use = amount_of(&node.assigned, PROCESSORS);
            made.in_use.push(in_use.max(0));
            let mut amounts = amounts_of(&node.amounts, &made.names);
            if made.has_occupation() {
                amounts.pop();
                amounts.push(Machine::UNOCCUPIED);
            }
            made.pools.push(amounts);
        }
        if let (Some(of_nodes), Some(of_jobs)) = (nodes.timestamp, timestamp)
            && of_nodes.abs_diff(of_jobs) > MAX_APART
        {
            // other jobs ran then
            made.in_use.clear();
        } else {
            for node in &nodes.nodes {
                // such as one that goes offline when its jobs end
                if !made.pool_of_node.contains_key(&node.name) {
                    let ids = node.jobs.iter().cloned();
                    let subjobs = ids.filter(|id| array_and_index(id).is_some());
                    made.subjobs_elsewhere.extend(subjobs);
                }
            }
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
            let node = self.nodes[pool].clone();
            let key = (queue.clone(), node.name.clone());
            self.pool_of_reserved.insert(key, self.pools.len() as u32);
            let mut host = self.hosts.last().copied().unwrap_or_default();
            let queue = Some(queue.clone());
            if let (Some(last), Some(last_queue)) = (self.nodes.last(), self.queues.last())
                && (&last.host, last_queue) != (&node.host, &queue)
            {
                host += 1;
            }
            self.hosts.push(host);
            self.queues.push(queue);
            self.nodes.push(node);
            self.pools.push(amounts);
        }
    }

    /// Whether it is counted which jobs have a node for themselves.
    fn has_occupation(&self) -> bool {
        self.names.last() == Some(&OCCUPATION.into())
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
        // a job of a reservation runs in what it holds of the node, which is a pool of its own
        let reserved = self.pool_of_reserved.get(&(queue.into(), node.into()));
        reserved.or_else(|| self.pool_of_node.get(node)).copied()
    }

    /// The keys by which nodes are ordered before each job is placed (`node_sort_key`).
    fn order(&self, keys: &[NodeSortKey]) -> Vec<PoolOrder> {
        let mut order = Vec::new();
        if self.nodes.is_empty() {
            return order;
        }
        let nodes = &self.nodes[..self.of_nodes()];
        let has_no_priorities = nodes.iter().all(|node| node.priority == 0);
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
                _ if is_priority => {
                    PoolValue::Fixed(self.nodes.iter().map(|node| node.priority).collect())
                }
                _ => {
                    let totals = self
                        .nodes
                        .iter()
                        .map(|node| amount_of(&node.amounts, &key.name));
                    PoolValue::Fixed(totals.collect())
                }
            };
            order.push(PoolOrder {
                value,
                is_high_first: key.first == SortFirst::High,
            });
        }
        order
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
}

/// The resources of nodes that chunks ask for and no node has: these are 0, but for those that
/// nodes report by themselves.
fn on_no_node(site: &Site, jobs: &[QueuedJob], on_nodes: &[Box<str>]) -> BTreeSet<Box<str>> {
    let mut unknown = BTreeSet::new();
    for chunk in jobs.iter().flat_map(|job| &job.chunks) {
        for name in chunk.amounts.keys() {
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
    nodes.any(|node| Sharing::from_name(&node.sharing) != Sharing::DEFAULT)
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
    // the pools of a host follow each other (`Machine::with_hosts`); the sort is stable, as chunks
    // are placed in the server's order of the nodes
    numbered.sort_by_key(|(host, _)| *host);
    numbered
}

/// The amount of a resource, of a node or a chunk.
pub fn amount_of(amounts: &BTreeMap<Box<str>, i64>, name: &str) -> i64 {
    amounts.get(name).copied().unwrap_or(0)
}

/// The amounts of these resources.
pub fn amounts_of(amounts: &BTreeMap<Box<str>, i64>, names: &[Box<str>]) -> Vec<i64> {
    names.iter().map(|name| amount_of(amounts, name)).collect()
}

impl Pools<'_> {
    /// Lets jobs be placed whose queues are these.
    pub fn set_queues(&mut self, queues: &[Box<str>]) {
        self.queue_names = queues.to_vec();
        self.amounts.clone_from(&self.names);
        let mut limited = Vec::from_iter(self.site.limited_resources(queues));
        limited.retain(|name| !self.names.contains(name));
        self.amounts.append(&mut limited);
        for queue in queues {
            self.lists.push(self.of_queue(queue));
        }
    }

    /// What a job of a queue asks for, and where.
    pub fn request(&mut self, queue: usize, job: &QueuedJob) -> Request {
        let mut chunks = Vec::new();
        for chunk in &job.chunks {
            chunks.push(RequestedChunk {
                count: chunk.count,
                amounts: amounts_of(&chunk.amounts, &self.names),
                pool_list: self.pool_list(queue, chunk),
            });
        }
        // without `select` a job is one chunk, as the server makes of `-l ncpus=4`
        if let [] | [RequestedChunk { count: 0 | 1, .. }] = *chunks {
            let pool_list = chunks.first().map_or(queue as u32, |chunk| chunk.pool_list);
            chunks = vec![RequestedChunk {
                count: 1,
                amounts: totals_of(job, &self.names),
                pool_list,
            }];
        }
        Request {
            chunks,
            placing: self.placing(job),
            counted: totals_of(job, &self.amounts),
        }
    }

    /// The machine, on which nothing runs yet, for the requests that were made.
    pub(super) fn machine(&mut self) -> Machine {
        let mut machine = Machine::new(&self.pools).with_hosts(self.hosts.clone());
        machine.pool_lists = std::mem::take(&mut self.lists);
        // whether jobs share a pool matters only if a job may have one for itself
        if self.has_occupation() {
            let nodes = self.nodes.iter();
            machine.sharing = nodes
                .map(|node| Sharing::from_name(&node.sharing))
                .collect();
        }
        let sets = std::mem::take(&mut self.sets).into_iter();
        machine.placement_sets = sets.map(|(_, sets)| sets).collect();
        // in force: outside prime time `in_non_prime_time` has put the other keys there
        machine.pool_order = self.order(&self.site.config.node_sort_key.prime);
        machine
    }

    /// The pools of the nodes that a queue has for itself, else of those that no queue has.
    fn of_queue(&self, queue: &str) -> Vec<u32> {
        let mut own = Vec::new();
        let mut open = Vec::new();
        for (of_queue, pool) in self.queues.iter().zip(0..) {
            match of_queue {
                Some(name) if **name == *queue => own.push(pool),
                Some(_) => {}
                None => open.push(pool),
            }
        }
        if own.is_empty() { open } else { own }
    }

    /// The list of the pools of a chunk.
    fn pool_list(&mut self, queue: usize, chunk: &Chunk) -> u32 {
        let wanted = self.site.wanted(chunk);
        if wanted.is_empty() || self.nodes.is_empty() {
            return queue as u32;
        }
        let key = (queue, wanted);
        if let Some(&known) = self.known_lists.get(&key) {
            return known;
        }
        let mut matching = self.lists[queue].clone();
        matching.retain(|&pool| {
            let node = &self.nodes[pool as usize];
            let mut wanted = key.1.iter();
            wanted.all(|(name, value)| node.matches(name, value, self.site.schema.input_type(name)))
        });
        let index = self.lists.len() as u32;
        self.lists.push(matching);
        self.known_lists.insert(key, index);
        index
    }

    /// How a job is placed: in the sets of the resource that it names (`group=`), else of those of
    /// its queue or the server, if these are enabled.
    fn placing(&mut self, job: &QueuedJob) -> Placing {
        // one count of processors has no hosts
        if self.nodes.is_empty() {
            return Placing::default();
        }
        let site = self.site;
        let mut placing = Placing::from_words(&job.place);
        let mut words = job.place.split(':');
        let mut key = words.find_map(|word| word.strip_prefix("group="));
        if key.is_none() && site.server.is_true("node_group_enable") {
            key = site.queues.node_group_key(&job.queue);
        }
        if let Some(key) = key {
            placing.sets = Some(self.placement_sets(key));
        }
        placing
    }

    fn placement_sets(&mut self, key: &str) -> u32 {
        let known = self.sets.iter().position(|(one, _)| **one == *key);
        let index = known.unwrap_or(self.sets.len());
        if known.is_none() {
            self.sets.push((key.into(), self.sets_of(key)));
        }
        index as u32
    }

    /// The sets of the values of some resources, the smallest first. A node without a value is in a
    /// set of those without one.
    fn sets_of(&self, key: &str) -> PlacementSets {
        let server = &self.site.server;
        let mut sets: BTreeMap<(&str, &str), Vec<bool>> = BTreeMap::new();
        for resource in key.split(',').map(str::trim) {
            for (pool, node) in self.nodes.iter().enumerate() {
                let values = node.values.get(resource).map_or("", |value| &**value);
                if values.is_empty() && server.is_true("only_explicit_psets") {
                    continue;
                }
                for value in values.split(',').map(str::trim) {
                    let set = sets.entry((resource, value));
                    set.or_insert_with(|| vec![false; self.nodes.len()])[pool] = true;
                }
            }
        }
        let mut sets: Vec<Vec<bool>> = sets.into_values().collect();
        sets.sort_by_cached_key(|set| {
            let mut totals = vec![0_i64; self.names.len()];
            for (pool, is_in) in self.pools.iter().zip(set) {
                if !is_in {
                    continue;
                }
                for (total, amount) in totals.iter_mut().zip(pool) {
                    *total = total.saturating_add(*amount);
                }
            }
            totals
        });
        PlacementSets {
            sets,
            may_span: !server.is_true("do_not_span_psets"),
        }
    }
}

/// What a job asks for in all of these resources.
fn totals_of(job: &QueuedJob, names: &[Box<str>]) -> Vec<i64> {
    names.iter().map(|name| total_of(job, name)).collect()
}

/// What a job asks for in all of a resource; what its chunks ask for where the document has no sum
/// of them.
fn total_of(job: &QueuedJob, name: &str) -> i64 {
    if name == PROCESSORS {
        return job.ncpus.unwrap_or(0);
    }
    if let Some(amount) = job.amounts.get(name) {
        return *amount;
    }
    let mut total = 0_i64;
    for chunk in &job.chunks {
        let chunk_amount = amount_of(&chunk.amounts, name);
        total = total.saturating_add(chunk_amount.saturating_mul(chunk.count.into()));
    }
    total
}
