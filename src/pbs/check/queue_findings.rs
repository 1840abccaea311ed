//! Findings from evaluating the formula for every job of a queue.

use crate::diagnostic::{Diagnostic, Severity};
use crate::jobs::JobTable;
use crate::pbs::site_findings::{counted, listed};
use crate::python::ErrorKind;
use crate::rank::{ErrorGroup, Ranking, ScoreError};

/// A finding for each kind of error that jobs have, with the span and the operands of its first job.
pub fn error_findings(table: &JobTable, ranking: &Ranking) -> Vec<Diagnostic> {
    let groups = ranking.error_groups();
    groups.iter().filter(|group| !is_unknown_name(group.error)).map(|group| error_group(table, group)).collect()
}

/// Whether the result of some job crashes the scheduler.
pub(super) fn crashes_scheduler(ranking: &Ranking) -> bool {
    errors(ranking).any(|(_, error)| error.crashes_the_scheduler())
}

/// A finding if an error would crash the scheduler in its first evaluation after a start.
pub(super) fn first_evaluation(table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
    let is_survived = |(_, error): &(usize, &ScoreError)| !error.crashes_the_scheduler();
    let failing: Vec<_> = errors(ranking).filter(is_survived).collect();
    let span = failing.first()?.1.span();
    let mut finding = Diagnostic::warning("JSF402", "", span).with_help(
        "an error in the very first evaluation after its start crashes the scheduler; a later error does not",
    );
    if failing.len() == ranking.scores().count() {
        finding.severity = Severity::Error;
        finding.message = "every job has an error, so the scheduler crashes when it is next started".into();
    } else {
        let jobs = listed(failing.len(), failing.iter().map(|&(row, _)| table.id(row)));
        let any = if failing.len() == 1 { "" } else { "any of " };
        finding.message = format!("the scheduler crashes at its next start if {any}{jobs} is evaluated first");
    }
    Some(finding)
}

fn errors(ranking: &Ranking) -> impl Iterator<Item = (usize, &ScoreError)> {
    ranking.scores().errors()
}

/// Whether the error is an unknown name, for which name resolution reports a finding of its own.
fn is_unknown_name(error: &ScoreError) -> bool {
    matches!(error, ScoreError::Raised(error) if error.raised.kind == ErrorKind::Name)
}

fn error_group(table: &JobTable, group: &ErrorGroup<'_>) -> Diagnostic {
    let count = group.rows.len();
    let (jobs, ids) = (counted(count, "job", "jobs"), listed(count, group.rows.iter().map(|&row| table.id(row))));
    let (code, consequence) = match group.error {
        ScoreError::Raised(_) if !group.error.crashes_the_scheduler() => ("JSF301", "OpenPBS counts such a job as 0"),
        _ => ("JSF302", "OpenPBS's scheduler crashes on such a result"),
    };
    let mut finding = Diagnostic::error(code, format!("{} for {jobs}: {ids}", group.error), group.error.span());
    if let ScoreError::Raised(error) = group.error {
        let first = group.rows.first().map_or("", |&row| table.id(row));
        for operand in &error.operands {
            finding = finding.with_place(operand.span, format!("{} in `{first}`", operand.value.repr()));
        }
    }
    finding.with_help(consequence)
}
