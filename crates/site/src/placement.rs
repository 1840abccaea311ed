//! What jobs and nodes ask of the placement of jobs that a scheduling cycle does without.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::diagnostic::Message;
use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;
use jsf_openpbs::files::nodes::Node;
use jsf_openpbs::files::sched_config::{NodeSortKey, SortFirst};

use super::Site;
use super::cycle_pools::{Pools, amount_of};
use super::role::Role;
use super::simulate::first_names;
use super::simulation_rules::{LeftOut, PROCESSORS};

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
    /// What a cycle does without when it places jobs beside those that run, with the number of jobs
    /// that it concerns.
    pub(super) fn left_out(
        &self,
        site: &Site,
        jobs: &[&QueuedJob],
        running: &[&QueuedJob],
    ) -> Vec<LeftOut> {
        let mut found: Vec<(String, usize)> = Vec::new();
        for job in jobs {
            found.extend(self.of_place(job).map(|word| (format!("place={word}"), 1)));
            found.extend(
                self.not_compared(site, job)
                    .iter()
                    .map(|name| (format!("{name} of nodes"), 1)),
            );
        }
        for word in ["excl", "exclhost"] {
            if running
                .iter()
                .any(|job| job.place.split(':').any(|other| other == word))
            {
                found.push((format!("place={word} of running jobs"), jobs.len()));
            }
        }
        for sharing in self.sharings() {
            let concerned = jobs
                .iter()
                .filter(|job| is_concerned_by(sharing, &job.place))
                .count();
            found.push((format!("sharing = {sharing} of nodes"), concerned));
        }
        if is_sorted_anew(
            &self.nodes[..self.of_nodes().min(self.nodes.len())],
            &site.config.node_sort_key.prime,
        ) {
            found.push(("node_sort_key".to_owned(), jobs.len()));
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

    /// The words of `place` that can decide where a job runs.
    fn of_place<'j>(&self, job: &'j QueuedJob) -> impl Iterator<Item = &'j str> {
        let has_chunks = job
            .chunks
            .iter()
            .map(|chunk| u64::from(chunk.count))
            .sum::<u64>()
            > 1;
        // those of reservations follow, on the same hosts
        let hosts = &self.hosts[..self.of_nodes()];
        let has_hosts = hosts.last().is_some_and(|last| *last > 0);
        let has_vnodes = hosts.windows(2).any(|pair| pair[0] == pair[1]);
        job.place.split(':').filter(move |word| match *word {
            "pack" => has_chunks && has_hosts,
            "scatter" => has_chunks && self.may_hold_two_chunks(job),
            "vscatter" => has_vnodes || has_chunks && self.may_hold_two_chunks(job),
            "excl" | "exclhost" => true,
            word => word.starts_with("group="),
        })
    }

    /// Whether a host has as much of each amount as the two chunks that ask for the least of it.
    fn may_hold_two_chunks(&self, job: &QueuedJob) -> bool {
        let least: Vec<i64> = self
            .names
            .iter()
            .map(|name| of_two_chunks(job, name))
            .collect();
        let hosts = self.hosts.chunk_by(|left, right| left == right);
        let mut pools = self.pools.iter();
        hosts.into_iter().any(|host| {
            let mut total = vec![0_i64; least.len()];
            for pool in pools.by_ref().take(host.len()) {
                total
                    .iter_mut()
                    .zip(pool)
                    .for_each(|(sum, amount)| *sum = sum.saturating_add(*amount));
            }
            least
                .iter()
                .zip(&total)
                .all(|(least, total)| least <= total)
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
    pub(super) fn not_counted(&self, site: &Site, jobs: &[&QueuedJob]) -> Option<Message> {
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

    /// The values of `sharing` other than the default, each once.
    fn sharings(&self) -> Vec<&str> {
        let sharings = self.nodes.iter().map(|node| &*node.sharing);
        let mut sharings: Vec<&str> = sharings
            .filter(|sharing| !matches!(*sharing, "" | "default_shared"))
            .collect();
        sharings.sort_unstable();
        sharings.dedup();
        sharings
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

/// What the two chunks ask for that ask for the least of a resource.
fn of_two_chunks(job: &QueuedJob, name: &str) -> i64 {
    let mut amounts = Vec::new();
    for chunk in &job.chunks {
        amounts.extend(std::iter::repeat_n(
            amount_of(&chunk.amounts, name),
            chunk.count.min(2) as usize,
        ));
    }
    amounts.sort_unstable();
    amounts.into_iter().take(2).fold(0, i64::saturating_add)
}

/// Whether a `sharing` of nodes decides who runs beside a job with this `place`.
fn is_concerned_by(sharing: &str, place: &str) -> bool {
    let mut words = place.split(':');
    match sharing {
        "ignore_excl" => words.any(|word| matches!(word, "excl" | "exclhost")),
        "default_excl" | "default_exclhost" => {
            !words.any(|word| matches!(word, "shared" | "excl" | "exclhost"))
        }
        _ => true,
    }
}

/// Whether keys order nodes in another way than they are listed, or anew after each start.
fn is_sorted_anew(nodes: &[Node], keys: &[NodeSortKey]) -> bool {
    let is_listed_so = nodes.is_sorted_by(|left, right| {
        let mut orders = keys.iter().map(|key| compare(key, left, right));
        orders
            .find(|order| order.is_ne())
            .is_none_or(Ordering::is_lt)
    });
    nodes.len() > 1 && (keys.iter().any(|key| !key.is_total) || !is_listed_so)
}

/// Which of two nodes comes first by a key.
fn compare(NodeSortKey { key, .. }: &NodeSortKey, left: &Node, right: &Node) -> Ordering {
    let order = value(left, &key.name).cmp(&value(right, &key.name));
    if key.first == SortFirst::High {
        order.reverse()
    } else {
        order
    }
}

fn value(node: &Node, key: &str) -> i64 {
    if key == "sort_priority" {
        node.priority
    } else {
        node.amounts.get(key).copied().unwrap_or(0)
    }
}
