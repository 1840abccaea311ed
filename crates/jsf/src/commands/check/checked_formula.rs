//! A checked formula, what prevents it from being set, and its fixes.

use std::collections::BTreeSet;

use job_sort_formula::diagnostic::{Code, Diagnostic, FixedText, Levels, Severity};
use jsf_openpbs::check::Checked;
use jsf_openpbs::qmgr::AnsweredBy;
use jsf_site::{FormulaText, Role, Site};

use crate::cli::{CliError, Progress, report};
use crate::view::finding::limit_each_code;
use crate::view::words;

/// A formula with the findings that are shown.
pub(crate) struct CheckedFormula {
    pub(crate) source: FormulaText,
    pub(crate) checked: Checked,
    /// The codes of the errors that are not shown.
    hidden: Vec<&'static str>,
    /// Whether the formula was tried on no job.
    pub(crate) is_untried: bool,
}

impl CheckedFormula {
    pub(crate) fn new(site: &Site, source: FormulaText, levels: &Levels) -> Result<Self, CliError> {
        let progress = Progress::start("checking the formula");
        let mut checked = site.check(&source.submitted(site.numbers()))?;
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
pub(crate) fn names(source: &FormulaText, site: &Site) -> Vec<String> {
    match source.submitted(site.numbers()).formula() {
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

/// The most rounds of fixes: one fix may uncover the next, as in `LOG(NCPUS)`.
const MAX_ROUNDS: usize = 1000;

/// The formula with all fixes applied, checked again after each round.
pub(crate) fn apply_fixes(
    mut formula: CheckedFormula,
    site: &Site,
    levels: &Levels,
    with_unsafe: bool,
) -> Result<CheckedFormula, CliError> {
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
    let (few, others) = limit_each_code(applied.iter().copied());
    few.into_iter().for_each(|found| report_fix(formula, found));
    for (code, count) in others {
        report(
            "fixed",
            format_args!("{code}: and {}", words::count(count, "more place")),
        );
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
