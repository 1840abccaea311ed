//! The nodes of a site as the machine of a simulation, and what the jobs of a log ask for on them.

use std::collections::{BTreeMap, HashMap};

use jsf_ingest::QueuedJob;
use jsf_openpbs::chunks::Chunk;
use jsf_openpbs::resource_amount::AmountSource;
use jsf_simulate::{PlacedRequests, Workload};

use crate::next_cycle::LeftOut;
use crate::next_cycle::node_pools::{PROCESSORS, Pools};
use crate::next_cycle::places::{Places, totals_of};
use crate::next_cycle::reserved_nodes::Reservations;
use crate::opening::role::Role;
use crate::simulation::simulation_rules::{Counted, ProcessorsSource};
use crate::{Site, SiteError};

impl Site {
    /// The nodes as a machine on which the jobs of a workload are placed; `None` without nodes, and
    /// if the log says of no job which chunks it asks for.
    pub(crate) fn placed(&self, workload: &Workload) -> Result<Option<Counted>, SiteError> {
        let jobs = workload.jobs().iter();
        let without_chunks = jobs.filter(|job| workload.chunks(job).0.is_empty()).count();
        if without_chunks == workload.jobs().len() || !self.files.has(Role::Nodes) {
            return Ok(None);
        }
        let queues = workload.queues();
        let amounts = self.with_limited(self.counted_resources()?, queues);
        let (distinct, of_jobs) = self.queued_jobs(workload, &amounts);
        let pools = Pools::new(self, &distinct, None, None, &Reservations::default())?;
        let mut places = Places::new(self, &pools, queues);
        let mut requests = Vec::with_capacity(distinct.len());
        for job in &distinct {
            let queue = queues.iter().position(|queue| *queue == job.queue);
            requests.push(places.chunks(queue.unwrap_or(0), job));
        }
        let machine = places.machine();
        let names = self.with_limited(pools.names.clone(), queues);
        let mut counted = Vec::with_capacity(of_jobs.len() * names.len());
        let mut jobs = Vec::with_capacity(of_jobs.len());
        for &job in &of_jobs {
            let job = &distinct[job as usize];
            counted.extend(totals_of(job, &names));
            jobs.push(job);
        }
        let mut left_out = pools.left_out(self, &jobs);
        left_out.extend(LeftOut::of_some_jobs([(
            "chunks of jobs without `select` in the log (each is placed as one)",
            without_chunks,
        )]));
        Ok(Some(Counted {
            names,
            machine,
            source: ProcessorsSource::Nodes,
            requests: counted,
            placed: Some(PlacedRequests { requests, of_jobs }),
            placed_jobs: workload.jobs().len() - without_chunks,
            left_out,
        }))
    }

    /// The jobs of a log as a cycle reads them, those that are alike once; and job by job, which of
    /// these it is.
    fn queued_jobs(&self, workload: &Workload, amounts: &[Box<str>]) -> (Vec<QueuedJob>, Vec<u32>) {
        let mut columns = Vec::new();
        for name in amounts {
            if **name != *PROCESSORS
                && let Some(column) = workload.amounts_of(name)
            {
                columns.push((name, column));
            }
        }
        let mut distinct = Vec::new();
        let mut known: HashMap<(u32, u32, u32, Vec<i64>), u32> = HashMap::new();
        let mut of_jobs = Vec::with_capacity(workload.jobs().len());
        for (index, job) in workload.jobs().iter().enumerate() {
            let mut amounts = Vec::with_capacity(columns.len());
            for (_, column) in &columns {
                amounts.push(column[index].ceil() as i64);
            }
            let key = (job.queue, job.chunks, job.processors, amounts);
            let next = distinct.len() as u32;
            of_jobs.push(*known.entry(key).or_insert_with_key(|(.., amounts)| {
                let (select, place) = workload.chunks(job);
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
            }));
        }
        (distinct, of_jobs)
    }
}
