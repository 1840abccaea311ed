//! The command that sets a fitted formula, or what prevents it.

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
    /// The result of checking it, also on the jobs of the queue if the site has them.
    #[serde(
        rename = "errors",
        serialize_with = "serialize_errors",
        skip_serializing_if = "has_no_errors"
    )]
    checked: Option<Checked>,
}

impl FormulaToSet {
    /// Checks a formula as `jsf check --qmgr` does, which prints no command for a formula with an
    /// error. `not_advised` says why it is not to be set in any case.
    pub fn new(site: &Site, formula: &str, not_advised: Option<String>) -> Self {
        let (command, checked) = match site.check_text(formula) {
            Ok(checked) => (checked_command(site, formula, &checked), Some(checked)),
            Err(error) => (Err(format!("the formula cannot be checked: {error}")), None),
        };
        match not_advised.map_or(command, Err) {
            Ok(command) => Self {
                command: Some(command),
                obstacle: None,
                checked,
            },
            Err(obstacle) => Self {
                command: None,
                obstacle: Some(obstacle),
                checked,
            },
        }
    }

    /// Whether the formula has an error, or the server refuses it.
    pub fn has_errors(&self) -> bool {
        self.checked.as_ref().is_some_and(|checked| {
            checked.has_errors() || checked.validation.accepted == Some(false)
        })
    }

    /// The errors of the formula, such as jobs for which it fails.
    fn errors(&self) -> Vec<&Diagnostic> {
        self.checked.as_ref().map(errors).unwrap_or_default()
    }

    /// The command on a line that can be copied, or why there is none.
    pub(crate) fn section(&self) -> Section<'_> {
        if let Some(command) = &self.command {
            return Section::new("to set it").draw(move |_| command.clone());
        }
        let obstacle = self.obstacle.as_deref().unwrap_or_default();
        let errors = self.errors().into_iter().take(MAX_ERRORS);
        Section::new("not to be set")
            .prose(format!("No command is given: {obstacle}."))
            .list(errors.map(|found| brief_finding(found, "")).collect())
    }

    /// What is wrong with the formula on the queue, as a sentence: it fails for jobs, is refused,
    /// or orders none.
    pub fn warning(&self) -> Option<String> {
        let sentence = verdict_sentence(self.checked.as_ref()?, "the formula");
        sentence.or_else(|| {
            self.errors()
                .first()
                .map(|found| format!("The formula has an error: {}.", found.message))
        })
    }
}

/// The command that sets a formula; the error is the reason why it cannot be set.
fn checked_command(site: &Site, formula: &str, checked: &Checked) -> Result<String, String> {
    if !errors(checked).is_empty() || checked.validation.accepted == Some(false) {
        return Err(refusal(checked));
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

fn errors(checked: &Checked) -> Vec<&Diagnostic> {
    checked
        .findings
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .collect()
}

fn has_no_errors(checked: &Option<Checked>) -> bool {
    checked
        .as_ref()
        .is_none_or(|checked| errors(checked).is_empty())
}

/// An error of a formula.
#[derive(Serialize)]
struct FormulaError<'a> {
    code: &'a str,
    message: &'a str,
}

fn serialize_errors<S: Serializer>(
    checked: &Option<Checked>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let errors = checked.as_ref().map(errors).unwrap_or_default();
    serializer.collect_seq(errors.into_iter().map(|found| FormulaError {
        code: found.code.name(),
        message: &found.message,
    }))
}

fn refusal(checked: &Checked) -> String {
    let mut codes: Vec<&str> = errors(checked)
        .into_iter()
        .map(|found| found.code.name())
        .collect();
    codes.sort_unstable();
    codes.dedup();
    if codes.is_empty() {
        format!(
            "the server refuses the formula: {}",
            checked.validation.message
        )
    } else {
        format!(
            "`jsf check` finds an error in the formula ({})",
            codes.join(", ")
        )
    }
}
