//! A workload simulated under two formulas, side by side: as JSON and CSV.

use std::collections::HashMap;
use std::io::{self, Write};

use job_sort_formula::rank::OldNew;
use jsf_simulate::{Classes, Difference, GroupDifference, GroupStatistics, MeanChange, Shake, Validation};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::answer::{Answer, Format};
use crate::commands::simulate::answer::{
    SimulationReport, core_seconds, number, shake_json, validation_json, warnings_json,
};
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
        members.serialize_entry("warnings", &warnings_json(self.common_warnings()))?;
        if let Some(validation) = self.validation {
            members.serialize_entry("validation", &validation_json(validation))?;
        }
        members.serialize_entry("difference", &self.difference_json())?;
        members.end()
    }
}

/// A group, and its waits under both formulas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComparedGroup<'a> {
    pub(crate) change: &'a GroupDifference,
    pub(crate) sides: OldNew<&'a GroupStatistics>,
}

impl SimulatedChangeReport<'_> {
    /// The warnings that both sides have: those about the machine and the log.
    pub(crate) fn common_warnings(&self) -> Vec<&String> {
        let OldNew { old, new } = self.sides;
        old.warnings.iter().filter(|warning| new.warnings.contains(warning)).collect()
    }

    /// Whether hardly any job waits under either formula.
    pub(crate) fn has_no_waits(&self) -> bool {
        self.sides.old.has_no_waits && self.sides.new.has_no_waits
    }

    fn difference_json(&self) -> Json {
        let difference = self.difference;
        let OldNew { old, new } = self.sides;
        let summaries = [old, new].map(|side| side.statistics.summary);
        let statistics = self.sides.map(|side| side.statistics);
        json!({
            "jobs": difference.jobs,
            "longer": difference.longer,
            "shorter": difference.shorter,
            "only_old": difference.only_old,
            "only_new": difference.only_new,
            "mean_wait": change_json(&difference.wait),
            "mean_wait_per_core_hour": change_json(&difference.wait_per_core_hour),
            "mean_bounded_slowdown": change_json(&difference.bounded_slowdown),
            "utilisation": summaries[1].utilisation - summaries[0].utilisation,
            "makespan": summaries[1].makespan - summaries[0].makespan,
            "entities": groups_json(&difference.entities, statistics.map(|side| &*side.entities)),
            "groups": groups_json(&difference.groups, statistics.map(|side| &*side.groups)),
            "queues": groups_json(&difference.queues, statistics.map(|side| &*side.queues)),
            "sizes": groups_json(&difference.sizes, statistics.map(|side| &*side.sizes)),
            "lengths": groups_json(&difference.lengths, statistics.map(|side| &*side.lengths)),
            "confidence": 0.95,
            "block_seconds": difference.block_seconds,
            "blocks": difference.blocks,
            "shake": self.shake.map_or(Json::Null, shake_json),
        })
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
            let times = [job.submit, job.start, new_start, old_wait, new_wait, new_wait - old_wait];
            let ends = [job.end, new_start + (job.end - job.start)];
            Some((names, job.processors, times, ends, old.is_warm_up(job.submit)))
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
        Some(ComparedGroup { change, sides: OldNew { old: old.get(name)?, new: new.get(name)? } })
    });
    compared.collect()
}

fn by_name(groups: &[GroupStatistics]) -> HashMap<&str, &GroupStatistics> {
    groups.iter().map(|group| (&*group.name, group)).collect()
}

fn groups_json(classes: &Classes, sides: OldNew<&[GroupStatistics]>) -> Json {
    let groups = compared_groups(classes, sides).into_iter().map(|ComparedGroup { change, sides }| {
        json!({
            "name": change.name,
            "jobs": change.jobs,
            "core_seconds": core_seconds(change.core_seconds),
            "mean_wait": change_json(&change.wait),
            "median_wait": sides_json(sides.map(|side| number(side.wait.median))),
            "p95_wait": sides_json(sides.map(|side| number(side.wait.p95))),
            "within_hour": sides_json(sides.map(|side| json!(side.within_hour))),
        })
    });
    groups.collect()
}

fn sides_json(sides: OldNew<Json>) -> Json {
    json!({"old": sides.old, "new": sides.new})
}

/// A change with its interval; that has no ends where there are too few jobs for one, and without a job there are no means.
fn change_json(change: &MeanChange) -> Json {
    if change.jobs == 0 {
        return json!({"old": null, "new": null, "difference": null, "low": null, "high": null, "significant": false});
    }
    let MeanChange { old, new, .. } = *change;
    let [low, high] = change.interval().map_or([None, None], |ends| ends.map(Some));
    json!({"old": old, "new": new, "difference": change.difference(), "low": low, "high": high,
        "significant": change.is_significant()})
}
