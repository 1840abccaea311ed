//! A workload simulated under two formulas, side by side: as tables, JSON and CSV.

use std::io::{self, Write};

use job_sort_formula::rank::OldNew;
use jsf_simulate::{Difference, GroupDifference, MeanChange};
use serde_json::{Value as Json, json};

use super::byte_buffer::ByteBuffer;
use super::rank_csv::push_text;
use super::rank_human::count;
use super::simulation::{SimulationReport, seconds, write_fairness, write_periods};
use super::table::{Column, write_table};
use super::{printable, waiting_time};

/// A table of more entities or groups shows half as many from either end.
const MAX_GROUPS: usize = 20;
/// The width of a heading.
const LABEL: usize = 18;

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

    /// Writes a sentence and tables for people, fitted into `width` characters if there is a limit.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_human(&self, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        let OldNew { old, new } = self.sides;
        let difference = self.difference;
        writeln!(out, "{}\n", printable(&sentence(difference)))?;
        for (heading, text) in old.rules {
            let other = new.rules.iter().find(|(known, _)| known == heading).map(|(_, text)| text);
            match other {
                Some(other) if other != text => {
                    writeln!(out, "{heading:LABEL$} old {}", printable(text))?;
                    writeln!(out, "{:LABEL$} new {}", "", printable(other))?;
                }
                _ => writeln!(out, "{heading:LABEL$} {}", printable(text))?,
            }
        }
        let [before, after] = [old, new].map(|side| side.statistics.summary);
        let rows = [
            ("mean wait", before.wait.mean, after.wait.mean),
            ("median wait", before.wait.median, after.wait.median),
            ("95 % of the waits", before.wait.p95, after.wait.p95),
            ("longest wait", before.wait.max, after.wait.max),
        ];
        let mut rows: Vec<Vec<String>> =
            rows.map(|(name, old, new)| vec![name.to_owned(), seconds(old), seconds(new), signed(new - old)]).into();
        let slowdowns = [before.bounded_slowdown.mean, after.bounded_slowdown.mean];
        let fractions = [before.utilisation * 100.0, after.utilisation * 100.0];
        for (name, [old, new], unit) in [("mean bounded slowdown", slowdowns, ""), ("utilisation", fractions, " %")] {
            let number = |number: f64| format!("{number:.1}{unit}");
            let points = if unit.is_empty() { "" } else { " points" };
            rows.push(vec![name.to_owned(), number(old), number(new), format!("{:+.1}{points}", new - old)]);
        }
        if let (Some(old), Some(new)) = (old.fairness, new.fairness) {
            let percent = |part: f64| format!("{:.1} %", part * 100.0);
            if let (Some(old), Some(new)) = (old.jain, new.jain) {
                rows.push(vec![
                    "Jain's index of shares".to_owned(),
                    format!("{old:.2}"),
                    format!("{new:.2}"),
                    format!("{:+.2}", new - old),
                ]);
            }
            rows.push(vec![
                "used by others (Hoover)".to_owned(),
                percent(old.hoover),
                percent(new.hoover),
                format!("{:+.1} points", (new.hoover - old.hoover) * 100.0),
            ]);
        }
        let heading = ["old", "new", "difference"].map(|heading| Column::number(heading, 5));
        writeln!(out)?;
        write_table([vec![Column::name("all jobs", 9)], heading.into()].concat(), &rows, width, out)?;
        for (heading, groups) in [
            ("entity", &difference.entities),
            ("group", &difference.groups),
            ("queue", &difference.queues),
            ("processors", &difference.sizes),
            ("run time", &difference.lengths),
        ] {
            write_groups(heading, groups, width, out)?;
        }
        write_periods(&[("old", old), ("new", new)], width, out)?;
        if let (Some(old), Some(new)) = (old.fairness, new.fairness) {
            write_fairness(&[("old", old), ("new", new)], width, out)?;
        }
        writeln!(
            out,
            "\nThe interval contains the difference with a confidence of 95 %: a bootstrap over {} of {}. A * marks those that\n\
             do not contain 0.",
            count(difference.blocks, "block"),
            waiting_time(difference.block_seconds)
        )
    }
}

fn change_json(change: &MeanChange) -> Json {
    let MeanChange { old, new, low, high } = *change;
    json!({"old": old, "new": new, "difference": change.difference(), "low": low, "high": high})
}

pub(super) fn sentence(difference: &Difference) -> String {
    if difference.jobs == 0 {
        return "No job starts under both formulas.".to_owned();
    }
    let Difference { jobs, longer, shorter, wait, .. } = difference;
    let amount = seconds(wait.difference().abs());
    let mut sentence = match wait.difference() {
        0.0 => format!("{} wait as long under both formulas on average", count(*jobs, "job")),
        change => format!(
            "{} wait {amount} {} on average under the new formula{}",
            count(*jobs, "job"),
            if change > 0.0 { "longer" } else { "less" },
            if wait.is_significant() { "" } else { ", which may be chance" }
        ),
    };
    sentence += &format!(": {longer} longer, {shorter} less, {} alike", jobs - longer - shorter);
    let hurt = [(&difference.entities, "entities", "`", "`"), (&difference.sizes, "sizes of jobs", "", " processors")];
    let hurt = hurt.into_iter().filter_map(|(groups, what, before, after)| {
        let longer = || groups.iter().filter(|group| group.wait.low > 0.0);
        let most = longer().max_by(|one, other| one.wait.difference().total_cmp(&other.wait.difference()))?;
        let (count, amount) = (longer().count(), seconds(most.wait.difference()));
        Some(format!("{count} of {} {what}, most {before}{}{after} ({amount} more)", groups.len(), most.name))
    });
    let hurt: Vec<String> = hurt.collect();
    if !hurt.is_empty() {
        sentence += &format!(". More than chance would explain, it hurts {}", hurt.join(", and "));
    }
    sentence + "."
}

/// A change of a time, in words.
fn signed(change: f64) -> String {
    match change {
        change if change.round() == 0.0 => "0".to_owned(),
        change if change > 0.0 => format!("+{}", seconds(change)),
        change => format!("-{}", seconds(-change)),
    }
}

fn write_groups(
    heading: &str,
    groups: &[GroupDifference],
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if groups.len() < 2 {
        return Ok(());
    }
    let half = MAX_GROUPS / 2;
    let is_shown = |index: usize| groups.len() <= MAX_GROUPS || index < half || index >= groups.len() - half;
    let row = |(_, group): (usize, &GroupDifference)| {
        let MeanChange { old, new, low, high } = group.wait;
        let name = if group.name.is_empty() { "-".to_owned() } else { group.name.clone() };
        let mark = if group.wait.is_significant() { "*" } else { "" };
        let interval = format!("{} to {}", signed(low), signed(high));
        let change = signed(group.wait.difference());
        vec![name, group.jobs.to_string(), seconds(old), seconds(new), change, interval, mark.to_owned()]
    };
    let rows: Vec<Vec<String>> = groups.iter().enumerate().filter(|(index, _)| is_shown(*index)).map(row).collect();
    let columns = vec![
        Column::id(heading, 9),
        Column::number("jobs", 4),
        Column::number("old mean wait", 6),
        Column::number("new mean wait", 6),
        Column::number("difference", 8),
        Column::number("interval", 7),
        Column::text("", 7),
    ];
    writeln!(out)?;
    let left = groups.len() - rows.len();
    write_table(columns, &rows, width, out)?;
    if left > 0 {
        writeln!(out, "and {left} more between them; --format json lists all")?;
    }
    Ok(())
}
