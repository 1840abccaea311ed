//! What can be said of a formula only beside the site that it is for: its tree, its jobs, its settings.

mod amounts;
mod settings;
mod shares;
mod threshold;
mod ties;

pub(super) use crate::pbs::site_findings::amounts::amounts;
pub(super) use crate::pbs::site_findings::settings::{beside, eligible_time};
pub(super) use crate::pbs::site_findings::shares::shares;
pub(super) use crate::pbs::site_findings::threshold::threshold;
pub(super) use crate::pbs::site_findings::ties::ties;

use crate::diagnostic::Span;
use crate::formula::syntax::{Expr, NodeKind};

/// The first place of a name in the formula.
fn place_of(expr: &Expr, name: &str) -> Option<Span> {
    let is_it = |kind: &NodeKind| matches!(kind, NodeKind::Name(found) if **found == *name);
    expr.nodes().iter().filter(|node| is_it(&node.kind)).map(|node| node.span).min()
}

/// The whole formula.
fn whole(expr: &Expr) -> Span {
    expr.node(expr.root()).span
}

/// `1 job`, `2 jobs`.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// The first three, and how many more there are.
pub(super) fn listed(count: usize, names: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let shown: Vec<_> = names.take(3).map(|name| format!("`{name}`")).collect();
    match count.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
