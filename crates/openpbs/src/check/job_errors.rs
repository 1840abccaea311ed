//! Findings on the jobs for which a formula fails, and on what that does to the scheduler.

use job_sort_formula::diagnostic::{Code, Diagnostic, Severity, Span};
use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::ErrorKind;
use job_sort_formula::rank::{Consequence, Ranking, ScoreError};
use jsf_words::{count, first_few_quoted};

use crate::check::MAX_NAMES;

/// A finding for each kind of error that jobs have.
pub fn error_findings(table: &JobTable, ranking: &Ranking) -> Vec<Diagnostic> {
    error_findings_of(table, ranking, |_| true)
}

/// A finding for each kind of error that the jobs in rows for which `is_asked_for` holds have, with
/// the span and the operands of its first job.
pub fn error_findings_of(
    table: &JobTable,
    ranking: &Ranking,
    is_asked_for: impl Fn(usize) -> bool,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for group in ranking.error_groups_of(is_asked_for) {
        // name resolution reports a finding of its own on an unknown name
        if group.error.kind() != ErrorKind::Name {
            let ids: Vec<&str> = group.rows.iter().map(|&row| table.id(row)).collect();
            let jobs = count(ids.len(), "job");
            let listed = first_few_quoted(&ids, MAX_NAMES);
            let first = ids.first().copied().unwrap_or_default();
            findings.push(error_finding(
                group.error,
                &format!("{jobs}: {listed}"),
                first,
            ));
        }
    }
    findings
}

/// Whether the result of a job crashes the scheduler.
pub fn crashes_scheduler(ranking: &Ranking) -> bool {
    let mut errors = ranking.scores().errors();
    errors.any(|(_, error)| error.crashes_the_scheduler())
}

/// What an error does to the scheduler.
const FIRST_EVALUATION: &str = "an error in the very first evaluation after its start crashes the scheduler; a later error does not";

/// A finding if an error would crash the scheduler in its first evaluation after a start.
pub fn first_evaluation(table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
    let mut failing: Vec<_> = ranking.scores().errors().collect();
    failing.retain(|(_, error)| error.consequence() == Consequence::Zero);
    let span = failing.first()?.1.span();
    let mut finding = Diagnostic::new(Code::FirstEvaluation, "", span)
        .with_severity(Severity::Warning)
        .with_help(FIRST_EVALUATION);
    if failing.len() == ranking.scores().count() {
        finding.severity = Severity::Error;
        finding.message =
            "every job has an error, so the scheduler crashes when it is next started".into();
    } else {
        let jobs: Vec<&str> = failing.iter().map(|&(row, _)| table.id(row)).collect();
        let jobs = first_few_quoted(&jobs, MAX_NAMES);
        let any = if failing.len() == 1 { "" } else { "any of " };
        finding.message =
            format!("the scheduler crashes at its next start if {any}{jobs} is evaluated first");
    }
    Some(finding)
}

/// The finding if jobs have an error in a formula that no scheduler evaluates.
pub fn without_evaluation(span: Span, reason: &str) -> Diagnostic {
    let help =
        format!("if a scheduler of OpenPBS has the formula nevertheless, {FIRST_EVALUATION}");
    Diagnostic::new(Code::FirstEvaluation, reason, span).with_help(help)
}

/// The finding for the error of a single job, with its span and its operands.
pub fn job_error(table: &JobTable, row: usize, error: &ScoreError) -> Diagnostic {
    let id = table.id(row);
    error_finding(error, &format!("`{id}`"), id)
}

/// A finding for an error of `jobs`; the operands are those of the job `first`.
fn error_finding(error: &ScoreError, jobs: &str, first: &str) -> Diagnostic {
    let (code, help) = match error.consequence() {
        Consequence::Zero => (Code::FailingJobs, "OpenPBS counts such a job as 0"),
        Consequence::Crash => (
            Code::CrashingJobs,
            "OpenPBS counts such a job as -1, and its scheduler crashes",
        ),
        Consequence::Unknown => (
            Code::UnknownValues,
            "jsf counts such a job as 0, but OpenPBS may compute another value",
        ),
    };
    let mut finding = Diagnostic::new(code, format!("{error} for {jobs}"), error.span());
    if let ScoreError::Raised(error) = error {
        for operand in error.operands() {
            let label = format!("{} in `{first}`", operand.value.repr());
            finding = finding.with_secondary_label(operand.span, label);
        }
    }
    finding.with_help(help)
}
