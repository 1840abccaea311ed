//! A workload simulated under two formulas, side by side: as JSON and CSV.

use std::collections::HashMap;
use std::io::{self, Write};

use job_sort_formula::rank::OldNew;
use jsf_simulate::{
    ByKind, Difference, GroupDifference, GroupStatistics, Shake, Validation, Whole,
};
use serde::Serialize;

use crate::answer::{Answer, Format};
use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::view::simulated_change_document;
use crate::view::csv_writer::{Cells, CsvWriter, guarded_names};
use crate::view::document::Document;

/// The header of the comma-separated values.
const CSV_HEADER: &str = "id,entity,queue,processors,submit,old_start,new_start,old_wait,new_wait,\
                          difference,old_end,new_end,warm_up";

/// A log simulated under two formulas, as its JSON has it.
#[derive(Debug, Serialize)]
pub struct SimulatedChangeReport<'a> {
    /// Both sides, of the same workload.
    #[serde(flatten)]
    pub sides: OldNew<SimulationReport<'a>>,
    /// The warnings that both sides have: those about the machine and the log.
    pub warnings: Vec<String>,
    /// How far the waits under the old formula are from those in the log, if it has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// What differs.
    pub difference: Compared,
}

/// What differs, with the numbers that need both sides.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// What differs between the schedules.
    #[serde(flatten)]
    pub schedules: Difference,
    utilisation: f64,
    makespan: i64,
    #[serde(flatten)]
    pub(crate) classes: ByKind<Vec<ComparedGroup>>,
    /// That of the intervals.
    confidence: f64,
    /// What moved submissions make of the changes, if that was asked for.
    pub shake: Option<Shake>,
}

/// A group, and its waits under both formulas.
#[derive(Debug, Serialize)]
pub(crate) struct ComparedGroup {
    #[serde(flatten)]
    pub(crate) change: GroupDifference,
    pub(crate) median_wait: OldNew<Whole>,
    pub(crate) p95_wait: OldNew<Whole>,
    pub(crate) within_hour: OldNew<f64>,
}

impl<'a> SimulatedChangeReport<'a> {
    /// The answer about two simulations of the same workload.
    pub fn new(sides: OldNew<SimulationReport<'a>>, shake: Option<Shake>) -> Self {
        let OldNew { old, new } = &sides;
        let (workload, warm_up) = (old.jobs.workload, old.statistics.warm_up);
        let [before, after] = [&old.jobs.schedule, &new.jobs.schedule];
        let schedules = Difference::new(workload, before, after, warm_up);
        let mut warnings = old.warnings.clone();
        warnings.retain(|warning| new.warnings.contains(warning));
        let (of_old, of_new) = (&old.statistics, &new.statistics);
        let changes = schedules.classes.each_ref();
        let old_groups = of_old.classes.each_ref();
        let new_groups = of_new.classes.each_ref();
        let classes = std::array::from_fn(|kind| {
            compared_groups(changes[kind], old_groups[kind], new_groups[kind])
        });
        let difference = Compared {
            utilisation: of_new.summary.utilisation - of_old.summary.utilisation,
            makespan: of_new.summary.makespan - of_old.summary.makespan,
            classes: ByKind::from(classes),
            confidence: 0.95,
            shake,
            schedules,
        };
        Self {
            warnings,
            validation: Validation::new(workload, before, warm_up),
            difference,
            sides,
        }
    }
}

impl Answer for SimulatedChangeReport<'_> {
    fn document(&self) -> Document<'_> {
        simulated_change_document(self)
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job that starts in both.
    fn write_as(&self, _format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        let OldNew { old, new } = &self.sides;
        let mut csv = CsvWriter::new(CSV_HEADER, out)?;
        for (index, job) in old.jobs.started() {
            let Some(new_start) = new.jobs.schedule.start(index) else {
                continue;
            };
            let names = guarded_names([job.id, job.entity, job.queue], cells);
            let old_wait = job.start - job.submit;
            let new_wait = new_start - job.submit;
            let times = [
                job.submit,
                job.start,
                new_start,
                old_wait,
                new_wait,
                new_wait - old_wait,
            ];
            let ends = [job.end, new_start + (job.end - job.start)];
            let is_warm_up = old.is_warm_up(job.submit);
            csv.write((names, job.processors, times, ends, is_warm_up))?;
        }
        csv.finish()
    }
}

/// The groups that have jobs on both sides, each with its waits.
fn compared_groups(
    changes: &[GroupDifference],
    old: &[GroupStatistics],
    new: &[GroupStatistics],
) -> Vec<ComparedGroup> {
    let [old, new] = [old, new].map(by_name);
    let mut compared = Vec::with_capacity(changes.len());
    for change in changes {
        let name = &*change.name;
        if let (Some(old), Some(new)) = (old.get(name), new.get(name)) {
            compared.push(ComparedGroup {
                change: change.clone(),
                median_wait: OldNew::new(old.wait.median, new.wait.median).map(Whole),
                p95_wait: OldNew::new(old.wait.p95, new.wait.p95).map(Whole),
                within_hour: OldNew::new(old.within_hour, new.within_hour),
            });
        }
    }
    compared
}

fn by_name(groups: &[GroupStatistics]) -> HashMap<&str, &GroupStatistics> {
    groups.iter().map(|group| (&*group.name, group)).collect()
}
