//! Integers that lose digits when they meet a float.

use crate::diagnostic::Diagnostic;
use crate::formula::lint::findings::Case;
use crate::formula::lint::ranges::Kinds;
use crate::formula::syntax::{NodeId, NodeKind};
use crate::python::{Arithmetic, ComparisonOperator, Function, MAX_EXACT_FLOAT, Python, Value};

/// Findings on integers beyond 2^53 that are turned into doubles and are not the same then.
pub(super) fn integers(case: &Case<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (node, part) in case.expr.iter().filter(|(node, _)| case.facts.of(*node).reached) {
        let NodeKind::Binary { left, right, .. } = part.kind else { continue };
        for (integer, other) in [(left, right), (right, left)] {
            if case.facts.of(other).values.kinds().within(Kinds::FLOAT)
                && !case.facts.of(node).always_fails()
                && let Some(message) = loses_digits(case, integer)
            {
                let finding = Diagnostic::note("JSF505", message, case.expr.node(integer).span);
                let finding = finding.with_place(case.expr.node(other).span, "a float");
                findings.push(finding.with_help("Python makes the integer a double first, of 53 bits"));
            }
        }
    }
    findings
}

/// What is lost of an integer, if it is certain that something may be.
fn loses_digits(case: &Case<'_>, node: NodeId) -> Option<String> {
    let values = case.facts.of(node).values;
    if values.is_never() || !values.is_whole() {
        return None;
    }
    let message = format!("{} loses its last digits beside a float", case.quoted(node));
    let Some(value) = case.facts.constant(node) else {
        let is_beyond = values.least() >= MAX_EXACT_FLOAT || values.most() <= -MAX_EXACT_FLOAT;
        return is_beyond.then_some(message);
    };
    let python = Python::new();
    let double = python.call(&Value::Function(Function::Float), std::slice::from_ref(value), &[]).ok()?;
    (!python.compare(ComparisonOperator::Equal, &double, value).ok()?).then_some(message)
}
