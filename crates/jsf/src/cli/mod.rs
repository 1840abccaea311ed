//! The command line: turns arguments into calls of the library, and results into text and an exit code.

pub mod args;
pub(crate) mod atomic_file;
pub(crate) mod document;
pub(crate) mod fatal_error;
pub(crate) mod help;
pub(crate) mod log;
pub(crate) mod need;
pub(crate) mod output;
pub(crate) mod page_file;
pub(crate) mod progress;
pub(crate) mod queue;
pub(crate) mod stack;
pub(crate) mod standard_output;
pub(crate) mod warnings;

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::cli::args::site::{SiteArgs, is_stdin, require_one_reader};
use crate::cli::args::{Cli, ColorArgs, Command, FormulaArgs};

pub use crate::cli::atomic_file::ignore_limit_of_file_size;
pub use crate::cli::fatal_error::{exit_on_abort, exit_on_panic};
pub use crate::cli::help::parse;
pub(crate) use crate::cli::need::{in_options, with_options};
pub(crate) use crate::cli::progress::Progress;
pub use crate::cli::stack::with_enough_stack;
use crate::cli::standard_output::StandardOutput;
use crate::commands;
use crate::view::finding::{FormulaSource, draw_finding, few_of_each_code, more_findings};
use crate::view::printable::{printable, printable_lines};
use clap::error::ContextValue;
use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Diagnostic, Message, few_of_each_kind};
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{FormulaText, Site, SiteError};
use thiserror::Error;

/// The path that means standard input.
pub(crate) const STDIN: &str = "-";
/// Why --wide has no effect.
pub(crate) const NOT_A_TABLE: &str = "with this format: only a table is fitted to the terminal";
/// The longest path, in bytes.
const MAX_PATH: usize = 4096;

/// The result of a command that could be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No findings: exit code 0.
    Fine,
    /// Findings: exit code 1.
    Findings,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::Findings => Self::from(1),
        }
    }
}

/// Why a command cannot be carried out, which gives exit code 2.
#[derive(Debug, Error)]
pub enum CliError {
    /// A file of the site cannot be used, or something is missing.
    #[error("{}", with_options(&.0.message()))]
    Site(#[from] SiteError),
    /// The arguments are invalid, or contradict each other.
    #[error("{0}")]
    Usage(String),
    /// The result cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl CliError {
    /// Whether the reader has closed the output, which is not an error.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(crate) fn content(message: impl ToString) -> Self {
        Self::Site(SiteError::Content(message.to_string().into()))
    }
}

/// Prints what `clap` answers instead of a command: the help or the version to standard output, and an error in the
/// arguments to standard error. What it repeats of the arguments is escaped, as everywhere.
pub fn print_answer(mut answer: clap::Error) -> io::Result<ExitCode> {
    if let Some(color) = ColorArgs::find(std::env::args_os()) {
        color.write_global();
    }
    let given: Vec<_> = answer.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in given {
        let escaped = match value {
            ContextValue::String(text) => ContextValue::String(printable(&text).into_owned()),
            ContextValue::Strings(texts) => {
                ContextValue::Strings(texts.iter().map(|text| printable(text).into_owned()).collect())
            }
            _ => continue,
        };
        answer.insert(kind, escaped);
    }
    if !answer.use_stderr() {
        return standard_output::require()
            .and_then(|()| answer.print())
            .and_then(|()| io::stdout().flush())
            .map(|()| ExitCode::SUCCESS);
    }
    let mut rendered = answer.render().ansi().to_string();
    // the reason why a value is refused may repeat it
    if let Some(reason) = std::error::Error::source(&answer).map(ToString::to_string)
        && let Cow::Owned(escaped) = printable_lines(&reason)
    {
        rendered = rendered.replace(&reason, &escaped);
    }
    // there is no other place to say that nothing can be written
    let _ = write!(anstream::stderr(), "{rendered}");
    Ok(ExitCode::from(2))
}

/// Runs a command.
pub fn run(arguments: &Cli) -> Result<Outcome, CliError> {
    arguments.color.write_global();
    let mut out = BufWriter::new(StandardOutput::lock());
    let outcome = match &arguments.command {
        Command::Rank(arguments) => commands::rank::run::run(arguments, &mut out)?,
        Command::Explain(arguments) => commands::explain::run::run(arguments, &mut out)?,
        Command::Page(arguments) => commands::page::run::run(arguments, &mut out)?,
        Command::Trajectory(arguments) => commands::trajectory::run::run(arguments, &mut out)?,
        Command::Check(arguments) => commands::check::run::run(arguments, &mut out)?,
        Command::Compare(arguments) => commands::compare::run::run(arguments, &mut out)?,
        Command::Shares(arguments) => commands::shares::run::run(arguments, &mut out)?,
        Command::Cycle(arguments) => commands::cycle::run::run(arguments, &mut out)?,
        Command::Simulate(arguments) => commands::simulate::run::run(arguments, &mut out)?,
        Command::Fit(arguments) => commands::fit::run::run(arguments, &mut out)?,
        Command::Replay(arguments) => commands::replay::run::run(arguments, &mut out)?,
        Command::Fmt(arguments) => commands::fmt::run::run(arguments, &mut out)?,
        Command::Codes(arguments) => commands::codes::run::run(arguments, &mut out)?,
        Command::Pbsfs(arguments) => commands::pbsfs::run::run(arguments)?,
        Command::Completions { shell } => commands::completions::run(*shell, &mut out)?,
        Command::Names(arguments) => commands::names::run::run(arguments, &mut out)?,
        Command::Capture { without_environment } => commands::capture::run(*without_environment, &mut out)?,
        Command::Man { command } => commands::man::run(command.as_deref(), &mut out)?,
    };
    out.flush()?;
    Ok(outcome)
}

/// The arguments that give a formula: its text, and its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormulaOptions {
    pub(crate) text: &'static str,
    pub(crate) file: &'static str,
}

impl FormulaOptions {
    const POSITIONAL: Self = Self { text: "FORMULA", file: "-f" };
    pub(crate) const OLD: Self = Self { text: "--old", file: "--old-file" };
    pub(crate) const NEW: Self = Self { text: "--new", file: "--new-file" };
}

/// Takes the formula from the argument or the file, else from the site; `-` is standard input.
pub(crate) fn read_formula(arguments: &FormulaArgs, site: Option<&Site>) -> Result<FormulaText, CliError> {
    read_formula_of(FormulaOptions::POSITIONAL, arguments, site)
}

/// The same for a formula that these options give.
pub(crate) fn read_formula_of(
    options: FormulaOptions,
    arguments: &FormulaArgs,
    site: Option<&Site>,
) -> Result<FormulaText, CliError> {
    let FormulaOptions { text: option, file } = options;
    match (&arguments.formula, &arguments.formula_file, site) {
        (Some(text), _, Some(site)) if text == STDIN => Ok(site.formula_text()?),
        (Some(text), ..) if text == STDIN => Ok(FormulaText::read(Path::new(STDIN))?),
        (Some(text), ..) if looks_like_an_option(text) => {
            let hint = if text.starts_with("--formula") {
                "give the formula by itself, in single quotes, or the file of it with -f"
            } else {
                "a formula cannot begin with `--` here, put it into brackets"
            };
            Err(CliError::usage(format!("unexpected argument `{text}`: no such option; {hint}")))
        }
        // the text of an option is often the output of another command, which has failed then
        (Some(text), ..) if option.starts_with("--") && text.trim().is_empty() => {
            Err(CliError::usage(format!("the formula of {option} is empty: give its text")))
        }
        (Some(text), ..) => {
            if names_a_file(text) {
                report("help", format_args!("a file `{text}` exists; to read the formula from it, use {file}"));
            } else if looks_like_a_path(text) {
                report(
                    "help",
                    format_args!(
                        "`{text}` is read as a formula; {file} reads one from a file, but no such file exists"
                    ),
                );
            }
            let formula = FormulaText::new(text)?;
            Ok(FormulaText { origin: option.to_owned(), ..formula })
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

/// The formula, if it parses; else `None`, and the finding is drawn. So is the finding on lines that PBS leaves out.
pub(crate) fn parsed_formula<'s>(source: &FormulaText, submitted: &'s FormulaSubmission<'_>) -> Option<&'s Formula> {
    submitted.lines_left_out().iter().for_each(|found| draw(source, found));
    submitted.formula().map_err(|refusal| draw(source, &refusal.finding)).ok()
}

/// Opens the site of a command that also takes a formula. Standard input can be only one of its files.
pub(crate) fn open_site(site: &SiteArgs, formula: &FormulaArgs, threshold: Option<f64>) -> Result<Site, CliError> {
    require_one_file(site, formula)?;
    let file = match formula {
        FormulaArgs { formula: Some(text), .. } if text == STDIN => Some(Path::new(STDIN)),
        FormulaArgs { formula: Some(_), .. } => None,
        FormulaArgs { formula_file, .. } => formula_file.as_deref(),
    };
    let source = file.map(FormulaText::source).transpose()?;
    site.open(source, threshold)
}

/// Standard input can be only one file of the site, or the formula.
pub(crate) fn require_one_file(site: &SiteArgs, formula: &FormulaArgs) -> Result<(), CliError> {
    let mut readers = site.files_from(is_stdin);
    if formula.formula.as_deref() == Some(STDIN) || formula.formula_file.as_deref().is_some_and(is_stdin) {
        readers.push("the formula");
    }
    require_one_reader(&readers)
}

/// Whether a formula is a misspelled option rather than a formula with two signs.
fn looks_like_an_option(formula: &str) -> bool {
    formula.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Whether a formula is probably the path of a file that does not exist.
fn looks_like_a_path(formula: &str) -> bool {
    let extension = Path::new(formula).extension().and_then(|extension| extension.to_str());
    let is_of_a_file = matches!(extension, Some("txt" | "json" | "conf" | "cfg" | "py" | "formula" | "gz"));
    is_of_a_file && !formula.contains(char::is_whitespace)
}

/// Whether a formula is also the path of a file, which is probably what was meant.
fn names_a_file(formula: &str) -> bool {
    formula.len() <= MAX_PATH && Path::new(formula).is_file()
}

/// Writes a message to standard error.
pub(crate) fn report(kind: &str, message: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "jsf: {kind}: {}", printable(&message.to_string()));
}

/// Writes a warning to standard error.
pub(crate) fn warn(message: impl std::fmt::Display) {
    report("warning", message);
}

/// Writes what was found in `--site` or in the site of the environment, and what is missing, to standard error: for people
/// a line, with -v every file.
pub(crate) fn show_site(arguments: &SiteArgs, site: &Site, is_human: bool) {
    let Some(given) = arguments.given_site().filter(|_| is_human || arguments.verbose) else { return };
    let files = site.files();
    if !arguments.verbose {
        return report("site", format_args!("{}{} (-v lists the files)", given.prefix(), files.headline()));
    }
    for (index, line) in site.summary().iter().enumerate() {
        let prefix = if index == 0 { given.prefix() } else { String::new() };
        report("site", format_args!("{prefix}{line}"));
    }
}

/// Writes warnings to standard error: of each kind the first ten, then how many more there are.
pub(crate) fn warn_all<M: Clone + Into<Message>>(messages: &[M]) {
    let messages = messages.iter().map(|message| with_options(&message.clone().into()));
    few_of_each_kind(messages).iter().for_each(warn);
}

/// Draws findings on standard error: of each code the first ten, then how many more there are.
pub(crate) fn draw_all(source: &FormulaText, findings: &[Diagnostic]) {
    let (few, others) = few_of_each_code(findings);
    few.into_iter().for_each(|found| draw(source, found));
    for (code, count) in others {
        warn(more_findings(count, code));
    }
}

/// The formula in its document, as reports take it.
pub(crate) fn formula_source(source: &FormulaText) -> FormulaSource<'_> {
    let FormulaText { text, origin, before, written, differences, .. } = source;
    FormulaSource { text, origin, before, written, differences }
}

/// Draws a finding under the formula on standard error.
pub(crate) fn draw(source: &FormulaText, found: &Diagnostic) {
    let coloured = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    let width = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
    let drawn = draw_finding(&formula_source(source), &found.clone().worded(in_options), coloured, width);
    let _ = writeln!(anstream::stderr(), "{drawn}\n");
}
