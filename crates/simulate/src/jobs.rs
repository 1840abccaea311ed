//! The jobs of a workload as a scheduling cycle sees them.

use std::borrow::Cow;

use jsf_openpbs::cycle::{CycleJob, JobSource, Request};

use super::rules::SimulationRules;
use super::workload::{Workload, WorkloadJob};

/// The jobs of a workload, with what each asks for.
pub(super) struct RequestedJobs<'w> {
    pub(super) jobs: &'w [WorkloadJob],
    /// The number of the machine's amounts, which come first in the requests.
    placed: usize,
    /// The number of amounts in each request.
    counted: usize,
    /// Job by job.
    requests: Cow<'w, [i64]>,
    /// Job by job; empty if no array has a limit.
    arrays: &'w [Option<u32>],
}

impl<'w> RequestedJobs<'w> {
    /// If the rules have no requests, only processors are asked for.
    pub(super) fn new(workload: &'w Workload, rules: &'w SimulationRules) -> Self {
        let jobs = workload.jobs();
        let counted = (rules.requests.len() / jobs.len().max(1)).max(1);
        let requests = if rules.requests.is_empty() {
            jobs.iter().map(|job| job.processors.into()).collect()
        } else {
            Cow::Borrowed(&*rules.requests)
        };
        Self {
            jobs,
            placed: rules.machine.amounts().min(counted),
            counted,
            requests,
            arrays: &rules.arrays,
        }
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
