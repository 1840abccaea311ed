//! `jsf check --fix`

use job_sort_formula::diagnostic::{Diagnostic, FixedText, Levels};
use jsf_site::Site;

use crate::cli::{CliError, report};
use crate::commands::check::checked_formula::CheckedFormula;
use crate::view::finding::limit_each_code;
use crate::view::words;

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
        let numbers = formula.numbers;
        formula = CheckedFormula::new(site, source.clone().with_text(fixed.text), numbers, levels)?;
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
