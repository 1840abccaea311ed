//! A ranking for people: how many jobs are considered, which one is first, and a table of the jobs.

use job_sort_formula::fairshare::{ShareTable, ShareTree};
use job_sort_formula::python::Value;
use job_sort_formula::rank::Comparison;
use job_sort_formula::rank::explain::nearest_double;
use jsf_openpbs::number_format;

use crate::charts;
use crate::document::{Cell, Chart, Column, Document, Fact, Section, Table};
use crate::groups::group_sections;
use crate::shares_document::tree_section;
use crate::words::count;
use crate::{Line, RankReport};

/// The longest heading of a summand.
const MAX_HEADING: usize = 32;
/// The number of rows that decide the widths of the columns, about a screenful.
const MEASURED_ROWS: usize = 50;

/// What a page shows beside a ranking.
#[derive(Debug, Clone, Copy)]
pub struct RankPageParts<'a> {
    /// The findings about the formula, as they are drawn in a terminal.
    pub findings: &'a [String],
    /// The ranking compared with itself, which counts the jobs of each entity and of each queue.
    pub groups: &'a Comparison,
    /// The fair-share tree with its numbers.
    pub tree: Option<(&'a ShareTree, &'a ShareTable)>,
}

/// The document of a ranking; `page` is what only a page shows.
pub fn rank_document<'a>(report: RankReport<'a>, page: Option<RankPageParts<'a>>) -> Document<'a> {
    let mut sections = vec![Section::formulas(report.formula, report.formula)];
    if let Some(page) = page {
        sections.extend(Section::findings(page.findings));
        sections.extend(values_section(report));
    }
    sections.push(Section::new("jobs").table(jobs(report)));
    if let Some(page) = page {
        sections.extend(group_sections(page.groups, true).into_iter().map(Section::on_page));
        sections.extend(page.tree.map(|(tree, shares)| tree_section(tree, shares)));
    }
    let mut facts = Fact::list(report.rules.iter().cloned());
    facts.extend(errors(report));
    Document {
        command: "jsf rank",
        title: "Ranking of a queue".to_owned(),
        headline: headline(report),
        facts,
        sections,
    }
}

fn headline(report: RankReport<'_>) -> String {
    let Some(&first) = report.ranking.order().first() else { return format!("{}.", summary(report)) };
    let id = report.table.id(first);
    match report.table.entity(first) {
        "" => format!("{}; `{id}` is first.", summary(report)),
        entity => format!("{}; `{id}` of `{entity}` is first.", summary(report)),
    }
}

/// How many jobs there are, and how many of them the scheduler considers.
fn summary(report: RankReport<'_>) -> String {
    let all = report.table.len();
    let considered = report.ranking.order().len();
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

/// How many jobs have an error of each kind.
fn errors(report: RankReport<'_>) -> Option<Fact> {
    let errors = report.ranking.scores().errors_by_kind();
    let kinds: Vec<_> = errors.iter().map(|(kind, number)| format!("{}: {kind}", count(*number, "job"))).collect();
    (!kinds.is_empty()).then(|| Fact::new("with an error", kinds.join("; ")))
}

/// The values in the order of the jobs, as a chart.
fn values_section(report: RankReport<'_>) -> Option<Section<'_>> {
    let order = report.ranking.order();
    let note = "A level line is a group of jobs of the same value, which the formula does not order.";
    let section = Section::new("value over rank").on_page().prose(note).chart(move || {
        let values = report.ranking.scores().values();
        let ordered: Vec<f64> = order.iter().map(|&row| values[row]).collect();
        Chart { svg: charts::values(&ordered), legend: Vec::new() }
    });
    (order.len() > 1).then_some(section)
}

/// The jobs, in the order of the report.
fn jobs(report: RankReport<'_>) -> Table<'_> {
    let lines = report.line_maker();
    let jobs =
        Table::new(columns(report), report.rows.len(), move |index| cells(report, &lines.line(report.rows[index])));
    jobs.measured(MEASURED_ROWS)
}

fn columns(report: RankReport<'_>) -> Vec<Column> {
    let mut columns = vec![
        Column::number("rank", 9),
        Column::id("job", 9),
        Column::text("entity", 5),
        Column::text("queue", 3),
        Column::text("state", 1).on_page(),
        Column::number("value", 8),
    ];
    columns.extend(report.inputs.iter().map(|name| Column::number(with_unit(report, name), 4)));
    columns.extend(report.term_texts().map(|text| Column::number(cut_in_the_middle(text), 7)));
    columns.push(Column::wrapped("note", 6));
    columns
}

/// The name of an input with its unit.
fn with_unit(report: RankReport<'_>, name: &str) -> String {
    match report.schema.entry(name).and_then(|entry| entry.input_type.unit()) {
        Some(unit) => format!("{name} ({unit})"),
        None => name.to_owned(),
    }
}

/// A heading of at most [`MAX_HEADING`] characters, the beginning and the end of the text.
fn cut_in_the_middle(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= MAX_HEADING {
        return text.to_owned();
    }
    let half = MAX_HEADING / 2;
    let start = &characters[..half - 1];
    let end = &characters[characters.len() - half..];
    start.iter().chain(['…'].iter()).chain(end).collect()
}

fn cells<'a>(report: RankReport<'a>, line: &Line<'a>) -> Vec<Cell<'a>> {
    let table = report.table;
    let mut cells = vec![
        Cell::count(line.rank),
        Cell::text(table.id(line.row)),
        Cell::text(table.entity(line.row)),
        Cell::text(table.queue(line.row)),
        Cell::text(table.state(line.row).letter()),
        Cell::score(line.score.as_ref().map(|score| score.value)),
    ];
    cells.extend(report.inputs.iter().map(|name| Cell::python(report.input(name, line.row))));
    cells.extend(report.term_values(line.row).into_iter().map(|value| term(value)));
    cells.push(Cell::prose(note(report, line)));
    cells
}

/// The value of a summand, with the digits that OpenPBS gives to a formula.
fn term(value: Option<Value>) -> Cell<'static> {
    match value.as_ref().and_then(nearest_double) {
        Some(number) => Cell::Written(number_format::printed(number), Some(number)),
        None => Cell::Missing,
    }
}

fn note(report: RankReport<'_>, line: &Line<'_>) -> String {
    let error = line.error().map(|error| format!("error: {error}"));
    let notes: Vec<String> = error.into_iter().chain(report.excluded(line).map(|(_, reason)| reason)).collect();
    notes.join("; ")
}
