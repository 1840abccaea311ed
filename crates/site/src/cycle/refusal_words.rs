//! Why a cycle does not start a job, in words.

use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{Limit, Refusal, RequestedChunk, Shortage};
use jsf_openpbs::files::run_limits::LimitKind;
use jsf_words::count;

use crate::Site;
use crate::cycle::cycle_machine::CycleMachine;
use crate::cycle::decisions::Decisions;
use crate::cycle::node_pools::PROCESSORS;

/// A job that waits.
#[derive(Clone, Copy)]
pub struct JobInWords<'m> {
    pub site: &'m Site,
    pub machine: &'m CycleMachine,
    pub row: usize,
    pub job: &'m QueuedJob,
}

impl JobInWords<'_> {
    /// Why a cycle with these decisions does not start it.
    pub fn refusal(
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
            for (name, value) in self.site.wanted(chunk) {
                values.push(format!("{name}={value}"));
            }
        }
        if values.is_empty() {
            return String::new();
        }
        format!(" with {}", values.join(":"))
    }

    fn name(&self, amount: usize) -> &str {
        &self.machine.amounts[amount]
    }

    /// An amount, a size with its unit as PBS writes it.
    fn amount(self, name: &str, amount: i64) -> String {
        if self.site.schema.input_type(name) == Some(InputType::Size) {
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
            .and_then(|amount| self.machine.amounts.get(amount))
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
