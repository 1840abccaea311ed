//! `jsf translate`

use std::io::Write;

use job_sort_formula::diagnostic::Severity;
use job_sort_formula::formula::lint::lint;

use jsf_site::SiteError;

use crate::cli::output::Output;
use crate::cli::queue::draw_submitted;
use crate::cli::warnings::Warnings;
use crate::cli::{CliError, Outcome, open_site, parsed_formula, read_formula, show_site};
use crate::commands::translate::request::{Scheduler, TranslateArgs};
use crate::commands::translate::view::TranslateAnswer;

pub(crate) fn run(arguments: &TranslateArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = open_site(&arguments.site, &arguments.formula, None)?;
    show_site(
        &arguments.site,
        &site,
        arguments.answer.format.is_document(),
    );
    let source = match read_formula(&arguments.formula, Some(&site)) {
        Err(CliError::Site(SiteError::Missing(_))) if arguments.to == Scheduler::Pbs => {
            site.slurm_priority()?
        }
        read => read?,
    };
    let submitted = source.submitted(site.numbers());
    let formula = parsed_formula(&source, &submitted)?;
    let mut errors = lint(formula.expr(), site.schema());
    errors.retain(|found| found.severity == Severity::Error);
    let outcome = Outcome::fine_if(errors.is_empty());
    draw_submitted(&source, &submitted, errors);
    let mut warnings = Warnings::new(arguments.answer.format.is_document());
    warnings.add_site(&site, &site.warnings_for(&formula.names()));
    let translation = match arguments.to {
        Scheduler::Slurm => site.translate_to_slurm(formula)?,
        Scheduler::Pbs => site.translate_to_pbs(formula)?,
    };
    let answer = TranslateAnswer {
        to: arguments.to,
        source: source.text.trim_end(),
        translation,
    };
    let warnings = warnings.into_answer();
    Output::of(arguments.answer, &warnings).write(&answer, out)?;
    Ok(outcome)
}
