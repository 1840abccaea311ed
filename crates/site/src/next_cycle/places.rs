//! Where the chunks of jobs may be placed: in which pools, and in which placement sets.

use std::collections::{BTreeMap, HashMap};

use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{Machine, PlacementSets, Placing, RequestedChunks};
use jsf_openpbs::job_attributes::Chunk;

use super::node_pools::{PROCESSORS, Pools, WantedValue, amount_of, amounts_of};
use crate::Site;

/// Where the jobs of some queues may be placed.
pub struct Places<'a> {
    site: &'a Site,
    pools: &'a Pools,
    /// The lists of pools in which chunks may be placed: by queue, then those of the chunks that ask
    /// for values.
    lists: Vec<Vec<u32>>,
    /// The lists of chunks that ask for values, by the queue and the values.
    known_lists: HashMap<(usize, Vec<WantedValue>), u32>,
    /// The placement sets that jobs ask for.
    sets: Vec<PlacementSets>,
    /// The sets by the resources whose values make them.
    known_sets: HashMap<Box<str>, u32>,
}

impl<'a> Places<'a> {
    pub fn new(site: &'a Site, pools: &'a Pools, queues: &[Box<str>]) -> Self {
        let lists = queues.iter().map(|queue| pools_of_queue(pools, queue));
        Self {
            site,
            pools,
            lists: lists.collect(),
            known_lists: HashMap::new(),
            sets: Vec::new(),
            known_sets: HashMap::new(),
        }
    }

    /// What a job of a queue asks for, and where.
    pub fn chunks(&mut self, queue: usize, job: &QueuedJob) -> RequestedChunks {
        let names = &self.pools.names;
        let mut counts = Vec::new();
        let mut amounts = Vec::new();
        let mut pool_lists = Vec::new();
        for chunk in &job.chunks {
            counts.push(chunk.count);
            amounts.extend(amounts_of(&chunk.amounts, names));
            pool_lists.push(self.pool_list(queue, chunk));
        }
        if job.chunks.is_empty() {
            pool_lists.push(queue as u32);
        }
        if let [] | [0 | 1] = *counts {
            counts = vec![1];
            amounts = totals_of(job, names);
        }
        RequestedChunks {
            counts,
            amounts,
            pool_lists,
            placing: self.placing(job),
        }
    }

    /// The machine, on which nothing runs yet.
    pub fn machine(self) -> Machine {
        let pools = self.pools;
        let mut machine = Machine::new(&pools.pools).with_hosts(pools.hosts.clone());
        machine.pool_lists = self.lists;
        machine.sharing = pools.sharing();
        machine.placement_sets = self.sets;
        machine.pool_order = pools.order(&self.site.config.node_sort_key.prime);
        machine
    }

    /// The list of the pools of a chunk.
    fn pool_list(&mut self, queue: usize, chunk: &Chunk) -> u32 {
        let wanted = self.site.wanted(chunk);
        if wanted.is_empty() || self.pools.nodes.is_empty() {
            return queue as u32;
        }
        let key = (queue, wanted);
        if let Some(&known) = self.known_lists.get(&key) {
            return known;
        }
        let mut matching = self.lists[queue].clone();
        matching.retain(|&pool| {
            let node = &self.pools.nodes[pool as usize];
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
        if self.pools.nodes.is_empty() {
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
        if let Some(&index) = self.known_sets.get(key) {
            return index;
        }
        let index = self.sets.len() as u32;
        self.sets.push(self.sets_of(key));
        self.known_sets.insert(key.into(), index);
        index
    }

    /// The sets of the values of some resources, the smallest first. A node without a value is in a
    /// set of those without one.
    fn sets_of(&self, key: &str) -> PlacementSets {
        let server = &self.site.server;
        let mut sets: BTreeMap<(&str, &str), Vec<bool>> = BTreeMap::new();
        for resource in key.split(',').map(str::trim) {
            for (pool, node) in self.pools.nodes.iter().enumerate() {
                let values = node.values.get(resource).map_or("", |value| &**value);
                if values.is_empty() && server.is_true("only_explicit_psets") {
                    continue;
                }
                for value in values.split(',').map(str::trim) {
                    let set = sets.entry((resource, value));
                    set.or_insert_with(|| vec![false; self.pools.nodes.len()])[pool] = true;
                }
            }
        }
        let mut sets: Vec<Vec<bool>> = sets.into_values().collect();
        sets.sort_by_cached_key(|set| {
            let mut totals = vec![0_i64; self.pools.names.len()];
            for (pool, is_in) in self.pools.pools.iter().zip(set) {
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

/// The pools of the nodes that a queue has for itself, else of those that no queue has.
fn pools_of_queue(pools: &Pools, queue: &str) -> Vec<u32> {
    if pools.nodes.is_empty() {
        return (0..pools.pools.len() as u32).collect();
    }
    let mut own = Vec::new();
    let mut of_all = Vec::new();
    for (node, pool) in pools.nodes.iter().zip(0..) {
        match &node.queue {
            Some(name) if **name == *queue => own.push(pool),
            Some(_) => {}
            None => of_all.push(pool),
        }
    }
    if own.is_empty() { of_all } else { own }
}

/// What a job asks for in all of these resources.
pub fn totals_of(job: &QueuedJob, names: &[Box<str>]) -> Vec<i64> {
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
        let of_one = amount_of(&chunk.amounts, name);
        total = total.saturating_add(of_one.saturating_mul(chunk.count.into()));
    }
    total
}
