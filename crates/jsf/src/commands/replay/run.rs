//! `jsf replay`

use std::io::Write;

use jsf_site::is_stdin;

use crate::cli::output::Output;
use crate::cli::queue::check_and_report;
use crate::cli::standard_input::require_one_reader;
use crate::cli::{CliError, Outcome, parsed_formula, read_formula, report, show_site, warn_all};
use crate::commands::replay::answer::ReplayReport;
use crate::commands::replay::request::ReplayArgs;

pub(crate) fn run(arguments: &ReplayArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let formula = ("the formula", arguments.formula.is_from_stdin());
    let log = ("the log", is_stdin(&arguments.log));
    require_one_reader(&[], &arguments.site, &[formula, log])?;
    let site = arguments.site.open(&arguments.formula, None)?;
    let source = read_formula(&arguments.formula, Some(&site))?;
    let submitted = source.submitted(arguments.site.numbers);
    let formula = parsed_formula(&source, &submitted)?;
    show_site(
        &arguments.site,
        &site,
        arguments.answer.format.is_document(),
    );
    warn_all(&site.warnings());
    let outcome = check_and_report(&site, &source, &submitted)?;
    let compared = site.replay(&arguments.log, formula)?;
    warn_all(&compared.warnings);
    let python_in_words = site.python_in_words();
    let answer = ReplayReport::new(
        &source.text,
        site.python().0,
        &python_in_words,
        &compared.replay,
    );
    Output::of(arguments.answer, &[]).write(&answer, out)?;
    if compared.replay.is_empty() {
        report(
            "error",
            format_args!(
                "nothing was compared, so nothing is proved: no job of `{}` is in the queue; give with --queue the jobs \
                 that were waiting when the log was written",
                arguments.log.display()
            ),
        );
    }
    Ok(
        if compared.replay.unexplained > 0 || compared.replay.is_empty() {
            Outcome::Findings
        } else {
            outcome
        },
    )
}
