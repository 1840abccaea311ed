//! What a cycle decides about the jobs of a document, by their ids.

use std::collections::BTreeMap;

use job_sort_formula::jobs::{JobState, JobTable};
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{CycleEvent, PreemptionMethod, Refusal, Shortage};
use jsf_openpbs::job_attributes::ArrayIndices;
use jsf_openpbs::order::NotConsidered;

use crate::cycle::Reservations;
use crate::cycle::cycle_machine::CycleMachine;
use crate::cycle::cycled_queue::{AskedJob, EstimatedStart, PreemptedJob, ReservedJob, WaitingJob};
use crate::cycle::refusal_words::JobInWords;
use crate::{RankedQueue, Site};

/// What the cycle decides about each job.
pub struct Decisions<'t> {
    pub table: &'t JobTable,
    jobs: &'t [QueuedJob],
    pub started: Vec<(u32, String)>,
    pub reserved: Vec<ReservedJob>,
    pub preempted: Vec<PreemptedJob>,
    /// In the order in which the scheduler looks at them.
    refused: Vec<(u32, Refusal, Option<Shortage>)>,
    /// The waiting jobs that it does not look at, and why.
    set_aside: Vec<(usize, String)>,
    /// By row: whether the job was found eligible.
    eligible: Vec<Option<bool>>,
    /// By row: how many subjobs of an array have started.
    begun: Vec<usize>,
}

impl<'t> Decisions<'t> {
    pub fn new(table: &'t JobTable, jobs: &'t [QueuedJob]) -> Self {
        Self {
            table,
            jobs,
            started: Vec::new(),
            reserved: Vec::new(),
            preempted: Vec::new(),
            refused: Vec::new(),
            set_aside: Vec::new(),
            eligible: vec![None; table.len()],
            begun: vec![0; table.len()],
        }
    }

    /// Sets aside the waiting jobs that the scheduler does not look at. Returns the rows of the
    /// others.
    pub fn set_aside(
        &mut self,
        site: &Site,
        ranked: &RankedQueue,
        reservations: &Reservations,
        at: i64,
    ) -> Vec<usize> {
        // as recorded, jobs that are held or under the threshold become not eligible, and those of a
        // stopped queue or without shares stay as they are
        let mut rows = Vec::new();
        for &row in ranked.ranking.order() {
            let queue = self.table.queue(row);
            if let Some(reason) = reservations.not_begun(queue, at) {
                self.set_aside.push((row, reason));
            } else if !site.queues.is_started(queue) {
                let reason = format!("queue {queue} is not started");
                self.set_aside.push((row, reason));
            } else if self
                .queued_subjobs(row)
                .is_some_and(|indices| indices.is_empty())
            {
                self.eligible[row] = Some(false);
            } else {
                rows.push(row);
            }
        }
        for (row, why) in &ranked.not_considered {
            let reason = match why {
                NotConsidered::NoShares => {
                    "can never run: its fair-share entity has no shares".to_owned()
                }
                NotConsidered::UnderThreshold { value, threshold } => {
                    self.eligible[*row] = Some(false);
                    format!(
                        "its value {value} does not exceed job_sort_formula_threshold {threshold}"
                    )
                }
            };
            self.set_aside.push((*row, reason));
        }
        for row in 0..self.table.len() {
            let reason = match (self.table.state(row), self.table.exclusion(row)) {
                (_, Some(exclusion)) if exclusion.is_of_queue() => exclusion.to_string(),
                (JobState::Held, _) => {
                    self.eligible[row] = Some(false);
                    "it is held".to_owned()
                }
                (JobState::Waiting, _) => {
                    "it waits for the time at which it may start (qsub -a)".to_owned()
                }
                _ => continue,
            };
            self.set_aside.push((row, reason));
        }
        rows
    }

    /// The id of the job that starts next: of an array that of its first subjob.
    fn id_of_next(&self, row: usize) -> String {
        let id = self.table.id(row);
        if let Some(indices) = self.queued_subjobs(row)
            && let Some(index) = indices.iter().nth(self.begun[row])
        {
            return id.replacen("[]", &format!("[{index}]"), 1);
        }
        id.to_owned()
    }

    /// The subjobs of an array that waited before the cycle.
    fn queued_subjobs(&self, row: usize) -> Option<&ArrayIndices> {
        self.jobs.get(row)?.queued_subjobs.as_ref()
    }

    /// What is to be found out of a job that neither starts nor is promised a start.
    pub fn estimated(&self, job: &AskedJob) -> Option<EstimatedStart> {
        let mut refused = self.refused.iter();
        let is_refused = refused.any(|(row, ..)| *row as usize == job.row);
        let mut reserved = self.reserved.iter();
        let (is_reserved, starts) = match job.position {
            None => (reserved.any(|reserved| reserved.row == job.row), 1),
            Some(position) => (
                reserved.any(|reserved| reserved.id == job.id),
                (position + 1).saturating_sub(self.begun[job.row]),
            ),
        };
        if !is_refused || is_reserved || starts == 0 {
            return None;
        }
        Some(EstimatedStart {
            id: job.id.clone(),
            start: None,
            row: job.row,
            starts,
        })
    }

    /// The jobs that wait, and why.
    pub fn waiting(&self, site: &Site, machine: &CycleMachine) -> Vec<WaitingJob> {
        let mut waiting = Vec::new();
        for &(job, refusal, shortage) in &self.refused {
            let row = job as usize;
            let words = JobInWords {
                site,
                machine,
                row,
                job: &self.jobs[row],
            };
            let mut reason = words.refusal(refusal, shortage, self);
            // how and for which job it gave way in this cycle
            if let Some(one) = self.preempted.iter().rfind(|one| one.row == row) {
                reason = format!("{} for {}: {reason}", one.method, one.by);
            }
            waiting.push((row, reason));
        }
        waiting.extend_from_slice(&self.set_aside);
        let waiting = waiting.into_iter().map(|(row, reason)| WaitingJob {
            id: self.table.id(row).to_owned(),
            reason,
        });
        waiting.collect()
    }

    /// The accrue type of every job after the cycle.
    pub fn accrue_types(&self) -> BTreeMap<String, u8> {
        let mut types = BTreeMap::new();
        for (row, eligible) in self.eligible.iter().enumerate() {
            let before = self.jobs.get(row).and_then(|job| job.accrue_type);
            let accrue_type = match eligible {
                Some(true) => 2,
                Some(false) => 1,
                None => before.unwrap_or(0),
            };
            types.insert(self.table.id(row).to_owned(), accrue_type);
        }
        for (row, id) in &self.started {
            let row = *row as usize;
            let array = self.queued_subjobs(row);
            // a job may have given way again after its start
            if array.is_some() || self.eligible[row].is_none() {
                types.insert(id.clone(), 3);
            }
            // nothing of the array waits any more
            if array.is_some_and(|subjobs| subjobs.len() == self.begun[row] as u64) {
                types.insert(self.table.id(row).to_owned(), 1);
            }
        }
        types
    }

    /// Notes what happens in the cycle.
    pub fn note(&mut self, events: Vec<CycleEvent>) {
        for event in events {
            match event {
                CycleEvent::Starts(job) => {
                    let id = self.id_of_job_preempted_for(job);
                    self.started.push((job, id));
                    self.begun[job as usize] += 1;
                    if self.preempted.iter().any(|one| one.row == job as usize) {
                        self.eligible[job as usize] = None;
                    }
                }
                CycleEvent::Waits {
                    job,
                    refusal,
                    is_eligible,
                    shortage,
                } => {
                    self.id_of_job_preempted_for(job);
                    self.refused.push((job, refusal, shortage));
                    self.eligible[job as usize] = Some(is_eligible);
                }
                CycleEvent::GivesWay(job, method) => {
                    let row = job as usize;
                    self.eligible[row] = Some(true);
                    self.preempted.push(PreemptedJob {
                        id: self.table.id(row).to_owned(),
                        method: match method {
                            PreemptionMethod::Suspend => "suspended",
                            PreemptionMethod::Requeue => "requeued",
                            PreemptionMethod::Delete => "deleted",
                        },
                        by: String::new(),
                        row,
                    });
                }
                CycleEvent::Reserved { job, start } => {
                    let row = job as usize;
                    let id = self.id_of_next(row);
                    self.reserved.push(ReservedJob { id, start, row });
                }
            }
        }
    }

    /// The id of a job that is decided, for which those gave way that did so just before.
    fn id_of_job_preempted_for(&mut self, job: u32) -> String {
        let id = self.id_of_next(job as usize);
        for one in self.preempted.iter_mut().rev() {
            if !one.by.is_empty() {
                break;
            }
            one.by.clone_from(&id);
        }
        id
    }
}
