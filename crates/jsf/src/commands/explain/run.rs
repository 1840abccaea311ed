//! `jsf explain`

use std::io::Write;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use jsf_site::{CycleRequest, ExplainOptions, RankRequest};

use crate::cli::document::{PIPED_WIDTH, Shown};
use crate::cli::failing_jobs::report_errors;
use crate::cli::output::Output;
use crate::cli::queue::{DrawnFindings, OpenedQueue, QueueToRank, outcome, select_rows_or_warn};
use crate::cli::{CliError, Outcome, Progress, parsed_formula, show_site};
use crate::commands::explain::answer::ExplainReport;
use crate::commands::explain::place_in_words::described_words;
use crate::commands::explain::request::ExplainArgs;
use crate::job_filter::JobFilter;
use crate::ranked_row::RankedRow;

pub(crate) fn run(arguments: &ExplainArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let is_document = arguments.answer.format.is_document();
    let mut described = arguments.described.clone();
    match (&mut described, arguments.entity.as_slice()) {
        (Some(described), [entity]) => described.entity.clone_from(entity),
        (Some(_), [_, _, ..]) => {
            return Err(CliError::usage(
                "a described job (--as) has one entity (--entity)",
            ));
        }
        _ => {}
    }
    let opened = OpenedQueue::open(&arguments.queue)?;
    let OpenedQueue { site, source, .. } = &opened;
    let submitted = opened.submitted();
    let formula = parsed_formula(source, &submitted)?;
    show_site(&arguments.queue.site, site, is_document);
    let request = RankRequest {
        record_origins: true,
        ..RankRequest::from(formula)
    };
    let read = QueueToRank::read_and_report(
        &opened,
        &submitted,
        &request,
        is_document,
        DrawnFindings::Errors,
    )?;
    let Some(mut read) = read else {
        return Ok(Outcome::Findings);
    };
    let entities = entities(arguments);
    let mut rows = if entities.is_empty() {
        read.find_or_warn(&arguments.jobs)?
    } else {
        Vec::new()
    };
    if let Some(described) = &described {
        rows.push(read.add(described)?);
    }
    let (queue, warnings) = read.rank_and_warn()?;
    if !entities.is_empty() {
        let filter = JobFilter {
            jobs: &arguments.jobs.job,
            entities,
            ..JobFilter::default()
        };
        let selected =
            select_rows_or_warn(filter, RankedRow::all(&queue.ranking), site, &queue.table)?;
        rows = selected.into_iter().map(RankedRow::row).collect();
    }
    let considered = queue.ranking.order().len();
    if let Some(rank) = arguments.to.filter(|&rank| rank as usize > considered) {
        let jobs = if considered == 1 {
            "1 job is"
        } else {
            &format!("{considered} jobs are")
        };
        return Err(CliError::usage(format!(
            "there is no rank {rank}: {jobs} considered"
        )));
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
        rules.extend(
            explanations
                .jobs
                .last()
                .map(|job| ("described", described_words(&queue.table, job))),
        );
    }
    rules.extend_from_slice(&queue.rules);
    let has_document = is_document || arguments.report.is_some();
    let checked = has_document.then(|| site.check_ranked(&submitted, &queue));
    let decides = queue.decides();
    let shown = explanations.jobs.iter().map(|job| queue.table.id(job.row));
    let request = CycleRequest {
        formula: Some(formula),
        at: arguments.queue.site.at,
        ..CycleRequest::default()
    };
    let preemption = site.preemption_of(&request, &shown.collect::<Vec<_>>());
    let report = ExplainReport {
        formula: &source.text,
        queue: &queue,
        explanations: &explanations,
        rules: &rules,
        checked: checked.as_ref(),
        decides: &decides,
        preemption: &preemption,
    };
    let warnings = warnings.into_answer();
    let shown = Shown {
        piped_width: Some(PIPED_WIDTH),
        ..arguments.answer.text.into()
    };
    let output = Output::new(arguments.answer.format, shown, &warnings);
    let output = output.with_page(arguments.report.as_deref(), vec![site], Vec::new());
    output.write(&report, out)?;
    // of a job that fails itself the explanation says how many others do
    if !explanations
        .jobs
        .iter()
        .any(|job| matches!(job.result, Some(Err(_))))
    {
        report_errors(
            arguments.queue.site.on_error,
            "the formula",
            &queue.table,
            &queue.ranking,
        );
    }
    Ok(outcome(&queue.findings, &queue.ranking))
}

/// The entities whose jobs are explained.
fn entities(arguments: &ExplainArgs) -> &[String] {
    if arguments.described.is_some() {
        &[]
    } else {
        &arguments.entity
    }
}

pub(crate) fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}
