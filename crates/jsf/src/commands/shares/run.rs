//! `jsf shares`

use std::io::Write;

use job_sort_formula::diagnostic::Severity;
use jsf_site::{ComparedQueue, FormulaText, PolicyName, PolicyShares, Role, SharesRequest, Site};

use crate::cli::args::FormulaArgs;
use crate::cli::args::site::{PolicyArg, note_idle};
use crate::cli::failing_jobs::report_errors;
use crate::cli::output::Output;
use crate::cli::queue::{MAX_UNKNOWN, draw_submitted, unknown_jobs_error};
use crate::cli::warnings::Warnings;
use crate::cli::{
    CliError, FormulaOptions, Outcome, parsed_formula, read_formula_of, show_site, warn, warn_all,
};
use crate::commands::shares::answer::{Places, PolicyView, SharesReport};
use crate::commands::shares::request::SharesArgs;

pub(crate) fn run(arguments: &SharesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = arguments.site.open_for_shares()?;
    show_site(
        &arguments.site,
        &site,
        arguments.answer.format.is_document(),
    );
    let mut warnings = Warnings::new(arguments.answer.format.is_document());
    warnings.add_site(&site, &site.warnings_of_shares());
    let mut request = SharesRequest {
        policies: Vec::new(),
        active: arguments.active.clone(),
        changes: arguments.assumed.changes.clone(),
    };
    if arguments.site.policy == Some(PolicyArg::All) {
        request.policies = PolicyName::ALL.to_vec();
    }
    let shares = site.shares(&request)?;
    let mut policies = shares.iter();
    if !policies.any(|one| one.policy == PolicyName::TicketBased) {
        let reason = "under this policy: only ticket-based asks who has pending jobs";
        note_idle(&[("--active", !arguments.active.is_empty())], reason);
    }
    require_known(&arguments.entity, &shares)?;
    for one in &shares {
        warnings.show(&one.notes);
    }
    let places = if ranks_jobs(&site, arguments, &request)? {
        Some(places(&site, arguments, &request, &mut warnings)?)
    } else {
        None
    };
    // a table shows entities together with their paths
    let with_paths = arguments.answer.format.is_document();
    let mut views = Vec::new();
    for one in &shares {
        let nodes = one.nodes(&arguments.entity, with_paths);
        views.push(PolicyView::new(one, nodes));
    }
    // of the tree of another scheduler, OpenPBS's policy changes the usage: at least 1, and a group
    // `unknown`
    let is_of_others = site.files().has(Role::Tree);
    let mut shown = views.clone();
    shown.sort_by_key(|view| is_of_others && view.is_pbs());
    let answer = SharesReport {
        views: &views,
        shown: &shown,
        changes: &request.changes,
        places: places.as_ref().map(|(formula, places)| Places {
            formula,
            table: places.table(),
            comparison: &places.comparison,
        }),
    };
    let warnings = warnings.into_answer();
    let output = Output::of(arguments.answer, &warnings);
    let read_files = arguments.formula_file.iter().collect();
    output
        .with_page(arguments.report.as_deref(), vec![&site], read_files)
        .write(&answer, out)?;
    Ok(match &places {
        Some((_, places)) => {
            Outcome::of_ranking(&places.sides.new.findings, &places.sides.new.ranking)
        }
        None => Outcome::Fine,
    })
}

/// Warns of each entity that no tree has: OpenPBS's also has those that only jobs have.
///
/// # Errors
/// No tree has one of the entities.
fn require_known(names: &[String], shares: &[PolicyShares]) -> Result<(), CliError> {
    let mut unknown = Vec::new();
    for name in names {
        let is_known = |one: &PolicyShares| one.unresolved(name, false).is_none();
        if let Some(first) = shares.first()
            && !shares.iter().any(is_known)
        {
            unknown.extend(first.unresolved(name, unknown.len() < MAX_UNKNOWN));
        }
    }
    if !unknown.is_empty() && unknown.len() == names.len() {
        return Err(unknown_jobs_error(unknown).into());
    }
    warn_all(&unknown);
    Ok(())
}

/// Whether the jobs are ranked: there are a queue, and usage that is assumed.
fn ranks_jobs(
    site: &Site,
    arguments: &SharesArgs,
    request: &SharesRequest,
) -> Result<bool, CliError> {
    if !request.assumes_usage() || !site.files().has(Role::Queue) {
        let reason =
            "without --charge or --decay, and --queue: only then are the jobs ranked by a formula";
        note_idle(&[("--python", arguments.site.python.is_some())], reason);
        if given_formula(arguments).is_given() {
            return Err(CliError::usage(
                "a formula is used only with --charge or --decay, and with --queue",
            ));
        }
        return Ok(false);
    }
    let has_all = arguments.site.policy == Some(PolicyArg::All);
    if has_all {
        warn("the places of the jobs are not shown: they need one policy, not `all` of them");
    }
    Ok(!has_all)
}

/// The options that give the formula.
const FORMULA: FormulaOptions = FormulaOptions {
    text: "--formula",
    file: "-f",
};

fn given_formula(arguments: &SharesArgs) -> FormulaArgs {
    FormulaArgs::of(&arguments.formula, &arguments.formula_file)
}

/// The formula that orders the queue, and the places before and after the assumed usage.
fn places(
    site: &Site,
    arguments: &SharesArgs,
    request: &SharesRequest,
    warnings: &mut Warnings,
) -> Result<(String, ComparedQueue), CliError> {
    let given = given_formula(arguments);
    let source = if given.is_given() {
        read_formula_of(FORMULA, &given, None)?
    } else {
        let in_force = site.formula_text();
        in_force.or(FormulaText::new("fairshare_factor"))?
    };
    let submitted = source.submitted(arguments.site.numbers);
    let formula = parsed_formula(&source, &submitted)?;
    let places = site.places(formula, request)?;
    warnings.show(&places.warnings);
    let mut errors = places.sides.new.findings.clone();
    errors.retain(|found| found.severity == Severity::Error);
    draw_submitted(&source, &submitted, errors);
    let ranking = &places.sides.new.ranking;
    report_errors(
        arguments.site.on_error,
        "the formula",
        places.table(),
        ranking,
    );
    Ok((source.text.clone(), places))
}
