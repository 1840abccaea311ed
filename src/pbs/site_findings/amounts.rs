//! Amounts that are gone before the formula sees them.

use crate::diagnostic::Diagnostic;
use crate::formula::syntax::Expr;
use crate::jobs::{JobTable, TruncatedToZero};
use crate::pbs::site_findings::{counted, place_of};

/// A finding for each resource of which some job's amount reaches the formula as 0.
pub(in crate::pbs) fn amounts(expr: &Expr, table: &JobTable) -> Vec<Diagnostic> {
    let finding = |(name, lost): (&str, &TruncatedToZero)| {
        let jobs = counted(lost.jobs, "job", "jobs");
        let message = format!("the `{name}` of {jobs} reaches the formula as 0: {} in `{}`", lost.amount, lost.job);
        let help =
            "OpenPBS prints amounts with four decimals, and none where the first three are zeros: use a smaller unit";
        Some(Diagnostic::warning("JSF502", message, place_of(expr, name)?).with_help(help))
    };
    table.truncated_amounts().filter_map(finding).collect()
}
