//! A workload simulated under two formulas, side by side: as JSON and CSV.

use std::io::{self, Write};

use job_sort_formula::rank::OldNew;
use jsf_simulate::{Difference, GroupDifference, MeanChange, Shake, Validation};
use serde_json::{Value as Json, json};

use super::csv_writer::{guarded, write_csv};
use super::simulation::{SimulationReport, core_seconds, shake_json, validation_json};

/// The header of the comma-separated values.
const CSV_HEADER: [&str; 10] =
    ["id", "entity", "queue", "processors", "submit", "old_start", "new_start", "old_wait", "new_wait", "difference"];

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
}

impl SimulatedChangeReport<'_> {
    /// Writes one JSON document with both sides and the difference.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"old\":")?;
        self.sides.old.write_side(out)?;
        out.write_all(b",\n\"new\":")?;
        self.sides.new.write_side(out)?;
        if let Some(validation) = self.validation {
            write!(out, ",\n\"validation\":{}", validation_json(validation))?;
        }
        writeln!(out, ",\n\"difference\":{}}}", self.difference_json())
    }

    fn difference_json(&self) -> Json {
        let difference = self.difference;
        let OldNew { old, new } = self.sides;
        let summaries = [old, new].map(|side| side.statistics.summary);
        json!({
            "jobs": difference.jobs,
            "longer": difference.longer,
            "shorter": difference.shorter,
            "mean_wait": change_json(&difference.wait),
            "mean_wait_per_core_hour": change_json(&difference.wait_per_core_hour),
            "mean_bounded_slowdown": change_json(&difference.bounded_slowdown),
            "utilisation": summaries[1].utilisation - summaries[0].utilisation,
            "makespan": summaries[1].makespan - summaries[0].makespan,
            "entities": groups_json(&difference.entities.groups),
            "groups": groups_json(&difference.groups.groups),
            "queues": groups_json(&difference.queues.groups),
            "sizes": groups_json(&difference.sizes.groups),
            "lengths": groups_json(&difference.lengths.groups),
            "confidence": 0.95,
            "block_seconds": difference.block_seconds,
            "blocks": difference.blocks,
            "shake": self.shake.map_or(Json::Null, shake_json),
        })
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job that starts in both. `for_spreadsheets` is as in
    /// [`Csv`](super::Csv).
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_csv(&self, for_spreadsheets: bool, out: &mut dyn Write) -> io::Result<()> {
        let OldNew { old, new } = self.sides;
        let records = old.jobs().filter_map(|(index, job)| {
            let new_start = new.schedule.start(index)?;
            let names = [job.id, job.entity, job.queue].map(|name| guarded(name, for_spreadsheets));
            let old_wait = job.start - job.submit;
            let new_wait = new_start - job.submit;
            let times = [job.submit, job.start, new_start, old_wait, new_wait, new_wait - old_wait];
            Some((names, job.processors, times))
        });
        write_csv(&CSV_HEADER, records, out)
    }
}

fn groups_json(groups: &[GroupDifference]) -> Json {
    let groups = groups.iter().map(|group| {
        json!({
            "name": group.name,
            "jobs": group.jobs,
            "core_seconds": core_seconds(group.core_seconds),
            "mean_wait": change_json(&group.wait),
        })
    });
    groups.collect()
}

/// A change with its interval; that has no ends where there are too few jobs for one.
fn change_json(change: &MeanChange) -> Json {
    let MeanChange { old, new, .. } = *change;
    let [low, high] = change.interval().map_or([None, None], |ends| ends.map(Some));
    json!({"old": old, "new": new, "difference": change.difference(), "low": low, "high": high,
        "significant": change.is_significant()})
}
