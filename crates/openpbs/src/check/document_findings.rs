//! Findings on the documents of a site against each other: what they say of its jobs together, and
//! not alone.

use job_sort_formula::diagnostic::{Code, Diagnostic};
use job_sort_formula::formula::syntax::Expr;
use job_sort_formula::jobs::{JobState, JobTable};
use job_sort_formula::schema::Schema;

use super::site_findings::is_resource;
use crate::files::queues::Queues;
use crate::number_format;
use crate::order::NotConsidered;
use crate::words::counted;

/// The columns of the jobs in which something is found under any formula.
pub const CHECKED_COLUMNS: [&str; 1] = ["walltime"];

/// A finding for each resource of the formula that waiting jobs lack although new ones of their
/// queue get it.
pub fn without_default(
    expr: &Expr,
    schema: &Schema,
    table: &JobTable,
    queues: &Queues,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (name, column) in table.columns() {
        let Some(span) = expr.first_use(name) else {
            continue;
        };
        if !is_resource(schema, name) {
            continue;
        }
        let mut count = 0;
        let mut first = None;
        for row in table.considered_rows() {
            if !column.is_set(row)
                && let Some(default) = queues.resources_default(table.queue(row), name)
            {
                count += 1;
                first.get_or_insert((table.id(row), default));
            }
        }
        let Some((id, default)) = first else { continue };
        let jobs = counted(count, "waiting job that lacks", "waiting jobs that lack");
        let message = format!(
            "`{name}` is 0 for {jobs} it, although `resources_default` gives {default}: first `{id}`"
        );
        let help = format!(
            "the server gives defaults to a job when it is queued, not later: `qalter -l {name}={default} {id}`"
        );
        findings.push(Diagnostic::new(Code::LacksDefault, message, span).with_help(help));
    }
    findings
}

/// A finding if running jobs have no walltime.
pub fn without_walltime(expr: &Expr, table: &JobTable) -> Option<Diagnostic> {
    let column = table.column("walltime")?;
    let mut rows = Vec::new();
    for row in 0..table.len() {
        if table.state(row) == JobState::Running && !column.is_set(row) {
            rows.push(row);
        }
    }
    let first = table.id(*rows.first()?);
    let jobs = counted(rows.len(), "running job has", "running jobs have");
    let message = format!("{jobs} no `walltime`: first `{first}`");
    let help = "the scheduler expects such a job to run for five years, so that a place it promises to a waiting job can be as \
                late; set `resources_default.walltime`";
    Some(Diagnostic::new(Code::NoWalltime, message, expr.span()).with_help(help))
}

/// A finding if the document has fewer jobs than the server counts.
pub fn missing_jobs(expr: &Expr, table: &JobTable, total: u64) -> Option<Diagnostic> {
    let found = (0..table.len())
        .filter(|&row| !table.state(row).is_over())
        .count();
    if found as u64 >= total {
        return None;
    }
    let jobs = counted(found, "job", "jobs");
    let message = format!("the document of jobs has {jobs}, and the server counts {total}");
    let help = "it is from another moment, or shows only some jobs, as `qstat -u` and a user without rights do: places are \
                those among these jobs";
    Some(Diagnostic::new(Code::MissingJobs, message, expr.span()).with_help(help))
}

/// A finding if jobs do not run because of the threshold that is in force where none is set.
pub fn under_default_threshold(
    expr: &Expr,
    table: &JobTable,
    not_considered: &[(usize, NotConsidered)],
) -> Option<Diagnostic> {
    let mut under = Vec::new();
    for (row, reason) in not_considered {
        if let NotConsidered::UnderThreshold { value, threshold } = reason {
            under.push((*row, *value, *threshold));
        }
    }
    let &(row, value, threshold) = under.first()?;
    let jobs = counted(under.len(), "job does", "jobs do");
    let message = format!(
        "{jobs} not run: the value {} of `{}` does not exceed {}, the threshold if none is set",
        number_format::logged(value),
        table.id(row),
        number_format::printed(threshold)
    );
    let help = "scale the formula down, or set `job_sort_formula_threshold` below its values";
    Some(Diagnostic::new(Code::UnderDefaultThreshold, message, expr.span()).with_help(help))
}

/// A finding for each name of the formula that the scheduler defines and the site declares as a
/// resource too.
pub fn hidden_resources(expr: &Expr, hidden: &[String]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for name in hidden {
        if let Some(span) = expr.first_use(name) {
            let message = format!(
                "`{name}` is what the scheduler defines, not the resource `{name}` that the site declares"
            );
            let help = "no formula can read a resource of this name: declare it under another one";
            let found = Diagnostic::new(Code::ResourceNamedAsInput, message, span);
            findings.push(found.with_help(help));
        }
    }
    findings
}
