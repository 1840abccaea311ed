//! A ranking as an aligned table and a summary.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use crate::pbs::number_format;
use crate::report::{Line, RankFormat, RankReport};

/// A table for people.
#[derive(Debug, Clone, Copy)]
pub struct Human;

impl RankFormat for Human {
    fn write(&self, report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let header = ["rank", "job", "entity", "queue", "value"];
        table.set_header(header.iter().chain(report.inputs).chain(&["note"]).map(|name| (*name).to_owned()));
        for line in report.lines() {
            table.add_row(cells(report, &line));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            let is_number = index == 0 || (index >= 4 && index < 5 + report.inputs.len());
            column.set_padding((0, 2));
            column.set_cell_alignment(if is_number { CellAlignment::Right } else { CellAlignment::Left });
        }
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out)?;
        write_summary(report, out)
    }
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
        let column = table.column(name);
        column.map_or_else(|| "-".to_owned(), |column| column.value(line.row).repr())
    }));
    cells.push(note(report, line));
    cells
}

fn note(report: &RankReport<'_>, line: &Line<'_>) -> String {
    if let Some(reason) = report.table.exclusion(line.row) {
        return reason.to_string();
    }
    let mut notes = Vec::new();
    if let Some(error) = line.error() {
        notes.push(format!("error: {error}"));
    }
    match line.not_considered {
        Some(reason) => notes.push(reason.to_string()),
        None if line.rank.is_none() => {
            notes.push(format!("not considered (state {})", report.table.state(line.row).letter()));
        }
        None => {}
    }
    notes.join("; ")
}

fn write_summary(report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (all, considered) = (report.table.len(), report.ranking.order().len());
    let ignored = all - report.ranking.scores().count();
    write!(out, "{}: {considered} considered", count(all, "job"))?;
    let not_considered = report.not_considered.len();
    let waiting = all.saturating_sub(considered + ignored + not_considered);
    if waiting > 0 {
        write!(out, ", {waiting} held, waiting or running")?;
    }
    if not_considered > 0 {
        write!(out, ", {not_considered} below the threshold or without shares")?;
    }
    if ignored > 0 {
        write!(out, ", {ignored} ignored")?;
    }
    writeln!(out, "; {}", count(report.ranking.ties(), "tie"))?;
    let errors = report.ranking.scores().errors_by_kind();
    if !errors.is_empty() {
        let kinds: Vec<_> = errors.iter().map(|(kind, number)| format!("{kind} {number}")).collect();
        let jobs = count(report.ranking.error_count(), "job");
        writeln!(out, "{jobs} with an error: {}", kinds.join(", "))?;
    }
    Ok(())
}

/// `1 job`, `2 jobs`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
