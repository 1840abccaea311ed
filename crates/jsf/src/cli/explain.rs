//! `jsf explain`

use std::io::Write;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use jsf_openpbs::check::job_error;
use jsf_report::document::DrawingStyle;
use jsf_report::explain::{ExplainReport, described_words, explain_document, write_json};
use jsf_report::{JobFilter, RankedRow, draw_finding};
use jsf_site::{ExplainOptions, Explanation};

use super::args::{ExplainArgs, ExplainFormatName, note_idle};
use super::document::{PIPED_WIDTH, Shown, write_as_markdown, write_text};
use super::queue::{RankedByFormula, Wanted, outcome, select_rows, with_ranked_queue};
use super::rank::report_errors;
use super::{CliError, NOT_A_TABLE, Outcome, Progress, formula_source, page};

pub(super) fn run(arguments: &ExplainArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let is_document = arguments.format.is_document();
    note_idle(&[("--wide", arguments.text.wide && arguments.format != ExplainFormatName::Human)], NOT_A_TABLE);
    let mut described = arguments.described.clone();
    match (&mut described, arguments.entity.as_slice()) {
        (Some(described), [entity]) => described.entity.clone_from(entity),
        (Some(_), [_, _, ..]) => return Err(CliError::usage("a described job (--as) has one entity (--entity)")),
        _ => {}
    }
    let jobs = Some(&arguments.jobs).filter(|_| entities(arguments).is_empty());
    let wanted = Wanted { is_document, jobs, described, limit: usize::MAX, origins: true, shown: is_error };
    with_ranked_queue(&arguments.queue, &wanted, |ranked| explain(arguments, ranked, out))
}

/// The entities whose jobs are explained.
fn entities(arguments: &ExplainArgs) -> &[String] {
    if arguments.described.is_some() { &[] } else { &arguments.entity }
}

pub(super) fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

fn explain(arguments: &ExplainArgs, ranked: RankedByFormula<'_>, out: &mut impl Write) -> Result<Outcome, CliError> {
    let RankedByFormula { site, source, submitted, queue, warnings, mut rows } = ranked;
    let entities = entities(arguments);
    if !entities.is_empty() {
        let filter = JobFilter { jobs: &arguments.jobs.job, entities, ..JobFilter::default() };
        let selected = select_rows(filter, RankedRow::all(&queue.ranking), site, &queue.table)?;
        rows = selected.into_iter().map(RankedRow::row).collect();
    }
    let considered = queue.ranking.order().len();
    if let Some(rank) = arguments.to.filter(|&rank| rank as usize > considered) {
        let jobs = if considered == 1 { "1 job is" } else { &format!("{considered} jobs are") };
        return Err(CliError::usage(format!("there is no rank {rank}: {jobs} considered")));
    }
    let options = ExplainOptions {
        to: arguments.to.map(|rank| rank as usize),
        within: arguments.within as i64,
        ..ExplainOptions::default()
    };
    let progress = Progress::start("explaining the jobs");
    let explanations = site.explain(&queue, &rows, &options)?;
    drop(progress);
    let mut rules = vec![("formula", source.text.trim_end().to_owned())];
    if arguments.described.is_some() {
        rules.extend(explanations.jobs.last().map(|job| ("described", described_words(&queue.table, job))));
    }
    rules.extend_from_slice(&queue.rules);
    let is_for_people = arguments.format.is_document() || arguments.report.is_some();
    let checked = is_for_people.then(|| site.check_ranked(submitted, &queue));
    let decides = queue.decides();
    let report = ExplainReport {
        formula: &source.text,
        queue: &queue,
        explanations: &explanations,
        rules: &rules,
        checked: checked.as_ref(),
        decides: &decides,
        usage_unit: &explanations.usage_unit,
        warnings: &warnings.into_answer(),
    };
    let draw = |job: &Explanation, style: DrawingStyle| {
        let finding = submitted.in_source(job_error(&queue.table, job.row, job.result.as_ref()?.as_ref().err()?));
        Some(draw_finding(&formula_source(source), &finding, style.coloured, style.width))
    };
    let document = explain_document(report, &draw);
    if let Some(path) = &arguments.report {
        page::write_document(path, &[site], [], &document)?;
    }
    match arguments.format {
        ExplainFormatName::Human => {
            write_text(&document, Shown { piped_width: Some(PIPED_WIDTH), ..arguments.text.into() }, out)?
        }
        ExplainFormatName::Markdown => write_as_markdown(&document, arguments.text, out)?,
        ExplainFormatName::Json => write_json(&report, out)?,
    }
    // of a job that fails itself the explanation says how many others do
    if !explanations.jobs.iter().any(|job| matches!(job.result, Some(Err(_)))) {
        out.flush()?;
        report_errors(arguments.queue.site.on_error, "the formula", &queue.table, &queue.ranking);
    }
    Ok(outcome(&queue.findings, &queue.ranking))
}
