//! Simulated queues: recorded cases, a reference simulator in Python, and properties of every
//! schedule.

mod candidates;
mod claims;
mod comparisons;
mod identical_processors;
mod incomplete;
mod logs;
mod names;
mod placement;
mod preemption;
mod properties;
mod random_workloads;
mod reading;
mod recorded_cases;
mod site_rules;
mod start_values;
mod times;

use std::sync::Arc;

use job_sort_formula::Formula;
use job_sort_formula::fairshare::PolicyRules;
use jsf_openpbs::NumberMode;
use jsf_simulate::{Backfill, LogRules, Observer, OrderRules, Schedule, SimulationRules, Workload};
use jsf_site::{
    FileSource, Role, SimulatedQueue, SimulationOptions, Site, SiteError, SiteFiles, SiteOptions,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A workload and what it is simulated with.
#[derive(Debug, Clone, Deserialize, Serialize)]
struct Case {
    /// The text of a log, or the name of a file with it.
    workload: String,
    processors: u32,
    formula: String,
    backfill: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decay: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decay_factor: Option<f64>,
}

fn bytes(name: &str, content: &str) -> FileSource {
    FileSource::Bytes {
        name: name.to_owned(),
        bytes: Arc::from(content.as_bytes()),
    }
}

fn read(log: &str) -> Workload {
    open_workload(&[bytes("log", log)]).expect("a log")
}

fn read_by(log: &str, rules: LogRules) -> Workload {
    let site = Site::from_files(SiteFiles::default(), SiteOptions::default()).expect("a site");
    site.open_workload(&[bytes("log", log)], &[], rules)
        .expect("a log")
}

/// Reads logs for formulas that need nothing besides.
fn open_workload(logs: &[FileSource]) -> Result<Workload, SiteError> {
    Site::from_files(SiteFiles::default(), SiteOptions::default())?.open_workload(
        logs,
        &[],
        LogRules::default(),
    )
}

/// The id, entity, group, queue, submission, run time, walltime and processors of each job.
fn described(workload: &Workload) -> Vec<String> {
    let describe = |(index, job): (usize, &jsf_simulate::WorkloadJob)| {
        let names = [
            &workload.entities()[job.entity as usize],
            &workload.groups()[job.group as usize],
        ];
        let queue = &workload.queues()[job.queue as usize];
        let (id, [entity, group]) = (workload.id(index), names);
        format!(
            "{id} {entity} {group} {queue} {} {} {} {}",
            job.submit, job.run, job.walltime, job.processors
        )
    };
    workload.jobs().iter().enumerate().map(describe).collect()
}

impl Case {
    fn backfill(&self) -> Backfill {
        match self.backfill.as_str() {
            "easy" => Backfill::Easy,
            "greedy" => Backfill::Greedy,
            "none" => Backfill::None,
            other => panic!("backfill {other}"),
        }
    }

    fn run(&self, workload: &Workload, observer: &mut dyn Observer) -> Schedule {
        self.simulate(workload, observer).schedule
    }

    fn simulate(&self, workload: &Workload, observer: &mut dyn Observer) -> SimulatedQueue {
        let tree = self
            .tree
            .as_ref()
            .map(|tree| (Role::Tree, bytes("tree", &tree.to_string())));
        let rules = SiteOptions {
            rules: PolicyRules::Documented,
            numbers: NumberMode::Exact,
            ..SiteOptions::default()
        };
        let site =
            Site::from_files(tree.into_iter().collect::<SiteFiles>(), rules).expect("a tree");
        let formula = Formula::parse(&self.formula).expect("a formula");
        let options = SimulationOptions {
            processors: Some(self.processors),
            backfill: Some(self.backfill()),
            decay_period: self.decay,
            decay_factor: self.decay_factor,
            ..SimulationOptions::default()
        };
        site.simulate(&formula, workload, options, observer)
            .expect("a schedule")
    }
}

/// The start of every job that starts, by id.
fn starts(workload: &Workload, schedule: &Schedule) -> Vec<(String, i64)> {
    let jobs = 0..workload.jobs().len();
    jobs.filter_map(|job| Some((workload.id(job).to_owned(), schedule.start(job)?)))
        .collect()
}
