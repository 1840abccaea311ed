//! The formula of a command line, and the queue that it ranks: the options for it, its text, read from
//! them, a file or the site, and what is said of it.

use std::path::{Path, PathBuf};

use clap::Args;
use job_sort_formula::rank::OldNew;
use job_sort_formula::{Diagnostic, Formula};
use jsf_openpbs::NumberMode;
use jsf_site::{FormulaText, Site, SiteError};

use crate::answers::Format;
use crate::asked_formula::AskedFormula;
use crate::cli::messages::{draw, draw_all, print_message, warn};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::site::{STDIN, SiteArgs, threshold};
use crate::view::words::printable_lines;

/// The source of the formula.
#[derive(Debug, Clone, Default, Args)]
pub struct FormulaArgs {
    /// The formula; - is standard input
    ///
    /// The text of the formula, alone or pasted as `job_sort_formula = …`,
    /// `set server job_sort_formula = "…"` or `qmgr -c '…'`
    // a formula may begin with a minus
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    pub formula: Option<String>,
    /// The file that contains the formula
    ///
    /// Plain text, sched_formula, `qmgr -c 'print server'`, or `qstat -Bf` as text or JSON; - is
    /// standard input
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "formula")]
    pub formula_file: Option<PathBuf>,
    /// The options that give both.
    #[arg(skip)]
    pub(crate) options: FormulaOptions,
}

/// The options that give a formula: its text, and its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormulaOptions {
    pub(crate) text: &'static str,
    pub(crate) file: &'static str,
}

impl FormulaOptions {
    const OLD: Self = Self {
        text: "--old",
        file: "--old-file",
    };
    pub(crate) const NEW: Self = Self {
        text: "--new",
        file: "--new-file",
    };
}

impl Default for FormulaOptions {
    fn default() -> Self {
        Self {
            text: "FORMULA",
            file: "-f",
        }
    }
}

impl FormulaArgs {
    /// The formula of two options.
    pub(crate) fn new(
        options: FormulaOptions,
        text: &Option<String>,
        file: &Option<PathBuf>,
    ) -> Self {
        Self {
            formula: text.clone(),
            formula_file: file.clone(),
            options,
        }
    }

    /// Whether a formula is given.
    pub fn is_given(&self) -> bool {
        self.formula.is_some() || self.formula_file.is_some()
    }

    /// The file that it is read from, which may be standard input.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.formula {
            Some(text) if text == STDIN => Some(Path::new(STDIN)),
            Some(_) => None,
            None => self.formula_file.as_deref(),
        }
    }
}

/// A queue, and the formula that ranks it.
#[derive(Debug, Args)]
pub struct QueueArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Use X as the job_sort_formula_threshold
    ///
    /// It replaces the server's: a job whose value is at most X does not run
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = threshold)]
    pub threshold: Option<f64>,
}

impl QueueArgs {
    /// Opens the site, says what was found there, and reads the formula.
    pub(crate) fn open(&self, format: Format) -> Result<(Site, AskedFormula), CliError> {
        open_with_formula(&self.site, &self.formula, self.threshold, format)
    }

    /// Opens the site.
    pub(crate) fn open_site(&self) -> Result<Site, CliError> {
        self.site.open(self.formula.file(), self.threshold)
    }
}

/// The formulas before and after a change.
#[derive(Debug, Args)]
pub struct TwoFormulas {
    /// The old formula [default: the site's]
    ///
    /// Alone or pasted as for `jsf rank`; - is standard input
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    old: Option<String>,
    /// The new formula [default: the site's]
    ///
    /// The default is the old one where another difference is given
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    new: Option<String>,
    /// The file that contains the old formula
    ///
    /// As for `jsf rank -f`; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "old")]
    old_file: Option<PathBuf>,
    /// The file that contains the new formula
    #[arg(long, value_name = "FILE", conflicts_with = "new")]
    new_file: Option<PathBuf>,
}

impl TwoFormulas {
    /// The formula of either side.
    pub(crate) fn formulas(&self) -> OldNew<FormulaArgs> {
        OldNew {
            old: FormulaArgs::new(FormulaOptions::OLD, &self.old, &self.old_file),
            new: FormulaArgs::new(FormulaOptions::NEW, &self.new, &self.new_file),
        }
    }

    /// The files with the formulas.
    pub(crate) fn files(&self) -> Vec<&PathBuf> {
        self.old_file.iter().chain(&self.new_file).collect()
    }
}

pub(crate) const NO_OLD_FORMULA: &str = "no formula to compare --new with: give --old FORMULA";
pub(crate) const NO_NEW_FORMULA: &str = "no formula to compare --old with: give --new FORMULA";

/// The error that one of two formulas is missing, which `given` says.
pub(crate) fn no_formula(given: &str) -> CliError {
    let in_force = "the one in force with --server FILE, --sched-priv DIR or --site PATH";
    SiteError::Missing(format!("{given}, or {in_force}").into()).into()
}

/// Opens a site, says what was found there, and reads the formula.
pub(crate) fn open_with_formula(
    given: &SiteArgs,
    formula: &FormulaArgs,
    threshold: Option<f64>,
    format: Format,
) -> Result<(Site, AskedFormula), CliError> {
    let site = given.open(formula.file(), threshold)?;
    given.show(&site, format.is_document());
    let source = read_formula(formula, Some(&site))?;
    let given = AskedFormula::new(source, site.numbers());
    Ok((site, given))
}

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

impl AskedFormula {
    /// Draws findings on the parsed formula under the text that was submitted.
    pub(crate) fn draw(&self, findings: impl IntoIterator<Item = Diagnostic>) {
        draw_all(&self.source, &self.submitted.in_source(findings));
    }
}

/// Checks the formula of a command that does not rank with it: draws the errors with which it
/// cannot work, and warns of the jobs for which it fails.
pub(crate) fn check_and_report(site: &Site, given: &AskedFormula) -> Result<Outcome, CliError> {
    let checked = site.check(&given.submitted)?;
    draw_all(&given.source, checked.errors_for_all_jobs());
    if checked.errors_for_all_jobs().next().is_some() {
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
