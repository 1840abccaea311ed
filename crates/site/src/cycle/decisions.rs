//! What a cycle decides about the jobs of a document, by their ids, and why it does not start a job,
//! in words.

use std::collections::BTreeMap;

use job_sort_formula::jobs::{JobState, JobTable};
use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;
use jsf_openpbs::ArrayIndices;
use jsf_openpbs::cycle::{CycleEvent, Limit, PreemptionMethod, Refusal, RequestedChunk, Shortage};
use jsf_openpbs::files::run_limits::LimitKind;
use jsf_openpbs::order::NotConsidered;
use jsf_words::count;

use crate::cycle::next_cycle::{EstimatedStart, PreemptedJob, ReservedJob, WaitingJob};
use crate::cycle::node_pools::PROCESSORS;
use crate::cycle::reservations::Reservations;
use crate::cycle::running_jobs::CycleMachine;
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
                // as recorded, an array without a waiting subjob is not eligible
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

    /// What is to be found out of a job that is asked for and neither starts nor is promised a start.
    pub fn estimated(&self, job: &EstimatedStart) -> Option<EstimatedStart> {
        let mut refused = self.refused.iter();
        let is_refused = refused.any(|(row, ..)| *row as usize == job.row);
        let is_of_row = job.starts == 0;
        let mut reserved = self.reserved.iter();
        let is_reserved = reserved.any(|one| one.id == job.id || is_of_row && one.row == job.row);
        let mut starts = job.starts.saturating_sub(self.begun[job.row]);
        if is_of_row {
            starts = 1;
        }
        let is_open = is_refused && !is_reserved && starts > 0;
        is_open.then(|| EstimatedStart {
            starts,
            ..job.clone()
        })
    }

    /// The jobs that wait, and why.
    pub fn waiting(&self, machine: &CycleMachine<'_>) -> Vec<WaitingJob> {
        let mut waiting = Vec::new();
        for &(job, refusal, shortage) in &self.refused {
            let row = job as usize;
            let words = JobInWords {
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
                    // as recorded, what gave way may start again in the same cycle
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
                    // as recorded, it is eligible from then on
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

/// A job that waits.
#[derive(Clone, Copy)]
struct JobInWords<'m> {
    machine: &'m CycleMachine<'m>,
    row: usize,
    job: &'m QueuedJob,
}

impl JobInWords<'_> {
    /// Why a cycle with these decisions does not start it.
    fn refusal(
        self,
        refusal: Refusal,
        shortage: Option<Shortage>,
        decided: &Decisions<'_>,
    ) -> String {
        match refusal {
            Refusal::TooLarge => {
                let machine = &self.machine.state.machine;
                let request = &self.machine.jobs[self.row].request;
                let mut chunks = request.chunks.iter();
                let is_nowhere =
                    |chunk: &RequestedChunk| machine.pool_list(chunk.pool_list).is_empty();
                if let Some(chunk) = chunks.position(is_nowhere) {
                    let (queue, with) = (&self.job.queue, self.with_values(chunk));
                    return format!("can never run: queue {queue} has no node{with}");
                }
                match machine.shortage(request) {
                    Some(shortage) => format!("can never run: {}", self.short(shortage, "exist")),
                    None => "can never run".to_owned(),
                }
            }
            Refusal::NotEnoughFree => match shortage {
                Some(shortage) => self.short(shortage, "free"),
                None => "not enough was free when it, or a job that asks for the same, was tried"
                    .to_owned(),
            },
            Refusal::Limit(limit) => match self.machine.state.limits.get(limit) {
                Some(limit) => self.limit(limit),
                None => String::new(),
            },
            Refusal::DelaysReservation(delayed) => self.delays(delayed, decided),
            Refusal::Time(why) => why.to_owned(),
            Refusal::StrictOrdering(blocking) => {
                let blocking = decided.table.id(blocking as usize);
                format!("strict_ordering: {blocking} comes first and does not start")
            }
        }
    }

    /// It would delay another job, which is promised a start, or run into a reservation.
    fn delays(self, delayed: u32, decided: &Decisions<'_>) -> String {
        if let Some(index) = (delayed as usize).checked_sub(decided.table.len())
            && let Some(reservation) = self.machine.reservations.confirmed.get(index)
        {
            return format!("would run into the reservation {}", reservation.id);
        }
        let mut reserved = decided.reserved.iter();
        let id = match reserved.find(|reserved| reserved.row == delayed as usize) {
            Some(reserved) => &*reserved.id,
            None => "a job",
        };
        format!("would delay {id}, which is promised a start")
    }

    /// What is short of all that exists, or of what is free.
    fn short(self, shortage: Shortage, of: &str) -> String {
        match shortage {
            Shortage::Amount {
                chunk,
                amount,
                asked,
                available,
                is_on_host,
            } => {
                let name = self.name(amount);
                let resource = resource_in_words(name);
                let with = self.with_values(chunk);
                // how many processors of all are free is said once, above the jobs
                if of == "free" && !is_on_host && name == PROCESSORS && with.is_empty() {
                    return "not enough processors".to_owned();
                }
                let asked = self.amount(name, asked);
                let available = self.amount(name, available);
                let host = if is_on_host {
                    " on one host, at most"
                } else {
                    ","
                };
                format!("not enough {resource}: asks for {asked}{with}{host} {available} {of}")
            }
            Shortage::Together { chunk } => {
                let with = self.with_values(chunk);
                format!("no host{with} has all at once that a chunk asks for")
            }
            Shortage::Placing => "no room as the job is to be placed".to_owned(),
        }
    }

    /// The values that a chunk asks for, such as ` with color=red:fast=True`; empty if it asks for
    /// none.
    fn with_values(self, chunk: usize) -> String {
        let mut values = Vec::new();
        if !self.machine.pools.nodes.is_empty()
            && let Some(chunk) = self.job.chunks.get(chunk)
        {
            for (name, value) in self.machine.pools.site.wanted(chunk) {
                values.push(format!("{name}={value}"));
            }
        }
        if values.is_empty() {
            return String::new();
        }
        format!(" with {}", values.join(":"))
    }

    fn name(&self, amount: usize) -> &str {
        &self.machine.pools.amounts[amount]
    }

    /// An amount, a size with its unit as PBS writes it.
    fn amount(self, name: &str, amount: i64) -> String {
        if self.machine.pools.site.schema.input_type(name) == Some(InputType::Size) {
            size_in_words(amount)
        } else {
            amount.to_string()
        }
    }

    /// A limit that the job is at.
    fn limit(self, limit: &Limit) -> String {
        let job = self.job;
        let of = match limit.queue {
            None => "the server".to_owned(),
            Some(_) => format!("queue {}", job.queue),
        };
        let whose = match limit.kind {
            LimitKind::All => "all users together".to_owned(),
            LimitKind::User => format!("user {}", job.user),
            LimitKind::Group => format!("group {}", job.group),
            LimitKind::Project => format!("project {}", job.project),
            LimitKind::Subjobs => {
                let most = job.max_run_subjobs.unwrap_or(0) as usize;
                return format!(
                    "max_run_subjobs: at most {} of the array may run at a time",
                    count(most, "subjob")
                );
            }
            LimitKind::Available => return self.not_available(limit, &of),
        };
        match limit
            .amount
            .and_then(|amount| self.machine.pools.amounts.get(amount))
        {
            None => format!("max_run of {of}: {whose} may run no more jobs"),
            Some(resource) => format!("max_run_res.{resource} of {of}: {whose} may use no more"),
        }
    }

    /// Why the job waits for a resource that the server or a queue has as a whole.
    fn not_available(self, limit: &Limit, owner: &str) -> String {
        let amount = limit.amount.unwrap_or(0);
        let name = self.name(amount);
        let most = limit.generic.unwrap_or(0);
        let asked = self.machine.jobs[self.row].request.counted[amount];
        let never = if asked > most { "can never run: " } else { "" };
        let (asked, most) = (self.amount(name, asked), self.amount(name, most));
        let name = resource_in_words(name);
        format!(
            "{never}not enough {name}: asks for {asked}, {owner} has {most} (resources_available)"
        )
    }
}

/// A resource in a sentence.
fn resource_in_words(name: &str) -> &str {
    if name == PROCESSORS {
        "processors"
    } else {
        name
    }
}

/// A size of so many kb in the largest unit, with what is below a hundredth of it cut off.
fn size_in_words(kilobytes: i64) -> String {
    let mut unit = 1;
    let mut name = "kb";
    for larger in ["mb", "gb", "tb", "pb"] {
        if kilobytes / unit < 1024 {
            break;
        }
        unit *= 1024;
        name = larger;
    }
    let hundredths = (i128::from(kilobytes) * 100 / i128::from(unit)) as f64;
    format!("{}{name}", hundredths / 100.0)
}

#[cfg(test)]
mod tests {
    use super::size_in_words;

    #[test]
    fn sizes_have_their_largest_unit() {
        for (kilobytes, words) in [
            (0, "0kb"),
            (1023, "1023kb"),
            (1024, "1mb"),
            (1536, "1.5mb"),
            (64 << 20, "64gb"),
            ((64 << 20) - 1, "63.99gb"),
            (3 << 30, "3tb"),
            (i64::MAX, "8388607.99pb"),
        ] {
            assert_eq!(size_in_words(kilobytes), words);
        }
    }
}
