//! The schedulers that a document describes: a server may have others beside the default one.
//!
//! The jobs of a queue with a `partition` belong to the scheduler with that partition, all others
//! to the default one. The formula of the default scheduler is an attribute of the server or of
//! `sched default`; both write the same file, and the server refuses to have two that differ. Any
//! other scheduler has its formula, or that of the server, in its own folder.

use std::collections::BTreeMap;

use crate::files::formula_source::SourceFormula;
use crate::files::objects::{Attribute, ObjectKind, Objects, last};

/// The name of the default scheduler.
pub const DEFAULT: &str = "default";
/// The partition of the default scheduler.
pub const DEFAULT_PARTITION: &str = "pbs-default";

/// A scheduler that a document describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedScheduler {
    /// Its name.
    pub name: String,
    /// Its partition.
    pub partition: Option<String>,
    /// The name of the folder with its files (`sched_priv`), which by default is named after it.
    pub folder: String,
    /// Its formula.
    pub formula: Option<SourceFormula>,
}

impl ListedScheduler {
    fn new(name: &str, attributes: &[&Attribute<'_>]) -> Self {
        let mut scheduler = Self {
            name: name.to_owned(),
            partition: None,
            folder: format!("sched_priv_{name}"),
            formula: SourceFormula::in_attributes(attributes.iter().copied()),
        };
        if let Some(partition) = last(attributes.iter().copied(), "partition") {
            scheduler.partition = partition.value.text().map(str::to_owned);
        }
        if let Some(path) = last(attributes.iter().copied(), "sched_priv")
            && let Some(path) = path.value.text()
            && let Some(folder) = path.trim_end_matches('/').rsplit('/').next()
        {
            scheduler.folder = folder.to_owned();
        }
        scheduler
    }

    fn has_partition(&self, partition: &str) -> bool {
        let Some(names) = &self.partition else {
            return false;
        };
        names.split(',').any(|name| name.trim() == partition)
    }
}

/// The schedulers that a document describes, in alphabetical order.
pub fn listed_schedulers(objects: &Objects<'_>) -> Vec<ListedScheduler> {
    let mut attributes: BTreeMap<&str, Vec<&Attribute<'_>>> = BTreeMap::new();
    for scheduler in objects.of(ObjectKind::Scheduler) {
        let of_scheduler = attributes.entry(&scheduler.name).or_default();
        of_scheduler.extend(&scheduler.attributes);
    }
    let mut listed = Vec::new();
    for (name, attributes) in attributes {
        listed.push(ListedScheduler::new(name, &attributes));
    }
    listed
}

/// The scheduler that a document describes and that has a partition.
pub fn scheduler_of_partition(objects: &Objects<'_>, partition: &str) -> Option<ListedScheduler> {
    let mut listed = listed_schedulers(objects).into_iter();
    listed.find(|scheduler| scheduler.has_partition(partition))
}

/// The attributes in force for the scheduler that has a partition, or for the default one: those of
/// the server, then its own, which come before them. Another scheduler has its own threshold.
pub(super) fn in_force<'o, 't>(
    objects: &'o Objects<'t>,
    partition: Option<&str>,
) -> Vec<&'o Attribute<'t>> {
    let mut attributes: Vec<_> = objects.attributes_of(ObjectKind::Server).collect();
    let mut name = DEFAULT.to_owned();
    if let Some(partition) = partition {
        attributes.retain(|attribute| attribute.name != "job_sort_formula_threshold");
        match scheduler_of_partition(objects, partition) {
            Some(scheduler) => name = scheduler.name,
            None => return attributes,
        }
    }
    for scheduler in objects.of(ObjectKind::Scheduler) {
        if *scheduler.name == *name {
            attributes.extend(&scheduler.attributes);
        }
    }
    attributes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "create sched default\nset sched partition = pbs-default\nset sched job_sort_formula = a\n\
        create sched gpu\nset sched gpu partition = p1\nset sched gpu sched_priv = /var/spool/pbs/priv_gpu\n\
        set sched gpu job_sort_formula = \"b + 1\"\nset server x = 1\n";
    const LISTED: &str = "Sched gpu\n    partition = p1\n    sched_priv = /var/spool/pbs/priv_gpu\n    job_sort_formula = b +\n\t 1\n\n\
        Sched default\n    partition = pbs-default\n    job_sort_formula = a\n\nServer vm\n    x = 1\n";

    #[test]
    fn each_scheduler_has_its_own_attributes() {
        for document in [PRINTED, LISTED] {
            let objects = Objects::read(document);
            let listed = listed_schedulers(&objects);
            let [default, gpu] = &listed[..] else {
                panic!("{listed:?}")
            };
            let formula = |scheduler: &ListedScheduler| {
                scheduler
                    .formula
                    .as_ref()
                    .map(|formula| formula.text.clone())
            };
            assert_eq!(
                (&*default.name, formula(default).as_deref()),
                (DEFAULT, Some("a")),
                "{document}"
            );
            assert_eq!(
                (&*gpu.name, gpu.partition.as_deref(), &*gpu.folder),
                ("gpu", Some("p1"), "priv_gpu")
            );
            assert_eq!(formula(gpu).as_deref(), Some("b + 1"), "{document}");
            let names = |partition| {
                let attributes = in_force(&objects, partition).into_iter();
                attributes
                    .map(|attribute| attribute.name.to_string())
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                names(Some("p1")),
                ["x", "partition", "sched_priv", "job_sort_formula"]
            );
            assert_eq!(
                names(None),
                ["x", "partition", "job_sort_formula"],
                "{document}"
            );
            assert_eq!(names(Some("p2")), ["x"]);
        }
        assert_eq!(
            listed_schedulers(&Objects::read("set server c = d\nServer vm\n    x = 1\n")),
            []
        );
    }
}
