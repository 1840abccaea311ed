//! The threshold beside the values of the queue.

use crate::diagnostic::Diagnostic;
use crate::formula::syntax::Expr;
use crate::jobs::JobTable;
use crate::pbs::number_format as digits;
use crate::pbs::order::{Ordered, PassedOver};
use crate::pbs::site_findings::{counted, whole};

/// A finding where no job that waits passes the threshold, or every one does.
pub(in crate::pbs) fn threshold(
    expr: &Expr,
    table: &JobTable,
    ordered: &Ordered,
    threshold: f64,
) -> Option<Diagnostic> {
    let ranking = &ordered.ranking;
    let is_under = |why: &PassedOver| matches!(why, PassedOver::UnderThreshold { .. });
    let under: Vec<usize> = ordered.passed_over.iter().filter(|(_, why)| is_under(why)).map(|&(row, _)| row).collect();
    let kept = |row: usize| ranking.score(row).map_or(f64::NAN, |score| score.kept);
    let bound = digits::printed(digits::server_float(threshold));
    let message = match (ranking.order(), under.as_slice()) {
        ([], []) => return None,
        ([], under) => {
            let best = under.iter().copied().max_by(|&left, &right| kept(left).total_cmp(&kept(right)))?;
            let (count, best) = (counted(under.len(), "job", "jobs"), (table.id(best), digits::logged(kept(best))));
            format!("none of {count} passes the threshold {bound}: the highest value is {} (`{}`)", best.1, best.0)
        }
        (passing, []) => {
            let least = passing.iter().copied().min_by(|&left, &right| kept(left).total_cmp(&kept(right)))?;
            let (count, least) =
                (counted(passing.len(), "job", "jobs"), (table.id(least), digits::logged(kept(least))));
            format!("all of {count} pass the threshold {bound}: the lowest value is {} (`{}`)", least.1, least.0)
        }
        _ => return None,
    };
    let help = "a job whose value is at most `job_sort_formula_threshold` is not run";
    Some(Diagnostic::warning("JSF605", message, whole(expr)).with_help(help))
}
