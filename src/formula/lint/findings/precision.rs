//! Lost precision: terms that are absorbed when the value is rounded to a C `float`, and integers
//! that are rounded to a double.

use super::Analysis;
use crate::diagnostic::{Code, Diagnostic};
use crate::formula::lint::ranges::{Interval, NumberType, Rounded};
use crate::formula::program::literal_value;
use crate::formula::syntax::{ExprId, ExprKind};
use crate::python::{Arithmetic, BinaryOperator, ComparisonOperator, Python, Value};
use crate::schema::Range;

/// Findings on lost precision.
pub(super) fn check(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
    let mut findings = absorbed_terms(analysis);
    findings.extend(inexact_integers(analysis));
    findings
}

/// Findings on terms of the outermost sum that are absorbed by the others.
fn absorbed_terms(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
    let Some(terms) = summands(analysis) else {
        return Vec::new();
    };
    if terms.len() == 1 {
        return Vec::new();
    }
    let (mut least, mut most) = (0.0, 0.0);
    for (_, values) in &terms {
        least += values.low;
        most += values.high;
    }
    let mut findings = Vec::new();
    // several terms can change the value together, though each alone cannot
    let (mut total_width, mut least_spacing) = (0.0, f64::INFINITY);
    for (term, values) in terms {
        let others = Range::new(least - values.low, most - values.high);
        if let Some((finding, spacing)) = absorbed_term(analysis, term, values, others) {
            findings.push(finding);
            total_width += values.high - values.low;
            least_spacing = f64::min(spacing, least_spacing);
        }
    }
    if findings.len() > 1 && total_width >= least_spacing / 2.0 {
        findings.clear();
    }
    findings
}

/// The terms of the outermost sum with their signed values; `None` if one may be anything but a
/// number.
fn summands(analysis: &Analysis<'_>) -> Option<Vec<(ExprId, Interval)>> {
    let mut terms = Vec::new();
    let mut parts = vec![(analysis.expr.root(), false)];
    while let Some((part, negative)) = parts.pop() {
        let part = analysis.without_parentheses(part);
        match analysis.kind(part) {
            ExprKind::Binary {
                op: BinaryOperator::Add,
                left,
                right,
            } => {
                parts.extend([(*right, negative), (*left, negative)]);
            }
            ExprKind::Binary {
                op: BinaryOperator::Subtract,
                left,
                right,
            } => {
                parts.extend([(*right, !negative), (*left, negative)]);
            }
            _ => {
                let values = analysis.facts.number(part)?;
                let negated = Interval::new(values.kind(), -values.high, -values.low);
                // a negated sum swaps its bounds
                terms.push((part, if negative { negated } else { values }));
            }
        }
    }
    Some(terms)
}

/// The finding on a term that varies by less than the precision of a `float` of the size of the
/// others, and the distance between adjacent `float`s of that size.
fn absorbed_term(
    analysis: &Analysis<'_>,
    term: ExprId,
    values: Interval,
    others: Range,
) -> Option<(Diagnostic, f64)> {
    let Range { least, most } = others;
    // the least magnitude that the others have; not positive if they can be 0
    let size = if least > 0.0 { least } else { -most };
    let width = values.high - values.low;
    if size <= 0.0
        || width <= 0.0
        || !width.is_finite()
        || !size.is_finite()
        || analysis.inputs(term).is_empty()
    {
        return None;
    }
    let spacing = float_spacing(size);
    // beyond the C `float`s, where the value is infinite with or without the term
    if spacing.is_infinite() {
        return None;
    }
    // if the other terms are constant, this can be computed; if they vary, the term can still
    // change the rounding
    let (is_absorbed, verb) = if least == most {
        let is_absorbed = (least + values.low) as f32 == (least + values.high) as f32;
        (is_absorbed, "never changes the value")
    } else {
        (width < spacing / 2.0, "hardly ever changes the value")
    };
    if !is_absorbed {
        return None;
    }
    let message = format!("{} {verb}", analysis.quoted(term));
    let finding = analysis.finding(Code::AbsorbedTerm, message, term);
    let finding = finding.with_label(format!("varies by at most {}", Rounded(width)));
    let finding = finding.with_help(format!(
        "the value is rounded to float32; next to the other terms, which are at least {}, it is rounded to a multiple of {}",
        Rounded(size),
        Rounded(spacing)
    ));
    Some((finding, spacing))
}

/// The distance between adjacent C `float`s of this size.
fn float_spacing(size: f64) -> f64 {
    let float = size as f32;
    if float.is_finite() {
        f64::from(float.next_up()) - f64::from(float)
    } else {
        f64::INFINITY
    }
}

/// Findings on literals of integers that change when they are converted to a double.
fn inexact_integers(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (node, part) in analysis.reachable() {
        let ExprKind::Binary { left, right, .. } = part.kind else {
            continue;
        };
        for (integer, other) in [(left, right), (right, left)] {
            if let Some(number) = analysis.facts.number(other)
                && number.kind() == NumberType::Float
                && !analysis.facts.always_fails(node)
                && let Some(message) = inexact_integer(analysis, integer)
            {
                let finding = analysis.finding(Code::InexactInteger, message, integer);
                let finding = finding.with_secondary_label(analysis.span(other), "a float");
                findings.push(finding.with_help(
                    "Python converts the integer to a double, which has a precision of 53 bits",
                ));
            }
        }
    }
    findings
}

/// The message, if no double represents the integer.
fn inexact_integer(analysis: &Analysis<'_>, node: ExprId) -> Option<String> {
    let ExprKind::Literal { kind, text } = analysis.kind(analysis.without_parentheses(node)) else {
        return None;
    };
    let value = literal_value(*kind, text, analysis.schema.python()).ok()?;
    // exact, as Python compares an integer with a float
    let double = Value::Float(value.to_f64()?);
    let is_exact = Python::new()
        .compare(ComparisonOperator::Equal, &double, &value)
        .ok()?;
    if is_exact {
        return None;
    }
    Some(format!(
        "{} is rounded when it is combined with a float",
        analysis.quoted(node)
    ))
}
