//! Branches that are never taken, and tests that always end alike.

use std::collections::HashSet;

use crate::diagnostic::Diagnostic;
use crate::formula::lint::findings::Case;
use crate::formula::syntax::{NodeId, NodeKind};
use crate::python::BooleanOperator;

/// Findings on tests whose outcome the ranges of the names decide.
pub(super) fn branches(case: &Case<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut said: HashSet<NodeId> = HashSet::new();
    for (_, part) in case.expr.iter().filter(|(node, _)| case.facts.of(*node).reached) {
        match &part.kind {
            NodeKind::Conditional { then, condition, otherwise } => {
                if let Some(holds) = decided(case, *condition) {
                    let dead = if holds { *otherwise } else { *then };
                    said.insert(case.inside(*condition));
                    findings.push(never(case, dead, *condition, holds));
                }
            }
            NodeKind::Boolean { op, operands } => {
                let deciding = (0..operands.len() - 1).find(|&place| !case.facts.of(operands[place + 1]).reached);
                if let Some(place) = deciding.filter(|&place| !case.facts.of(operands[place]).values.is_never()) {
                    said.insert(case.inside(operands[place]));
                    let holds = *op == BooleanOperator::Or;
                    findings.push(never(case, operands[place + 1], operands[place], holds));
                }
            }
            _ => {}
        }
    }
    let comparisons = case.expr.iter().filter(|(node, part)| {
        matches!(part.kind, NodeKind::Comparison { .. }) && case.facts.of(*node).reached && !said.contains(node)
    });
    findings.extend(comparisons.filter_map(|(node, _)| comparison(case, node)));
    findings
}

/// Which way a test always ends, if it ends.
fn decided(case: &Case<'_>, condition: NodeId) -> Option<bool> {
    let values = case.facts.of(condition).values;
    if values.is_never() || !values.is_number() || values.may_be_nan() {
        return None;
    }
    match values.only() {
        Some(zero) => Some(zero != 0.0),
        None => (!values.may_be_zero()).then_some(true),
    }
}

fn never(case: &Case<'_>, dead: NodeId, condition: NodeId, holds: bool) -> Diagnostic {
    let message = format!("{} is never evaluated", case.quoted(dead));
    let finding = Diagnostic::warning("JSF608", message, case.expr.node(dead).span);
    let outcome = if holds { "always true" } else { "always false" };
    let finding = finding.with_place(case.expr.node(condition).span, outcome);
    match because(case, condition) {
        Some(because) => finding.with_help(because),
        None => finding,
    }
}

fn comparison(case: &Case<'_>, node: NodeId) -> Option<Diagnostic> {
    let holds = decided(case, node)?;
    let outcome = if holds { "true" } else { "false" };
    let message = format!("{} is always {outcome}", case.quoted(node));
    let finding = Diagnostic::warning("JSF609", message, case.expr.node(node).span);
    Some(match because(case, node) {
        Some(because) => finding.with_help(because),
        None => finding,
    })
}

/// What the first input of a test can be.
fn because(case: &Case<'_>, condition: NodeId) -> Option<String> {
    let name = *case.inputs(condition).first()?;
    let values = case.ranges.of(name, case.schema);
    Some(format!("`{name}` is {values}"))
}
