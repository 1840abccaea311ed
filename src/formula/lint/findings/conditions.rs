//! Conditions: branches that are never taken, comparisons with only one outcome, and comparisons in the wrong unit.

use std::collections::HashSet;

use crate::diagnostic::Diagnostic;
use crate::formula::lint::findings::Analysis;
use crate::formula::lint::ranges::Rounded;
use crate::formula::syntax::{ExprId, ExprKind};
use crate::python::{BooleanOperator, ComparisonOperator};
use crate::schema::InputType;

/// A number compared with a duration is probably meant in another unit than seconds if it is less than this.
const MIN_SECONDS: f64 = 60.0;
/// A number compared with a size is probably meant in another unit than kb if it is less than this.
const MIN_KB: f64 = 4096.0;

/// Findings on conditions with only one outcome, and on comparisons in the wrong unit.
pub(super) fn check(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut reported: HashSet<ExprId> = HashSet::new();
    for (_, part) in analysis.expr.iter().filter(|(node, _)| analysis.facts.at(*node).reachable) {
        match &part.kind {
            ExprKind::Conditional { then, condition, otherwise } => {
                if let Some(is_true) = constant_truth(analysis, *condition) {
                    let branch = if is_true { *otherwise } else { *then };
                    reported.insert(analysis.without_parentheses(*condition));
                    findings.push(never_evaluated(analysis, branch, *condition, is_true));
                }
            }
            ExprKind::Boolean { op, operands } => {
                let deciding = (0..operands.len() - 1).find(|&index| !analysis.facts.at(operands[index + 1]).reachable);
                if let Some(index) = deciding.filter(|&index| !analysis.facts.at(operands[index]).values.is_empty()) {
                    reported.insert(analysis.without_parentheses(operands[index]));
                    let is_true = *op == BooleanOperator::Or;
                    findings.push(never_evaluated(analysis, operands[index + 1], operands[index], is_true));
                }
            }
            _ => {}
        }
    }
    let comparisons = analysis.expr.iter().filter(|(node, part)| {
        matches!(part.kind, ExprKind::Comparison { .. })
            && analysis.facts.at(*node).reachable
            && !reported.contains(node)
    });
    findings.extend(comparisons.filter_map(|(node, _)| constant_comparison(analysis, node)));
    findings.extend(wrong_units(analysis));
    findings
}

/// Whether a condition is true for every job or false for every job; `None` if it is neither.
fn constant_truth(analysis: &Analysis<'_>, condition: ExprId) -> Option<bool> {
    let values = analysis.facts.at(condition).values;
    if values.is_empty() || !values.is_number() || values.may_be_nan() {
        return None;
    }
    match values.single() {
        Some(value) => Some(value != 0.0),
        None => (!values.may_be_zero()).then_some(true),
    }
}

fn never_evaluated(analysis: &Analysis<'_>, branch: ExprId, condition: ExprId, is_true: bool) -> Diagnostic {
    let message = format!("{} is never evaluated", analysis.quoted(branch));
    let finding = Diagnostic::warning("JSF608", message, analysis.expr.node(branch).span);
    let label = if is_true { "always true" } else { "always false" };
    with_range(analysis, finding.with_secondary_label(analysis.expr.node(condition).span, label), condition)
}

fn constant_comparison(analysis: &Analysis<'_>, node: ExprId) -> Option<Diagnostic> {
    let truth = if constant_truth(analysis, node)? { "true" } else { "false" };
    let message = format!("{} is always {truth}", analysis.quoted(node));
    let finding = Diagnostic::warning("JSF609", message, analysis.expr.node(node).span);
    Some(with_range(analysis, finding, node))
}

/// Adds the range of the first input of a condition.
fn with_range(analysis: &Analysis<'_>, finding: Diagnostic, condition: ExprId) -> Diagnostic {
    match analysis.inputs(condition).first() {
        Some(name) => finding.with_help(format!("`{name}` is {}", analysis.ranges.values(name, analysis.schema))),
        None => finding,
    }
}

/// Findings on comparisons of a duration or a size with a number that is too small for its unit.
fn wrong_units(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (node, part) in analysis.expr.iter().filter(|(node, _)| analysis.facts.at(*node).reachable) {
        let ExprKind::Comparison { operators, operands } = &part.kind else { continue };
        for (op, pair) in operators.iter().zip(operands.windows(2)) {
            let is_order = !matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn);
            let finding = wrong_unit(analysis, pair[0], pair[1]).or_else(|| wrong_unit(analysis, pair[1], pair[0]));
            findings.extend(finding.filter(|_| is_order && analysis.facts.at(node).values.single().is_none()));
        }
    }
    findings
}

fn wrong_unit(analysis: &Analysis<'_>, name: ExprId, number: ExprId) -> Option<Diagnostic> {
    let input = analysis.input(name)?;
    let value = match analysis.kind(analysis.without_parentheses(number)) {
        ExprKind::Literal { .. } => analysis.facts.at(number).values.single()?,
        _ => return None,
    };
    let (min, unit, unit_name, factor, larger_unit) = match analysis.schema.entry(input)?.input_type {
        InputType::Duration => (MIN_SECONDS, "s", "seconds", 3600.0, "hours"),
        InputType::Size => (MIN_KB, "kb", "kb", 1_048_576.0, "GB"),
        _ => return None,
    };
    // a comparison with 0 or 1 asks whether there is any
    if value <= 1.0 || value >= min {
        return None;
    }
    let message = format!("`{input}` is compared with {} {unit}", Rounded(value));
    let finding = Diagnostic::warning("JSF606", message, analysis.expr.node(number).span);
    let finding = finding.with_secondary_label(analysis.expr.node(name).span, format!("in {unit_name}"));
    Some(finding.with_help(format!("{} {larger_unit} are {} {unit}", Rounded(value), value * factor)))
}
