//! The classes of the jobs of a workload: by entity, group, queue, number of processors and run time.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::workload::{Workload, WorkloadJob};

/// The largest number of processors of each class of sizes but the last.
const SIZE_CLASSES: [u32; 7] = [1, 4, 16, 64, 256, 1024, 4096];

/// The longest run time of each class of lengths, in seconds, and its name.
const LENGTH_CLASSES: [(i64, &str); 6] = [
    (60, "up to 1 min"),
    (600, "up to 10 min"),
    (3600, "up to 1 h"),
    (6 * 3600, "up to 6 h"),
    (86_400, "up to 1 d"),
    (i64::MAX, "longer"),
];

/// Something for each way in which jobs are divided into classes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ByKind<T> {
    /// By entity.
    pub entities: T,
    /// By the group or account that the log names.
    pub groups: T,
    /// By queue.
    pub queues: T,
    /// By number of processors.
    pub sizes: T,
    /// By run time.
    pub lengths: T,
}

impl<T> ByKind<T> {
    /// All of them, in this order.
    pub fn each_ref(&self) -> [&T; 5] {
        [
            &self.entities,
            &self.groups,
            &self.queues,
            &self.sizes,
            &self.lengths,
        ]
    }
}

impl<T> From<[T; 5]> for ByKind<T> {
    fn from([entities, groups, queues, sizes, lengths]: [T; 5]) -> Self {
        Self {
            entities,
            groups,
            queues,
            sizes,
            lengths,
        }
    }
}

/// A way in which jobs are divided into classes.
pub struct Kind {
    /// The index of the class of a job.
    index: fn(&WorkloadJob) -> usize,
    /// The name of a class; `None` for jobs that are in no class.
    name: fn(&Workload, usize) -> Option<String>,
    /// Whether the indices order the classes.
    pub is_ordered: bool,
}

/// A class with its jobs.
pub struct Class<'j, J> {
    pub name: String,
    pub jobs: Vec<&'j J>,
}

/// In the order of [`ByKind`].
pub const KINDS: [Kind; 5] = [
    Kind {
        index: |job| job.entity as usize,
        // jobs whose entity the log does not say are not one entity
        name: |workload, index| {
            let name = workload.entities()[index].to_string();
            (!name.is_empty()).then_some(name)
        },
        is_ordered: false,
    },
    Kind {
        index: |job| job.group as usize,
        name: |workload, index| Some(workload.groups()[index].to_string()),
        is_ordered: false,
    },
    Kind {
        index: |job| job.queue as usize,
        name: |workload, index| Some(workload.queues()[index].to_string()),
        is_ordered: false,
    },
    Kind {
        index: |job| size_class(job.processors),
        name: |_, class| Some(size_class_name(class)),
        is_ordered: true,
    },
    Kind {
        index: |job| length_class(job.duration()),
        name: |_, class| Some(length_class_name(class)),
        is_ordered: true,
    },
];

impl Kind {
    /// The classes of some jobs, in the order of their indices.
    pub fn classes<'j, J>(
        &self,
        workload: &Workload,
        jobs: &'j [J],
        job_of: fn(&J) -> &WorkloadJob,
    ) -> Vec<Class<'j, J>> {
        let mut members: BTreeMap<usize, Vec<&J>> = BTreeMap::new();
        for job in jobs {
            let index = (self.index)(job_of(job));
            members.entry(index).or_default().push(job);
        }
        let mut classes = Vec::new();
        for (index, jobs) in members {
            if let Some(name) = (self.name)(workload, index) {
                classes.push(Class { name, jobs });
            }
        }
        classes
    }
}

/// The class of sizes that a number of processors belongs to.
pub fn size_class(processors: u32) -> usize {
    SIZE_CLASSES.partition_point(|&most| most < processors)
}

pub fn size_class_name(class: usize) -> String {
    let first = if class == 0 {
        1
    } else {
        SIZE_CLASSES[class - 1] + 1
    };
    match SIZE_CLASSES.get(class) {
        Some(&most) if most == first => most.to_string(),
        Some(most) => format!("{first}-{most}"),
        None => format!("{first} and more"),
    }
}

pub fn length_class(seconds: i64) -> usize {
    LENGTH_CLASSES.partition_point(|(most, _)| *most < seconds)
}

pub fn length_class_name(class: usize) -> String {
    LENGTH_CLASSES[class].1.to_owned()
}
