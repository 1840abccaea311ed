//! What a site has and the next cycle or a simulation does without, each with the number of jobs that
//! it concerns.

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::JobTable;
use job_sort_formula::diagnostic::Message;
use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::CycleState;
use jsf_openpbs::files::nodes::Node;
use jsf_simulate::UsageMeasure;
use jsf_words::quoted_and_list_of_five;
use serde::Serialize;

use crate::cycle::node_pools::{PROCESSORS, Pools, amount_of};
use crate::cycle::reservations::Reservations;
use crate::cycle::running_jobs::CycleMachine;
use crate::{PreemptedJob, Role, Site};

/// What of Slurm's scheduling is not simulated.
const LEFT_OUT_OF_SLURM: &str = "the interval and the depth of Slurm's backfill, the limits of QOS, associations and partitions, \
     PriorityTier, preemption, reservations";

/// Something that the site has and a cycle or a simulation does without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What it is, in words.
    pub what: String,
    /// The number of jobs that it concerns.
    pub jobs: usize,
}

impl LeftOut {
    /// Those of what was found that concern jobs.
    pub(crate) fn of_some_jobs(
        found: impl IntoIterator<Item = (impl Into<String>, usize)>,
    ) -> Vec<Self> {
        let mut left_out = Vec::new();
        for (what, jobs) in found {
            if jobs > 0 {
                let what = what.into();
                left_out.push(Self { what, jobs });
            }
        }
        left_out
    }

    /// What was found concerns all jobs.
    pub(crate) fn of_all_jobs(found: Vec<impl Into<String>>, jobs: usize) -> Vec<Self> {
        Self::of_some_jobs(found.into_iter().map(|what| (what, jobs)))
    }
}

impl Site {
    /// What the site has and a simulation or a cycle does without. The queues are those with jobs,
    /// each with their number.
    pub(crate) fn left_out(&self, queues: &[(&str, usize)]) -> Vec<LeftOut> {
        let all: usize = queues.iter().map(|(_, jobs)| jobs).sum();
        let config = &self.config;
        let mut found: Vec<String> = Vec::new();
        if self.slurm.is_some() {
            found.push(LEFT_OUT_OF_SLURM.to_owned());
            if self.tree.is_some() {
                found.push("billing TRES in usage".to_owned());
            }
        }
        for attribute in &self.queues.limits.unread {
            found.push(format!("`{attribute}`"));
        }
        // those of placement sets and of preemption are named where they are not followed
        let named_elsewhere = [
            "node_group_enable",
            "do_not_span_psets",
            "only_explicit_psets",
        ];
        for (attribute, value) in self.server.others() {
            if !named_elsewhere.contains(&attribute) && !attribute.contains("preempt_") {
                found.push(format!("{attribute} = {value}"));
            }
        }
        let is_charged = config.fair_share.prime || self.tree.is_some();
        let has_measure = UsageMeasure::from_formula(&config.fairshare_usage_res).is_some();
        if self.files.has(Role::SchedConfig) && is_charged && !has_measure {
            let formula = &config.fairshare_usage_res;
            found.push(format!(
                "fairshare_usage_res `{formula}` (usage is processors times seconds)"
            ));
        }
        LeftOut::of_all_jobs(found, all)
    }

    /// What of preemption a simulation does without.
    pub(crate) fn left_out_of_preemption(&self, preempts: bool, jobs: usize) -> Vec<LeftOut> {
        let mut found = Vec::new();
        // without a `sched_config` it is not known what they do
        if !self.files.has(Role::SchedConfig) {
            for attribute in &self.queues.limits.soft_attributes {
                found.push(format!("`{attribute}`"));
            }
        }
        if preempts {
            found.push("targets and checkpoints of preemption".to_owned());
        }
        LeftOut::of_all_jobs(found, jobs)
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

impl Pools<'_> {
    /// What a cycle does without when it places jobs, with the number of jobs that it concerns.
    pub fn left_out(&self, jobs: &[&QueuedJob]) -> Vec<LeftOut> {
        let mut concerned: BTreeMap<String, usize> = BTreeMap::new();
        // what jobs ask of nodes that are known is followed
        if self.nodes.is_empty() {
            for job in jobs {
                for word in self.of_place(job) {
                    *concerned.entry(format!("place={word}")).or_default() += 1;
                }
                let mut names: BTreeSet<Box<str>> = BTreeSet::new();
                for chunk in &job.chunks {
                    names.extend(self.site.wanted(chunk).into_iter().map(|(name, _)| name));
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
    pub fn not_counted(&self, jobs: &[&QueuedJob]) -> Option<Message> {
        if !self.nodes.is_empty() {
            return None;
        }
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for job in jobs {
            names.extend(self.site.consumed_by(job));
        }
        if names.is_empty() {
            return None;
        }
        let found = format!(
            "the machine is a number of processors: waiting jobs ask for {} too, which is not counted, so none waits for it",
            quoted_and_list_of_five(names)
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

impl CycleMachine<'_> {
    /// What of preemption may be otherwise, as the documents do not say it or it is not followed.
    pub fn left_out_of_preemption(
        &self,
        before: &CycleState,
        waiting: &[usize],
        preempted: &[PreemptedJob],
    ) -> Vec<LeftOut> {
        if !self.rules.levels.is_preemptive {
            return Vec::new();
        }
        let order = self.pools.site.server.preempt_order();
        let mut by_checkpoint = 0;
        for one in preempted {
            by_checkpoint += usize::from(tries_checkpoint(order, one.method));
        }
        // `add_preemption` notes the suspended jobs among the preempted ones too
        let requeued = before.preempted.len() - before.suspended.len();
        let mut suspended = 0;
        for row in waiting {
            suspended += usize::from(before.suspended.contains_key(&(*row as u32)));
        }
        LeftOut::of_some_jobs([
            (
                format!("checkpoints of preempt_order {order}"),
                by_checkpoint,
            ),
            (
                "the second in which jobs were suspended, which orders them".to_owned(),
                // a single one has none to be ordered against
                if suspended > 1 { suspended } else { 0 },
            ),
            (
                "why jobs wait that ran before (run_count), taken as preempted".to_owned(),
                requeued,
            ),
        ])
    }
}

/// Whether `preempt_order` tries a checkpoint before a method, whose letter is its first one.
fn tries_checkpoint(order: &str, method: &str) -> bool {
    let method = method[..1].to_uppercase();
    for word in order.split_ascii_whitespace() {
        if let Some(checkpoint) = word.find('C')
            && let Some(taken) = word.find(&method)
            && checkpoint < taken
        {
            return true;
        }
    }
    false
}

impl Reservations {
    /// What a cycle does without; `nodes` are those of its machine, none if it is one count.
    pub fn left_out(&self, table: &JobTable, nodes: &[Node]) -> Vec<LeftOut> {
        let all = table.considered_rows().count();
        let mut known: BTreeSet<&Box<str>> = self.unconfirmed.values().collect();
        let mut later = 0;
        for reservation in &self.confirmed {
            known.insert(&reservation.id);
            if reservation.later_occurrences > 0 {
                later = all;
            }
        }
        let is_idle = nodes.is_empty() && !self.confirmed.is_empty();
        let mut node_reservations = nodes.iter().flat_map(|node| &node.reservations);
        let mut unknown = 0;
        if is_idle || self.beyond > 0 || node_reservations.any(|id| !known.contains(id)) {
            unknown = all;
        } else {
            for row in table.considered_rows() {
                let queue = table.queue(row);
                unknown += usize::from(is_of_reservation(queue) && !self.has_queue(queue));
            }
        }
        LeftOut::of_some_jobs([
            ("reservations (`pbs_rstat -f`)", unknown),
            (
                "reservations that are not confirmed",
                if self.unconfirmed.is_empty() { 0 } else { all },
            ),
            ("later occurrences of standing reservations", later),
        ])
    }
}

/// Whether a queue has the name that the server gives to the queue of a reservation: `R`, `S` or
/// `M` and a number.
fn is_of_reservation(queue: &str) -> bool {
    let number = queue.strip_prefix(['R', 'S', 'M']).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
