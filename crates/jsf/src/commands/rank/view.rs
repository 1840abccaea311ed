//! A ranking for people: how many jobs are considered, which one is first, and a table of the jobs.

use std::collections::BTreeMap;

use job_sort_formula::fairshare::AssessedTree;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::nearest_double;
use job_sort_formula::rank::{Comparison, SummandAgreement};
use jsf_openpbs::number_format;

use crate::commands::rank::answer::{Line, RankReport};
use crate::commands::shares::view::tree_section;
use crate::view::charts::plot::{Axis, Plot, StepLine};
use crate::view::decides::{decides_line, summand_columns};
use crate::view::document::{
    Cell, Chart, ChartSvg, Column, DECIDES, Document, Fact, Section, Table,
};
use crate::view::groups::group_sections;
use crate::view::rule_facts::rule_facts;
use crate::view::verdict::{brief_findings, verdict_sentence};
use crate::view::words::{count, grouped_number, significant};

/// The states of jobs that are not ranked, with words for one job and for several.
const STATES: [(&str, &str, &str); 6] = [
    ("R", "runs", "run"),
    ("H", "is held", "are held"),
    ("W", "waits for its time", "wait for their time"),
    ("S", "is suspended", "are suspended"),
    ("E", "is ending", "are ending"),
    ("ignored", "is ignored", "are ignored"),
];
/// The most steps of the chart of the values.
const MAX_POINTS: usize = 2000;
/// The number of rows that decide the widths of the columns, about a screenful.
const MEASURED_ROWS: usize = 50;

/// What a page shows beside a ranking.
#[derive(Debug)]
pub struct RankPageParts {
    /// The findings about the formula, as they are drawn in a terminal.
    pub findings: Vec<String>,
    /// The ranking compared with itself, which counts the jobs of each entity and of each queue.
    pub groups: Comparison,
    /// The fair-share tree with its numbers.
    pub tree: Option<AssessedTree>,
}

/// The document of a ranking; `page` is what only a page shows.
pub fn rank_document<'a>(report: RankReport<'a>, page: Option<&'a RankPageParts>) -> Document<'a> {
    let mut sections = vec![Section::formulas(report.formula, report.formula)];
    sections.extend(report.checked.and_then(brief_findings));
    if let Some(page) = page {
        sections.extend(Section::findings(&page.findings));
        sections.extend(values_section(report));
    }
    let has_effect = has_effect(report);
    let jobs = Section::new("jobs").table(jobs(report));
    sections.push(if has_effect { jobs } else { jobs.in_full() });
    if let Some(page) = page {
        sections.extend(
            group_sections(&page.groups, true)
                .into_iter()
                .map(Section::on_page),
        );
        sections.extend(
            page.tree
                .as_ref()
                .map(|tree| tree_section(tree.tree(), tree.shares())),
        );
    }
    let mut facts = rule_facts(report.rules);
    facts.extend(decides_fact(report.decides).filter(|_| has_effect));
    facts.extend(ties(report).filter(|_| has_effect));
    facts.extend(errors(report).map(Fact::in_full));
    Document {
        command: "jsf rank",
        title: "Ranking of a queue".to_owned(),
        headline: headline(report),
        facts,
        sections,
        read_on: "jsf explain --job ID",
    }
}

/// The verdict on the formula, then which job is first, then how many jobs are ranked.
fn headline(report: RankReport<'_>) -> String {
    let verdict = report
        .checked
        .and_then(|checked| verdict_sentence(checked, "the formula"));
    if !has_effect(report) {
        return verdict.unwrap_or_default();
    }
    verdict
        .into_iter()
        .chain(first_job(report))
        .chain([job_counts(report)])
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether the formula orders jobs: without that, their ranks say nothing of it.
fn has_effect(report: RankReport<'_>) -> bool {
    report
        .checked
        .is_none_or(|checked| checked.verdict.has_effect())
}

/// Which job is first, and by how much.
fn first_job(report: RankReport<'_>) -> Option<String> {
    let order = report.ranking.order();
    let first = *order.first()?;
    let value = |row: usize| report.ranking.score(row).map(|score| score.value);
    let ahead = order
        .get(1)
        .and_then(|&second| Some(value(first)? - value(second)?));
    let lead = match ahead {
        Some(1.0) => ", 1 point ahead".to_owned(),
        Some(ahead) if ahead > 0.0 && ahead.is_finite() => {
            format!(", {} points ahead", significant(ahead))
        }
        Some(0.0) => {
            let tied = order
                .iter()
                .take_while(|&&row| value(row) == value(first))
                .count();
            format!(" of {tied} with the same value")
        }
        _ => String::new(),
    };
    Some(format!(
        "{} is first{lead}.",
        named_job(report.table, first)
    ))
}

/// A job with its entity.
fn named_job(table: &JobTable, row: usize) -> String {
    match table.entity(row) {
        "" => format!("`{}`", table.id(row)),
        entity => format!("`{}` (`{entity}`)", table.id(row)),
    }
}

/// How many jobs are ranked, and what becomes of the others.
fn job_counts(report: RankReport<'_>) -> String {
    let table = report.table;
    let mut ranked = vec![false; table.len()];
    report
        .ranking
        .order()
        .iter()
        .for_each(|&row| ranked[row] = true);
    report
        .not_considered
        .iter()
        .for_each(|&(row, _)| ranked[row] = true);
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for row in (0..table.len()).filter(|&row| !ranked[row]) {
        let state = if table.exclusion(row).is_some() {
            "ignored"
        } else {
            table.state(row).letter()
        };
        *states.entry(state).or_default() += 1;
    }
    let mut others: Vec<String> = Vec::new();
    for (state, one, many) in STATES {
        if let Some(jobs) = states.remove(state) {
            others.push(format!("{jobs} {}", if jobs == 1 { one } else { many }));
        }
    }
    match report.not_considered.len() {
        0 => {}
        1 => others.push("1 is below the threshold or without shares".to_owned()),
        jobs => others.push(format!("{jobs} are below the threshold or without shares")),
    }
    match states.values().sum::<usize>() {
        0 => {}
        1 => others.push("1 is in another state".to_owned()),
        jobs => others.push(format!("{jobs} are in other states")),
    }
    let jobs = report.ranking.order().len();
    let ranked = if jobs == 1 {
        "1 job is ranked".to_owned()
    } else {
        format!("{} jobs are ranked", grouped_number(jobs))
    };
    if others.is_empty() {
        format!("{ranked}.")
    } else {
        format!("{ranked}; {}.", others.join(", "))
    }
}

/// What decides the order, in one line.
fn decides_fact(summands: &[SummandAgreement]) -> Option<Fact> {
    let line = decides_line(summands);
    (!line.is_empty()).then(|| Fact::new("decides", line))
}

/// How many pairs of neighbours the formula does not order.
fn ties(report: RankReport<'_>) -> Option<Fact> {
    let pairs = report.ranking.ties();
    let neighbours = report.ranking.order().len().saturating_sub(1);
    let text = format!(
        "{} of {} neighbouring pairs have equal values",
        grouped_number(pairs),
        grouped_number(neighbours)
    );
    (pairs > 0).then(|| Fact::new("ties", text))
}

/// How many jobs have an error of each kind.
fn errors(report: RankReport<'_>) -> Option<Fact> {
    let errors = report.ranking.scores().errors_by_kind().into_iter();
    let mut errors: Vec<_> = errors
        .map(|(kind, number)| (kind.description(), number))
        .collect();
    errors.sort_unstable();
    let kinds: Vec<_> = errors
        .iter()
        .map(|(kind, number)| format!("{}: {kind}", count(*number, "job")))
        .collect();
    (!kinds.is_empty()).then(|| Fact::new("with an error", kinds.join("; ")))
}

/// The values in the order of the jobs, as a chart.
fn values_section(report: RankReport<'_>) -> Option<Section<'_>> {
    let order = report.ranking.order();
    let note =
        "A level line is a group of jobs of the same value, which the formula does not order.";
    let section = Section::new("value over rank")
        .on_page()
        .prose(note)
        .chart(move || Chart::new(values_chart(report), &[]));
    let tenths = (0..=10).map(|tenth| tenth * order.len().saturating_sub(1) / 10);
    let mut shown: Vec<usize> = tenths.collect();
    shown.dedup();
    shown.truncate(order.len());
    let rows = shown.into_iter().map(|index| {
        let score = report.ranking.score(order[index]).map(|score| score.value);
        vec![Cell::Count(index + 1), Cell::score(score)]
    });
    let table = Table::from_rows(
        vec![Column::number("rank", 9), Column::number("value", 9)],
        rows,
    );
    (order.len() > 1).then(|| section.table(table.folded("Some of the values as a table")))
}

/// The values of the jobs over their ranks, of many jobs only some.
fn values_chart(report: RankReport<'_>) -> ChartSvg {
    let order = report.ranking.order();
    let values = report.ranking.scores().values();
    let every = order.len().div_ceil(MAX_POINTS).max(1);
    let finite = order
        .iter()
        .map(|&row| values[row])
        .filter(|value| value.is_finite());
    let [low, high] = [
        finite.clone().fold(f64::INFINITY, f64::min),
        finite.fold(f64::NEG_INFINITY, f64::max),
    ];
    let drawn = order
        .iter()
        .enumerate()
        .step_by(every)
        .filter(|(_, row)| values[**row].is_finite());
    let steps = drawn.map(|(index, &row)| {
        [
            index as f64,
            (index + every).min(order.len()) as f64,
            values[row],
        ]
    });
    let line = StepLine {
        class: "new".to_owned(),
        name: String::new(),
        is_named: false,
        steps: steps.collect(),
    };
    let plot = Plot {
        x: Axis::whole([0.0, order.len() as f64], "rank"),
        y: Axis {
            range: [low, high],
            caption: "value".to_owned(),
            is_whole: false,
        },
        lines: vec![line],
    };
    plot.chart("The value of each job over its rank")
}

/// The jobs, in the order of the report.
fn jobs(report: RankReport<'_>) -> Table<'_> {
    let lines = report.line_maker();
    let jobs = Table::new(columns(report), report.rows.len(), move |index| {
        cells(report, &lines.line(report.rows[index]))
    });
    jobs.measured(MEASURED_ROWS)
}

fn columns(report: RankReport<'_>) -> Vec<Column> {
    let mut columns = vec![
        Column::number("rank", 9),
        Column::id("job", DECIDES),
        Column::text("entity", 5),
        Column::text("queue", 3),
        Column::text("state", 1).on_page(),
        Column::number("value", DECIDES),
    ];
    columns.extend(
        report
            .inputs
            .iter()
            .map(|name| Column::number(with_unit(report, name), 4)),
    );
    columns.extend(summand_columns(report.term_texts(), report.decides, 7));
    columns.push(Column::wrapped("note", 6));
    columns
}

/// The name of an input with its unit.
fn with_unit(report: RankReport<'_>, name: &str) -> String {
    match report
        .schema
        .entry(name)
        .and_then(|entry| entry.input_type.unit())
    {
        Some(unit) => format!("{name} ({unit})"),
        None => name.to_owned(),
    }
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
    cells.extend(
        report
            .inputs
            .iter()
            .map(|name| Cell::python(report.input(name, line.row))),
    );
    cells.extend(
        report
            .term_values(line.row)
            .into_iter()
            .map(|value| term(value)),
    );
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
    let notes: Vec<String> = error
        .into_iter()
        .chain(report.excluded(line).map(|(_, reason)| reason))
        .collect();
    notes.join("; ")
}
