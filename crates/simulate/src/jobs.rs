//! The jobs of a workload as a scheduling cycle sees them.

use jsf_openpbs::cycle::{CycleJob, JobSource, Request};

use super::workload::{Workload, WorkloadJob};

/// The jobs of a workload, with what each asks for.
pub(super) struct RequestedJobs<'w> {
    pub(super) jobs: &'w [WorkloadJob],
    /// The number of amounts that are requested.
    amounts: usize,
    /// Job by job.
    requests: Vec<i64>,
}

impl<'w> RequestedJobs<'w> {
    /// The requests are in the order of the machine's amounts; if there are none, only processors are asked for.
    pub(super) fn new(workload: &'w Workload, requests: Vec<i64>) -> Self {
        let jobs = workload.jobs();
        let amounts = (requests.len() / jobs.len().max(1)).max(1);
        let requests = match requests.is_empty() {
            true => jobs.iter().map(|job| job.processors.into()).collect(),
            false => requests,
        };
        Self { jobs, amounts, requests }
    }

    fn request(&self, index: u32) -> Request<'_> {
        let start = index as usize * self.amounts;
        Request::one_chunk(&self.requests[start..start + self.amounts])
    }
}

impl JobSource for RequestedJobs<'_> {
    fn job(&self, index: u32) -> CycleJob<'_> {
        let job = &self.jobs[index as usize];
        CycleJob {
            request: self.request(index),
            walltime: job.walltime,
            queue: job.queue,
            user: job.user,
            group: job.unix_group,
            project: job.project,
            subjobs: 1,
            can_be_reserved: true,
        }
    }
}
