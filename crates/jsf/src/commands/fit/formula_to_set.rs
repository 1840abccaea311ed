//! The command that sets a fitted formula, or what prevents it.

use std::collections::BTreeSet;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use jsf_openpbs::check::Checked;
use jsf_openpbs::qmgr::set_command_after;
use jsf_site::Site;
use serde::{Serialize, Serializer};

use crate::view::document::Section;
use crate::view::printable::printable_lines;
use crate::view::verdict::{NO_FORMULA_IN_SLURM, brief_finding, verdict_sentence};

/// The most errors of a formula that are listed.
const MAX_ERRORS: usize = 3;

/// What is known of a formula that may be set.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FormulaToSet {
    /// The command that sets it.
    #[serde(rename = "qmgr")]
    pub command: Option<String>,
    /// Why there is no command.
    #[serde(rename = "qmgr_obstacle")]
    pub obstacle: Option<String>,
    /// Its errors, such as jobs for which it fails.
    #[serde(
        serialize_with = "serialize_errors",
        skip_serializing_if = "Vec::is_empty"
    )]
    errors: Vec<Diagnostic>,
    /// The result of checking it, also on the jobs of the queue if the site has them.
    #[serde(skip)]
    checked: Option<Checked>,
}

impl FormulaToSet {
    /// Checks a formula as `jsf check --qmgr` does, which prints no command for a formula with an
    /// error. `not_advised` says why it is not to be set in any case.
    pub fn new(site: &Site, formula: &str, not_advised: Option<String>) -> Self {
        let checked = site.check_text(formula);
        let found = checked.iter().flat_map(|checked| &checked.findings);
        let errors: Vec<Diagnostic> = found
            .filter(|found| found.severity == Severity::Error)
            .cloned()
            .collect();
        let command = match (&checked, not_advised) {
            (_, Some(not_advised)) => Err(not_advised),
            (Ok(checked), None) => checked_command(site, formula, checked, &errors),
            (Err(error), None) => Err(format!("the formula cannot be checked: {error}")),
        };
        Self {
            command: command.as_ref().ok().cloned(),
            obstacle: command.err(),
            errors,
            checked: checked.ok(),
        }
    }

    /// Whether the formula has an error, or the server refuses it.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty() || self.checked.as_ref().is_some_and(is_refused)
    }

    /// The command on a line that can be copied, or why there is none.
    pub(crate) fn section(&self) -> Section<'_> {
        if let Some(command) = &self.command {
            return Section::new("to set it").draw(move |_| command.clone());
        }
        let obstacle = self.obstacle.as_deref().unwrap_or_default();
        let errors = self.errors.iter().take(MAX_ERRORS);
        Section::new("not to be set")
            .prose(format!("No command is given: {obstacle}."))
            .list(errors.map(|found| brief_finding(found, "")).collect())
    }

    /// What is wrong with the formula on the queue, as a sentence: it fails for jobs, is refused,
    /// or orders none.
    pub fn warning(&self) -> Option<String> {
        let sentence = verdict_sentence(self.checked.as_ref()?, "the formula");
        sentence.or_else(|| {
            self.errors
                .first()
                .map(|found| format!("The formula has an error: {}.", found.message))
        })
    }
}

fn is_refused(checked: &Checked) -> bool {
    checked.validation.accepted == Some(false)
}

/// The command that sets a formula; the error is the reason why it cannot be set.
fn checked_command(
    site: &Site,
    formula: &str,
    checked: &Checked,
    errors: &[Diagnostic],
) -> Result<String, String> {
    if !errors.is_empty() {
        let codes: BTreeSet<&str> = errors.iter().map(|found| found.code.name()).collect();
        let codes = Vec::from_iter(codes).join(", ");
        return Err(format!(
            "`jsf check` finds an error in the formula ({codes})"
        ));
    }
    if is_refused(checked) {
        let message = &checked.validation.message;
        return Err(format!("the server refuses the formula: {message}"));
    }
    if checked.runs_slurm {
        return Err(NO_FORMULA_IN_SLURM.to_owned());
    }
    let before = site
        .formula_text()
        .map_or_else(|_| String::new(), |formula| formula.before);
    let command = set_command_after(&before, formula).map_err(|error| error.to_string())?;
    // escaped it would set another formula, and as it is it would reach the terminal
    if printable_lines(&command) != command {
        return Err("the formula has control characters".to_owned());
    }
    Ok(command)
}

/// An error of a formula.
#[derive(Serialize)]
struct FormulaError<'a> {
    code: &'a str,
    message: &'a str,
}

fn serialize_errors<S: Serializer>(
    errors: &[Diagnostic],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(|found| FormulaError {
        code: found.code.name(),
        message: &found.message,
    }))
}
