//! Why jobs have their places, as a page.

use std::io::{self, Write};

use job_sort_formula::formula::program::Term;
use job_sort_formula::rank::explain::nearest_double;
use jsf_site::{Explanation, Neighbour};

use super::shares::shares_table;
use super::{Bar, Cell, Page, Section, Table, facts, formula_section, sentence_pieces};
use crate::explain::human::{DECIDED_BY, MAX_CODE, SIGNS, decision, input_unit, part, shown_nodes};
use crate::explain::sentence::sentence;
use crate::explain::{ExplainReport, with_path_view};
use crate::terminal::{excerpt, printable};

/// The deepest level of a part of the formula that is moved to the right.
const MAX_INDENT: usize = 4;

/// Writes the page of one or more explanations. `command` is the command line, which the page shows; `draw_error` draws the
/// error of a job under the formula.
///
/// # Errors
/// `out` cannot be written.
pub fn write_explanation(
    report: &ExplainReport<'_>,
    command: &str,
    draw_error: &dyn Fn(&Explanation) -> Option<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let jobs = &report.explanations.jobs;
    let mut sections = vec![formula_section(report.formula)];
    for job in jobs {
        let id = printable(report.table().id(job.row)).into_owned();
        let of = if jobs.len() > 1 { format!(" of {id}") } else { String::new() };
        if jobs.len() > 1 {
            sections.push(Section::new(id).note(format!("{}.", sentence(report, job))));
        }
        sections.extend(draw_error(job).map(|drawn| Section { findings: vec![drawn], ..Section::new("Error") }));
        sections.extend(terms(job, &of));
        sections.extend(inputs(job, &of));
        sections.extend(parts(report, job, &of));
        sections.extend(with_path_view(report.explanations.shares.as_ref(), job, |view| {
            Section::new(format!("Shares from the root to the entity{of}")).table(shares_table(view))
        }));
        sections.extend(neighbours(report, job, &of));
    }
    let headline = match jobs.as_slice() {
        [only] => format!("{}.", sentence(report, only)),
        _ => format!("Why {} jobs have their places.", jobs.len()),
    };
    Page {
        kind: "jsf explain",
        title: "Why a job has its place".to_owned(),
        headline: sentence_pieces(&headline),
        facts: facts(report.rules),
        command: printable(command).into_owned(),
        sections,
    }
    .write(out)
}

/// The terms as bars around zero.
fn terms(job: &Explanation, of: &str) -> Option<Section> {
    let values: Vec<f64> = job.terms.iter().map(|term| nearest_double(&term.value).unwrap_or(0.0)).collect();
    let largest = values.iter().map(|value| value.abs()).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let has_negative = values.iter().any(|value| *value < 0.0);
    let row = |(term, value): (&Term, &f64)| {
        let bar = Bar::new(*value, largest, has_negative);
        vec![Cell::code(&excerpt(&term.text, MAX_CODE)), Cell { bar: Some(bar), ..Cell::python(Some(&term.value)) }]
    };
    let rows = job.terms.iter().zip(&values).map(row);
    let section = Section::new(format!("Terms{of}")).note(match &job.result {
        Some(Ok(value)) => format!("They add up to the value, {value}."),
        _ => "They add up to the value.".to_owned(),
    });
    (!job.terms.is_empty()).then(|| section.table(Table::new(&["term", "#value"], rows)))
}

fn inputs(job: &Explanation, of: &str) -> Option<Section> {
    let rows = job.inputs.iter().map(|input| {
        let value = Cell::python(input.value.as_ref());
        vec![Cell::text(&input.name), value, Cell::text(&input_unit(input)), Cell::text(&input.origin.to_string())]
    });
    let table = Table::new(&["input", "#value", "unit", "from"], rows);
    (!job.inputs.is_empty()).then(|| Section::new(format!("Inputs{of}")).table(table))
}

/// The value of each part of the formula.
fn parts(report: &ExplainReport<'_>, job: &Explanation, of: &str) -> Option<Section> {
    let nodes = shown_nodes(job);
    let rows = nodes.iter().map(|node| {
        let part = Cell::code(&excerpt(part(report, node), MAX_CODE));
        let class = format!("{} depth-{}", part.class, node.depth.min(MAX_INDENT));
        vec![Cell { class, ..part }, Cell::python(Some(&node.value))]
    });
    let table = Table::new(&["part", "#value"], rows);
    (!nodes.is_empty()).then(|| Section::new(format!("Value of each part{of}")).table(table))
}

fn neighbours(report: &ExplainReport<'_>, job: &Explanation, of: &str) -> Option<Section> {
    let rank = job.rank.filter(|_| !job.above.is_empty() || !job.below.is_empty())?;
    let (table, ranking) = (report.table(), &report.queue.ranking);
    let cells = |rank: usize, row: usize, decided: &str| {
        let value = Cell::score(ranking.score(row).map(|score| score.value));
        let (id, entity) = (Cell::text(table.id(row)), Cell::text(table.entity(row)));
        vec![Cell::count(Some(rank)), id, entity, value, Cell::text(decided)]
    };
    let neighbour = |one: &Neighbour| cells(one.rank, one.row, &decision(report, job, one, MAX_CODE));
    let above = job.above.iter().rev().map(neighbour);
    let rows = above.chain([cells(rank, job.row, "this job")]).chain(job.below.iter().map(neighbour));
    let headings = ["#rank", "job", "entity", "#value", DECIDED_BY];
    Some(Section::new(format!("Neighbours{of}")).note(format!("{SIGNS}.")).table(Table::new(&headings, rows)))
}
