//! `jsf check --qmgr`

use std::io::Write;

use job_sort_formula::Formula;
use jsf_openpbs::check::Checked;
use jsf_openpbs::qmgr::{set_command_after, set_threshold_command};
use jsf_site::{FormulaText, Site};

use crate::cli::messages::Warnings;
use crate::cli::{CliError, Outcome, report, warn};
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
    if !formula.reaches_server() {
        report(
            "error",
            format_args!("no qmgr command is printed for a text that qmgr does not pass on"),
        );
        return Ok(Outcome::Findings);
    }
    let is_in_force = is_in_force(&formula.source, site);
    if !arguments.force
        && let Some(obstacle) = obstacle(formula, is_in_force)
    {
        let message =
            format!("no qmgr command is printed for {obstacle}; --force prints it all the same");
        report("error", message);
        return Ok(Outcome::Findings);
    }
    warn_of_threshold(&formula.checked);
    writeln!(out, "{}", printable_set_command(&formula.source)?)?;
    // the way back takes the threshold that is in force, too
    let in_force = if is_in_force { site.threshold() } else { None };
    if let Some(threshold) = arguments.queue.threshold.or(in_force) {
        writeln!(
            out,
            "{}",
            set_threshold_command(&formula.source.before, threshold)
        )?;
    }
    // a fix may have written the name of an input
    warnings.add(&site.warnings_for(&names(&formula.source, formula.numbers)));
    write_comments(&warnings.into_answer(), out)?;
    Ok(Outcome::fine_if(!formula.has_errors()))
}

/// What a formula is for which no command is printed; `None` for one that can be set.
fn obstacle(formula: &CheckedFormula, is_in_force: bool) -> Option<&'static str> {
    if formula.has_errors() {
        Some("a formula with an error")
    } else if formula.is_untried && !is_in_force {
        Some("a formula that was tried on no job, as JSF617 says")
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

/// Says how many jobs the threshold stops, which the command does not show.
fn warn_of_threshold(checked: &Checked) {
    if let Some(jobs) = &checked.jobs
        && jobs.under_threshold > Some(0)
        && let Some(sentence) = stopped_by_threshold(jobs)
    {
        warn(sentence);
    }
}

/// The command that sets the formula.
fn printable_set_command(source: &FormulaText) -> Result<String, CliError> {
    let command = set_command_after(&source.before, &source.text)
        .map_err(|error| CliError::usage(error.to_string()))?;
    if printable_lines(&command) != command {
        // escaped it would set another formula, and as it is it would reach the terminal
        return Err(CliError::usage(
            "the formula has control characters, with which no command can be printed",
        ));
    }
    Ok(command)
}

/// Prints warnings as comments of a shell. A shell that is typed into may have no comments, and
/// takes a text in quotes as it is.
fn write_comments(warnings: &[String], out: &mut impl Write) -> Result<(), CliError> {
    for warning in warnings {
        writeln!(
            out,
            "# 'warning: {}'",
            printable(warning).replace('\'', r"'\''")
        )?;
    }
    Ok(())
}
