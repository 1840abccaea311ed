//! `jsf cycle`: its arguments, and what it does.

use std::collections::HashSet;
use std::io::Write;
use std::num::NonZeroU32;

use clap::Args;
use jsf_openpbs::check::error_findings;
use jsf_site::{CycleRequest, RankedQueue, SiteError};

use crate::cli::args::{AnswerArgs, EntityArgs, JobArgs, QueueArgs, processors};
use crate::cli::filter::{JobFilter, NO_MATCH, select_rows_or_warn, unknown_jobs_error};
use crate::cli::formula::{GivenFormula, read_formula};
use crate::cli::messages::{Warnings, draw_all, report_errors, warn, warn_all};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::commands::cycle::CycleAnswer;
use crate::commands::rank::all_rows;

/// `jsf cycle`
#[derive(Debug, Args)]
#[command(after_help = "\
The cycle is that of OpenPBS 23.06, by the site's sched_config, the attributes of the server, of queues, arrays and the \
scheduler, its holidays and dedicated_time. Chunks are placed on hosts that have the host, vnode, booleans and strings that \
they ask for. Running jobs end at their stime plus their walltime. Reservations hold their nodes (--reservations). With \
preemptive_sched, running jobs of a lower level of preempt_prio give way by preempt_order, the latest start first. What the \
cycle does without, such as checkpoints, is named. A running subjob that `qstat -f` does not list without `-t` holds what its \
array asks for.

With strict_ordering, the first backfill_depth jobs that do not start are promised a start: at the latest then, as far as \
walltimes tell. With one --job that neither starts nor is promised a start, jsf runs the cycles at the ends of the running \
jobs until it starts, without further submissions.

accrue_type in JSON: 0 not yet known, 1 not eligible (eligible_time stands still), 2 eligible, 3 running.

Examples:
  jsf cycle --site examples/site
  jsf cycle --site examples/site --job 184208
  jsf cycle eligible_time --site examples/site --format json",
mut_arg("job", |job| job.help("Show this job only: when will it start?")))]
pub struct CycleArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// The jobs.
    #[command(flatten)]
    jobs: JobArgs,
    /// Whose jobs are shown.
    #[command(flatten)]
    entities: EntityArgs,
    /// The number of processors, instead of the nodes
    ///
    /// No job waits for anything else then, such as memory and GPUs: a warning names it.
    #[arg(long, value_name = "N", value_parser = processors, allow_negative_numbers = true)]
    processors: Option<NonZeroU32>,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
}

pub(crate) fn run(arguments: &CycleArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let QueueArgs {
        formula: given,
        site: site_given,
        ..
    } = &arguments.queue;
    let is_document = arguments.answer.format.is_document();
    let (jobs, entities) = (&arguments.jobs.job, &arguments.entities.entity);
    let site = arguments.queue.open()?;
    site_given.show(&site, is_document);
    let mut formula = None;
    // a scheduler without a formula has cycles too
    if given.is_given() || site.formula_text().is_ok() {
        let source = read_formula(given, Some(&site))?;
        formula = Some(GivenFormula::new(source, site.numbers()));
    }
    let mut request = CycleRequest {
        at: site_given.at,
        processors: arguments.processors.map(NonZeroU32::get),
        asked: jobs.clone(),
        ..CycleRequest::default()
    };
    let mut names = Vec::new();
    if let Some(given) = &formula {
        let formula = given.parsed()?;
        names = formula.names();
        request.formula = Some(formula);
    }
    let mut warnings = Warnings::new(is_document);
    warnings.add_site(&site, &site.warnings_for(&names));
    let mut cycle = match (site.cycle(&request), &formula) {
        (Err(SiteError::NotArithmetic), Some(given)) => {
            draw_all(&given.source, &site.check(&given.submitted)?.findings);
            return Err(CliError::Findings);
        }
        (cycle, _) => cycle?,
    };
    warnings.show(&cycle.ranked.warnings);
    warnings.add(cycle.not_counted.as_slice());
    if !jobs.is_empty() && cycle.asked.is_empty() {
        return Err(unknown_jobs_error(cycle.unknown).into());
    }
    warn_all(&cycle.unknown);
    if !entities.is_empty() {
        let filter = JobFilter {
            entities,
            ..JobFilter::default()
        };
        let RankedQueue { table, ranking, .. } = &cycle.ranked;
        let rows = select_rows_or_warn(filter, all_rows(ranking), &site, table)?;
        cycle.retain_rows(&rows.into_iter().collect());
        if !jobs.is_empty() && cycle.asked.is_empty() {
            // the jobs that are asked for are of other entities
            warn(NO_MATCH);
            cycle.retain_rows(&HashSet::new());
        }
    }
    let mut answer = CycleAnswer {
        formula: formula.as_ref().map(GivenFormula::text),
        cycle: &cycle,
        jobs: &cycle.asked,
        entities,
        checked: None,
    };
    let ranked = &cycle.ranked;
    // without a formula nothing fails
    let mut outcome = Outcome::Fine;
    let checked;
    if let Some(given) = &formula {
        outcome = Outcome::of_ranking(ranked);
        // one screen for people says itself what is found
        if !is_document || arguments.answer.text.full {
            given.draw(ranked.findings.iter().cloned());
        }
        if !is_document {
            report_errors(site_given.on_error, "the formula", ranked);
        } else if arguments.answer.text.full {
            given.draw(error_findings(&ranked.table, &ranked.ranking));
        }
        if is_document {
            checked = site.check_ranked(&given.submitted, ranked);
            answer.checked = Some(&checked);
        }
    }
    Output::new(arguments.answer, &warnings.into_answer()).write(&answer, out)?;
    Ok(outcome)
}
