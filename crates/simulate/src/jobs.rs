//! The jobs of a workload as a scheduling cycle sees them.

use jsf_openpbs::cycle::{CycleJob, JobSource, Machine, Request};

use super::workload::{Workload, WorkloadJob};

/// The jobs of a workload, with what each asks for.
pub(super) struct RequestedJobs<'w> {
    pub(super) jobs: &'w [WorkloadJob],
    /// The number of the machine's amounts, which come first in the requests.
    placed: usize,
    /// The number of amounts in each request.
    counted: usize,
    /// Job by job.
    requests: Vec<i64>,
    /// Job by job; empty if no array has a limit.
    arrays: Vec<Option<u32>>,
}

impl<'w> RequestedJobs<'w> {
    /// If there are no requests, only processors are asked for.
    pub(super) fn new(workload: &'w Workload, requests: Vec<i64>, arrays: Vec<Option<u32>>, machine: &Machine) -> Self {
        let jobs = workload.jobs();
        let counted = (requests.len() / jobs.len().max(1)).max(1);
        let requests = match requests.is_empty() {
            true => jobs.iter().map(|job| job.processors.into()).collect(),
            false => requests,
        };
        Self { jobs, placed: machine.amounts().min(counted), counted, requests, arrays }
    }
}

impl JobSource for RequestedJobs<'_> {
    fn job(&self, index: u32) -> CycleJob<'_> {
        let job = &self.jobs[index as usize];
        let start = index as usize * self.counted;
        let counted = &self.requests[start..start + self.counted];
        CycleJob {
            request: Request::one_chunk(&counted[..self.placed], &job.queue),
            walltime: job.walltime,
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
