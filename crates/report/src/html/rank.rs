//! A ranking as a page.

use std::io::{self, Write};

use job_sort_formula::fairshare::{ShareTable, ShareTree};
use job_sort_formula::rank::Comparison;

use super::groups::group_sections;
use super::shares::icicle_section;
use super::{Cell, Page, Section, Table, charts, facts, findings_section, formula_section, sentence_pieces};
use crate::rank_human::{note, summary};
use crate::terminal::printable;
use crate::{Line, RankFormat, RankReport};

/// A ranking as a page for a browser.
#[derive(Debug, Clone, Copy)]
pub struct RankHtml<'a> {
    /// The command line, which the page shows.
    pub command: &'a str,
    /// The findings about the formula, as they are drawn in a terminal.
    pub findings: &'a [String],
    /// The ranking compared with itself, which counts the jobs of each entity and of each queue.
    pub groups: &'a Comparison,
    /// The fair-share tree with its numbers.
    pub tree: Option<(&'a ShareTree, &'a ShareTable)>,
}

impl RankFormat for RankHtml<'_> {
    fn write(&self, report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut sections = vec![formula_section(report.formula)];
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
        sections.extend(group_sections(self.groups, true));
        sections.extend(self.tree.map(|(tree, shares)| icicle_section(tree, shares)));
        Page {
            kind: "jsf rank",
            title: "Ranking of a queue".to_owned(),
            headline: sentence_pieces(&headline(report)),
            facts: facts(report.rules),
            command: printable(self.command).into_owned(),
            sections,
        }
        .write(out)
    }
}

fn headline(report: &RankReport<'_>) -> String {
    let first = report.ranking.order().first().map(|&row| {
        let (id, entity) = (report.table.id(row), report.table.entity(row));
        let of = if entity.is_empty() { String::new() } else { format!(" of `{entity}`") };
        format!("; `{id}`{of} is first")
    });
    format!("{}{}.", summary(report), first.unwrap_or_default())
}

/// The jobs, in the order of the report.
fn jobs(report: &RankReport<'_>) -> Section {
    let mut headings = ["#rank", "job", "entity", "queue", "state", "#value"].map(str::to_owned).to_vec();
    headings.extend(report.inputs.iter().map(|input| format!("#{input}")));
    headings.push("note".to_owned());
    let lines = report.line_maker();
    let row = |line: Line<'_>| {
        let mut cells = vec![
            Cell::count(line.rank),
            Cell::text(report.table.id(line.row)),
            Cell::text(report.table.entity(line.row)),
            Cell::text(report.table.queue(line.row)),
            Cell::text(report.table.state(line.row).letter()),
            Cell::score(line.score.as_ref().map(|score| score.value)),
        ];
        cells.extend(report.inputs.iter().map(|name| Cell::python(report.input(name, line.row).as_ref())));
        cells.push(Cell::prose(&note(report, &line)));
        cells
    };
    Section::new("Jobs").table(Table::new(&headings, report.rows.iter().map(|&ranked| row(lines.line(ranked)))))
}
