//! Numbers in hours or gigabytes beside names in seconds or kb.

use crate::diagnostic::Diagnostic;
use crate::formula::lint::findings::Case;
use crate::formula::lint::ranges::Bound;
use crate::formula::syntax::{NodeId, NodeKind};
use crate::python::ComparisonOperator;
use crate::schema::InputType;

/// Nobody tells jobs apart by less than a minute.
const LEAST_SECONDS: f64 = 60.0;
/// Nor by less than 4 MB.
const LEAST_KB: f64 = 4096.0;

/// Findings on comparisons of a duration or a size with a number that is too small for its unit.
pub(super) fn units(case: &Case<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (node, part) in case.expr.iter().filter(|(node, _)| case.facts.of(*node).reached) {
        let NodeKind::Comparison { operators, operands } = &part.kind else { continue };
        for (op, pair) in operators.iter().zip(operands.windows(2)) {
            let is_order = !matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn);
            let slip = slip(case, pair[0], pair[1]).or_else(|| slip(case, pair[1], pair[0]));
            findings.extend(slip.filter(|_| is_order && case.facts.of(node).values.only().is_none()));
        }
    }
    findings
}

fn slip(case: &Case<'_>, name: NodeId, number: NodeId) -> Option<Diagnostic> {
    let input = case.input(name)?;
    let value = match case.kind(case.inside(number)) {
        NodeKind::Literal { .. } => case.facts.of(number).values.only()?,
        _ => return None,
    };
    let (least, unit, words, factor, larger) = match case.schema.entry(input)?.input_type {
        InputType::Duration => (LEAST_SECONDS, "s", "seconds", 3600.0, "hours"),
        InputType::Size => (LEAST_KB, "kb", "kb", 1_048_576.0, "GB"),
        _ => return None,
    };
    // 0 and 1 ask whether there is any
    if value <= 1.0 || value >= least {
        return None;
    }
    let message = format!("`{input}` is compared with {} {unit}", Bound(value));
    let finding = Diagnostic::warning("JSF606", message, case.expr.node(number).span);
    let finding = finding.with_place(case.expr.node(name).span, format!("in {words}"));
    Some(finding.with_help(format!("{} {larger} are {} {unit}", Bound(value), value * factor)))
}
