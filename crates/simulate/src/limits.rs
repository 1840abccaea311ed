//! How many jobs of a queue, or of the whole server, may run at the same time.

use super::workload::WorkloadJob;

/// No limit.
const UNLIMITED: u32 = u32::MAX;

/// The limits of a queue or of the server, and how many of its jobs run.
#[derive(Debug, Clone)]
pub struct LimitedQueue {
    /// The index of the queue in the workload; `None` for all queues.
    queue: Option<u32>,
    all: JobCount,
    /// By entity.
    entities: Vec<JobCount>,
}

/// Running jobs, and how many there may be.
#[derive(Debug, Clone, Copy)]
struct JobCount {
    most: u32,
    running: u32,
}

impl JobCount {
    fn new(most: Option<u32>) -> Self {
        Self { most: most.unwrap_or(UNLIMITED), running: 0 }
    }

    fn is_reached(self) -> bool {
        self.running >= self.most
    }
}

impl LimitedQueue {
    /// The limit of all jobs of a queue (`None`: of all queues together), and that of each entity of the workload.
    pub fn new(queue: Option<u32>, all: Option<u32>, entities: impl Iterator<Item = Option<u32>>) -> Self {
        Self { queue, all: JobCount::new(all), entities: entities.map(JobCount::new).collect() }
    }

    fn contains(&self, job: &WorkloadJob) -> bool {
        self.queue.is_none_or(|queue| queue == job.queue)
    }

    /// Whether the limits let a job run now.
    pub(super) fn allows(&self, job: &WorkloadJob) -> bool {
        !self.contains(job) || !self.all.is_reached() && !self.entities[job.entity as usize].is_reached()
    }

    pub(super) fn start(&mut self, job: &WorkloadJob) {
        if self.contains(job) {
            self.all.running += 1;
            self.entities[job.entity as usize].running += 1;
        }
    }

    pub(super) fn end(&mut self, job: &WorkloadJob) {
        if self.contains(job) {
            self.all.running -= 1;
            self.entities[job.entity as usize].running -= 1;
        }
    }
}
