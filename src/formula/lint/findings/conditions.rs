//! Conditions: branches that are never taken, comparisons with only one outcome, and comparisons in
//! the wrong unit.

use std::collections::HashSet;

use super::Analysis;
use crate::diagnostic::{Code, Diagnostic};
use crate::formula::lint::ranges::{Interval, Rounded, comparison};
use crate::formula::syntax::{ExprId, ExprKind};
use crate::python::{BooleanOperator, ComparisonOperator};
use crate::schema::InputType;

/// A number compared with a duration is probably meant in another unit than seconds if it is less
/// than this.
const MIN_SECONDS: f64 = 60.0;
/// A number compared with a size is probably meant in another unit than kb if it is less than this.
const MIN_KB: f64 = 4096.0;

/// Findings on conditions with only one outcome, and on comparisons in the wrong unit.
pub(super) fn check(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut reported: HashSet<ExprId> = HashSet::new();
    for (_, part) in analysis.reachable() {
        match &part.kind {
            ExprKind::Conditional {
                then,
                condition,
                otherwise,
            } => {
                if let Some(is_true) = constant_truth(analysis, *condition) {
                    let branch = if is_true { *otherwise } else { *then };
                    reported.insert(analysis.without_parentheses(*condition));
                    findings.push(never_evaluated(analysis, branch, *condition, is_true));
                } else {
                    findings.extend(covered_branch(analysis, *condition, *otherwise));
                }
            }
            ExprKind::Boolean { op, operands } => {
                let is_deciding = *op == BooleanOperator::Or;
                let deciding = operands
                    // pairs, because the last operand keeps none from being evaluated
                    .windows(2)
                    .find(|pair| constant_truth(analysis, pair[0]) == Some(is_deciding));
                if let Some(pair) = deciding {
                    reported.insert(analysis.without_parentheses(pair[0]));
                    findings.push(never_evaluated(analysis, pair[1], pair[0], is_deciding));
                }
            }
            _ => {}
        }
    }
    for (node, part) in analysis.reachable() {
        // a condition whose branch is reported needs no second finding
        if matches!(part.kind, ExprKind::Comparison { .. }) && !reported.contains(&node) {
            findings.extend(constant_comparison(analysis, node));
        }
    }
    findings.extend(wrong_units(analysis));
    findings
}

/// Whether a condition is true for every job or false for every job; `None` if it is neither.
fn constant_truth(analysis: &Analysis<'_>, condition: ExprId) -> Option<bool> {
    analysis.facts.number(condition)?.truth()
}

fn never_evaluated(
    analysis: &Analysis<'_>,
    branch: ExprId,
    condition: ExprId,
    is_true: bool,
) -> Diagnostic {
    let message = format!("{} is never evaluated", analysis.quoted(branch));
    let label = if is_true {
        "always true"
    } else {
        "always false"
    };
    let finding = analysis.finding(Code::DeadBranch, message, branch);
    let finding = finding.with_secondary_label(analysis.span(condition), label);
    with_range(analysis, finding, condition)
}

/// The finding on the branch `b` of `a if ncpus > 4 else b if ncpus > 8 else c`: the condition
/// above it is true for all its jobs.
fn covered_branch(analysis: &Analysis<'_>, above: ExprId, otherwise: ExprId) -> Option<Diagnostic> {
    let otherwise = analysis.without_parentheses(otherwise);
    let ExprKind::Conditional {
        then, condition, ..
    } = *analysis.kind(otherwise)
    else {
        return None;
    };
    let (name, op, bound) = threshold(analysis, above)?;
    let (other_name, other_op, other_bound) = threshold(analysis, condition)?;
    let range = analysis.ranges.interval(name, analysis.schema);
    let (low, high) = match other_op {
        ComparisonOperator::Greater | ComparisonOperator::GreaterOrEqual => {
            (other_bound.low, range.high)
        }
        ComparisonOperator::Less | ComparisonOperator::LessOrEqual => (range.low, other_bound.high),
        _ => return None,
    };
    let jobs = Interval::new(range.kind(), low, high);
    // an empty interval compares as anything
    if name != other_name || low > high || comparison(op, jobs, bound) != Some(true) {
        return None;
    }
    let message = format!("{} is never evaluated", analysis.quoted(then));
    let label = format!("true wherever {} is", analysis.quoted(condition));
    let finding = analysis.finding(Code::DeadBranch, message, then);
    Some(finding.with_secondary_label(analysis.span(above), label))
}

/// The name, the operator and the number of a comparison of an input with a number.
fn threshold<'a>(
    analysis: &'a Analysis<'_>,
    condition: ExprId,
) -> Option<(&'a str, ComparisonOperator, Interval)> {
    let ExprKind::Comparison {
        operators,
        operands,
    } = analysis.kind(analysis.without_parentheses(condition))
    else {
        return None;
    };
    let (&[op], &[left, right]) = (&**operators, &**operands) else {
        return None;
    };
    match analysis.input(left) {
        Some(name) => Some((name, op, analysis.facts.number(right)?)),
        None => Some((
            analysis.input(right)?,
            op.mirrored(),
            analysis.facts.number(left)?,
        )),
    }
}

fn constant_comparison(analysis: &Analysis<'_>, node: ExprId) -> Option<Diagnostic> {
    let truth = if constant_truth(analysis, node)? {
        "true"
    } else {
        "false"
    };
    let message = format!("{} is always {truth}", analysis.quoted(node));
    let finding = analysis.finding(Code::ConstantComparison, message, node);
    Some(with_range(analysis, finding, node))
}

/// Adds the range of the first input of a condition.
fn with_range(analysis: &Analysis<'_>, finding: Diagnostic, condition: ExprId) -> Diagnostic {
    match analysis.inputs(condition).first() {
        Some(name) => finding.with_help(format!(
            "`{name}` is {}",
            analysis.ranges.interval(name, analysis.schema)
        )),
        None => finding,
    }
}

/// Findings on comparisons of a duration or a size with a number that is too small for its unit.
fn wrong_units(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (node, part) in analysis.reachable() {
        let ExprKind::Comparison {
            operators,
            operands,
        } = &part.kind
        else {
            continue;
        };
        if constant_truth(analysis, node).is_some() {
            continue;
        }
        for (op, pair) in operators.iter().zip(operands.windows(2)) {
            if matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn) {
                continue;
            }
            // the input may be on either side
            match wrong_unit(analysis, pair[0], pair[1]) {
                Some(finding) => findings.push(finding),
                None => findings.extend(wrong_unit(analysis, pair[1], pair[0])),
            }
        }
    }
    findings
}

fn wrong_unit(analysis: &Analysis<'_>, name: ExprId, number: ExprId) -> Option<Diagnostic> {
    let input = analysis.input(name)?;
    let value = match analysis.kind(analysis.without_parentheses(number)) {
        ExprKind::Literal { .. } => analysis.facts.number(number)?.single()?,
        _ => return None,
    };
    let (min, unit, unit_name, factor, larger_unit) = match analysis.schema.entry(input)?.input_type
    {
        InputType::Duration => (MIN_SECONDS, "s", "seconds", 3600.0, "hours"),
        InputType::Size => (MIN_KB, "kb", "kb", 1_048_576.0, "GB"),
        _ => return None,
    };
    // a comparison with 0 or 1 asks whether there is any
    if value <= 1.0 || value >= min {
        return None;
    }
    let message = format!("`{input}` is compared with {} {unit}", Rounded(value));
    let finding = analysis.finding(Code::WrongUnit, message, number);
    let finding = finding.with_secondary_label(analysis.span(name), format!("in {unit_name}"));
    Some(finding.with_help(format!(
        "{} {larger_unit} are {} {unit}",
        Rounded(value),
        value * factor
    )))
}
