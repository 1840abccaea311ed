//! Which results of a simulation say that a formula does not work, which decides the exit code.

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::rank::{Consequence, OnError};
use jsf_openpbs::check::Checked;
use jsf_simulate::{EvaluationErrors, GoalState, JudgedGoal};

use crate::cli::report;
use crate::commands::simulate::failures::is_fatal;
use crate::commands::simulate::request::SimulateArgs;

/// Whether a formula fails for every job, or for one where that is not allowed.
pub(crate) fn fails(errors: &EvaluationErrors, jobs: usize, on_error: OnError) -> bool {
    errors.jobs() > 0 && (on_error == OnError::Fail || errors.jobs() == jobs)
}

pub(crate) fn has_error(findings: &[Diagnostic]) -> bool {
    findings
        .iter()
        .any(|found| found.severity == Severity::Error)
}

/// Whether the server refuses a formula, or the scheduler crashes of it, with the jobs of the
/// site's queue or of the log.
pub(crate) fn is_unusable(checked: &Checked, errors: &EvaluationErrors) -> bool {
    let crashes = errors
        .kinds()
        .any(|(_, error)| error.consequence == Consequence::Crash);
    has_error(&checked.findings) || crashes || is_fatal(checked)
}

/// Whether no goal is missed.
pub(crate) fn meets_goals(goals: &[JudgedGoal]) -> bool {
    goals.iter().all(|goal| goal.state != GoalState::Missed)
}

/// The kind of a message about jobs for which a formula fails.
pub(crate) fn failure_kind(arguments: &SimulateArgs) -> &'static str {
    if arguments.site.on_error == OnError::Fail {
        "error"
    } else {
        "warning"
    }
}

/// Says for which jobs formulas fail, where no document does.
pub(crate) fn report_failing(arguments: &SimulateArgs, clauses: &[String]) {
    if !clauses.is_empty() && !arguments.format.is_document() {
        report(failure_kind(arguments), clauses.join("; "));
    }
}
