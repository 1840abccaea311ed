//! A checked formula, and what prevents it from being set.

use std::collections::BTreeSet;

use job_sort_formula::diagnostic::{Code, Levels, Severity};
use jsf_openpbs::check::Checked;
use jsf_openpbs::qmgr_validation::AnsweredBy;
use jsf_openpbs::resource_amount::NumberMode;
use jsf_site::{FormulaText, Role, Site};

use crate::cli::{CliError, Progress, report};

/// A formula with the findings that are shown.
pub(crate) struct CheckedFormula {
    pub(crate) source: FormulaText,
    pub(crate) numbers: NumberMode,
    pub(crate) checked: Checked,
    /// The codes of the errors that are not shown.
    hidden: Vec<&'static str>,
    /// Whether the formula was tried on no job.
    pub(crate) is_untried: bool,
}

impl CheckedFormula {
    pub(crate) fn new(
        site: &Site,
        source: FormulaText,
        numbers: NumberMode,
        levels: &Levels,
    ) -> Result<Self, CliError> {
        let progress = Progress::start("checking the formula");
        let mut checked = site.check(&source.submitted(numbers))?;
        drop(progress);
        // a site without jobs is warned of only: nothing was given to try the formula on
        let is_untried = site.files().has(Role::Queue)
            && checked
                .findings
                .iter()
                .any(|found| found.code == Code::TriedOnNoJob);
        let errors = error_codes(&checked);
        levels.apply(&mut checked.findings);
        let hidden = errors.difference(&error_codes(&checked)).copied().collect();
        Ok(Self {
            source,
            numbers,
            checked,
            hidden,
            is_untried,
        })
    }

    /// Whether the formula has an error, shown or not, or the server refuses it.
    pub(crate) fn has_errors(&self) -> bool {
        self.checked.has_errors()
            || !self.hidden.is_empty()
            || self.checked.validation.accepted == Some(false)
    }

    /// Whether qmgr passes the text on.
    pub(crate) fn reaches_server(&self) -> bool {
        self.checked.validation.by != Some(AnsweredBy::Qmgr)
    }

    /// Says which errors are not shown.
    pub(crate) fn note_hidden(&self) {
        if self.hidden.is_empty() {
            return;
        }
        let codes = self.hidden.join(", ");
        report(
            "note",
            format_args!(
                "{codes}: an error that is not shown, because of --select or --allow; the formula does not work all the same"
            ),
        );
    }
}

/// The names in a formula; none of one that does not parse.
pub(crate) fn names(source: &FormulaText, numbers: NumberMode) -> Vec<String> {
    match source.submitted(numbers).formula() {
        Ok(formula) => formula.names().into_iter().map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    }
}

/// The codes of the findings that are errors.
fn error_codes(checked: &Checked) -> BTreeSet<&'static str> {
    let mut codes = BTreeSet::new();
    for found in &checked.findings {
        if found.severity == Severity::Error {
            codes.insert(found.code.name());
        }
    }
    codes
}
