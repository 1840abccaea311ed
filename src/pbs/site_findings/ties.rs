//! Jobs that only the scheduler's precision puts on one level.

use std::cmp::Ordering;

use crate::diagnostic::Diagnostic;
use crate::formula::syntax::Expr;
use crate::jobs::JobTable;
use crate::pbs::site_findings::{counted, whole};
use crate::python::Value;
use crate::rank::{Exact, Ranking};

/// A job's value as the scheduler keeps it, before, and its row.
type Kept = (f64, f64, usize);

/// A finding where values that differ are the same once they are kept in a C `float`.
pub(in crate::pbs) fn ties(expr: &Expr, table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
    let value = |&row: &usize| {
        let score = ranking.score(row)?;
        Some((score.kept, double(score.exact.as_ref().ok()?)?, row))
            .filter(|(kept, exact, ..)| !kept.is_nan() && !exact.is_nan())
    };
    let mut values: Vec<Kept> = ranking.order().iter().filter_map(value).collect();
    values.sort_by(|left, right| order(left, right).then(left.2.cmp(&right.2)));
    let is_tie = |group: &&[Kept]| group.iter().any(|job| job.1 != group[0].1);
    let groups: Vec<_> = values.chunk_by(|left, right| left.0 == right.0).filter(is_tie).collect();
    let first = groups.first()?;
    let (one, other) = (first.first()?, first.iter().find(|job| job.1 != first[0].1)?);
    let jobs = counted(groups.iter().map(|group| group.len()).sum(), "job", "jobs");
    let shown = |job: &Kept| {
        let exact = ranking.score(job.2).and_then(|score| score.exact.ok());
        format!("`{}` ({})", table.id(job.2), exact.map(|exact| exact.to_string()).unwrap_or_default())
    };
    let (one, other) = (shown(one), shown(other));
    let message = format!("{jobs} tie only because the scheduler keeps 24 bits of a value: {one} and {other}");
    let help = "between them not the formula decides but what comes after it; make the large terms smaller";
    Some(Diagnostic::warning("JSF504", message, whole(expr)).with_help(help))
}

fn order(left: &Kept, right: &Kept) -> Ordering {
    right.0.total_cmp(&left.0).then(right.1.total_cmp(&left.1))
}

/// The double next to the value.
fn double(exact: &Exact) -> Option<f64> {
    match exact {
        Exact::Python(Value::Float(double)) => Some(*double),
        Exact::Python(Value::Int(integer)) => Some(*integer as f64),
        _ => None,
    }
}
