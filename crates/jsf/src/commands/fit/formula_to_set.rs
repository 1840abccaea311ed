//! The command that sets a fitted formula, or what prevents it.

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use jsf_openpbs::check::Checked;
use jsf_openpbs::qmgr::set_command_after;
use jsf_site::Site;

use crate::view::printable::printable_lines;
use crate::view::verdict::verdict_sentence;

/// What is known of a formula that may be set.
#[derive(Debug, Clone, Default)]
pub struct FormulaToSet {
    /// The command that sets it.
    pub command: Option<String>,
    /// Why there is no command.
    pub obstacle: Option<String>,
    /// The result of checking it, also on the jobs of the queue if the site has them.
    checked: Option<Checked>,
}

impl FormulaToSet {
    /// Checks a formula as `jsf check --qmgr` does, which prints no command for a formula with an error.
    pub fn new(site: &Site, formula: &str) -> Self {
        let checked = match site.check_text(formula) {
            Ok(checked) => checked,
            Err(error) => return Self::without(format!("the formula cannot be checked: {error}")),
        };
        let before = site.formula_text().map_or_else(|_| String::new(), |formula| formula.before);
        let set = match errors(&checked).is_empty() && checked.validation.accepted != Some(false) {
            true => set_command_after(&before, formula).map_err(|error| error.to_string()),
            false => Err(refusal(&checked)),
        };
        let set = set.and_then(|command| match printable_lines(&command) == command {
            true => Ok(command),
            false => Err("the formula has control characters".to_owned()),
        });
        let checked = Some(checked);
        match set {
            Ok(command) => Self { command: Some(command), obstacle: None, checked },
            Err(obstacle) => Self { command: None, obstacle: Some(obstacle), checked },
        }
    }

    fn without(obstacle: String) -> Self {
        Self { command: None, obstacle: Some(obstacle), checked: None }
    }

    /// Whether the formula has an error, or the server refuses it.
    pub fn has_errors(&self) -> bool {
        self.checked.as_ref().is_some_and(|checked| checked.has_errors() || checked.validation.accepted == Some(false))
    }

    /// The errors of the formula, such as jobs for which it fails.
    pub(crate) fn errors(&self) -> Vec<&Diagnostic> {
        self.checked.as_ref().map(errors).unwrap_or_default()
    }

    /// What is wrong with the formula on the queue, as a sentence: it fails for jobs, is refused, or orders none.
    pub fn warning(&self) -> Option<String> {
        let sentence = verdict_sentence(self.checked.as_ref()?, "the formula");
        sentence.or_else(|| self.errors().first().map(|found| format!("The formula has an error: {}.", found.message)))
    }
}

fn errors(checked: &Checked) -> Vec<&Diagnostic> {
    checked.findings.iter().filter(|found| found.severity == Severity::Error).collect()
}

fn refusal(checked: &Checked) -> String {
    let mut codes: Vec<&str> = errors(checked).into_iter().map(|found| found.code.name()).collect();
    codes.sort_unstable();
    codes.dedup();
    match codes.is_empty() {
        true => format!("the server refuses the formula: {}", checked.validation.message),
        false => format!("`jsf check` finds an error in the formula ({})", codes.join(", ")),
    }
}
