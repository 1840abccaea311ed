//! `jsf cycle`: its arguments, and what it does.

use std::collections::HashSet;
use std::io::Write;
use std::num::NonZeroU32;

use clap::Args;
use jsf_openpbs::check::error_findings_of;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{CycleRequest, FormulaText, RankedQueue, SiteError};

use crate::cli::args::site::SiteArgs;
use crate::cli::args::{AnswerArgs, EntityArgs, FormulaArgs};
use crate::cli::messages::{Warnings, report_errors};
use crate::cli::output::Output;
use crate::cli::queue::{draw_submitted, select_rows_or_warn, unknown_jobs_error};
use crate::cli::{
    CliError, Outcome, draw_all, parsed_formula, read_formula, show_site, warn, warn_all,
};
use crate::commands::cycle::answer::CycleReport;
use crate::job_filter::{JobFilter, NO_MATCH, all_rows};

/// `jsf cycle`
#[derive(Debug, Args)]
#[command(after_help = "\
The cycle is that of OpenPBS 23.06, held to cycles that its scheduler was recorded in. It follows the site's sched_config \
(by_queue, round_robin, strict_ordering, fair_share, job_sort_key), the attributes of server and queues (backfill_depth, \
max_run, max_run_res, resources_available, started, priority), of arrays (max_run_subjobs) and of the scheduler \
(opt_backfill_fuzzy, job_sort_formula_threshold). Chunks are placed on hosts that have the host, vnode, booleans and strings \
that they ask for. Running jobs end at their stime plus their walltime. A reservation holds its nodes: its jobs run there \
alone, and no other job runs into it. Prime time and dedicated time are those of sched_priv/holidays and \
sched_priv/dedicated_time. With preemptive_sched, running jobs of a lower level of preempt_prio give way by preempt_order, the \
latest start first; soft limits and preempt_targets count. Checkpoints are left out, and named where they would be tried, as \
reservations are without --reservations.

With strict_ordering, the first backfill_depth jobs that do not start are promised a start: at the latest then, as far as \
walltimes tell. With one --job that neither starts nor is promised a start, jsf runs the cycles at the ends of the running \
jobs until it starts, without further submissions.

accrue_type in JSON: 0 not yet known, 1 not eligible (eligible_time stands still), 2 eligible, 3 running.

A running subjob that the document of jobs does not list (`qstat -f` without `-t`) holds what its array asks for, from now on.

Exit codes: 0 success, 1 the formula has errors or fails for every job, 2 usage error, a file that cannot be read, or none of \
the jobs waits or runs.

Examples:
  jsf cycle --site examples/site
  jsf cycle --site examples/site --job 184208
  jsf cycle eligible_time --site examples/site --format json")]
pub struct CycleArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// Show this job only: when will it start?
    ///
    /// An id with or without the server's name: 12 or 12.vm; an array is 12[], and a waiting subjob
    /// has its index in the brackets; separate several by commas, or repeat the option
    #[arg(long = "job", value_name = "ID", value_delimiter = ',', value_parser = crate::cli::args::listed_name)]
    pub jobs: Vec<String>,
    /// Whose jobs are shown.
    #[command(flatten)]
    pub entities: EntityArgs,
    /// The number of processors, instead of the nodes
    ///
    /// No job waits for anything else then, such as memory and GPUs: a warning names it.
    #[arg(long, value_name = "N", value_parser = crate::cli::args::log::processors, allow_negative_numbers = true)]
    pub processors: Option<NonZeroU32>,
    /// Use X as the job_sort_formula_threshold
    ///
    /// It counts instead of the server's: a job whose value is at most X does not run
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = crate::cli::args::site::threshold)]
    pub threshold: Option<f64>,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(arguments: &CycleArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = arguments
        .site
        .open(&arguments.formula, arguments.threshold)?;
    show_site(
        &arguments.site,
        &site,
        arguments.answer.format.is_document(),
    );
    let mut source = None;
    if arguments.formula.is_given() || site.formula_text().is_ok() {
        source = Some(read_formula(&arguments.formula, Some(&site))?);
    }
    let numbers = arguments.site.numbers;
    let submitted = source.as_ref().map(|source| source.submitted(numbers));
    let mut request = CycleRequest {
        at: arguments.site.at,
        processors: arguments.processors.map(NonZeroU32::get),
        ..CycleRequest::default()
    };
    let mut names = Vec::new();
    if let (Some(source), Some(submitted)) = (&source, &submitted) {
        let formula = parsed_formula(source, submitted)?;
        names = formula.names();
        request.formula = Some(formula);
    }
    let mut warnings = Warnings::new(arguments.answer.format.is_document());
    warnings.add_site(&site, &site.warnings_for(&names));
    request.asked.clone_from(&arguments.jobs);
    let mut cycle = match site.cycle(&request) {
        Err(SiteError::NotArithmetic) => {
            if let (Some(source), Some(submitted)) = (&source, &submitted) {
                draw_all(source, &site.check(submitted)?.findings);
            }
            return Err(CliError::Findings);
        }
        cycle => cycle?,
    };
    warnings.show(&cycle.ranked.warnings);
    warnings.add(cycle.not_counted.as_slice());
    if !arguments.jobs.is_empty() && cycle.asked.is_empty() {
        return Err(unknown_jobs_error(cycle.unknown).into());
    }
    warn_all(&cycle.unknown);
    let entities = &arguments.entities.entity;
    if !entities.is_empty() {
        let filter = JobFilter {
            entities,
            ..JobFilter::default()
        };
        let rows = select_rows_or_warn(
            filter,
            all_rows(&cycle.ranked.ranking),
            &site,
            &cycle.ranked.table,
        )?;
        cycle.retain_rows(&rows.into_iter().collect());
        if !arguments.jobs.is_empty() && cycle.asked.is_empty() {
            warn(NO_MATCH);
            cycle.retain_rows(&HashSet::new());
        }
    }
    if let (Some(source), Some(submitted)) = (&source, &submitted) {
        draw_found(arguments, source, submitted, &cycle.ranked);
    }
    let mut checked = None;
    if let Some(submitted) = &submitted
        && arguments.answer.format.is_document()
    {
        checked = Some(site.check_ranked(submitted, &cycle.ranked));
    }
    let report = CycleReport {
        formula: source.as_ref().map(|source| &*source.text),
        cycle: &cycle,
        jobs: &cycle.asked,
        entities,
        checked: checked.as_ref(),
    };
    Output::of(arguments.answer, &warnings.into_answer()).write(&report, out)?;
    // without a formula nothing fails
    Ok(if source.is_some() {
        Outcome::of_ranking(&cycle.ranked.findings, &cycle.ranked.ranking)
    } else {
        Outcome::Fine
    })
}

/// Draws what is found in the formula, and for which jobs it fails; one screen for people says that
/// itself.
fn draw_found(
    arguments: &CycleArgs,
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    ranked: &RankedQueue,
) {
    let is_document = arguments.answer.format.is_document();
    if is_document && !arguments.answer.text.full {
        return;
    }
    draw_submitted(source, submitted, ranked.findings.iter().cloned());
    if is_document {
        draw_submitted(
            source,
            submitted,
            error_findings_of(&ranked.table, &ranked.ranking, |_| true),
        );
    } else {
        report_errors(
            arguments.site.on_error,
            "the formula",
            &ranked.table,
            &ranked.ranking,
        );
    }
}
