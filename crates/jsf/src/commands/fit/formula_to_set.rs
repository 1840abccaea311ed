//! The command that sets a fitted formula, or what prevents it.

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use jsf_openpbs::check::Checked;
use jsf_openpbs::qmgr::set_command_after;
use jsf_site::Site;
use serde::{Serialize, Serializer};

use crate::answer::object;
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
        let mut to_set = Self::default();
        let command = match site.check_text(formula) {
            Ok(checked) => {
                to_set.errors.clone_from(&checked.findings);
                to_set
                    .errors
                    .retain(|found| found.severity == Severity::Error);
                let command = checked_command(site, formula, &checked, &to_set.errors);
                to_set.checked = Some(checked);
                command
            }
            Err(error) => Err(format!("the formula cannot be checked: {error}")),
        };
        match (command, not_advised) {
            (_, Some(obstacle)) | (Err(obstacle), None) => to_set.obstacle = Some(obstacle),
            (Ok(command), None) => to_set.command = Some(command),
        }
        to_set
    }

    /// Whether the formula has an error, or the server refuses it.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty() || self.checked.as_ref().is_some_and(is_refused)
    }

    /// The command on a line that can be copied, or why it is missing.
    pub(crate) fn section(&self) -> Section<'_> {
        if let Some(command) = &self.command {
            return Section::new("to set it").draw(move |_| command.clone());
        }
        let obstacle = self.obstacle.as_deref().unwrap_or_default();
        let mut errors = Vec::new();
        for found in self.errors.iter().take(MAX_ERRORS) {
            errors.push(brief_finding(found, ""));
        }
        Section::new("not to be set")
            .prose(format!("No command is given: {obstacle}."))
            .list(errors)
    }

    /// What is wrong with the formula on the queue, as a sentence: it fails for jobs, is refused,
    /// or orders none.
    pub fn warning(&self) -> Option<String> {
        if let Some(sentence) = verdict_sentence(self.checked.as_ref()?, "the formula") {
            return Some(sentence);
        }
        let message = &self.errors.first()?.message;
        Some(format!("The formula has an error: {message}."))
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
        let mut codes: Vec<&str> = errors.iter().map(|found| found.code.name()).collect();
        codes.sort_unstable();
        codes.dedup();
        let codes = codes.join(", ");
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
    let before = match site.formula_text() {
        Ok(in_force) => in_force.before,
        Err(_) => String::new(),
    };
    let command = set_command_after(&before, formula).map_err(|error| error.to_string())?;
    // escaped it would set another formula, and as it is it would reach the terminal
    if printable_lines(&command) != command {
        return Err("the formula has control characters".to_owned());
    }
    Ok(command)
}

fn serialize_errors<S: Serializer>(
    errors: &[Diagnostic],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(|found| {
        object! { code: found.code, message: &found.message }
    }))
}
