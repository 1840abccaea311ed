//! A workload simulated under two formulas, side by side: as JSON and CSV.

use std::collections::HashMap;
use std::io::{self, Write};

use job_sort_formula::rank::OldNew;
use jsf_simulate::{
    Classes, Difference, GroupDifference, GroupStatistics, Shake, Validation, Whole,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::answer::{Answer, Format};
use crate::commands::simulate::answer::{SimulationReport, bare_warnings};
use crate::commands::simulate::view::simulated_change_document;
use crate::view::csv_writer::{Cells, guarded, write_csv};
use crate::view::document::Document;

/// The header of the comma-separated values.
const CSV_HEADER: [&str; 13] = [
    "id",
    "entity",
    "queue",
    "processors",
    "submit",
    "old_start",
    "new_start",
    "old_wait",
    "new_wait",
    "difference",
    "old_end",
    "new_end",
    "warm_up",
];

/// Two simulated sides, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedChangeReport<'a> {
    /// Both sides, of the same workload.
    pub sides: &'a OldNew<SimulationReport<'a>>,
    /// What differs.
    pub difference: &'a Difference,
    /// How far the waits under the old formula are from those in the log, if it has them.
    pub validation: Option<&'a Validation>,
    /// What moved submissions make of the changes, if that was asked for.
    pub shake: Option<&'a Shake>,
    /// The findings about either formula, as they are drawn in a terminal.
    pub findings: OldNew<&'a [String]>,
}

impl Answer for SimulatedChangeReport<'_> {
    fn document(&self) -> Document<'_> {
        simulated_change_document(*self)
    }

    fn write_as(&self, _format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        self.write_csv(cells, out)
    }
}

impl Serialize for SimulatedChangeReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("old", &self.sides.old)?;
        members.serialize_entry("new", &self.sides.new)?;
        members.serialize_entry("warnings", &bare_warnings(self.common_warnings()))?;
        if let Some(validation) = self.validation {
            members.serialize_entry("validation", validation)?;
        }
        members.serialize_entry("difference", &self.compared())?;
        members.end()
    }
}

/// What differs, with the numbers that need both sides.
#[derive(Serialize)]
struct Compared<'a> {
    #[serde(flatten)]
    difference: &'a Difference,
    utilisation: f64,
    makespan: i64,
    entities: Vec<ComparedGroup<'a>>,
    groups: Vec<ComparedGroup<'a>>,
    queues: Vec<ComparedGroup<'a>>,
    sizes: Vec<ComparedGroup<'a>>,
    lengths: Vec<ComparedGroup<'a>>,
    /// That of the intervals.
    confidence: f64,
    shake: Option<&'a Shake>,
}

/// A group, and its waits under both formulas.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ComparedGroup<'a> {
    #[serde(flatten)]
    pub(crate) change: &'a GroupDifference,
    #[serde(flatten, serialize_with = "serialize_waits")]
    pub(crate) sides: OldNew<&'a GroupStatistics>,
}

fn serialize_waits<S: Serializer>(
    sides: &OldNew<&GroupStatistics>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_map(None)?;
    members.serialize_entry("median_wait", &sides.map(|side| Whole(side.wait.median)))?;
    members.serialize_entry("p95_wait", &sides.map(|side| Whole(side.wait.p95)))?;
    members.serialize_entry("within_hour", &sides.map(|side| side.within_hour))?;
    members.end()
}

impl SimulatedChangeReport<'_> {
    /// The warnings that both sides have: those about the machine and the log.
    pub(crate) fn common_warnings(&self) -> Vec<&String> {
        let OldNew { old, new } = self.sides;
        old.warnings
            .iter()
            .filter(|warning| new.warnings.contains(warning))
            .collect()
    }

    /// Whether hardly any job waits under either formula.
    pub(crate) fn has_no_waits(&self) -> bool {
        self.sides.old.has_no_waits && self.sides.new.has_no_waits
    }

    fn compared(&self) -> Compared<'_> {
        let difference = self.difference;
        let OldNew { old, new } = self.sides.map(|side| side.statistics);
        let groups = |classes, old, new| compared_groups(classes, OldNew { old, new });
        Compared {
            difference,
            utilisation: new.summary.utilisation - old.summary.utilisation,
            makespan: new.summary.makespan - old.summary.makespan,
            entities: groups(&difference.entities, &old.entities, &new.entities),
            groups: groups(&difference.groups, &old.groups, &new.groups),
            queues: groups(&difference.queues, &old.queues, &new.queues),
            sizes: groups(&difference.sizes, &old.sizes, &new.sizes),
            lengths: groups(&difference.lengths, &old.lengths, &new.lengths),
            confidence: 0.95,
            shake: self.shake,
        }
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job that starts in both.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_csv(&self, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        let OldNew { old, new } = self.sides;
        let records = old.jobs().filter_map(|(index, job)| {
            let new_start = new.schedule.start(index)?;
            let names = [job.id, job.entity, job.queue].map(|name| guarded(name, cells));
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
            Some((
                names,
                job.processors,
                times,
                ends,
                old.is_warm_up(job.submit),
            ))
        });
        write_csv(&CSV_HEADER, records, out)
    }
}

/// The groups of a comparison, each with its numbers under both formulas.
pub(crate) fn compared_groups<'a>(
    classes: &'a Classes,
    sides: OldNew<&'a [GroupStatistics]>,
) -> Vec<ComparedGroup<'a>> {
    let OldNew { old, new } = sides.map(by_name);
    let compared = classes.groups.iter().filter_map(|change| {
        let name = &*change.name;
        Some(ComparedGroup {
            change,
            sides: OldNew {
                old: old.get(name)?,
                new: new.get(name)?,
            },
        })
    });
    compared.collect()
}

fn by_name(groups: &[GroupStatistics]) -> HashMap<&str, &GroupStatistics> {
    groups.iter().map(|group| (&*group.name, group)).collect()
}
