//! What a cycle decides about each job, and when jobs start that are asked for.

use std::collections::{BTreeMap, HashSet};

use job_sort_formula::jobs::{JobState, JobTable};
use job_sort_formula::rank::Scores;
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{Cycle, CycleEvent, PreemptionMethod, Refusal, Shortage};
use jsf_openpbs::job_attributes::{ArrayIndices, array_and_index};
use jsf_openpbs::order::{NotConsidered, Order};

use super::site_machine::CycleMachine;
use super::times_and_reservations::Reservations;
use super::waiting_reasons::JobInWords;
use crate::{EstimatedStart, PreemptedJob, RankedQueue, ReservedJob, Site, WaitingJob};

/// The most cycles that are run to estimate when a job starts.
const MAX_LATER_CYCLES: usize = 2000;
/// The most decisions about jobs in all these cycles.
const MAX_LATER_DECISIONS: usize = 5_000_000;

/// A job or a subjob that is asked for.
pub struct AskedJob {
    row: usize,
    pub id: String,
    /// The place of a subjob among those of its array that wait, where the document has the array
    /// only.
    position: Option<usize>,
}

/// Finds jobs by their ids, and says what no job is called. A subjob that waits and of which the
/// document has only the array is found by that.
pub fn find_asked(
    table: &JobTable,
    queued: &[QueuedJob],
    ids: &[String],
) -> (Vec<AskedJob>, Vec<String>) {
    let mut jobs = Vec::new();
    let mut unmatched = Vec::new();
    for id in ids {
        match table.find_jobs(id) {
            Ok(rows) => {
                for row in rows {
                    jobs.push(AskedJob {
                        row,
                        id: table.id(row).to_owned(),
                        position: None,
                    });
                }
            }
            Err(why) => {
                let subjobs = find_subjobs(table, queued, id);
                if subjobs.is_empty() {
                    unmatched.push(why);
                }
                for subjob in subjobs {
                    match subjob {
                        Ok(job) => jobs.push(job),
                        Err(why) => unmatched.push(why),
                    }
                }
            }
        }
    }
    let mut known = HashSet::new();
    jobs.retain(|job: &AskedJob| known.insert(job.id.clone()));
    (jobs, unmatched)
}

/// A subjob in each array of its name, or why it does not wait.
fn find_subjobs(table: &JobTable, queued: &[QueuedJob], id: &str) -> Vec<Result<AskedJob, String>> {
    let mut found = Vec::new();
    let Some((array, index)) = array_and_index(id) else {
        return found;
    };
    for row in table.find_jobs(&array).unwrap_or_default() {
        let array = table.id(row);
        let Some(job) = queued.get(row) else { continue };
        let is_missing =
            matches!(&job.submitted_subjobs, Some(all) if all.position(index).is_none());
        let waiting = job.queued_subjobs.as_ref();
        found.push(match waiting.and_then(|waiting| waiting.position(index)) {
            _ if is_missing => Err(format!("the array `{array}` has no subjob {index}")),
            Some(position) => Ok(AskedJob {
                row,
                id: array.replacen("[]", &format!("[{index}]"), 1),
                position: Some(position),
            }),
            None => Err(format!(
                "the subjob {index} of `{array}` does not wait any more"
            )),
        });
    }
    found
}

/// What is to be found out of a job that is asked for.
pub struct Estimate {
    row: usize,
    /// How many starts of its row are left up to its own: of an array, the subjobs start one after
    /// the other.
    starts: usize,
    /// Its start is `None` until it is known.
    pub found: EstimatedStart,
}

/// The jobs of a table with what orders them.
pub struct OrderedQueue<'a> {
    pub order: Order<'a>,
    pub scores: &'a Scores,
    pub table: &'a JobTable,
    /// What each row adds to the usage of its entity when it starts.
    pub charges: Vec<f64>,
}

impl OrderedQueue<'_> {
    /// Lets one cycle decide these rows.
    pub fn decide(
        &self,
        at: i64,
        rows: &[usize],
        subjobs: &mut [u32],
        machine: &mut CycleMachine,
    ) -> Vec<CycleEvent> {
        let (rows, charges) = (rows.iter().copied(), self.charges.clone());
        let order = &self.order;
        let mut candidates = order.candidates(self.scores, self.table, rows, charges, subjobs);
        let CycleMachine {
            machine,
            limits,
            jobs,
            rules,
            ..
        } = machine;
        Cycle::new(at, rules, machine, limits, jobs).run(&mut candidates)
    }

    /// Runs the cycles after that of a time, at the ends of the running jobs, until all jobs that
    /// are asked for have started, or that cannot be found out.
    pub fn estimate(
        &self,
        mut at: i64,
        mut rows: Vec<usize>,
        subjobs: &mut [u32],
        machine: &mut CycleMachine,
        estimates: &mut [Estimate],
    ) {
        machine.rules.explains = false;
        let mut decisions = 0;
        for _ in 0..MAX_LATER_CYCLES {
            rows.retain(|&row| subjobs[row] > 0);
            decisions += rows.len();
            let is_known = estimates.iter().all(|one| one.found.start.is_some());
            if is_known || decisions > MAX_LATER_DECISIONS {
                return;
            }
            let Some(next) = machine.end_next(at) else {
                return;
            };
            at = next;
            for event in self.decide(at, &rows, subjobs, machine) {
                let CycleEvent::Starts(job) = event else {
                    continue;
                };
                for Estimate { row, starts, found } in &mut *estimates {
                    if *row == job as usize {
                        *starts -= usize::from(*starts > 0);
                    }
                    if *starts == 0 && found.start.is_none() {
                        found.start = Some(at);
                    }
                }
            }
        }
    }
}

/// What the cycle decides about each job.
pub struct Decisions<'t> {
    pub table: &'t JobTable,
    jobs: &'t [QueuedJob],
    pub started: Vec<(u32, String)>,
    pub reserved: Vec<(u32, ReservedJob)>,
    /// To which job one gives way is empty until that is decided.
    pub preempted: Vec<(u32, PreemptedJob)>,
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
        subjobs: &[u32],
        reservations: &Reservations,
        at: i64,
    ) -> Vec<usize> {
        let mut rows = Vec::new();
        for &row in ranked.ranking.order() {
            let queue = self.table.queue(row);
            if let Some(reason) = reservations.not_begun(queue, at) {
                self.set_aside.push((row, reason));
            } else if !site.queues.is_started(queue) {
                let reason = format!("queue {queue} is not started");
                self.set_aside.push((row, reason));
            } else if subjobs[row] > 0 {
                rows.push(row);
            } else {
                self.eligible[row] = Some(false);
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
    pub fn estimated(&self, job: &AskedJob) -> Option<Estimate> {
        let mut refused = self.refused.iter();
        let is_refused = refused.any(|(row, ..)| *row as usize == job.row);
        let mut reserved = self.reserved.iter();
        let (is_reserved, starts) = match job.position {
            None => (reserved.any(|(row, _)| *row as usize == job.row), 1),
            Some(position) => (
                reserved.any(|(_, reserved)| reserved.id == job.id),
                (position + 1).saturating_sub(self.begun[job.row]),
            ),
        };
        if !is_refused || is_reserved || starts == 0 {
            return None;
        }
        Some(Estimate {
            row: job.row,
            starts,
            found: EstimatedStart {
                id: job.id.clone(),
                start: None,
            },
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
            if let Some((_, one)) = self.preempted.iter().rfind(|(other, _)| *other == job) {
                reason = format!("{} for {}: {reason}", one.method, one.by);
            }
            let id = self.table.id(row).to_owned();
            waiting.push(WaitingJob { id, reason });
        }
        for (row, reason) in &self.set_aside {
            waiting.push(WaitingJob {
                id: self.table.id(*row).to_owned(),
                reason: reason.clone(),
            });
        }
        waiting
    }

    /// The accrue type of every job after the cycle.
    pub fn accrue_types(&self) -> BTreeMap<String, u8> {
        let mut types = vec![0; self.table.len()];
        for (accrue_type, job) in types.iter_mut().zip(self.jobs) {
            *accrue_type = job.accrue_type.unwrap_or(0);
        }
        for (accrue_type, eligible) in types.iter_mut().zip(&self.eligible) {
            if let Some(is_eligible) = eligible {
                *accrue_type = if *is_eligible { 2 } else { 1 };
            }
        }
        let mut of_subjobs = Vec::new();
        for (row, id) in &self.started {
            let row = *row as usize;
            if *id != self.table.id(row) {
                of_subjobs.push((id.clone(), 3));
            }
            match self.queued_subjobs(row) {
                // unless it started and gave way again
                None if self.eligible[row].is_none() => types[row] = 3,
                None => {}
                // nothing of the array waits any more
                Some(subjobs) if subjobs.len() == self.begun[row] as u64 => types[row] = 1,
                Some(_) => {}
            }
        }
        let mut by_id = BTreeMap::new();
        for (row, accrue_type) in types.into_iter().enumerate() {
            by_id.insert(self.table.id(row).to_owned(), accrue_type);
        }
        by_id.extend(of_subjobs);
        by_id
    }

    /// Notes what happens in the cycle.
    pub fn note(&mut self, events: Vec<CycleEvent>) {
        for event in events {
            match event {
                CycleEvent::Starts(job) => {
                    let id = self.id_of_job_preempted_for(job);
                    self.started.push((job, id));
                    self.begun[job as usize] += 1;
                    if self.preempted.iter().any(|(other, _)| *other == job) {
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
                    self.eligible[job as usize] = Some(true);
                    let gives_way = PreemptedJob {
                        id: self.table.id(job as usize).to_owned(),
                        method: match method {
                            PreemptionMethod::Suspend => "suspended",
                            PreemptionMethod::Requeue => "requeued",
                            PreemptionMethod::Delete => "deleted",
                        },
                        by: String::new(),
                    };
                    self.preempted.push((job, gives_way));
                }
                CycleEvent::Reserved { job, start } => {
                    let id = self.id_of_next(job as usize);
                    self.reserved.push((job, ReservedJob { id, start }));
                }
            }
        }
    }

    /// The id of a job that is decided, for which those gave way that did so just before.
    fn id_of_job_preempted_for(&mut self, job: u32) -> String {
        let id = self.id_of_next(job as usize);
        for (_, one) in self.preempted.iter_mut().rev() {
            if !one.by.is_empty() {
                break;
            }
            one.by.clone_from(&id);
        }
        id
    }
}
