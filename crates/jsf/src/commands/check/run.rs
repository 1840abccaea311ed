//! `jsf check`

use std::io::Write;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Code, Diagnostic, FixedText, Levels, Severity};
use jsf_openpbs::check::{Checked, counted};
use jsf_openpbs::qmgr::{set_command_after, set_threshold_command};
use jsf_openpbs::qmgr_validation::AnsweredBy;
use jsf_openpbs::resource_amount::NumberMode;
use jsf_site::{FormulaText, Role, Site};

use crate::cli::output::Output;
use crate::cli::warnings::Warnings;
use crate::cli::{
    CliError, Outcome, Progress, draw_all, formula_source, in_options, open_site, read_formula, report, show_site, warn,
};
use crate::commands::check::request::CheckArgs;
use crate::commands::check::view::{CheckReport, stopped_by_threshold};
use crate::view::finding::few_of_each_code;
use crate::view::printable::{printable, printable_lines};

/// The most rounds of fixes: one fix may uncover the next, as in `LOG(NCPUS)`.
const MAX_FIX_ROUNDS: usize = 1000;

pub(crate) fn run(arguments: &CheckArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let levels = Levels::new(&arguments.deny, &arguments.allow, &arguments.select)
        .map_err(|error| CliError::usage(error.to_string()))?;
    let site = open_site(&arguments.queue.site, &arguments.queue.formula, arguments.queue.threshold)?;
    let mut source = read_formula(&arguments.queue.formula, Some(&site))?;
    show_site(&arguments.queue.site, &site, arguments.format.is_document());
    let numbers = arguments.queue.site.numbers;
    let fixes = arguments.fix || arguments.unsafe_fixes;
    let mut warnings = Warnings::new(arguments.qmgr || arguments.format.is_document() && !fixes);
    warnings.add_site(&site, site.warnings_for(&names(&source, numbers)));
    let mut shown = ShownCheck::new(&site, &source, numbers, &levels)?;
    warnings.show(&shown.checked.warnings);
    if fixes {
        for _ in 0..MAX_FIX_ROUNDS {
            let findings = &shown.checked.findings;
            let Some(fixed) = FixedText::new(&source.text, findings, arguments.unsafe_fixes) else { break };
            report_fixes(&source.text, &fixed.applied);
            source = source.with_text(fixed.text);
            shown = ShownCheck::new(&site, &source, numbers, &levels)?;
        }
    }
    let ShownCheck { mut checked, hidden, is_untried } = shown;
    if fixes || arguments.qmgr {
        draw_all(&source, &checked.findings);
    }
    let does_not_reach_server = checked.validation.by == Some(AnsweredBy::Qmgr);
    let has_errors = checked.has_errors() || !hidden.is_empty() || checked.validation.accepted == Some(false);
    if !hidden.is_empty() {
        let codes = hidden.join(", ");
        report(
            "note",
            format_args!(
                "{codes}: an error that is not shown, because of --select or --allow; the formula does not work all the same"
            ),
        );
    }
    let is_in_force = arguments.qmgr && is_in_force(&source, &site);
    if arguments.qmgr {
        if does_not_reach_server {
            report("error", format_args!("no qmgr command is printed for a text that qmgr does not pass on"));
            return Ok(Outcome::Findings);
        }
        let obstacle = match (has_errors, is_untried) {
            _ if arguments.force => None,
            (true, _) => Some("a formula with an error"),
            (false, true) if !is_in_force => Some("a formula that was tried on no job, as JSF617 says"),
            (false, _) => None,
        };
        match obstacle {
            Some(formula) => report(
                "error",
                format_args!("no qmgr command is printed for {formula}; --force prints it all the same"),
            ),
            None => {
                warn_of_threshold(&checked);
                // the way back takes the threshold that is in force, too
                let in_force = if is_in_force { site.threshold() } else { None };
                write_qmgr_commands(&source, arguments.queue.threshold.or(in_force), out)?;
                // a fix may have written the name of an input
                warnings.add(site.warnings_for(&names(&source, numbers)));
                write_comments(&warnings.into_answer(), out)?;
            }
        }
        if obstacle.is_some() {
            return Ok(Outcome::Findings);
        }
    } else if fixes {
        let submitted = source.submitted(numbers);
        let Ok(formula) = submitted.formula() else { return Ok(Outcome::Findings) };
        writeln!(out, "{}", printable_formula(&source, source.text.trim(), formula, numbers)?)?;
    } else {
        checked.findings = checked.findings.into_iter().map(|found| found.worded(in_options)).collect();
        let report = CheckReport { source: formula_source(&source), checked: &checked };
        Output::new(arguments.format, arguments.text, &warnings.into_answer()).write(&report, out)?;
    }
    // a hidden error counts only if it prevents the command from being printed
    let counts = checked.has_errors() || (arguments.qmgr && has_errors);
    Ok(if counts || does_not_reach_server { Outcome::Findings } else { Outcome::Fine })
}

/// A checked formula with the findings that are shown.
struct ShownCheck {
    checked: Checked,
    /// The codes of the errors that are not shown.
    hidden: Vec<&'static str>,
    /// Whether the formula was tried on no job.
    is_untried: bool,
}

impl ShownCheck {
    fn new(site: &Site, source: &FormulaText, numbers: NumberMode, levels: &Levels) -> Result<Self, CliError> {
        let progress = Progress::start("checking the formula");
        let mut checked = site.check(&source.submitted(numbers))?;
        drop(progress);
        // a site without jobs is warned of only: nothing was given to try the formula on
        let is_untried =
            site.files().has(Role::Queue) && checked.findings.iter().any(|found| found.code == Code::TriedOnNoJob);
        let mut hidden = error_codes(&checked);
        levels.apply(&mut checked.findings);
        let left = error_codes(&checked);
        hidden.retain(|code| !left.contains(code));
        Ok(Self { checked, hidden, is_untried })
    }
}

/// The names in a formula; none of one that does not parse.
fn names(source: &FormulaText, numbers: NumberMode) -> Vec<String> {
    let submitted = source.submitted(numbers);
    submitted.formula().map_or_else(|_| Vec::new(), |formula| formula.names().into_iter().map(str::to_owned).collect())
}

/// The codes of the findings that are errors, each once.
fn error_codes(checked: &Checked) -> Vec<&'static str> {
    let errors = checked.findings.iter().filter(|found| found.severity == Severity::Error);
    let mut codes: Vec<&str> = errors.map(|found| found.code.name()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Says which fixes are applied to the formula: of each code the first ten, then how many more there are.
fn report_fixes(formula: &str, applied: &[&Diagnostic]) {
    let (few, others) = few_of_each_code(applied.iter().copied());
    few.into_iter().for_each(|found| report_fix(formula, found));
    for (code, count) in others {
        report("fixed", format_args!("{code}: and {}", counted(count, "more place", "more places")));
    }
}

/// Says which fix is applied to the formula.
fn report_fix(formula: &str, found: &Diagnostic) {
    let Some(fix) = &found.fix else { return };
    let old = fix.span.slice(formula);
    let new = &fix.replacement;
    let change = match (old.is_empty(), new.is_empty()) {
        (true, _) => format!("inserted `{new}`"),
        (_, true) => format!("removed `{old}`"),
        _ => format!("replaced `{old}` by `{new}`"),
    };
    report("fixed", format_args!("{}: {change}", found.code));
}

/// Whether the formula is the one that the site has: setting it again changes nothing, or is the way back.
fn is_in_force(source: &FormulaText, site: &Site) -> bool {
    site.formula_in_force().is_some_and(|in_force| normalised(&in_force.text) == normalised(&source.text))
}

fn normalised(text: &str) -> String {
    Formula::parse(text).map_or_else(|_| text.trim().to_owned(), |formula| formula.to_string())
}

/// Says how many jobs the threshold stops, which the command does not show.
fn warn_of_threshold(checked: &Checked) {
    let jobs = checked.jobs.as_ref().filter(|jobs| jobs.under_threshold > Some(0));
    if let Some(sentence) = jobs.and_then(stopped_by_threshold) {
        warn(sentence);
    }
}

/// Prints the command that sets the formula, and that of a threshold that is given with it.
fn write_qmgr_commands(source: &FormulaText, threshold: Option<f64>, out: &mut impl Write) -> Result<(), CliError> {
    let command =
        set_command_after(&source.before, &source.text).map_err(|error| CliError::usage(error.to_string()))?;
    if printable_lines(&command) != command {
        // escaped it would set another formula, and as it is it would reach the terminal
        return Err(CliError::usage("the formula has control characters, with which no command can be printed"));
    }
    writeln!(out, "{command}")?;
    if let Some(threshold) = threshold {
        writeln!(out, "{}", set_threshold_command(&source.before, threshold))?;
    }
    Ok(())
}

/// Prints warnings as comments of a shell. A shell that is typed into may have no comments, and takes a text in quotes as it is.
fn write_comments(warnings: &[String], out: &mut impl Write) -> Result<(), CliError> {
    for warning in warnings {
        writeln!(out, "# 'warning: {}'", printable(warning).replace('\'', r"'\''"))?;
    }
    Ok(())
}

/// The text of a formula without characters that a terminal could obey: blanks become spaces, others are escaped.
///
/// # Errors
/// What is printed would be another formula.
pub(crate) fn printable_formula(
    source: &FormulaText,
    text: &str,
    formula: &Formula,
    numbers: NumberMode,
) -> Result<String, CliError> {
    let spaced = text.replace("\r\n", "\n").replace(['\r', '\x0c'], " ");
    let printed = printable_lines(&spaced);
    let read = source.clone().with_text(printed.as_ref().to_owned());
    if read.submitted(numbers).formula().is_ok_and(|read| read.to_string() == formula.to_string()) {
        return Ok(printed.into_owned());
    }
    Err(CliError::usage("the formula cannot be printed: it has control characters, or is too long with its spaces"))
}
