//! Settings of the server and the scheduler that work against the formula, or beside it.

use crate::diagnostic::Diagnostic;
use crate::formula::syntax::Expr;
use crate::pbs::files::sched_config::SchedConfig;
use crate::pbs::files::server::ServerSettings;
use crate::pbs::site_findings::{place_of, whole};

/// A finding where the formula uses `eligible_time` and the server lets none accrue.
pub(in crate::pbs) fn eligible_time(expr: &Expr, server: &ServerSettings) -> Option<Diagnostic> {
    let place = place_of(expr, "eligible_time").filter(|_| server.eligible_time_enable == Some(false))?;
    Some(
        Diagnostic::warning("JSF603", "the server's `eligible_time_enable` is false, so none accrues", place)
            .with_help("qmgr -c 'set server eligible_time_enable = True'"),
    )
}

/// A finding for each other setting that orders jobs.
pub(in crate::pbs) fn beside(expr: &Expr, config: &SchedConfig) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let note = |message: &str| Diagnostic::note("JSF604", message, whole(expr));
    if config.fair_share.prime || config.fair_share.non_prime {
        let help = "to have it count, use `fairshare_factor` in the formula";
        let message = "`fair_share` is on: it decides only between jobs of the same value";
        findings.push(note(message).with_help(help));
    }
    if !(config.job_sort_key.prime.is_empty() && config.job_sort_key.non_prime.is_empty()) {
        let message = "`job_sort_key` is set: it decides only between jobs of the same value";
        findings.push(note(message).with_help("the scheduler logs that the two are incompatible and uses the formula"));
    }
    findings
}
