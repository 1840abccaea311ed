//! `jsf cycle`

use std::collections::HashSet;
use std::io::Write;
use std::num::NonZeroU32;

use jsf_openpbs::check::error_findings_of;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{CycleRequest, FormulaText, RankedQueue, SiteError};

use crate::cli::failing_jobs::report_errors;
use crate::cli::output::Output;
use crate::cli::queue::{draw_submitted, select_rows_or_warn, unknown_jobs_error};
use crate::cli::warnings::Warnings;
use crate::cli::{
    CliError, Outcome, draw_all, parsed_formula, read_formula, show_site, warn, warn_all,
};
use crate::commands::cycle::answer::CycleReport;
use crate::commands::cycle::request::CycleArgs;
use crate::job_filter::{JobFilter, NO_MATCH, all_rows};

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
