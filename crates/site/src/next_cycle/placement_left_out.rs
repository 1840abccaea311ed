//! What jobs and nodes ask of placement, and a scheduling cycle does without.

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::diagnostic::Message;
use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;

use crate::Site;
use crate::next_cycle::LeftOut;
use crate::next_cycle::node_pools::PROCESSORS;
use crate::next_cycle::node_pools::{Pools, amount_of};
use crate::opening::role::Role;
use crate::words::first_names;

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
        let mut concerned: BTreeMap<String, usize> = BTreeMap::new();
        for job in jobs {
            // what jobs ask of nodes that are known is followed
            if !self.nodes.is_empty() {
                break;
            }
            for word in self.of_place(job) {
                *concerned.entry(format!("place={word}")).or_default() += 1;
            }
            let wanted = self.wanted(site, job).into_iter();
            let names: BTreeSet<Box<str>> = wanted.map(|(name, _)| name).collect();
            for name in names {
                *concerned.entry(format!("{name} of nodes")).or_default() += 1;
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
    pub(crate) fn not_counted(&self, site: &Site, jobs: &[&QueuedJob]) -> Option<Message> {
        if !self.nodes.is_empty() {
            return None;
        }
        let mut asking = 0;
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for job in jobs {
            let consumed = site.consumed_by(job);
            asking += usize::from(!consumed.is_empty());
            names.extend(consumed);
        }
        if asking == 0 {
            return None;
        }
        let ask = if asking == 1 { "job asks" } else { "jobs ask" };
        let found = format!(
            "the machine is a number of processors: {asking} waiting {ask} for {} too, which is not counted, so none waits for it",
            first_names(names)
        );
        Some(found.into())
    }
}

impl Site {
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
