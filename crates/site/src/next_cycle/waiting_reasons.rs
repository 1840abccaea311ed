//! Why a job waits, in words.

use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{
    JobSource, Limit, LimitKind, PreemptionMethod, Refusal, Shortage, TimeConflict,
};
use jsf_openpbs::order::NotConsidered;
use jsf_openpbs::words::counted;

use crate::Site;
use crate::next_cycle::cycle_decisions::Decisions;
use crate::next_cycle::node_pools::PROCESSORS;
use crate::next_cycle::node_pools::wanted;
use crate::next_cycle::site_machine::CycleMachine;

/// A job that waits.
#[derive(Clone, Copy)]
pub(crate) struct JobInWords<'m> {
    pub site: &'m Site,
    pub machine: &'m CycleMachine,
    pub row: usize,
    pub job: &'m QueuedJob,
}

impl JobInWords<'_> {
    /// Why a cycle with these decisions does not start it.
    pub(crate) fn refusal(self, refusal: Refusal, decided: &Decisions<'_>) -> String {
        match refusal {
            Refusal::TooLarge => format!("can never run{}", self.too_large()),
            Refusal::NotEnoughFree => match decided.short.get(&self.row) {
                Some(shortage) => self.not_enough(*shortage),
                None => String::new(),
            },
            Refusal::Limit(limit) => match self.machine.limits.get(limit) {
                Some(limit) => self.limit(limit),
                None => String::new(),
            },
            Refusal::DelaysReservation(delayed) => self.delays(delayed, decided),
            Refusal::Time(conflict) => conflict_in_words(conflict).to_owned(),
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
        let id = match reserved.find(|(row, _)| *row == delayed) {
            Some((_, reserved)) => &*reserved.id,
            None => "a job",
        };
        format!("would delay {id}, which is promised a start")
    }

    /// Why the job can never run, as it asks for more than there is.
    fn too_large(self) -> String {
        let machine = &self.machine.machine;
        if let Some((name, value)) = self.machine.pools.on_no_node(self.site, self.job) {
            return format!(": no node has `{name}={value}`");
        }
        let request = self.machine.jobs.job(self.row as u32).request;
        let mut lists = request.pool_lists.iter();
        if let Some(chunk) = lists.position(|&list| machine.pool_list(list).is_empty()) {
            let with = self.with_values(chunk);
            return format!(": queue {} has no node{with}", self.job.queue);
        }
        match machine.shortage(&request) {
            None => String::new(),
            Some(Shortage::Amount {
                chunk,
                amount,
                asked,
                available,
                is_on_host,
            }) => {
                let asked = counted_in_words(self.site, self.name(amount), asked);
                let there = amount_in_words(self.site, self.name(amount), available);
                match (is_on_host, &*self.with_values(chunk)) {
                    (false, "") => format!(": it asks for {asked}, and the machine has {there}"),
                    (false, with) => {
                        format!(": it asks for {asked}{with}, and these nodes have {there}")
                    }
                    (true, with) => format!(
                        ": a chunk asks for {asked}, and no host{with} has more than {there}"
                    ),
                }
            }
            Some(Shortage::Together { chunk }) => format!(
                ": no host{} has {}",
                self.with_values(chunk),
                self.all_counted(chunk)
            ),
            Some(Shortage::Placing) => {
                ": the machine has no room as the job is to be placed".to_owned()
            }
        }
    }

    /// Why the job waits, as too little is free.
    fn not_enough(self, shortage: Shortage) -> String {
        match shortage {
            Shortage::Amount {
                chunk,
                amount,
                asked,
                available,
                is_on_host,
            } => {
                let name = self.name(amount);
                let short = resource_in_words(name);
                let with = self.with_values(chunk);
                // how many processors of all are free is said once, above the jobs
                if !is_on_host && name == PROCESSORS && with.is_empty() {
                    return format!("not enough {short}");
                }
                let asked = amount_in_words(self.site, name, asked);
                let free = amount_in_words(self.site, name, available);
                if is_on_host {
                    return format!(
                        "not enough {short} on one host{with}: a chunk asks for {asked}, at most {free} free"
                    );
                }
                let on_nodes = if with.is_empty() { "" } else { " on nodes" };
                format!("not enough {short}{on_nodes}{with}: asks for {asked}, {free} free")
            }
            Shortage::Together { chunk } => format!(
                "no host{} has {} free at once",
                self.with_values(chunk),
                self.all_counted(chunk)
            ),
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
            for (name, value) in wanted(self.site, chunk) {
                values.push(format!("{name}={value}"));
            }
        }
        if values.is_empty() {
            return String::new();
        }
        format!(" with {}", values.join(":"))
    }

    /// All amounts of a chunk, such as `4 processors and 1 ngpus`.
    fn all_counted(self, chunk: usize) -> String {
        let Some(chunk) = self.job.chunks.get(chunk) else {
            return "all that it asks for".to_owned();
        };
        let mut counted = Vec::new();
        for (name, amount) in &chunk.amounts {
            if self.machine.pools.names.contains(name) {
                counted.push(counted_in_words(self.site, name, *amount));
            }
        }
        counted.join(" and ")
    }

    fn name(&self, amount: usize) -> &str {
        self.machine.pools.names.get(amount).map_or("", |name| name)
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
                    counted(most, "subjob", "subjobs")
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
        let name = &*self.machine.amounts[amount];
        let most = limit.generic.unwrap_or(0);
        let asked = self.machine.jobs.job(self.row as u32).counted[amount];
        let available = amount_in_words(self.site, name, most);
        if asked > most {
            let asked = counted_in_words(self.site, name, asked);
            return format!(
                "can never run: it asks for {asked}, and {owner} has {available} (resources_available)"
            );
        }
        let name = resource_in_words(name);
        format!("not enough {name}: {owner} has {available} (resources_available)")
    }
}

pub(crate) fn method_in_words(method: PreemptionMethod) -> &'static str {
    match method {
        PreemptionMethod::Suspend => "suspended",
        PreemptionMethod::Requeue => "requeued",
        PreemptionMethod::Delete => "deleted",
    }
}

pub(crate) fn reason_not_considered(why: &NotConsidered) -> String {
    match why {
        NotConsidered::NoShares => "can never run: its fair-share entity has no shares".to_owned(),
        NotConsidered::UnderThreshold { value, threshold } => {
            format!("its value {value} does not exceed job_sort_formula_threshold {threshold}")
        }
    }
}

/// Why a job does not start, in words.
fn conflict_in_words(conflict: TimeConflict) -> &'static str {
    match conflict {
        TimeConflict::PrimeOnly => "will run in prime time only",
        TimeConflict::NonPrimeOnly => "will run in non-prime time only",
        TimeConflict::DedicatedOnly => "will run in dedicated time only",
        TimeConflict::NotInDedicated => "will run outside dedicated time only",
        TimeConflict::IntoDedicated => "would run into dedicated time",
        TimeConflict::BeyondDedicated => "would run beyond the end of dedicated time",
        TimeConflict::IntoPrime => "would run into prime time (backfill_prime)",
        TimeConflict::IntoNonPrime => "would run into non-prime time (backfill_prime)",
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

/// An amount with its resource, such as `4 ngpus`.
fn counted_in_words(site: &Site, name: &str, amount: i64) -> String {
    let noun = if name == PROCESSORS && amount == 1 {
        "processor"
    } else {
        resource_in_words(name)
    };
    format!("{} {noun}", amount_in_words(site, name, amount))
}

/// An amount, a size with its unit as PBS writes it.
fn amount_in_words(site: &Site, name: &str, amount: i64) -> String {
    if site.schema.input_type(name) == Some(InputType::Size) {
        size_in_words(amount)
    } else {
        amount.to_string()
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
