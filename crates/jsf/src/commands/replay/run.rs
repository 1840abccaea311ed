//! `jsf replay`

use std::io::Write;

use jsf_site::is_stdin;

use crate::cli::args::site::require_one_reader;
use crate::cli::output::Output;
use crate::cli::queue::check_and_report;
use crate::cli::{
    CliError, Outcome, STDIN, open_site, parsed_formula, read_formula, report, show_site, warn_all,
};
use crate::commands::replay::answer::ReplayReport;
use crate::commands::replay::request::ReplayArgs;

pub(crate) fn run(arguments: &ReplayArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    if is_stdin(&arguments.log) {
        let formula = &arguments.formula;
        let is_formula = formula.formula.as_deref() == Some(STDIN)
            || formula.formula_file.as_deref().is_some_and(is_stdin);
        let formula = is_formula.then_some("the formula");
        let readers = arguments
            .site
            .files_from(is_stdin)
            .into_iter()
            .chain(formula)
            .chain(["the log"]);
        require_one_reader(&readers.collect::<Vec<_>>())?;
    }
    let site = open_site(&arguments.site, &arguments.formula, None)?;
    let source = read_formula(&arguments.formula, Some(&site))?;
    let submitted = source.submitted(arguments.site.numbers);
    let Some(formula) = parsed_formula(&source, &submitted) else {
        return Ok(Outcome::Findings);
    };
    show_site(&arguments.site, &site, arguments.format.is_document());
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
    Output::new(arguments.format, arguments.text, &[]).write(&answer, out)?;
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
