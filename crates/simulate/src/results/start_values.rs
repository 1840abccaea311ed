//! The values that jobs have when they start, by the processors and the time that they ask for:
//! which value such a job needs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::job_classes::{length_class, length_class_name, size_class, size_class_name};
use crate::schedule::Schedule;
use crate::workload::Workload;

/// The values of the jobs of a class at their starts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StartValues {
    /// The processors that they ask for.
    #[serde(rename = "processors")]
    pub size: String,
    /// The time that they ask for.
    pub walltime: String,
    /// The number of jobs that start with a value.
    pub jobs: usize,
    /// The least value that is not below a tenth of all.
    pub p10: f64,
    /// The median; of an even number of values the mean of the two in the middle.
    pub median: f64,
}

impl StartValues {
    /// The values of the jobs that were submitted at least `warm_up` seconds after the first one,
    /// for each class that has some.
    pub fn of_classes(workload: &Workload, schedule: &Schedule, warm_up: i64) -> Vec<Self> {
        let mut classes: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for index in workload.after_warm_up(warm_up) {
            let job = &workload.jobs()[index];
            if let Some(value) = schedule.start_value(index) {
                let class = (size_class(job.processors), length_class(job.walltime));
                classes.entry(class).or_default().push(value);
            }
        }
        classes
            .into_iter()
            .map(|((size, walltime), values)| Self::new(size, walltime, values))
            .collect()
    }

    fn new(size: usize, walltime: usize, mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let jobs = values.len();
        Self {
            size: size_class_name(size),
            walltime: length_class_name(walltime),
            jobs,
            p10: values[jobs.div_ceil(10) - 1],
            median: (values[(jobs - 1) / 2] + values[jobs / 2]) / 2.0,
        }
    }
}
