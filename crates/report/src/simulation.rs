//! A simulated queue: as tables, JSON and CSV.

use std::collections::HashMap;
use std::io::{self, Write};

use jsf_simulate::{
    Distribution, EntityUse, Fairness, GroupStatistics, Period, Schedule, Statistics, Summary, Validation, Workload,
};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::byte_buffer::ByteBuffer;
use super::rank_csv::push_text;
use super::rank_human::count;
use super::table::{Column, write_table};
use super::{printable, waiting_time};

/// A table of more entities or groups shows those with the most processor time.
const MAX_GROUPS: usize = 20;
/// The width of a heading.
const LABEL: usize = 18;

/// One simulated side, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct SimulationReport<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The jobs.
    pub workload: &'a Workload,
    /// When they start.
    pub schedule: &'a Schedule,
    /// The numbers.
    pub statistics: &'a Statistics,
    /// What the entities use against their shares, if there is a fair-share tree.
    pub fairness: Option<&'a Fairness>,
    /// How far the waits are from those in the log, if that was asked for.
    pub validation: Option<&'a Validation>,
    /// What is shown above the tables: a heading and a text each.
    pub rules: &'a [(&'static str, String)],
}

#[derive(Serialize)]
pub(super) struct JobLine<'a> {
    pub(super) id: &'a str,
    pub(super) entity: &'a str,
    pub(super) queue: &'a str,
    pub(super) processors: u32,
    pub(super) submit: i64,
    pub(super) start: i64,
    end: i64,
}

impl<'a> SimulationReport<'a> {
    /// When the first job of the log is submitted.
    pub(super) fn first_submission(&self) -> i64 {
        self.workload.jobs().first().map_or(0, |job| job.submit)
    }

    /// The jobs that start, with their indices.
    pub(super) fn jobs(&self) -> impl Iterator<Item = (usize, JobLine<'a>)> + use<'a> {
        let (workload, schedule) = (self.workload, self.schedule);
        workload.jobs().iter().enumerate().filter_map(move |(index, job)| {
            let start = schedule.start(index)?;
            let line = JobLine {
                id: workload.id(index),
                entity: &workload.entities()[job.entity as usize],
                queue: &workload.queues()[job.queue as usize],
                processors: job.processors,
                submit: job.submit,
                start,
                end: start + job.duration(),
            };
            Some((index, line))
        })
    }

    /// Writes one JSON document, a line for each job.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_side(out)?;
        writeln!(out)
    }

    pub(super) fn write_side(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"formula\":{},\n\"jobs\":[", json!(self.formula))?;
        for (place, (_, job)) in self.jobs().enumerate() {
            out.write_all(if place == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, &job)?;
        }
        let statistics = self.statistics;
        let too_large: Vec<&str> = self.schedule.too_large.iter().map(|&job| self.workload.id(job)).collect();
        let errors = self.schedule.errors.kinds().map(|(kind, errors)| {
            let job = self.workload.id(errors.job);
            json!({"kind": kind, "jobs": errors.jobs, "job": job, "message": errors.message})
        });
        let parts = [
            ("summary", summary_json(&statistics.summary)),
            ("entities", self.entities_json()),
            ("groups", groups_json(&statistics.groups)),
            ("queues", groups_json(&statistics.queues)),
            ("sizes", groups_json(&statistics.sizes)),
            ("lengths", groups_json(&statistics.lengths)),
            ("over_time", statistics.periods.iter().map(period_json).collect()),
            ("fairness", self.fairness.map_or(Json::Null, fairness_json)),
            ("too_large", json!(too_large)),
            ("errors", errors.collect()),
            ("skipped_lines", json!(self.workload.faults().count())),
            ("complete", json!(self.schedule.is_complete)),
        ];
        out.write_all(b"\n]")?;
        parts.iter().try_for_each(|(key, value)| write!(out, ",\n\"{key}\":{value}"))?;
        if let Some(validation) = self.validation {
            write!(out, ",\n\"validation\":{}", validation_json(validation))?;
        }
        out.write_all(b"}")
    }

    /// The entities; with a fair-share tree also what each was promised.
    fn entities_json(&self) -> Json {
        let mut entities = groups_json(&self.statistics.entities);
        let uses = self.fairness.iter().flat_map(|fairness| &fairness.entities);
        let uses: HashMap<&str, &EntityUse> = uses.map(|used| (&*used.name, used)).collect();
        for (entity, group) in entities.as_array_mut().into_iter().flatten().zip(&self.statistics.entities) {
            let Some(used) = uses.get(&*group.name) else { continue };
            entity["perc"] = json!(used.perc);
            entity["promised_core_seconds"] = json!(used.promised);
            entity["used_of_promised"] = json!(used.ratio());
        }
        entities
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job. `for_spreadsheets` is as in [`Csv`](super::Csv).
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_csv(&self, for_spreadsheets: bool, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"id,entity,queue,processors,submit,start,end,wait\n")?;
        let mut line = Vec::new();
        for (_, job) in self.jobs() {
            line.clear();
            let mut text = ByteBuffer::new(&mut line);
            for field in [job.id, job.entity, job.queue] {
                push_text(field, for_spreadsheets, &mut text);
                text.push_byte(b',');
            }
            let (processors, wait) = (i64::from(job.processors), job.start - job.submit);
            text.push_str(&format!("{processors},{},{},{},{wait}\n", job.submit, job.start, job.end));
            text.finish();
            out.write_all(&line)?;
        }
        Ok(())
    }

    /// Writes the jobs that start in the Standard Workload Format, with their simulated waits. Ids and names that are not
    /// numbers are numbered.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_swf(&self, out: &mut dyn Write) -> io::Result<()> {
        let workload = self.workload;
        writeln!(out, "; Version: 2.2\n; Note: simulated by jsf under `{}`", printable(self.formula.trim_end()))?;
        let is_number = |name: &str| name.parse::<u64>().is_ok();
        let are_numbers = (0..workload.jobs().len()).all(|job| is_number(workload.id(job)));
        let number = |names: &[Box<str>], index: u32| match &*names[index as usize] {
            "" => "-1".to_owned(),
            name if names.iter().all(|name| name.is_empty() || is_number(name)) => name.to_owned(),
            _ => (index + 1).to_string(),
        };
        let names =
            |names: &[Box<str>]| -> Vec<String> { (0..names.len() as u32).map(|index| number(names, index)).collect() };
        let [entities, groups, queues] = [workload.entities(), workload.groups(), workload.queues()].map(names);
        for (index, line) in self.jobs() {
            let job = &workload.jobs()[index];
            let id = if are_numbers { line.id.to_owned() } else { (index + 1).to_string() };
            let (entity, group) = (&entities[job.entity as usize], &groups[job.group as usize]);
            let queue = &queues[job.queue as usize];
            let (wait, run, processors, walltime) = (line.start - job.submit, job.run, job.processors, job.walltime);
            writeln!(
                out,
                "{id} {} {wait} {run} {processors} -1 -1 {processors} {walltime} -1 1 {entity} {group} -1 {queue} -1 -1 -1",
                job.submit
            )?;
        }
        Ok(())
    }

    /// Writes a sentence and tables for people, fitted into `width` characters if there is a limit.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_human(&self, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        let Statistics { summary, entities, groups, queues, sizes, lengths, .. } = self.statistics;
        let Distribution { mean, median, p95, max, .. } = summary.wait;
        writeln!(out, "{}\n", printable(&sentence(summary)))?;
        for (heading, text) in self.rules {
            writeln!(out, "{heading:LABEL$} {}", printable(text))?;
        }
        let waits = [("mean", mean), ("median", median), ("95 % within", p95), ("longest", max)];
        let waits = waits.map(|(name, wait)| format!("{name} {}", seconds(wait)));
        writeln!(out, "{:LABEL$} {}", "wait:", waits.join(", "))?;
        let slowdown = summary.bounded_slowdown;
        writeln!(out, "{:LABEL$} mean {:.1}, median {:.1}", "bounded slowdown:", slowdown.mean, slowdown.median)?;
        writeln!(out, "{:LABEL$} {:.1} jobs on average", "queue:", summary.mean_queue)?;
        if let Some(fairness) = self.fairness {
            writeln!(out, "{:LABEL$} {}", "shares:", fairness_words(fairness))?;
        }
        if let Some(validation) = self.validation {
            for (heading, text) in validation_lines(validation) {
                writeln!(out, "{heading:LABEL$} {text}")?;
            }
        }
        for (heading, groups) in
            [("entity", entities), ("group", groups), ("queue", queues), ("processors", sizes), ("run time", lengths)]
        {
            write_groups(heading, groups, width, out)?;
        }
        write_periods(&[("", self)], width, out)?;
        self.fairness.map_or(Ok(()), |fairness| write_fairness(&[("", fairness)], width, out))
    }
}

/// How close the use is to the shares, in words.
pub(super) fn fairness_words(fairness: &Fairness) -> String {
    let jain = fairness.jain.map_or_else(String::new, |jain| format!("Jain's index {jain:.2} (1 is even), "));
    format!("{jain}{:.1} % of the processor time goes to others than promised (Hoover)", fairness.hoover * 100.0)
}

/// What the numbers about shares mean.
pub(super) fn fairness_note(fairness: &Fairness) -> String {
    format!(
        "In each period of {}, the processor time that is used is promised to the entities in proportion to their shares, but to none \
         more than its jobs ask for. Jain's index is 1 if all use the same part of what they are promised, and 1/n if one of n uses \
         everything; the Hoover index is the part of the processor time that others use than those to whom it is promised.",
        waiting_time(fairness.block_seconds)
    )
}

/// Writes what each entity uses of what its share promises, under one formula or under both. The sides have names if there are
/// two.
pub(super) fn write_fairness(sides: &[(&str, &Fairness)], width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let Some(&(_, first)) = sides.first() else { return Ok(()) };
    let uses = |index: usize| sides.iter().filter_map(move |(_, fairness)| fairness.entities.get(index));
    let misplaced = |index: usize| uses(index).map(|used| (used.used - used.promised).abs()).fold(0.0, f64::max);
    let mut kept: Vec<usize> = (0..first.entities.len()).collect();
    if kept.len() > MAX_GROUPS {
        kept.sort_by(|&one, &other| misplaced(other).total_cmp(&misplaced(one)));
        kept.truncate(MAX_GROUPS);
        kept.sort_unstable();
    }
    let part = |part: Option<f64>| part.map_or_else(|| "-".to_owned(), |part| format!("{:.1} %", part * 100.0));
    let hours = |amount: f64| format!("{:.1}", amount / 3600.0);
    let row = |&index: &usize| {
        let EntityUse { name, perc, .. } = &first.entities[index];
        let name = if name.is_empty() { "-".to_owned() } else { name.clone() };
        let sides = uses(index).flat_map(|used| [hours(used.promised), hours(used.used), part(used.ratio())]);
        [name, part(*perc)].into_iter().chain(sides).collect()
    };
    let mut columns = vec![Column::id("entity", 9), Column::number("share", 8)];
    for (side, _) in sides {
        columns.push(Column::number(side_heading(side, "core hours promised"), 5));
        columns.push(Column::number(side_heading(side, "used"), 6));
        columns.push(Column::number(side_heading(side, "used of promised"), 7));
    }
    writeln!(out)?;
    write_table(columns, &kept.iter().map(row).collect::<Vec<_>>(), width, out)?;
    if kept.len() < first.entities.len() {
        let left = first.entities.len() - kept.len();
        writeln!(out, "and {left} more that use what they are promised more closely; --format json lists all")?;
    }
    writeln!(out, "\n{}", fairness_note(first))
}

pub(super) fn sentence(summary: &Summary) -> String {
    if summary.jobs == 0 {
        return "No job started.".to_owned();
    }
    format!(
        "{} in {}: {} {} on average, and {} {:.1} % of the machine.",
        count(summary.jobs, "job"),
        waiting_time(summary.makespan),
        if summary.jobs == 1 { "it waits" } else { "they wait" },
        seconds(summary.wait.mean),
        if summary.jobs == 1 { "holds" } else { "hold" },
        100.0 * summary.utilisation
    )
}

/// A time in words, from a number of seconds.
pub(super) fn seconds(seconds: f64) -> String {
    waiting_time(seconds.round() as i64)
}

/// How far the waits are from those in the log: a heading and a text each, the heading empty where it is that of the line before.
pub(super) fn validation_lines(validation: &Validation) -> Vec<(&'static str, String)> {
    let Validation { jobs, equal, recorded_mean, simulated_mean, median_error, p95_error, rank_correlation } =
        validation;
    let means = [*recorded_mean, *simulated_mean].map(seconds);
    let errors = [*median_error, *p95_error].map(seconds);
    let mut lines = vec![
        ("against the log:", format!("{equal} of {} start at the recorded second", count(*jobs, "job"))),
        ("", format!("mean wait {} recorded, {} simulated", means[0], means[1])),
        ("", format!("error of a wait: median {}, 95 % within {}", errors[0], errors[1])),
    ];
    lines.extend(rank_correlation.map(|tau| ("", format!("rank correlation of the waits (tau-b) {tau:.2}"))));
    lines
}

/// How far the waits under the old formula are from those in the log, in one sentence.
pub fn validation_sentence(validation: &Validation) -> String {
    let Validation { jobs, equal, recorded_mean, simulated_mean, rank_correlation, .. } = validation;
    if equal == jobs {
        return "under the old formula all jobs start at the recorded second".to_owned();
    }
    let means = [*recorded_mean, *simulated_mean].map(seconds);
    let tau = rank_correlation.map_or_else(String::new, |tau| format!(", rank correlation (tau-b) {tau:.2}"));
    format!(
        "under the old formula {equal} of {} start at the recorded second; mean wait {} recorded, {} simulated{tau} (--validate \
         tells more)",
        count(*jobs, "job"),
        means[0],
        means[1]
    )
}

fn write_groups(
    heading: &str,
    groups: &[GroupStatistics],
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_named = groups.iter().any(|group| !group.name.is_empty());
    if groups.is_empty() || !is_named {
        return Ok(());
    }
    let mut kept: Vec<usize> = (0..groups.len()).collect();
    if groups.len() > MAX_GROUPS {
        kept.sort_by_key(|&index| (std::cmp::Reverse(groups[index].core_seconds), index));
        kept.truncate(MAX_GROUPS);
        kept.sort_unstable();
    }
    let row = |&index: &usize| {
        let GroupStatistics { name, jobs, core_seconds, wait, mean_bounded_slowdown } = &groups[index];
        let name = if name.is_empty() { "-".to_owned() } else { name.clone() };
        let hours = format!("{:.1}", *core_seconds as f64 / 3600.0);
        let waits = [wait.mean, wait.median, wait.p95, wait.max].map(seconds);
        [vec![name, jobs.to_string(), hours], waits.to_vec(), vec![format!("{mean_bounded_slowdown:.1}")]].concat()
    };
    let columns = vec![
        Column::id(heading, 9),
        Column::number("jobs", 8),
        Column::number("core hours", 4),
        Column::number("mean wait", 7),
        Column::number("median", 6),
        Column::number("95 %", 5),
        Column::number("longest", 3),
        Column::number("slowdown", 2),
    ];
    writeln!(out)?;
    write_table(columns, &kept.iter().map(row).collect::<Vec<_>>(), width, out)?;
    if kept.len() < groups.len() {
        let left = groups.len() - kept.len();
        writeln!(out, "and {left} more with fewer core hours; --format json lists all")?;
    }
    Ok(())
}

/// Writes how waits, the use of the machine and the queue change over time, under one formula or under both. The sides have
/// names if there are two.
pub(super) fn write_periods(
    sides: &[(&str, &SimulationReport<'_>)],
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    fn periods<'r>(side: &'r SimulationReport<'_>) -> &'r [Period] {
        &side.statistics.coarse_periods
    }
    // the periods of both sides begin alike; only one side may last longer
    let Some(longest) = sides.iter().map(|(_, side)| periods(side)).max_by_key(|periods| periods.len()) else {
        return Ok(());
    };
    let lengths = sides.iter().map(|(_, side)| periods(side).first().map(|period| period.seconds));
    if longest.len() < 2 || lengths.clone().any(|length| length != lengths.clone().next().flatten()) {
        return Ok(());
    }
    let first = sides[0].1.first_submission();
    let row = |(index, period): (usize, &Period)| {
        let cells = sides.iter().flat_map(|(_, side)| match periods(side).get(index) {
            Some(period) => [
                period.mean_wait.map_or_else(|| "-".to_owned(), seconds),
                format!("{:.1} %", period.utilisation * 100.0),
                format!("{:.1}", period.mean_queue),
            ],
            None => ["-", "-", "-"].map(str::to_owned),
        });
        [waiting_time(period.start - first), period.submitted.to_string()].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = longest.iter().enumerate().map(row).collect();
    let mut columns = vec![Column::number("from", 9), Column::number("jobs submitted", 5)];
    for (side, _) in sides {
        columns.push(Column::number(side_heading(side, "mean wait"), 8));
        columns.push(Column::number(side_heading(side, "utilisation"), 7));
        columns.push(Column::number(side_heading(side, "jobs waiting"), 6));
    }
    writeln!(out)?;
    write_table(columns, &rows, width, out)
}

/// The heading of a column of one side, which has a name if there are two.
fn side_heading(side: &str, heading: &str) -> String {
    if side.is_empty() { heading.to_owned() } else { format!("{side} {heading}") }
}

/// A whole number without a fraction.
fn number(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

fn core_seconds(amount: u128) -> Json {
    u64::try_from(amount).map_or_else(|_| json!(amount as f64), |amount| json!(amount))
}

fn distribution_json(distribution: &Distribution) -> Json {
    let Distribution { mean, p25, median, p75, p95, max } = *distribution;
    let [p25, median, p75, p95, max] = [p25, median, p75, p95, max].map(number);
    json!({"mean": mean, "p25": p25, "median": median, "p75": p75, "p95": p95, "max": max})
}

fn fairness_json(fairness: &Fairness) -> Json {
    json!({"jain": fairness.jain, "hoover": fairness.hoover, "block_seconds": fairness.block_seconds})
}

fn summary_json(summary: &Summary) -> Json {
    json!({
        "jobs": summary.jobs,
        "makespan": summary.makespan,
        "utilisation": summary.utilisation,
        "core_seconds": core_seconds(summary.core_seconds),
        "mean_queue": summary.mean_queue,
        "wait": distribution_json(&summary.wait),
        "bounded_slowdown": distribution_json(&summary.bounded_slowdown),
    })
}

fn groups_json(groups: &[GroupStatistics]) -> Json {
    let group = |group: &GroupStatistics| {
        json!({
            "name": group.name,
            "jobs": group.jobs,
            "mean_wait": group.wait.mean,
            "wait": distribution_json(&group.wait),
            "mean_bounded_slowdown": group.mean_bounded_slowdown,
            "core_seconds": core_seconds(group.core_seconds),
        })
    };
    groups.iter().map(group).collect()
}

fn validation_json(validation: &Validation) -> Json {
    json!({
        "jobs": validation.jobs,
        "equal": validation.equal,
        "recorded_mean_wait": validation.recorded_mean,
        "simulated_mean_wait": validation.simulated_mean,
        "median_error": number(validation.median_error),
        "p95_error": number(validation.p95_error),
        "rank_correlation": validation.rank_correlation,
    })
}

fn period_json(period: &Period) -> Json {
    json!({
        "start": period.start,
        "seconds": period.seconds,
        "submitted": period.submitted,
        "mean_wait": period.mean_wait,
        "mean_bounded_slowdown": period.mean_bounded_slowdown,
        "utilisation": period.utilisation,
        "mean_queue": period.mean_queue,
    })
}
