//! `jsf explain`

use std::io::Write;

use job_sort_formula::diagnostic::Severity;
use jsf_site::{CycleRequest, ExplainOptions, RankRequest};

use crate::cli::document::{PIPED_WIDTH, Shown};
use crate::cli::failing_jobs::report_errors;
use crate::cli::output::Output;
use crate::cli::queue::{OpenedQueue, select_rows_or_warn};
use crate::cli::{CliError, Outcome, Progress};
use crate::commands::explain::answer::ExplainReport;
use crate::commands::explain::request::ExplainArgs;
use crate::job_filter::{JobFilter, all_rows};

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
    let opened = OpenedQueue::open(&arguments.queue, is_document)?;
    let OpenedQueue { site, source, .. } = &opened;
    let request = RankRequest {
        record_origins: true,
        ..RankRequest::from(&opened.formula)
    };
    let mut read = opened.read_jobs(&request, Some(Severity::Error))?;
    let entities: &[String] = match described {
        Some(_) => &[],
        None => &arguments.entity,
    };
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
        rows = select_rows_or_warn(filter, all_rows(&queue.ranking), site, &queue.table)?;
    }
    let considered = queue.ranking.order().len();
    if let Some(rank) = arguments.to
        && rank as usize > considered
    {
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
    let mut checked = None;
    if is_document || arguments.report.is_some() {
        checked = Some(site.check_ranked(&opened.submitted(), &queue));
    }
    let decides = queue.decides();
    let mut ids = Vec::new();
    let mut fails = false;
    for job in &explanations.jobs {
        ids.push(queue.table.id(job.row));
        fails |= matches!(job.result, Some(Err(_)));
    }
    let request = CycleRequest {
        formula: Some(&opened.formula),
        at: arguments.queue.site.at,
        ..CycleRequest::default()
    };
    let preemption = site.preemption_of(&request, &ids);
    let report = ExplainReport {
        formula: &source.text,
        queue: &queue,
        explanations: &explanations,
        is_last_described: arguments.described.is_some(),
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
    if !fails {
        report_errors(
            arguments.queue.site.on_error,
            "the formula",
            &queue.table,
            &queue.ranking,
        );
    }
    Ok(Outcome::of_ranking(&queue.findings, &queue.ranking))
}
