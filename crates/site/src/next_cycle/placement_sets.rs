//! What jobs and nodes ask of the placement of jobs that a scheduling cycle does without.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use job_sort_formula::diagnostic::Message;
use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{PlacementSets, Placing, PoolOrder, PoolValue};
use jsf_openpbs::files::nodes::Node;
use jsf_openpbs::files::sched_config::{NodeAmount, NodeSortKey, SortFirst};

use crate::Site;
use crate::next_cycle::node_pools::{Pools, amount_of};
use crate::opening::role::Role;
use crate::simulation::simulation_rules::{LeftOut, PROCESSORS};
use crate::simulation::site_simulation::first_names;

/// The placement sets of the nodes that jobs ask for.
pub(crate) struct SetsOfPools<'a> {
    site: &'a Site,
    pools: &'a Pools,
    /// The sets by the resources whose values make them.
    known: HashMap<Box<str>, u32>,
    sets: Vec<PlacementSets>,
}

impl<'a> SetsOfPools<'a> {
    pub(crate) fn new(site: &'a Site, pools: &'a Pools) -> Self {
        Self {
            site,
            pools,
            known: HashMap::new(),
            sets: Vec::new(),
        }
    }

    /// How a job is placed: in the sets of the resource that it names (`group=`), else of those of
    /// its queue or the server, if these are enabled.
    pub(crate) fn placing(&mut self, job: &QueuedJob) -> Placing {
        // one count of processors has no hosts
        if self.pools.nodes.is_empty() {
            return Placing::default();
        }
        let of_job = job
            .place
            .split(':')
            .find_map(|word| word.strip_prefix("group="));
        let is_enabled = self.site.server.is_true("node_group_enable");
        let of_site = self
            .site
            .queues
            .node_group_key(&job.queue)
            .filter(|_| is_enabled);
        let key = of_job.or(of_site);
        Placing {
            sets: key.map(|key| self.index(key)),
            ..Placing::from_words(&job.place)
        }
    }

    fn index(&mut self, key: &str) -> u32 {
        if let Some(&index) = self.known.get(key) {
            return index;
        }
        let index = self.sets.len() as u32;
        self.sets.push(self.sets_of(key));
        self.known.insert(key.into(), index);
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
            let members = set
                .iter()
                .zip(&self.pools.pools)
                .filter(|(is_member, _)| **is_member);
            let totals = (0..self.pools.names.len()).map(|amount| {
                let of_amount = members.clone().map(|(_, pool)| pool[amount]);
                of_amount.fold(0_i64, i64::saturating_add)
            });
            totals.collect::<Vec<_>>()
        });
        PlacementSets {
            sets,
            may_span: !server.is_true("do_not_span_psets"),
        }
    }

    pub(crate) fn into_sets(self) -> Vec<PlacementSets> {
        self.sets
    }
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

impl Pools {
    /// What a cycle does without when it places jobs, with the number of jobs that it concerns.
    pub(crate) fn left_out(&self, site: &Site, jobs: &[&QueuedJob]) -> Vec<LeftOut> {
        let mut found: Vec<(String, usize)> = Vec::new();
        for job in jobs {
            found.extend(self.of_place(job).map(|word| (format!("place={word}"), 1)));
            found.extend(
                self.not_compared(site, job)
                    .iter()
                    .map(|name| (format!("{name} of nodes"), 1)),
            );
        }
        found.extend(
            self.other_attributes
                .iter()
                .map(|attribute| (format!("{attribute} of nodes"), jobs.len())),
        );
        let mut concerned: BTreeMap<String, usize> = BTreeMap::new();
        for (what, jobs) in found {
            *concerned.entry(what).or_default() += jobs;
        }
        concerned
            .into_iter()
            .filter(|(_, jobs)| *jobs > 0)
            .map(|(what, jobs)| LeftOut { what, jobs })
            .collect()
    }

    /// The words of `place` that can decide where a job runs, where no nodes are known.
    fn of_place<'j>(&self, job: &'j QueuedJob) -> impl Iterator<Item = &'j str> {
        // two chunks on one machine are together, unless it has no room for two
        let mut asked: Vec<i64> = Vec::new();
        for chunk in &job.chunks {
            let processors = amount_of(&chunk.amounts, PROCESSORS);
            asked.extend(std::iter::repeat_n(processors, chunk.count.min(2) as usize));
        }
        asked.sort_unstable();
        let machine = self.pools.first().and_then(|pool| pool.first()).copied();
        let has_chunks = asked.len() > 1 && Some(asked[0].saturating_add(asked[1])) <= machine;
        let words = job.place.split(':').filter(|_| self.nodes.is_empty());
        words.filter(move |word| match *word {
            "scatter" | "vscatter" => has_chunks,
            "excl" | "exclhost" => true,
            word => word.starts_with("group="),
        })
    }

    /// The resources of which a job asks for a value, where no nodes are known that could have it.
    fn not_compared(&self, site: &Site, job: &QueuedJob) -> Vec<Box<str>> {
        if !self.nodes.is_empty() {
            return Vec::new();
        }
        let mut names: Vec<Box<str>> = self
            .wanted(site, job)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The warning that jobs ask for amounts of nodes besides processors, such as GPUs, where a
    /// number of processors is all that is known.
    pub(crate) fn not_counted(&self, site: &Site, jobs: &[&QueuedJob]) -> Option<Message> {
        if !self.nodes.is_empty() {
            return None;
        }
        let asked: Vec<BTreeSet<&str>> = jobs.iter().map(|job| site.consumed_by(job)).collect();
        let asking = asked.iter().filter(|names| !names.is_empty()).count();
        let names: BTreeSet<&str> = asked.into_iter().flatten().collect();
        let ask = if asking == 1 { "job asks" } else { "jobs ask" };
        let found = format!(
            "the machine is a number of processors: {asking} waiting {ask} for {} too, which is not counted, so none waits for it",
            first_names(names.into_iter())
        );
        (asking > 0).then(|| found.into())
    }
}

impl Site {
    /// The amounts besides processors that a job takes from the nodes, by name. Without a
    /// `sched_config` any may be looked at.
    fn consumed_by<'j>(&self, job: &'j QueuedJob) -> BTreeSet<&'j str> {
        let of_chunks = job
            .chunks
            .iter()
            .flat_map(|chunk| &chunk.amounts)
            .map(|(name, amount)| (&**name, *amount));
        let of_job = job
            .amounts
            .iter()
            .filter(|_| job.chunks.is_empty())
            .map(|(name, amount)| (&**name, *amount));
        let asked = of_chunks.chain(of_job).filter(|(_, amount)| *amount > 0);
        asked
            .map(|(name, _)| name)
            .filter(|name| self.is_consumed(&job.queue, name))
            .collect()
    }

    /// Whether jobs of a queue take an amount from the nodes, and not from the server or the queue
    /// as a whole.
    fn is_consumed(&self, queue: &str, name: &str) -> bool {
        let kind = self.schema.entry(name).map(|entry| entry.input_type);
        let is_held = ["", queue]
            .into_iter()
            .any(|owner| self.available(owner, name).is_some());
        name != PROCESSORS
            && kind != Some(InputType::Duration)
            && !NOT_CONSUMED.contains(&name)
            && (!self.files.has(Role::SchedConfig) || self.is_checked(name))
            && !is_held
    }
}

impl Pools {
    /// The keys by which nodes are ordered before each job is placed (`node_sort_key`).
    pub(crate) fn order(&self, keys: &[NodeSortKey]) -> Vec<PoolOrder> {
        let is_listed_so = |key: &NodeSortKey| {
            let of_nodes = &self.nodes[..self.of_nodes().min(self.nodes.len())];
            key.key.name == "sort_priority" && of_nodes.iter().all(|node| node.priority == 0)
        };
        let keys = keys.iter().filter(|key| !is_listed_so(key));
        keys.map(|NodeSortKey { key, amount }| {
            let index = self.names.iter().position(|name| **name == *key.name);
            let total = |node: &Node| match &*key.name {
                "sort_priority" => node.priority,
                name => node.amounts.get(name).copied().unwrap_or(0),
            };
            PoolOrder {
                value: match (amount, index) {
                    (NodeAmount::Unused, Some(index)) => PoolValue::Unused(index),
                    (NodeAmount::Assigned, Some(index)) => PoolValue::Assigned(index),
                    _ => PoolValue::Fixed(self.nodes.iter().map(total).collect()),
                },
                is_high_first: key.first == SortFirst::High,
            }
        })
        .collect()
    }
}
