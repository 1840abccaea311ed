//! Operations that fail, for every job or for some: one function for each kind of error.

use std::collections::{HashMap, HashSet};

use super::Analysis;
use super::sampling::Sample;
use crate::diagnostic::{Applicability, Code, Diagnostic, Severity, Span};
use crate::formula::lint::ranges::Known;
use crate::formula::program::EvalError;
use crate::formula::syntax::{ExprId, ExprKind};
use crate::python::{BinaryOperator, ErrorKind, Function};

const VALUE_ON_ERROR: &str = "a job for which the formula fails gets the value 0";

/// An operation that fails.
struct Failure<'c> {
    node: ExprId,
    kind: ErrorKind,
    /// Whether it fails for every job for which it is evaluated.
    is_certain: bool,
    /// A sample job for which it fails.
    sample: Option<(&'c Sample, &'c EvalError)>,
}

/// Findings on operations that can fail.
pub(super) fn check(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut reported = HashSet::new();
    for failure in all_failures(analysis) {
        if let Some(finding) = finding(analysis, &failure)
            && reported.insert((finding.span, finding.code))
        {
            findings.push(finding);
        }
    }
    // `^` of two integers fails for no job, so that no failure leads to it
    for (node, _) in analysis.expr.iter() {
        let Some(finding) = power_by_caret(analysis, node, false) else {
            continue;
        };
        if reported.insert((finding.span, finding.code)) {
            findings.push(finding);
        }
    }
    findings
}

fn all_failures<'c>(analysis: &'c Analysis<'_>) -> Vec<Failure<'c>> {
    let samples = analysis.samples.failures();
    // an error knows its span, not its node
    let mut by_span = HashMap::new();
    for (node, part) in analysis.expr.iter() {
        by_span.insert(part.span, node);
    }
    let mut all = Vec::new();
    for (node, _) in analysis.reachable() {
        let Known::Fails(kind) = analysis.facts.at(node).known else {
            continue;
        };
        let span = analysis.span(node);
        let mut samples = samples.iter().copied();
        let sample = samples.find(|(_, error)| error.span == span);
        all.push(Failure {
            node,
            kind,
            is_certain: true,
            sample,
        });
    }
    // what fails for every job is reported as certain above
    for (sample, error) in samples {
        if let Some(&node) = by_span.get(&error.span)
            && !analysis.facts.always_fails(node)
        {
            all.push(Failure {
                node,
                kind: error.raised.kind,
                is_certain: false,
                sample: Some((sample, error)),
            });
        }
    }
    all
}

fn finding(analysis: &Analysis<'_>, failure: &Failure<'_>) -> Option<Diagnostic> {
    let node = failure.node;
    let (code, what, help) = match failure.kind {
        ErrorKind::ZeroDivision => return Some(division(analysis, failure)),
        ErrorKind::Value => return Some(domain(analysis, failure)),
        ErrorKind::Type => {
            return match power_by_caret(analysis, node, true) {
                Some(finding) => Some(finding),
                None => wrong_type(analysis, failure),
            };
        }
        ErrorKind::Overflow => (
            Code::Overflow,
            "overflows",
            "a float is at most 1.8e308, so scale the operands down; a job for which the formula fails gets the value 0",
        ),
        ErrorKind::Complex => (
            Code::ComplexPower,
            "is a complex number",
            "limit the base to at least 0, as in `max(…, 0) ** 0.5`; the scheduler crashes if it is the result",
        ),
        // that a computation takes long does not prove that the integer is large
        ErrorKind::Limit
            if failure.is_certain || failure.sample?.1.raised.text.starts_with("an integer") =>
        {
            (
                Code::HugeInteger,
                "is an integer of more than 39000 digits",
                "Python computes every digit and can use up the memory of the host; use a float, as in `2.0 ** …`",
            )
        }
        // unknown names have findings of their own
        _ => return None,
    };
    let what = format!("{} {what}", analysis.quoted(node));
    let mut finding = diagnostic(analysis, failure, code, &what, node).with_help(help);
    if code == Code::ComplexPower {
        finding.label = "a fractional power of a negative number".to_owned();
    }
    Some(finding)
}

/// An error if the operation fails for every job, else a warning with the inputs of a sample job.
fn diagnostic(
    analysis: &Analysis<'_>,
    failure: &Failure<'_>,
    code: Code,
    what: &str,
    at: ExprId,
) -> Diagnostic {
    let span = analysis.span(at);
    if failure.is_certain {
        let who = if analysis.facts.at(failure.node).conditional {
            "every job for which it is evaluated"
        } else {
            "every job"
        };
        return Diagnostic::new(code, format!("{what} for {who}"), span)
            .with_severity(Severity::Error);
    }
    let condition = analysis.condition(failure.sample.map(|(sample, _)| sample), at);
    Diagnostic::new(code, format!("{what} {condition}"), span)
}

/// The operand that is 0 in a division by zero: the divisor, or the base of a negative power.
fn divisor(analysis: &Analysis<'_>, node: ExprId) -> ExprId {
    match analysis.kind(node) {
        ExprKind::Binary {
            op: BinaryOperator::Power,
            left,
            ..
        } => *left,
        ExprKind::Binary { right, .. } => *right,
        ExprKind::Call { positional, .. } => positional.last().copied().unwrap_or(node),
        _ => node,
    }
}

fn division(analysis: &Analysis<'_>, failure: &Failure<'_>) -> Diagnostic {
    let divisor = divisor(analysis, failure.node);
    let what = format!("{} divides by 0", analysis.quoted(failure.node));
    let finding = diagnostic(analysis, failure, Code::DivisionByZero, &what, divisor);
    let name = match analysis.input(divisor) {
        Some(name) if !failure.is_certain => name,
        _ => return finding.with_help(VALUE_ON_ERROR),
    };
    let finding = finding.with_label(analysis.when_zero(name));
    match analysis.positive_bound(name) {
        Some(least) => {
            let replacement = format!("max({name}, {least})");
            let help = format!("write `{replacement}`; {VALUE_ON_ERROR}");
            let span = analysis.span(divisor);
            finding.with_help(help).with_fix(span, replacement, Applicability::Unsafe)
        }
        None => finding.with_help(format!(
            "give `{name}` a default on the server, or write `… / {name} if {name} else 0`; {VALUE_ON_ERROR}"
        )),
    }
}

fn domain(analysis: &Analysis<'_>, failure: &Failure<'_>) -> Diagnostic {
    let what = format!("{} is undefined", analysis.quoted(failure.node));
    let finding = diagnostic(analysis, failure, Code::OutsideDomain, &what, failure.node);
    let ExprKind::Call {
        callee, positional, ..
    } = analysis.kind(failure.node)
    else {
        return finding.with_help(VALUE_ON_ERROR);
    };
    let function = analysis.facts.function(*callee);
    let name = analysis.text(*callee);
    let argument = match positional.first() {
        Some(&argument) if !failure.is_certain => analysis.text(argument),
        _ => "…",
    };
    let domain = match function {
        Some(Function::Log | Function::Log2 | Function::Log10) => {
            let mut least = "1e-7";
            if let Some(&argument) = positional.first()
                && let Some(input) = analysis.input(argument)
                && let Some(bound) = analysis.positive_bound(input)
            {
                least = bound;
            }
            format!(
                "`{name}` requires a number above 0; write `{name}({argument} + 1)` or `{name}(max({argument}, {least}))`"
            )
        }
        Some(Function::Sqrt) => {
            format!("`sqrt` requires a number of at least 0; write `sqrt(max({argument}, 0))`")
        }
        Some(Function::Acos | Function::Asin) => "the argument must be between -1 and 1".to_owned(),
        Some(Function::Atanh) => "the argument must be between -1 and 1, exclusive".to_owned(),
        Some(Function::Acosh) => "the argument must be at least 1".to_owned(),
        Some(Function::Fmod | Function::Remainder) => {
            "the second argument must not be 0".to_owned()
        }
        Some(Function::Factorial | Function::Isqrt | Function::Comb | Function::Perm) => {
            "the arguments must be integers of at least 0".to_owned()
        }
        _ => return finding.with_help(VALUE_ON_ERROR),
    };
    finding.with_help(format!("{domain}; {VALUE_ON_ERROR}"))
}

fn wrong_type(analysis: &Analysis<'_>, failure: &Failure<'_>) -> Option<Diagnostic> {
    let what = match analysis.kind(failure.node) {
        ExprKind::Binary { op, .. } => format!("`{}` does not support these operands", op.symbol()),
        ExprKind::Unary { op, .. } => format!("`{}` does not support this operand", op.symbol()),
        ExprKind::Comparison { .. } => "these operands cannot be compared".to_owned(),
        ExprKind::Call { callee, .. } if analysis.facts.function(*callee).is_some() => {
            let function = analysis.text(*callee);
            format!("`{function}` does not support these arguments")
        }
        // a callee that is not a function has a finding of its own
        _ => return None,
    };
    let mut finding = diagnostic(
        analysis,
        failure,
        Code::UnsupportedType,
        &what,
        failure.node,
    );
    for child in analysis.kind(failure.node).children() {
        let name = match analysis.kind(analysis.without_parentheses(child)) {
            ExprKind::Tuple { .. } => "a tuple",
            ExprKind::List(_) => "a list",
            _ => match analysis.facts.number(child) {
                Some(number) => number.kind().name(),
                None => continue,
            },
        };
        finding = finding.with_secondary_label(analysis.span(child), name);
    }
    let text = match failure.sample {
        Some((_, error)) => format!("Python raises `{}`; ", error.raised.text),
        None => String::new(),
    };
    Some(finding.with_help(format!("{text}{VALUE_ON_ERROR}")))
}

/// `^` that was probably meant as a power: it fails for floats, or an operand is a literal.
fn power_by_caret(analysis: &Analysis<'_>, node: ExprId, fails: bool) -> Option<Diagnostic> {
    let ExprKind::Binary {
        op: BinaryOperator::BitXor,
        left,
        right,
    } = *analysis.kind(node)
    else {
        return None;
    };
    let left_kind = analysis.kind(analysis.without_parentheses(left));
    let right_kind = analysis.kind(analysis.without_parentheses(right));
    let is_meant = match (left_kind, right_kind) {
        (ExprKind::Comparison { .. }, _) => false,
        (ExprKind::Literal { .. }, _) | (_, ExprKind::Literal { .. }) => true,
        _ => false,
    };
    if !analysis.facts.at(node).reachable || !(fails || is_meant) {
        return None;
    }
    let always = analysis.facts.always_fails(node);
    let message = format!(
        "{} is not a power: `^` is the exclusive or",
        analysis.quoted(node)
    );
    let span = analysis.span(node);
    let mut finding = Diagnostic::new(Code::CaretForPower, message, span);
    let mut help = "write `**` for a power";
    if always {
        finding.severity = Severity::Error;
        help = "it fails for every job; write `**` for a power";
    }
    let finding = finding.with_help(help);
    let between = analysis.span(left).end as usize..analysis.span(right).start as usize;
    let caret = between.start + caret_outside_comments(analysis.expr.text().get(between)?)?;
    Some(finding.with_fix(Span::new(caret, caret + 1), "**", Applicability::Unsafe))
}

/// Where the operator is between two operands: a comment there may contain a caret too.
fn caret_outside_comments(between: &str) -> Option<usize> {
    let mut start = 0;
    for line in between.split_inclusive(['\n', '\r']) {
        let code = line.split('#').next().unwrap_or_default();
        if let Some(caret) = code.find('^') {
            return Some(start + caret);
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::caret_outside_comments;

    #[test]
    fn a_caret_in_a_comment_is_not_the_operator() {
        for (between, caret) in [
            (" ^ ", Some(1)),
            (") # not ^\n ^ (", Some(11)),
            (" # ^\r^ # ^\n", Some(5)),
            (" # ^", None),
        ] {
            assert_eq!(caret_outside_comments(between), caret, "{between:?}");
        }
    }
}
