//! The formula of a command: read from the arguments, a file or the site, and what is said of it.

use std::path::Path;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Diagnostic, Severity};
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::check::FAILURE_CODES;
use jsf_site::{FormulaText, Site, SiteError};

use crate::cli::args::{FormulaArgs, FormulaOptions};
use crate::cli::messages::{draw, draw_all, print_message, warn};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::site::STDIN;
use crate::given_formula::GivenFormula;
use crate::view::words::printable_lines;

/// Takes the formula from the argument or the file, else from the site; `-` is standard input. Draws
/// the finding on lines that PBS leaves out.
pub(crate) fn read_formula(
    arguments: &FormulaArgs,
    site: Option<&Site>,
) -> Result<FormulaText, CliError> {
    let source = read_source(arguments, site)?;
    // the lines are counted alike whatever the numbers are
    if let Some(found) = source.submitted(NumberMode::Exact).lines_left_out() {
        draw(&source, &found);
    }
    Ok(source)
}

/// The same without that finding, for a command that reports all of them.
pub(crate) fn read_source(
    arguments: &FormulaArgs,
    site: Option<&Site>,
) -> Result<FormulaText, CliError> {
    let FormulaOptions { text: option, file } = arguments.options;
    match (&arguments.formula, &arguments.formula_file, site) {
        // a file, or standard input, is one of the site's since `SiteArgs::open`, which reads it once
        (Some(text), _, Some(site)) if text == STDIN => Ok(site.formula_text()?),
        (Some(text), ..) if text == STDIN => Ok(FormulaText::read(Path::new(STDIN))?),
        // clap takes a misspelled option for the formula, which may begin with a hyphen
        (Some(text), ..) if looks_like_an_option(text) => {
            let hint = if text.starts_with("--formula") {
                "give the formula by itself, in single quotes, or the file of it with -f"
            } else {
                "a formula cannot begin with `--` here, put it into brackets"
            };
            Err(CliError::usage(format!(
                "unexpected argument `{text}`: no such option; {hint}"
            )))
        }
        // the text of an option is often the output of another command, which has failed then
        (Some(text), ..) if option.starts_with("--") && text.trim().is_empty() => Err(
            CliError::usage(format!("the formula of {option} is empty: give its text")),
        ),
        (Some(text), ..) => {
            // only a hint, as a formula such as `ncpus` may be the name of a file too
            if Path::new(text).is_file() {
                print_message(
                    "help",
                    format_args!("a file `{text}` exists; to read the formula from it, use {file}"),
                );
            } else if looks_like_a_path(text) {
                print_message(
                    "help",
                    format_args!(
                        "`{text}` is read as a formula; {file} reads one from a file, but no such file exists"
                    ),
                );
            }
            let formula = FormulaText::new(text)?;
            Ok(FormulaText {
                origin: option.to_owned(),
                ..formula
            })
        }
        (None, Some(_), Some(site)) => Ok(site.formula_text()?),
        (None, Some(path), None) => Ok(FormulaText::read(path)?),
        (None, None, Some(site)) => Ok(site.formula_text()?),
        (None, None, None) => {
            let message = "no formula: give its text, -f FILE, or - for standard input";
            Err(SiteError::Missing(message.into()).into())
        }
    }
}

impl GivenFormula {
    /// Draws findings on the parsed formula under the text that was submitted.
    pub(crate) fn draw(&self, findings: impl IntoIterator<Item = Diagnostic>) {
        draw_all(&self.source, &self.in_source(findings));
    }
}

/// Checks the formula of a command that does not rank with it: draws the errors with which it
/// cannot work, and warns of the jobs for which it fails.
pub(crate) fn check_and_report(site: &Site, given: &GivenFormula) -> Result<Outcome, CliError> {
    let checked = site.check(&given.submitted)?;
    let mut errors = checked.findings;
    errors
        .retain(|found| found.severity == Severity::Error && !FAILURE_CODES.contains(&found.code));
    draw_all(&given.source, &errors);
    if !errors.is_empty() {
        return Ok(Outcome::Findings);
    }
    if let Some(jobs) = checked.jobs
        && jobs.errors > 0
    {
        warn(format_args!(
            "the formula fails for {} of {} jobs; `jsf check` says why",
            jobs.errors, jobs.total
        ));
    }
    Ok(Outcome::Fine)
}

/// The text of a formula without characters that a terminal could obey: blanks become spaces,
/// others are escaped.
///
/// # Errors
/// What is printed would be another formula.
pub(crate) fn printable_formula(
    source: &FormulaText,
    text: &str,
    formula: &Formula,
    numbers: NumberMode,
) -> Result<String, CliError> {
    // escaped, a form feed would make the text no formula; Python reads it as a blank
    let spaced = text.replace("\r\n", "\n").replace(['\r', '\x0c'], " ");
    let printed = printable_lines(&spaced);
    // in a name or in a string, what is escaped is another one
    let read = source.clone().with_text(printed.as_ref().to_owned());
    if let Ok(read) = read.submitted(numbers).formula()
        && read.to_string() == formula.to_string()
    {
        return Ok(printed.into_owned());
    }
    Err(CliError::usage(
        "the formula cannot be printed: it has control characters, or is too long with its spaces",
    ))
}

/// Whether a formula is a misspelled option rather than a formula with two signs.
pub(crate) fn looks_like_an_option(formula: &str) -> bool {
    let name = formula.strip_prefix("--").unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Whether a formula is probably the path of a file that does not exist.
fn looks_like_a_path(formula: &str) -> bool {
    let extension = Path::new(formula).extension().unwrap_or_default();
    let is_of_a_file = matches!(
        extension.to_str(),
        Some("txt" | "json" | "conf" | "cfg" | "py" | "formula" | "gz")
    );
    is_of_a_file && !formula.contains(char::is_whitespace)
}
