//! What `--fix` and `--qmgr` do with a checked formula: apply fixes and check it again, and print the
//! command that sets it, unless something prevents that.

use std::collections::BTreeSet;
use std::io::Write;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Code, Diagnostic, FixedText};
use jsf_openpbs::check::Checked;
use jsf_openpbs::qmgr_command::{object_or_server, set_threshold_command};
use jsf_openpbs::server_validation::AnsweredBy;
use jsf_site::{FormulaText, Role, Site, SiteError};

use crate::cli::messages::{print_message, warn};
use crate::cli::outcome::{CliError, Outcome};
use crate::commands::check::levels::Levels;
use crate::commands::check::{CheckArgs, set_command, stopped_by_threshold};
use crate::view::findings::limit_each_code;
use crate::view::words::{count, printable};

/// A formula with the findings that are shown.
pub(super) struct CheckedFormula {
    pub(super) source: FormulaText,
    pub(super) checked: Checked,
    /// The codes of the errors that are not shown.
    hidden: Vec<&'static str>,
    /// Whether the formula was tried on no job.
    is_untried: bool,
}

impl CheckedFormula {
    pub(super) fn new(
        site: &Site,
        source: FormulaText,
        levels: &Levels,
    ) -> Result<Self, SiteError> {
        let mut checked = site.check(&source.submitted(site.numbers()))?;
        // a site without jobs is warned of only: nothing was given to try the formula on
        let mut findings = checked.findings.iter();
        let is_untried =
            site.files().has(Role::Queue) && findings.any(|found| found.code == Code::TriedOnNoJob);
        // before the levels hide some of them
        let mut hidden = BTreeSet::from_iter(checked.errors().map(|found| found.code.name()));
        levels.apply(&mut checked.findings);
        for found in checked.errors() {
            hidden.remove(found.code.name());
        }
        Ok(Self {
            source,
            checked,
            hidden: Vec::from_iter(hidden),
            is_untried,
        })
    }

    /// Whether the formula has an error, shown or not, or the server refuses it.
    pub(super) fn has_errors(&self) -> bool {
        self.checked.has_errors() || !self.hidden.is_empty() || self.checked.is_refused()
    }

    /// Whether qmgr passes the text on.
    pub(super) fn reaches_server(&self) -> bool {
        self.checked.validation.by != Some(AnsweredBy::Qmgr)
    }

    /// Says which errors are not shown.
    pub(super) fn note_hidden(&self) {
        if self.hidden.is_empty() {
            return;
        }
        let codes = self.hidden.join(", ");
        print_message(
            "note",
            format_args!(
                "{codes}: an error that is not shown, because of --select or --allow; the formula does not work all the same"
            ),
        );
    }
}

/// The names in a formula; none of one that does not parse.
pub(super) fn names(source: &FormulaText, site: &Site) -> Vec<String> {
    match source.submitted(site.numbers()).formula() {
        Ok(formula) => formula.names().into_iter().map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    }
}

/// The most rounds of fixes: one fix may uncover the next, as in `LOG(NCPUS)`.
const MAX_ROUNDS: usize = 1000;

/// The formula with all fixes applied, checked again after each round.
pub(super) fn apply_fixes(
    mut formula: CheckedFormula,
    site: &Site,
    levels: &Levels,
    with_unsafe: bool,
) -> Result<CheckedFormula, SiteError> {
    for _ in 0..MAX_ROUNDS {
        let CheckedFormula {
            source, checked, ..
        } = &formula;
        let Some(fixed) = FixedText::new(&source.text, &checked.findings, with_unsafe) else {
            break;
        };
        report_fixes(&source.text, &fixed.applied);
        formula = CheckedFormula::new(site, source.clone().with_text(fixed.text), levels)?;
    }
    Ok(formula)
}

/// Says which fixes are applied to the formula: of each code the first ten, then how many more
/// there are.
fn report_fixes(formula: &str, applied: &[&Diagnostic]) {
    let (shown, others) = limit_each_code(applied.iter().copied());
    shown
        .into_iter()
        .for_each(|found| report_fix(formula, found));
    for (code, more) in others {
        let more = count(more, "more place");
        print_message("fixed", format_args!("{code}: and {more}"));
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
    print_message("fixed", format_args!("{}: {change}", found.code));
}

impl CheckArgs {
    /// Prints the command that sets the formula, and that of a threshold that is set with it, or says
    /// what prevents that.
    pub(super) fn write_qmgr_commands(
        &self,
        site: &Site,
        formula: &CheckedFormula,
        warnings: &[String],
        out: &mut impl Write,
    ) -> Result<Outcome, CliError> {
        let is_in_force = is_in_force(&formula.source, site);
        if let Some(obstacle) = obstacle(formula, self.force, is_in_force) {
            // there is no command to comment on
            warnings.iter().for_each(warn);
            let message = format!("no qmgr command is printed for {obstacle}");
            print_message("error", message);
            return Ok(Outcome::Findings);
        }
        // the command does not show how many jobs the threshold stops
        if let Some(jobs) = &formula.checked.jobs
            && jobs.under_threshold > Some(0)
            && let Some(sentence) = stopped_by_threshold(jobs)
        {
            warn(sentence);
        }
        let FormulaText { before, text, .. } = &formula.source;
        let command = set_command(&object_or_server(before), text).map_err(CliError::usage)?;
        writeln!(out, "{command}")?;
        // the way back takes the threshold that is in force, too
        let in_force = if is_in_force { site.threshold() } else { None };
        if let Some(threshold) = self.queue.threshold.or(in_force) {
            let command = set_threshold_command(&formula.source.before, threshold);
            writeln!(out, "{command}")?;
        }
        // a shell that is typed into may have no comments, and takes a text in quotes as it is
        for warning in warnings {
            let quoted = printable(warning).replace('\'', r"'\''");
            writeln!(out, "# 'warning: {quoted}'")?;
        }
        Ok(Outcome::fine_if(!formula.has_errors()))
    }
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
