//! Explanations for people: the answer in one sentence, then what it rests on.

use std::cmp::Reverse;
use std::io::{self, Write};

use crate::jobs::InputOrigin;
use crate::pbs::number_format;
use crate::pbs::order::Criterion;
use crate::rank::explain::{NodeValue, nearest_double};
use crate::report::explain::sentence::{sentence, significant, state_words, tied};
use crate::report::explain::{ExplainReport, with_path_view};
use crate::report::shares::{SharesHead, write_tree};
use crate::report::table::{Column, write_table};
use crate::report::terminal::printable;
use crate::report::waiting_time;
use crate::site::{ExplainedInput, Explanation, Neighbour, RankReached, Reached, Rounding, SmallestChange, Wait};

/// The number of characters of the longest bar.
const BAR: f64 = 24.0;
/// The heading over what decides between the job and a neighbour.
pub(in crate::report) const DECIDED_BY: &str =
    "difference of the values, largest term first; minus: the other job has more";
/// A change to more than this multiple of what any job has is left out.
const PLAUSIBLE: f64 = 10.0;
/// The most differences that are listed of a neighbour.
const MAX_DIFFERENCES: usize = 3;

/// Writes explanations for people. `width` is the number of characters in a line; `None`: as many as needed. `draw_error`
/// draws the error of a job under the formula.
///
/// # Errors
/// `out` cannot be written.
pub fn write_human(
    report: &ExplainReport<'_>,
    width: Option<usize>,
    draw_error: &dyn Fn(&Explanation) -> Option<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (index, job) in report.explanations.jobs.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}\n", printable(&sentence(report, job)))?;
        for (heading, text) in report.rules {
            writeln!(out, "{heading:10} {}", printable(text))?;
        }
        if let Some(drawn) = draw_error(job) {
            writeln!(out, "\n{drawn}")?;
        }
        let mut section = Section { width, out: &mut *out };
        section.formula(job)?;
        section.terms(job)?;
        section.inputs(job)?;
        section.shares(report, job)?;
        section.neighbours(report, job)?;
        section.changes(report, job)?;
        section.notes(report, job)?;
    }
    Ok(())
}

/// Writes the sections of one job.
struct Section<'o> {
    width: Option<usize>,
    out: &'o mut dyn Write,
}

impl Section<'_> {
    fn table(&mut self, heading: &str, columns: Vec<Column>, rows: &[Vec<String>]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{heading}")?;
        write_table(columns, rows, self.width, self.out)
    }

    /// The formula as a tree, with the value of every part.
    fn formula(&mut self, job: &Explanation) -> io::Result<()> {
        let mut nodes: Vec<&NodeValue> = job.nodes.iter().filter(|node| !node.is_literal).collect();
        nodes.sort_by_key(|node| (node.span.start, Reverse(node.span.end), node.depth));
        let rows: Vec<Vec<String>> = nodes
            .iter()
            .enumerate()
            .map(|(index, node)| vec![format!("{}{}", branches(&nodes, index), node.text), node.value.repr()])
            .collect();
        self.table("value of each part", vec![Column::name("part", 9), Column::number("value", 9)], &rows)
    }

    /// What would give the job a better rank.
    fn changes(&mut self, report: &ExplainReport<'_>, job: &Explanation) -> io::Result<()> {
        if let Some(goal) = job.goal {
            self.changes_to(goal, report, job)?;
        }
        match job.reached {
            None => Ok(()),
            Some(RankReached { wait: Wait::Never, .. }) if job.rank.is_none() => {
                let state = report.table().state(job.row);
                let because = match job.not_considered {
                    Some(reason) => reason.to_string(),
                    None => format!("its state is {} ({})", state.letter(), state_words(state)),
                };
                writeln!(self.out, "\nit has no rank while it is not considered: {}", printable(&because))
            }
            Some(RankReached { rank, wait: Wait::Never, .. })
                if job.inputs.iter().all(|input| input.name != "eligible_time") =>
            {
                writeln!(
                    self.out,
                    "\nit never reaches rank {rank} by waiting: the formula does not read `eligible_time`"
                )
            }
            Some(RankReached { rank, wait: Wait::Unknown, .. }) => {
                writeln!(
                    self.out,
                    "\nwhen it reaches rank {rank} takes too long to find out: the formula changes the order too irregularly"
                )
            }
            Some(RankReached { rank, wait: Wait::Never, gain_alike: true, .. }) => {
                writeln!(self.out, "\nit never reaches rank {rank} by waiting: all jobs gain alike")
            }
            Some(RankReached { rank, within, wait: Wait::Never, .. }) => {
                writeln!(
                    self.out,
                    "\nit does not reach rank {rank} by waiting, at least not within {}, if all others wait as long",
                    waiting_time(within)
                )
            }
            Some(RankReached { rank, wait: Wait::Until(Reached { wait: 0, .. }), .. }) => {
                writeln!(self.out, "\nit has {} now", at_most(rank))
            }
            Some(RankReached { rank, wait: Wait::Until(at), .. }) => {
                let (wait, time) = (waiting_time(at.wait), at.eligible_time);
                writeln!(
                    self.out,
                    "\nit reaches rank {rank} in {wait}, when its eligible_time is {time} s, if all others wait as long"
                )
            }
        }
    }

    /// How much the job lacks to a rank, and which inputs give it.
    fn changes_to(&mut self, goal: usize, report: &ExplainReport<'_>, job: &Explanation) -> io::Result<()> {
        let (table, ranking) = (report.table(), &report.queue.ranking);
        let other = ranking.order()[goal - 1];
        let value = |row: usize| ranking.score(row).map_or(f64::NAN, |score| score.value);
        let (lacking, logged) = (value(other) - value(job.row), number_format::logged(value(other)));
        let lacks = match lacking {
            lacking if lacking > 0.0 && lacking.is_finite() => {
                format!("with {logged}: {} more are needed", number_format::logged(lacking))
            }
            0.0 => "with the same value".to_owned(),
            _ => format!("with {logged}"),
        };
        // what waiting changes, it changes for the others too
        let (aging, changes): (Vec<&SmallestChange>, Vec<_>) =
            job.changes.iter().partition(|change| &*change.name == "eligible_time");
        let (changes, beyond): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| is_plausible(report, change));
        let none = if changes.is_empty() { "; no single input gives that" } else { "" };
        writeln!(self.out, "\nrank {goal} is `{}` {lacks}{none}", printable(table.id(other)))?;
        let aging = aging.iter().map(|_| "`eligible_time` (all jobs wait alike)".to_owned());
        let beyond = beyond.iter().map(|change| {
            format!("`{}` of {} (more than {PLAUSIBLE} times that of any job)", change.name, change.to.repr())
        });
        let left_out: Vec<String> = aging.chain(beyond).collect();
        if !left_out.is_empty() {
            writeln!(self.out, "left out: {}", left_out.join(", "))?;
        }
        let row = |change: &&SmallestChange| {
            let input = job.inputs.iter().find(|input| *input.name == *change.name);
            let unit = input.and_then(|input| input.unit).unwrap_or_default().to_owned();
            let by = match input.map(|input| input.origin) {
                Some(InputOrigin::FairShareTree) => "the site (usage and shares)",
                Some(InputOrigin::Queue) => "the site, or another queue",
                _ if &*change.name == "queue_priority" => "the site, or another queue",
                _ => "the user",
            };
            vec![change.name.to_string(), change.from.repr(), change.to.repr(), unit, by.to_owned()]
        };
        let columns = vec![
            Column::name("input", 9),
            Column::number("now", 9),
            Column::number("then", 9),
            Column::text("unit", 5),
            Column::wrapped("changed by", 5),
        ];
        let heading = format!("if nothing else changes, each of these alone gives {}", at_most(goal));
        self.table(&heading, columns, &changes.iter().map(row).collect::<Vec<_>>())
    }

    /// The terms, with their part of the sum of all magnitudes. A single term is the value itself.
    fn terms(&mut self, job: &Explanation) -> io::Result<()> {
        if job.terms.len() == 1 {
            return Ok(());
        }
        let values: Vec<f64> = job.terms.iter().map(|term| nearest_double(&term.value).unwrap_or(f64::NAN)).collect();
        let total: f64 = values.iter().map(|value| value.abs()).sum();
        let rows: Vec<Vec<String>> = job
            .terms
            .iter()
            .zip(&values)
            .map(|(term, value)| {
                let part = if total > 0.0 && total.is_finite() { value / total } else { 0.0 };
                vec![term.text.clone(), term.value.repr(), format!("{:.0} %", part * 100.0), bar(part)]
            })
            .collect();
        let columns = vec![
            Column::name("term", 9),
            Column::number("value", 9),
            Column::number("part", 7),
            Column::wrapped("", 2),
        ];
        self.table("terms: they add up to the value", columns, &rows)
    }

    fn inputs(&mut self, job: &Explanation) -> io::Result<()> {
        let row = |input: &ExplainedInput| {
            let value = input.value.as_ref().map_or_else(|| "-".to_owned(), |value| value.repr());
            vec![input.name.clone(), value, input_unit(input), input.origin.to_string()]
        };
        let rows: Vec<Vec<String>> = job.inputs.iter().map(row).collect();
        let columns = vec![
            Column::text("input", 9),
            Column::number("value", 9),
            Column::text("unit", 7),
            Column::text("from", 8),
        ];
        self.table("inputs", columns, &rows)
    }

    fn shares(&mut self, report: &ExplainReport<'_>, job: &Explanation) -> io::Result<()> {
        let written = with_path_view(report.explanations.shares.as_ref(), job, |view| {
            writeln!(self.out, "\nshares, from the root to the entity (usage in {})", printable(report.usage_unit))?;
            if view.is_pbs {
                writeln!(
                    self.out,
                    "perc: its part of the whole tree; tree_usage: the part of the usage that counts for it; factor: 1 without usage"
                )?;
            }
            let head = SharesHead { policies: &[], usage_unit: report.usage_unit, width: self.width };
            write_tree(&[*view], &head, self.out)
        });
        written.unwrap_or(Ok(()))
    }

    /// The jobs ahead and behind, with the job itself between them.
    fn neighbours(&mut self, report: &ExplainReport<'_>, job: &Explanation) -> io::Result<()> {
        let Some(rank) = job.rank.filter(|_| !job.above.is_empty() || !job.below.is_empty()) else { return Ok(()) };
        let (table, ranking) = (report.table(), &report.queue.ranking);
        let cells = |rank: usize, row: usize, decided: String| {
            let value = ranking.score(row).map_or_else(|| "-".to_owned(), |score| number_format::logged(score.value));
            vec![rank.to_string(), table.id(row).to_owned(), table.entity(row).to_owned(), value, decided]
        };
        let neighbour = |one: &Neighbour| cells(one.rank, one.row, decision(report, job, one));
        let mut rows: Vec<Vec<String>> = job.above.iter().rev().map(neighbour).collect();
        rows.push(cells(rank, job.row, "this job".to_owned()));
        rows.extend(job.below.iter().map(neighbour));
        let columns = vec![
            Column::number("rank", 9),
            Column::id("job", 9),
            Column::text("entity", 4),
            Column::number("value", 8),
            Column::wrapped(DECIDED_BY, 9),
        ];
        self.table("neighbours", columns, &rows)
    }

    fn notes(&mut self, report: &ExplainReport<'_>, job: &Explanation) -> io::Result<()> {
        let mut notes = Vec::new();
        let rounded = |rounding| {
            let neighbours = job.above.iter().chain(&job.below);
            let ids = neighbours
                .filter(|one| one.rounding == Some(rounding))
                .map(|one| format!("`{}`", report.table().id(one.row)));
            ids.collect::<Vec<_>>().join(", ")
        };
        for rounding in [Rounding::EqualAsFloat32, Rounding::EqualWithSixDecimals, Rounding::OrderedBySixDecimals] {
            let ids = rounded(rounding);
            if !ids.is_empty() {
                notes.push(format!("{}: {ids}", rounding.as_str()));
            }
        }
        let others = if job.rank.is_some() { tied(report, job) } else { 0 };
        if others > 0 {
            let jobs = if others == 1 { "1 other job has".to_owned() } else { format!("{others} other jobs have") };
            notes.push(format!("{jobs} the same value; the criteria after the value order them"));
        }
        if !job.same_error.is_empty() {
            let ids: Vec<String> =
                job.same_error.iter().take(10).map(|&row| format!("`{}`", report.table().id(row))).collect();
            let more = job.same_error.len() - ids.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!("the same error: {}{more}", ids.join(", ")));
        }
        if notes.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\nnotes")?;
        notes.iter().try_for_each(|note| writeln!(self.out, "  {}", printable(note)))
    }
}

/// The unit of an input; seconds also as days, hours and minutes.
pub(in crate::report) fn input_unit(input: &ExplainedInput) -> String {
    let seconds = input.value.as_ref().and_then(nearest_double).filter(|seconds| *seconds >= 60.0);
    match (input.unit.unwrap_or(""), seconds) {
        ("s", Some(seconds)) => format!("s ({})", waiting_time(seconds as i64)),
        (unit, _) => unit.to_owned(),
    }
}

/// What decides between the job and a neighbour.
pub(in crate::report) fn decision(report: &ExplainReport<'_>, job: &Explanation, neighbour: &Neighbour) -> String {
    if neighbour.decided_by != Some(Criterion::Value) {
        return neighbour.reason.clone();
    }
    let failed = |row: usize| report.queue.ranking.score(row).is_some_and(|score| score.unrounded.is_err());
    if failed(neighbour.row) {
        return "its evaluation failed".to_owned();
    }
    if failed(job.row) {
        return "the evaluation of this job failed".to_owned();
    }
    let is_zero = |double: Option<f64>| double == Some(0.0);
    let differences = neighbour.differences.iter().filter(|term| !is_zero(term.nearest_double()));
    let is_single = neighbour.differences.len() == 1;
    let texts = differences.take(MAX_DIFFERENCES).filter_map(|term| {
        let difference = term.nearest_double()?;
        let sign = if difference < 0.0 { "" } else { "+" };
        let by = if is_single { String::new() } else { format!(" by {}", term.text) };
        Some(format!("{sign}{}{by}", significant(difference)))
    });
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() { neighbour.reason.clone() } else { texts.join(", ") }
}

/// Whether some job has an amount of the order of magnitude that an input would have to have.
fn is_plausible(report: &ExplainReport<'_>, change: &SmallestChange) -> bool {
    let Some(column) = report.table().column(&change.name) else { return true };
    let most = (0..report.table().len()).map(|row| column.nearest_double(row)).fold(1.0, f64::max);
    nearest_double(&change.to).is_some_and(|to| to <= PLAUSIBLE * most)
}

/// `rank 1`, `rank 5 or better`.
fn at_most(rank: usize) -> String {
    if rank == 1 { "rank 1".to_owned() } else { format!("rank {rank} or better") }
}

/// A bar for a fraction of the whole.
fn bar(part: f64) -> String {
    let length = (part.abs() * BAR).round() as usize;
    let bar = "█".repeat(length);
    if part < 0.0 { format!("-{bar}") } else { bar }
}

/// The lines that join a part to the one that contains it; `nodes` are in depth-first order.
fn branches(nodes: &[&NodeValue], index: usize) -> String {
    let depth = nodes[index].depth;
    let has_next = |level: usize| {
        let later = nodes[index + 1..].iter().take_while(|node| node.depth >= level);
        later.into_iter().any(|node| node.depth == level)
    };
    let line = |level: usize| match (level == depth, has_next(level)) {
        (true, true) => "├─ ",
        (true, false) => "└─ ",
        (false, true) => "│  ",
        (false, false) => "   ",
    };
    (1..=depth).map(line).collect()
}
