//! The jobs of a workload as a scheduling cycle sees them.

use std::borrow::Cow;
use std::collections::HashMap;

use jsf_openpbs::cycle::{CycleJob, JobSource, Machine, Request};

use super::simulation_rules::{PlacedRequests, SimulationRules};
use crate::workload::{Workload, WorkloadJob};

/// The jobs of a workload, with what each asks for.
pub struct RequestedJobs<'w> {
    pub jobs: &'w [WorkloadJob],
    /// The number of the machine's amounts, which come first in the requests.
    placed: usize,
    /// The number of amounts in each request.
    counted: usize,
    /// Job by job.
    requests: Cow<'w, [i64]>,
    /// What each asks for host by host, where jobs are placed.
    chunks: Option<&'w PlacedRequests>,
    /// Job by job; empty if no array has a limit.
    arrays: &'w [Option<u32>],
    /// What is left of the walltimes of suspended jobs.
    pub left: HashMap<u32, i64>,
}

impl<'w> RequestedJobs<'w> {
    /// If the rules have no requests, only processors are asked for.
    pub fn new(workload: &'w Workload, rules: &'w SimulationRules) -> Self {
        let jobs = workload.jobs();
        let counted = (rules.requests.len() / jobs.len().max(1)).max(1);
        let requests = if rules.requests.is_empty() {
            jobs.iter().map(|job| job.processors.into()).collect()
        } else {
            Cow::Borrowed(&*rules.requests)
        };
        Self {
            jobs,
            placed: rules.machine.amounts.min(counted),
            counted,
            requests,
            chunks: rules.placed.as_ref(),
            arrays: &rules.arrays,
            left: HashMap::new(),
        }
    }

    /// The jobs that a machine has no room for.
    pub fn too_large(&self, machine: &Machine) -> Vec<usize> {
        // many jobs ask for the same chunks
        let mut chunks_fit = Vec::new();
        if let Some(chunks) = self.chunks {
            for chunks in &chunks.requests {
                chunks_fit.push(machine.can_ever_run(&chunks.request()));
            }
        }
        let mut too_large = Vec::new();
        for job in 0..self.jobs.len() {
            let fits = match self.chunks {
                Some(chunks) => chunks_fit[chunks.of_jobs[job] as usize],
                None => machine.can_ever_run(&self.job(job as u32).request),
            };
            if !fits {
                too_large.push(job);
            }
        }
        too_large
    }
}

impl JobSource for RequestedJobs<'_> {
    fn job(&self, index: u32) -> CycleJob<'_> {
        let job = &self.jobs[index as usize];
        let start = index as usize * self.counted;
        let counted = &self.requests[start..start + self.counted];
        let request = match self.chunks {
            Some(chunks) => chunks.requests[chunks.of_jobs[index as usize] as usize].request(),
            None => Request::one_chunk(&counted[..self.placed], &job.queue),
        };
        CycleJob {
            request,
            walltime: self.left.get(&index).copied().unwrap_or(job.walltime),
            queue: job.queue,
            user: job.user,
            group: job.unix_group,
            project: job.project,
            array: self.arrays.get(index as usize).copied().flatten(),
            counted,
            can_be_reserved: true,
            is_reservation: false,
        }
    }
}
