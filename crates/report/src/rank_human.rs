//! A ranking as an aligned table and a summary.

use std::io::{self, Write};

use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::nearest_double;
use jsf_openpbs::number_format;

use crate::ordered_writer::write_in_order;
use crate::table::{Column, Layout};
use crate::terminal::printable;
use crate::{Line, RankFormat, RankReport};

/// The longest heading of a summand.
const MAX_HEADING: usize = 32;
/// The number of rows that decide the widths of the columns, about a screenful.
const SAMPLE_ROWS: usize = 50;

/// A table for people.
#[derive(Debug, Clone, Copy, Default)]
pub struct Human {
    /// The number of characters in a line; `None`: as many as needed.
    pub width: Option<usize>,
}

impl RankFormat for Human {
    fn write(&self, report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        for (heading, text) in report.rules {
            writeln!(out, "{heading:10} {}", printable(text))?;
        }
        if !report.rules.is_empty() {
            writeln!(out)?;
        }
        let lines = report.line_maker();
        let sample = report.rows.iter().take(SAMPLE_ROWS).map(|&row| cells(report, &lines.line(row)));
        let layout = Layout::new(columns(report), sample, self.width);
        let mut heading = Vec::new();
        layout.write_heading(&mut heading);
        out.write_all(&heading)?;
        write_in_order(report.rows, out, |rows, text| {
            rows.iter().for_each(|&row| layout.write_row(&cells(report, &lines.line(row)), text));
        })?;
        writeln!(out)?;
        write_summary(report, out)?;
        match layout.dropped().as_slice() {
            [] => Ok(()),
            dropped => writeln!(out, "columns left out: {}; --wide shows all", printable(&dropped.join(", "))),
        }
    }
}

fn columns(report: &RankReport<'_>) -> Vec<Column> {
    let mut columns =
        vec![Column::number("rank", 9), Column::id("job", 9), Column::text("entity", 5), Column::text("queue", 3)];
    columns.push(Column::number("value", 8));
    let with_unit = |name: &&str| match report.schema.entry(name).and_then(|entry| entry.input_type.unit()) {
        Some(unit) => format!("{name} ({unit})"),
        None => (*name).to_owned(),
    };
    columns.extend(report.inputs.iter().map(|name| Column::number(with_unit(name), 4)));
    columns.extend(report.term_texts().map(|text| Column::number(cut_in_the_middle(text), 7)));
    columns.push(Column::wrapped("note", 6));
    columns
}

fn cells(report: &RankReport<'_>, line: &Line<'_>) -> Vec<String> {
    let table = report.table;
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let mut cells = vec![
        line.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string()),
        table.id(line.row).to_owned(),
        or_dash(table.entity(line.row)),
        or_dash(table.queue(line.row)),
        line.score.as_ref().map_or_else(|| "-".to_owned(), |score| number_format::logged(score.value)),
    ];
    cells.extend(report.inputs.iter().map(|name| {
        let value = report.input(name, line.row);
        value.map_or_else(|| "-".to_owned(), |value| value.repr())
    }));
    let term = |value: Option<Value>| {
        value.as_ref().and_then(nearest_double).map_or_else(|| "-".to_owned(), number_format::printed)
    };
    cells.extend(report.term_values(line.row).into_iter().map(term));
    cells.push(note(report, line));
    cells
}

/// A heading of at most [`MAX_HEADING`] characters, the beginning and the end of the text.
fn cut_in_the_middle(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= MAX_HEADING {
        return text.to_owned();
    }
    let half = MAX_HEADING / 2;
    let (start, end) = (&characters[..half - 1], &characters[characters.len() - half..]);
    start.iter().chain(['…'].iter()).chain(end).collect()
}

pub(super) fn note(report: &RankReport<'_>, line: &Line<'_>) -> String {
    let error = line.error().map(|error| format!("error: {error}"));
    let notes: Vec<String> = error.into_iter().chain(report.excluded(line).map(|(_, reason)| reason)).collect();
    notes.join("; ")
}

fn write_summary(report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", summary(report))?;
    let errors = report.ranking.scores().errors_by_kind();
    if !errors.is_empty() {
        let kinds: Vec<_> = errors.iter().map(|(kind, number)| format!("{}: {kind}", count(*number, "job"))).collect();
        writeln!(out, "with an error: {}", kinds.join("; "))?;
    }
    Ok(())
}

/// How many jobs there are, and how many of them the scheduler considers.
pub(super) fn summary(report: &RankReport<'_>) -> String {
    let (all, considered) = (report.table.len(), report.ranking.order().len());
    let ignored = all - report.ranking.scores().count();
    let mut summary = format!("{}: {considered} considered", count(all, "job"));
    let not_considered = report.not_considered.len();
    let waiting = all.saturating_sub(considered + ignored + not_considered);
    if waiting > 0 {
        summary += &format!(", {waiting} not considered (held, waiting for a time, or running)");
    }
    if not_considered > 0 {
        summary += &format!(", {not_considered} below the threshold or without shares");
    }
    if ignored > 0 {
        summary += &format!(", {ignored} ignored");
    }
    match report.ranking.ties() {
        1 => summary + "; 1 pair of neighbours with equal values",
        ties => summary + &format!("; {ties} pairs of neighbours with equal values"),
    }
}

/// `1 job`, `2 jobs`.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
