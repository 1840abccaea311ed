//! Explanations for people: the answer in one sentence, then what it rests on.

use std::cmp::Reverse;
use std::io::{self, Write};

use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::{NodeValue, nearest_double};
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::number_format;
use jsf_openpbs::order::Criterion;
use jsf_site::{
    ExplainedInput, Explanation, Means, Neighbour, RankReached, Reached, Rounding, SmallestChange, SmallestChanges,
    Wait,
};

use crate::explain::sentence::{sentence, significant, state_words, tied};
use crate::explain::{ExplainReport, with_path_view};
use crate::shares::{SharesHead, write_tree};
use crate::table::{Column, write_prose, write_table};
use crate::terminal::{excerpt, printable};
use crate::waiting_time;

/// The number of characters of the longest bar.
const BAR: f64 = 24.0;
/// The heading over what decides between the job and a neighbour.
pub(crate) const DECIDED_BY: &str = "difference of the values, largest term first";
/// What the signs of the differences mean.
pub(crate) const SIGNS: &str = "minus: the other job has more";
/// A change to more than this multiple of what any job has is left out.
const PLAUSIBLE: f64 = 10.0;
/// The most levels of parts that are drawn.
const MAX_LEVELS: usize = 40;
/// The most characters of a part of the formula and of a value, however wide the table is.
pub(crate) const MAX_CODE: usize = 400;
pub(crate) const MAX_VALUE: usize = 4300;
/// The most characters of a term beside a neighbour.
const MAX_TERM: usize = 80;
/// The most inputs that one sentence names.
const MAX_NAMED: usize = 10;
/// The most differences that are listed of a neighbour.
const MAX_DIFFERENCES: usize = 3;

/// The number of characters in a line; `None`: as many as needed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Widths {
    /// Of a table.
    pub table: Option<usize>,
    /// Of a sentence.
    pub prose: Option<usize>,
}

/// Writes explanations for people. `draw_error` draws the error of a job under the formula.
///
/// # Errors
/// `out` cannot be written.
pub fn write_human(
    report: &ExplainReport<'_>,
    widths: Widths,
    draw_error: &dyn Fn(&Explanation) -> Option<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (index, job) in report.explanations.jobs.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_prose(&printable(&sentence(report, job)), widths.prose, out)?;
        writeln!(out)?;
        for (heading, text) in report.rules {
            write_prose(&format!("{heading:10} {}", printable(text)), widths.prose, out)?;
        }
        if let Some(drawn) = draw_error(job) {
            writeln!(out, "\n{drawn}")?;
        }
        let mut section = Section { width: widths.table, prose_width: widths.prose, out: &mut *out };
        section.formula(report, job)?;
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
    prose_width: Option<usize>,
    out: &'o mut dyn Write,
}

impl Section<'_> {
    /// A sentence, in lines of the terminal's width.
    fn prose(&mut self, text: &str) -> io::Result<()> {
        write_prose(text, self.prose_width, self.out)
    }

    fn table(&mut self, heading: &str, columns: Vec<Column>, rows: &[Vec<String>]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(self.out)?;
        self.prose(heading)?;
        write_table(columns, rows, self.width, self.out)
    }

    /// A part of the formula, in full if it is not endless.
    fn code(&self, text: &str) -> String {
        excerpt(text, MAX_CODE.min(self.width.unwrap_or(MAX_CODE))).into_owned()
    }

    /// The formula as a tree, with the value of every part.
    fn formula(&mut self, report: &ExplainReport<'_>, job: &Explanation) -> io::Result<()> {
        let nodes = shown_nodes(job);
        let rows: Vec<Vec<String>> = branches(&nodes)
            .into_iter()
            .zip(&nodes)
            .map(|(branch, node)| vec![branch + &self.code(part(report, node)), shown(&node.value)])
            .collect();
        self.table("value of each part", vec![Column::code("part", 9), Column::number("value", 9)], &rows)
    }

    /// What would give the job a better rank.
    fn changes(&mut self, report: &ExplainReport<'_>, job: &Explanation) -> io::Result<()> {
        if let Some(goal) = job.goal {
            self.changes_to(goal, report, job)?;
        }
        let Some(reached) = job.reached else { return Ok(()) };
        writeln!(self.out)?;
        self.prose(&waiting_sentence(report, job, reached))
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
        let (shown, beyond): (Vec<_>, Vec<_>) =
            job.changes.found.iter().partition(|change| is_plausible(report, change));
        // what waiting changes, it changes for the others too
        let (aging, shown): (Vec<_>, Vec<_>) = shown.into_iter().partition(|change| change.means == Means::Wait);
        let (honest, what_if): (Vec<_>, Vec<_>) = shown.into_iter().partition(|change| change.means != Means::WhatIf);
        let none = if honest.is_empty() && what_if.is_empty() { without_changes(&job.changes) } else { "" };
        writeln!(self.out)?;
        self.prose(&format!("rank {goal} is `{}` {lacks}{none}", printable(table.id(other))))?;
        let aging = aging.iter().map(|_| "`eligible_time` (all jobs wait alike)".to_owned());
        let beyond = beyond.iter().map(|change| {
            format!("`{}` of {} (more than {PLAUSIBLE} times that of any job)", change.name, change.to.repr())
        });
        let left_out: Vec<String> = aging.chain(beyond).collect();
        if !left_out.is_empty() {
            self.prose(&format!("left out: {}", few(&left_out)))?;
        }
        if !job.changes.unknown.is_empty() {
            let unknown: Vec<String> = job.changes.unknown.iter().map(|name| format!("`{name}`")).collect();
            self.prose(&format!("what a change of {} gives takes too long to find out", few(&unknown)))?;
        }
        let rank = at_most(goal);
        self.changes_table(
            &format!("what the user can do, if the job needs no more: each of these alone gives {rank}"),
            job,
            &honest,
        )?;
        self.changes_table(
            &format!("what if: no user can do that, but each of these alone would give {rank}"),
            job,
            &what_if,
        )
    }

    fn changes_table(&mut self, heading: &str, job: &Explanation, changes: &[&SmallestChange]) -> io::Result<()> {
        let row = |change: &&SmallestChange| {
            let input = job.inputs.iter().find(|input| *input.name == *change.name);
            let unit = input.and_then(|input| input.unit).unwrap_or_default().to_owned();
            let by = match change.means {
                Means::AskForLess => "the user: ask for less",
                Means::Queue => "another queue, or the site",
                _ if FairshareInput::from_name(&change.name).is_some() => "the site (usage and shares)",
                _ => "the job's own attribute",
            };
            vec![change.name.to_string(), shown(&change.from), shown(&change.to), unit, by.to_owned()]
        };
        let columns = vec![
            Column::name("input", 9),
            Column::number("now", 9),
            Column::number("then", 9),
            Column::text("unit", 5),
            Column::wrapped("changed by", 5),
        ];
        self.table(heading, columns, &changes.iter().map(row).collect::<Vec<_>>())
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
                vec![self.code(&term.text), shown(&term.value), format!("{:.0} %", part * 100.0), bar(part)]
            })
            .collect();
        let columns = vec![
            Column::code("term", 9),
            Column::number("value", 9),
            Column::number("part", 7),
            Column::wrapped("", 2),
        ];
        self.table("terms: they add up to the value", columns, &rows)
    }

    fn inputs(&mut self, job: &Explanation) -> io::Result<()> {
        let row = |input: &ExplainedInput| {
            let value = input.value.as_ref().map_or_else(|| "-".to_owned(), shown);
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
            writeln!(self.out)?;
            self.prose(&format!("shares, from the root to the entity (usage in {})", printable(report.usage_unit)))?;
            if view.is_pbs {
                self.prose(
                    "perc: its part of the whole tree; tree_usage: the part of the usage that counts for it; factor: 1 without usage",
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
        let limit = if self.width.is_some() { MAX_TERM } else { MAX_CODE };
        let neighbour = |one: &Neighbour| cells(one.rank, one.row, decision(report, job, one, limit));
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
        self.table(&format!("neighbours ({SIGNS})"), columns, &rows)
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
        if !job.is_complete {
            notes.push(
                "the searches for this job ended early, because they had done the work that one explanation may do: what is \
                 missing is not known"
                    .to_owned(),
            );
        }
        if notes.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\nnotes")?;
        notes.iter().try_for_each(|note| self.prose(&format!("  {}", printable(note))))
    }
}

/// When the job reaches a rank by waiting.
fn waiting_sentence(report: &ExplainReport<'_>, job: &Explanation, reached: RankReached) -> String {
    let rank = reached.rank;
    match reached.wait {
        Wait::Never if job.rank.is_none() => {
            let state = report.table().state(job.row);
            let because = match job.not_considered {
                Some(reason) => reason.to_string(),
                None => format!("its state is {} ({})", state.letter(), state_words(state)),
            };
            format!("it has no rank while it is not considered: {}", printable(&because))
        }
        Wait::Never if job.inputs.iter().all(|input| input.name != "eligible_time") => {
            format!("it never reaches rank {rank} by waiting: the formula does not read `eligible_time`")
        }
        Wait::Unknown => {
            format!(
                "when it reaches rank {rank} takes too long to find out: the formula changes the order too irregularly"
            )
        }
        Wait::Never if reached.gain_alike => format!("it never reaches rank {rank} by waiting: all jobs gain alike"),
        Wait::Never => format!(
            "it does not reach rank {rank} by waiting, at least not within {}, if all others wait as long",
            waiting_time(reached.within)
        ),
        Wait::Until(Reached { wait: 0, .. }) => format!("it has {} now", at_most(rank)),
        Wait::Until(Reached { wait, eligible_time }) => format!(
            "it reaches rank {rank} in {}, when its eligible_time is {eligible_time} s, if all others wait as long",
            waiting_time(wait)
        ),
    }
}

/// The unit of an input; seconds also as days, hours and minutes.
pub(crate) fn input_unit(input: &ExplainedInput) -> String {
    let seconds = input.value.as_ref().and_then(nearest_double).filter(|seconds| *seconds >= 60.0);
    match (input.unit.unwrap_or(""), seconds) {
        ("s", Some(seconds)) => format!("s ({})", waiting_time(seconds as i64)),
        (unit, _) => unit.to_owned(),
    }
}

/// What decides between the job and a neighbour; a longer term than `limit` is cut.
pub(crate) fn decision(report: &ExplainReport<'_>, job: &Explanation, neighbour: &Neighbour, limit: usize) -> String {
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
        let by = if is_single { String::new() } else { format!(" by {}", excerpt(&term.text, limit)) };
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

/// What is said where no change gives a rank.
fn without_changes(changes: &SmallestChanges) -> &'static str {
    if !changes.unknown.is_empty() {
        ""
    } else if changes.has_requests {
        "; neither a smaller request nor any other single input gives that"
    } else {
        "; no single input gives that"
    }
}

/// The first of some names, and how many more there are.
fn few(names: &[String]) -> String {
    match names.len().checked_sub(MAX_NAMED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MAX_NAMED].join(", ")),
    }
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

/// The parts of the formula that are shown, in depth-first order.
pub(crate) fn shown_nodes(job: &Explanation) -> Vec<&NodeValue> {
    let mut nodes: Vec<&NodeValue> = job.nodes.iter().filter(|node| !node.is_literal).collect();
    nodes.sort_by_key(|node| (node.span.start, Reverse(node.span.end), node.depth));
    nodes
}

/// The text of a part of the formula.
pub(crate) fn part<'r>(report: &ExplainReport<'r>, node: &NodeValue) -> &'r str {
    node.span.slice(report.queue.program.expr().text())
}

/// A value as it is shown.
pub(crate) fn shown(value: &Value) -> String {
    value.repr_within(MAX_VALUE)
}

/// The lines that join each part to the one that contains it; `nodes` are in depth-first order. Deeper parts than those of
/// the last level are drawn on that level.
fn branches(nodes: &[&NodeValue]) -> Vec<String> {
    let level = |node: &NodeValue| node.depth.min(MAX_LEVELS);
    // whether a later part continues the line of a level
    let mut continues = [false; MAX_LEVELS + 1];
    let mut branches = Vec::with_capacity(nodes.len());
    for node in nodes.iter().rev() {
        let level = level(node);
        let lines = (1..level).map(|above| if continues[above] { "│  " } else { "   " });
        let last = (level > 0).then(|| if continues[level] { "├─ " } else { "└─ " });
        branches.push(lines.chain(last).collect::<String>());
        continues[level] = true;
        continues[level + 1..].fill(false);
    }
    branches.reverse();
    branches
}
