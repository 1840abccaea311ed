//! `jsf check --qmgr`

use std::io::Write;

use job_sort_formula::Formula;
use jsf_openpbs::qmgr::{set_command_after, set_threshold_command};
use jsf_site::{FormulaText, Site};

use crate::cli::{CliError, Outcome, Warnings, report, warn};
use crate::commands::check::checked_formula::{CheckedFormula, names};
use crate::commands::check::run::CheckArgs;
use crate::commands::check::view::stopped_by_threshold;
use crate::view::printable::{printable, printable_lines};

/// Prints the command that sets the formula, and that of a threshold that is set with it, or says
/// what prevents that.
pub(crate) fn write_qmgr_commands(
    arguments: &CheckArgs,
    site: &Site,
    formula: &CheckedFormula,
    mut warnings: Warnings,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    let is_in_force = is_in_force(&formula.source, site);
    if let Some(obstacle) = obstacle(formula, arguments.force, is_in_force) {
        let message = format!("no qmgr command is printed for {obstacle}");
        report("error", message);
        return Ok(Outcome::Findings);
    }
    // the command does not show how many jobs the threshold stops
    if let Some(jobs) = &formula.checked.jobs
        && jobs.under_threshold > Some(0)
        && let Some(sentence) = stopped_by_threshold(jobs)
    {
        warn(sentence);
    }
    writeln!(out, "{}", printable_set_command(&formula.source)?)?;
    // the way back takes the threshold that is in force, too
    let in_force = if is_in_force { site.threshold() } else { None };
    if let Some(threshold) = arguments.queue.threshold.or(in_force) {
        let command = set_threshold_command(&formula.source.before, threshold);
        writeln!(out, "{command}")?;
    }
    // a fix may have written the name of an input
    warnings.add(&site.warnings_for(&names(&formula.source, site)));
    // a shell that is typed into may have no comments, and takes a text in quotes as it is
    for warning in warnings.into_answer() {
        let quoted = printable(&warning).replace('\'', r"'\''");
        writeln!(out, "# 'warning: {quoted}'")?;
    }
    Ok(Outcome::fine_if(!formula.has_errors()))
}

/// What a formula is for which no command is printed; `None` for one that can be set.
fn obstacle(formula: &CheckedFormula, is_forced: bool, is_in_force: bool) -> Option<&'static str> {
    if !formula.reaches_server() {
        Some("a text that qmgr does not pass on")
    } else if is_forced {
        None
    } else if formula.has_errors() {
        Some("a formula with an error; --force prints it all the same")
    } else if formula.is_untried && !is_in_force {
        Some("a formula that was tried on no job, as JSF617 says; --force prints it all the same")
    } else {
        None
    }
}

/// Whether the formula is the one that the site has: setting it again changes nothing, or is the
/// way back.
fn is_in_force(source: &FormulaText, site: &Site) -> bool {
    match site.formula_in_force() {
        Some(in_force) => normalised(&in_force.text) == normalised(&source.text),
        None => false,
    }
}

fn normalised(text: &str) -> String {
    match Formula::parse(text) {
        Ok(formula) => formula.to_string(),
        Err(_) => text.trim().to_owned(),
    }
}

/// The command that sets the formula.
fn printable_set_command(source: &FormulaText) -> Result<String, CliError> {
    let command = set_command_after(&source.before, &source.text).map_err(CliError::usage)?;
    if printable_lines(&command) != command {
        // escaped it would set another formula, and as it is it would reach the terminal
        return Err(CliError::usage(
            "the formula has control characters, with which no command can be printed",
        ));
    }
    Ok(command)
}
