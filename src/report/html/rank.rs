//! A ranking as a page.

use std::io::{self, Write};

use super::charts::{self};
use super::{Cell, MarkedFormula, Page, Piece, Section, Table, facts, findings_section, or_dash};
use crate::fairshare::{ShareTable, ShareTree};
use crate::pbs::number_format;
use crate::python::Value as PythonValue;
use crate::rank::Comparison;
use crate::report::rank_human::{note, summary};
use crate::report::terminal::printable;
use crate::report::{Line, RankFormat, RankReport};

/// A ranking as a page for a browser.
#[derive(Debug, Clone, Copy)]
pub struct RankHtml<'a> {
    /// The findings about the formula, as they are drawn in a terminal.
    pub findings: &'a [String],
    /// The ranking compared with itself, which counts the jobs of each entity and of each queue.
    pub groups: &'a Comparison,
    /// The fair-share tree with its numbers.
    pub tree: Option<(&'a ShareTree, &'a ShareTable)>,
}

impl RankFormat for RankHtml<'_> {
    fn write(&self, report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let text = printable(report.formula.trim_end()).into_owned();
        let pieces = vec![Piece { text, changed: false }];
        let formula = MarkedFormula { side: "", tag: "span", pieces };
        let mut sections = vec![Section { formulas: vec![formula], ..Section::new("Formula") }];
        sections.extend(findings_section(self.findings));
        let values = report.ranking.scores().values();
        let ordered: Vec<f64> = report.ranking.order().iter().map(|&row| values[row]).collect();
        if ordered.len() > 1 {
            sections.push(
                Section::new("Value over rank")
                    .note("A level line is a group of jobs of the same value, which the formula does not order.")
                    .chart(charts::values(&ordered), &[]),
            );
        }
        sections.push(jobs(report));
        sections.extend(self.groups());
        sections.extend(self.tree.map(|(tree, shares)| super::shares::icicle_section(tree, shares)));
        let rules: Vec<_> = report.rules.iter().filter(|(heading, _)| *heading != "formula:").cloned().collect();
        Page {
            kind: "jsf rank",
            title: "Ranking of a queue".to_owned(),
            headline: headline(report),
            facts: facts(&rules),
            sections,
        }
        .write(out)
    }
}

fn headline(report: &RankReport<'_>) -> String {
    let first = report.ranking.order().first().map(|&row| {
        let (id, entity) = (report.table.id(row), report.table.entity(row));
        let of = if entity.is_empty() { String::new() } else { format!(" of `{}`", printable(entity)) };
        format!("; `{}`{of} is first", printable(id))
    });
    format!("{}{}.", summary(report), first.unwrap_or_default())
}

/// The jobs, in the order of the report.
fn jobs(report: &RankReport<'_>) -> Section {
    let mut headings = ["#rank", "job", "entity", "queue", "state", "#value"].map(str::to_owned).to_vec();
    headings.extend(report.inputs.iter().map(|input| format!("#{input}")));
    headings.push("note".to_owned());
    let headings: Vec<&str> = headings.iter().map(|heading| &**heading).collect();
    let lines = report.line_maker();
    let row = |line: Line<'_>| {
        let value = match &line.score {
            Some(score) => Cell::number(number_format::logged(score.value), score.value),
            None => Cell::count(None),
        };
        let mut cells = vec![
            Cell::count(line.rank),
            Cell::text(report.table.id(line.row)),
            Cell::text(&or_dash(report.table.entity(line.row))),
            Cell::text(&or_dash(report.table.queue(line.row))),
            Cell::text(report.table.state(line.row).letter()),
            value,
        ];
        cells.extend(report.inputs.iter().map(|name| input(report.input(name, line.row))));
        cells.push(Cell::text(&note(report, &line)));
        cells
    };
    Section::new("Jobs").table(Table::new(&headings, report.rows.iter().map(|&ranked| row(lines.line(ranked)))))
}

fn input(value: Option<PythonValue>) -> Cell {
    match value {
        Some(value) => Cell::number(value.repr(), value.to_f64().map_or(serde_json::Value::Null, Into::into)),
        None => Cell::count(None),
    }
}

impl RankHtml<'_> {
    /// The tables of entities, groups and queues.
    fn groups(&self) -> Vec<Section> {
        let tables = [
            ("Entities", "entity", &self.groups.entities),
            ("Groups", "group", &self.groups.groups),
            ("Queues", "queue", &self.groups.queues),
        ];
        let mut sections = Vec::new();
        for (heading, column, changes) in tables {
            if changes.iter().all(|change| change.name.is_empty()) {
                continue;
            }
            let [ten, hundred] = changes.first().map(|change| change.top.map(|(first, _)| first)).unwrap_or_default();
            let first = [ten, hundred].map(|first| format!("#in first {first}"));
            let headings = [column, "#jobs", "#mean rank", &first[0], &first[1], "#share"];
            let rows = changes.iter().map(|change| {
                let name = if change.path.is_empty() { change.name.clone() } else { change.path.join("/") };
                let mut cells = vec![
                    Cell::text(&name),
                    Cell::count(Some(change.jobs)),
                    Cell::decimals(change.mean_rank().map(|mean| mean.new), 1),
                ];
                cells.extend(change.top.map(|(_, count)| Cell::count(Some(count.new))));
                cells.push(Cell::percent(change.perc));
                cells
            });
            sections.push(Section::new(heading).table(Table::new(&headings, rows)));
        }
        sections
    }
}
