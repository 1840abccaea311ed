//! What is short of what a waiting job asks for, in words.

use job_sort_formula::schema::InputType;
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{JobSource, Shortage};

use crate::Site;
use crate::next_cycle::node_pools::wanted;
use crate::next_cycle::site_machine::CycleMachine;
use crate::simulation::simulation_rules::PROCESSORS;

/// What the chunks of a job ask for, in words.
#[derive(Clone, Copy)]
pub(crate) struct ChunkWords<'m> {
    pub(crate) site: &'m Site,
    pub(crate) machine: &'m CycleMachine,
    pub(crate) job: &'m QueuedJob,
}

impl ChunkWords<'_> {
    /// Why the job in this row can never run, as it asks for more than there is.
    pub(crate) fn too_large(self, row: usize) -> String {
        if let Some((name, value)) = self.machine.pools.on_no_node(self.site, self.job) {
            return format!("can never run: no node has `{name}={value}`");
        }
        let request = self.machine.jobs.job(row as u32).request;
        let nowhere = request
            .pool_lists
            .iter()
            .position(|&list| self.machine.machine.pool_list(list).is_empty());
        if let Some(chunk) = nowhere {
            let with = self.with_values(chunk);
            return format!("can never run: queue {} has no node{with}", self.job.queue);
        }
        match self.machine.machine.shortage(&request) {
            None => "can never run".to_owned(),
            Some(Shortage::InAll {
                chunk,
                amount,
                asked,
                available,
            }) => {
                let (asked, all) = (self.counted(amount, asked), self.amount(amount, available));
                match self.with_values(chunk) {
                    with if with.is_empty() => {
                        format!("can never run: it asks for {asked}, and the machine has {all}")
                    }
                    with => format!(
                        "can never run: it asks for {asked}{with}, and these nodes have {all}"
                    ),
                }
            }
            Some(Shortage::OnHost {
                chunk,
                amount,
                asked,
                available,
            }) => {
                let (asked, most) = (self.counted(amount, asked), self.amount(amount, available));
                let with = self.with_values(chunk);
                format!(
                    "can never run: a chunk asks for {asked}, and no host{with} has more than {most}"
                )
            }
            Some(Shortage::Together { chunk }) => {
                format!(
                    "can never run: no host{} has {}",
                    self.with_values(chunk),
                    self.all_counted(chunk)
                )
            }
            Some(Shortage::Placing) => {
                "can never run: the machine has no room as the job is to be placed".to_owned()
            }
        }
    }

    /// Why the job waits, as too little is free.
    pub(crate) fn not_enough(self, shortage: Shortage) -> String {
        match shortage {
            Shortage::InAll {
                chunk,
                amount,
                asked,
                available,
            } => {
                let name = resource_in_words(self.name(amount));
                let with = self.with_values(chunk);
                // how many processors of all are free is said once, above the jobs
                if self.name(amount) == PROCESSORS && with.is_empty() {
                    return format!("not enough {name}");
                }
                let on_nodes = if with.is_empty() { "" } else { " on nodes" };
                let (asked, free) = (self.amount(amount, asked), self.amount(amount, available));
                format!("not enough {name}{on_nodes}{with}: asks for {asked}, {free} free")
            }
            Shortage::OnHost {
                chunk,
                amount,
                asked,
                available,
            } => {
                let name = resource_in_words(self.name(amount));
                let with = self.with_values(chunk);
                let (asked, most) = (self.amount(amount, asked), self.amount(amount, available));
                format!(
                    "not enough {name} on one host{with}: a chunk asks for {asked}, at most {most} free"
                )
            }
            Shortage::Together { chunk } => {
                format!(
                    "no host{} has {} free at once",
                    self.with_values(chunk),
                    self.all_counted(chunk)
                )
            }
            Shortage::Placing => "no room as the job is to be placed".to_owned(),
        }
    }

    /// The values that a chunk asks for, such as ` with color=red:fast=True`; empty if it asks for
    /// none.
    fn with_values(self, chunk: usize) -> String {
        let has_nodes = !self.machine.pools.nodes.is_empty();
        let chunk = self.job.chunks.get(chunk).filter(|_| has_nodes);
        let wanted = chunk
            .map(|chunk| wanted(self.site, chunk))
            .unwrap_or_default();
        let values: Vec<String> = wanted
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if values.is_empty() {
            String::new()
        } else {
            format!(" with {}", values.join(":"))
        }
    }

    /// All amounts of a chunk, such as `4 processors and 1 ngpus`.
    fn all_counted(self, chunk: usize) -> String {
        let Some(chunk) = self.job.chunks.get(chunk) else {
            return "all that it asks for".to_owned();
        };
        let counted = chunk
            .amounts
            .iter()
            .filter(|(name, _)| self.machine.pools.names.contains(name));
        let counted: Vec<String> = counted
            .map(|(name, amount)| counted_in_words(self.site, name, *amount))
            .collect();
        counted.join(" and ")
    }

    fn name(&self, amount: usize) -> &str {
        self.machine.pools.names.get(amount).map_or("", |name| name)
    }

    fn amount(self, amount: usize, value: i64) -> String {
        amount_in_words(self.site, self.name(amount), value)
    }

    fn counted(self, amount: usize, value: i64) -> String {
        counted_in_words(self.site, self.name(amount), value)
    }
}

/// A resource in a sentence.
pub(crate) fn resource_in_words(name: &str) -> &str {
    if name == PROCESSORS {
        "processors"
    } else {
        name
    }
}

/// An amount with its resource, such as `4 ngpus`.
pub(crate) fn counted_in_words(site: &Site, name: &str, amount: i64) -> String {
    let noun = if name == PROCESSORS && amount == 1 {
        "processor"
    } else {
        resource_in_words(name)
    };
    format!("{} {noun}", amount_in_words(site, name, amount))
}

/// An amount, a size with its unit as PBS writes it.
pub(crate) fn amount_in_words(site: &Site, name: &str, amount: i64) -> String {
    match site.schema.entry(name).map(|entry| entry.input_type) {
        Some(InputType::Size) => size_in_words(amount),
        _ => amount.to_string(),
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
