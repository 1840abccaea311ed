//! `jsf check`

use std::io::Write;

use job_sort_formula::diagnostic::Levels;

use crate::cli::args::QueueArgs;
use crate::cli::formula::printable_formula;
use crate::cli::output::Output;
use crate::cli::warnings::Warnings;
use crate::cli::{CliError, Outcome, draw_all, in_options, read_formula, show_site};
use crate::commands::check::checked_formula::{CheckedFormula, names};
use crate::commands::check::fix::apply_fixes;
use crate::commands::check::qmgr::write_qmgr_commands;
use crate::commands::check::request::CheckArgs;
use crate::commands::check::view::CheckReport;

pub(crate) fn run(arguments: &CheckArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let levels = Levels::new(&arguments.deny, &arguments.allow, &arguments.select)
        .map_err(|error| CliError::usage(error.to_string()))?;
    let QueueArgs {
        formula,
        site: given,
        threshold,
    } = &arguments.queue;
    let site = given.open(formula, *threshold)?;
    let source = read_formula(formula, Some(&site))?;
    show_site(given, &site, arguments.format.is_document());
    let is_fixed = arguments.fix || arguments.unsafe_fixes;
    let mut warnings = Warnings::new(arguments.qmgr || arguments.format.is_document() && !is_fixed);
    let numbers = given.numbers;
    warnings.add_site(&site, &site.warnings_for(&names(&source, numbers)));
    let mut formula = CheckedFormula::new(&site, source, numbers, &levels)?;
    warnings.show(&formula.checked.warnings);
    if is_fixed {
        formula = apply_fixes(formula, &site, &levels, arguments.unsafe_fixes)?;
    }
    if is_fixed || arguments.qmgr {
        draw_all(&formula.source, &formula.checked.findings);
    }
    formula.note_hidden();
    if arguments.qmgr {
        return write_qmgr_commands(arguments, &site, &formula, warnings, out);
    }
    if is_fixed {
        let submitted = formula.source.submitted(numbers);
        let Ok(parsed) = submitted.formula() else {
            return Ok(Outcome::Findings);
        };
        writeln!(
            out,
            "{}",
            printable_formula(&formula.source, formula.source.text.trim(), parsed, numbers)?
        )?;
    } else {
        for found in &mut formula.checked.findings {
            *found = found.clone().worded(in_options);
        }
        let report = CheckReport {
            source: &formula.source,
            checked: &formula.checked,
        };
        Output::new(arguments.format, arguments.text, &warnings.into_answer())
            .write(&report, out)?;
    }
    // a hidden error counts only if it prevents the command from being printed
    let is_fine = !formula.checked.has_errors() && formula.reaches_server();
    Ok(Outcome::fine_if(is_fine))
}
