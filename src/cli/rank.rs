//! `jsf rank`

use std::io::Write;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::pbs::check::error_findings;
use job_sort_formula::pbs::submission::FormulaSubmission;
use job_sort_formula::report::{Csv, Human, Json, Ndjson, RankFormat, RankReport, RankedRow};
use job_sort_formula::site::FormulaText;
use job_sort_formula::{JobTable, Ranking};

use super::args::{RankArgs, RankFormatName};
use super::{CliError, Outcome, draw, draw_all, read_formula, warn_all};

pub(super) fn run(arguments: &RankArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = arguments.site.open(arguments.threshold)?;
    let source = read_formula(&arguments.formula, Some(&site))?;
    let submitted = source.submitted(arguments.site.number_mode());
    let formula = match submitted.formula() {
        Ok(formula) => formula,
        Err(refusal) => {
            draw(&source, &refusal.finding);
            return Ok(Outcome::Findings);
        }
    };
    warn_all(site.warnings());
    let jobs = site.jobs(formula)?;
    warn_all(&jobs.warnings);
    let findings = site.lint(formula, &jobs);
    draw_submitted(&source, &submitted, findings.iter().cloned());
    let Ok(program) = formula.compile(&jobs.schema) else { return Ok(Outcome::Findings) };
    let ranked = site.rank_jobs(program, jobs.table, limit(arguments))?;
    warn_all(&ranked.warnings);
    let inputs: Vec<_> = ranked.program.inputs().iter().map(|name| &**name).filter(|_| arguments.inputs).collect();
    let rows = rows(arguments, &ranked.table, &ranked.ranking);
    let report = RankReport {
        formula: &source.text,
        table: &ranked.table,
        ranking: &ranked.ranking,
        not_considered: &ranked.not_considered,
        rows: &rows,
        inputs: &inputs,
    };
    format(arguments.format).write(&report, out)?;
    out.flush()?;
    if arguments.format == RankFormatName::Human {
        draw_submitted(&source, &submitted, error_findings(&ranked.table, &ranked.ranking));
    }
    let scores = ranked.ranking.scores();
    let cannot_work = findings.iter().any(|found| found.severity == Severity::Error)
        || (scores.count() > 0 && ranked.ranking.error_count() == scores.count());
    Ok(if cannot_work || ranked.ranking.failure().is_some() { Outcome::Findings } else { Outcome::Fine })
}

/// The number of ranks to determine: all if jobs are searched for among them, or if a summary counts them.
fn limit(arguments: &RankArgs) -> usize {
    let is_searched = arguments.entity.is_some() || arguments.queue_name.is_some();
    let has_summary = matches!(arguments.format, RankFormatName::Human | RankFormatName::Json);
    arguments.top.filter(|_| !is_searched && !has_summary).unwrap_or(usize::MAX)
}

/// The rows to show: those in the order first, then the others.
fn rows(arguments: &RankArgs, table: &JobTable, ranking: &Ranking) -> Vec<RankedRow> {
    let mut rows = RankedRow::all(ranking);
    if let Some(entity) = &arguments.entity {
        rows.retain(|ranked| table.entity(ranked.row()) == entity);
    }
    if let Some(queue) = &arguments.queue_name {
        rows.retain(|ranked| table.queue(ranked.row()) == queue);
    }
    rows.truncate(arguments.top.unwrap_or(usize::MAX));
    rows
}

fn format(name: RankFormatName) -> Box<dyn RankFormat> {
    match name {
        RankFormatName::Human => Box::new(Human),
        RankFormatName::Json => Box::new(Json),
        RankFormatName::Csv => Box::new(Csv),
        RankFormatName::Ndjson => Box::new(Ndjson),
    }
}

/// Draws findings on the parsed formula under the text that was submitted.
fn draw_submitted(
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    findings: impl IntoIterator<Item = Diagnostic>,
) {
    let findings: Vec<Diagnostic> = findings.into_iter().map(|found| submitted.in_source(found)).collect();
    draw_all(source, &findings);
}
