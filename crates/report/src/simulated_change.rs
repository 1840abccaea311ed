//! A workload simulated under two formulas, side by side: as JSON and CSV.

use std::io::{self, Write};

use job_sort_formula::rank::OldNew;
use jsf_simulate::{Difference, GroupDifference, MeanChange};
use serde_json::{Value as Json, json};

use super::byte_buffer::ByteBuffer;
use super::rank_csv::push_text;
use super::simulation::SimulationReport;

/// Two simulated sides, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedChangeReport<'a> {
    /// Both sides, of the same workload.
    pub sides: &'a OldNew<SimulationReport<'a>>,
    /// What differs.
    pub difference: &'a Difference,
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
        writeln!(out, ",\n\"difference\":{}}}", self.difference_json())
    }

    fn difference_json(&self) -> Json {
        let difference = self.difference;
        let groups = |groups: &[GroupDifference]| -> Json {
            let group = |group: &GroupDifference| json!({"name": group.name, "jobs": group.jobs, "mean_wait": change_json(&group.wait)});
            groups.iter().map(group).collect()
        };
        let OldNew { old, new } = self.sides;
        let summaries = [old, new].map(|side| side.statistics.summary);
        json!({
            "jobs": difference.jobs,
            "longer": difference.longer,
            "shorter": difference.shorter,
            "mean_wait": change_json(&difference.wait),
            "mean_bounded_slowdown": change_json(&difference.bounded_slowdown),
            "utilisation": summaries[1].utilisation - summaries[0].utilisation,
            "makespan": summaries[1].makespan - summaries[0].makespan,
            "entities": groups(&difference.entities),
            "groups": groups(&difference.groups),
            "queues": groups(&difference.queues),
            "sizes": groups(&difference.sizes),
            "lengths": groups(&difference.lengths),
            "confidence": 0.95,
            "block_seconds": difference.block_seconds,
            "blocks": difference.blocks,
        })
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job that starts in both. `for_spreadsheets` is as in
    /// [`Csv`](super::Csv).
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_csv(&self, for_spreadsheets: bool, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"id,entity,queue,processors,submit,old_start,new_start,old_wait,new_wait,difference\n")?;
        let OldNew { old, new } = self.sides;
        let mut line = Vec::new();
        for (index, job) in old.jobs() {
            let Some(new_start) = new.schedule.start(index) else { continue };
            line.clear();
            let mut text = ByteBuffer::new(&mut line);
            for field in [job.id, job.entity, job.queue] {
                push_text(field, for_spreadsheets, &mut text);
                text.push_byte(b',');
            }
            let (wait, new_wait) = (job.start - job.submit, new_start - job.submit);
            let (processors, submit, start, change) = (job.processors, job.submit, job.start, new_wait - wait);
            text.push_str(&format!("{processors},{submit},{start},{new_start},{wait},{new_wait},{change}\n"));
            text.finish();
            out.write_all(&line)?;
        }
        Ok(())
    }
}

fn change_json(change: &MeanChange) -> Json {
    let MeanChange { old, new, low, high } = *change;
    json!({"old": old, "new": new, "difference": change.difference(), "low": low, "high": high})
}
