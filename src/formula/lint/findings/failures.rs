//! Where the formula fails, for every job or for some.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Applicability, Diagnostic, Fix, Span};
use crate::formula::lint::findings::Case;
use crate::formula::lint::findings::trial::Attempt;
use crate::formula::program::EvalError;
use crate::formula::syntax::{NodeId, NodeKind};
use crate::python::{BinaryOperator, ErrorKind, Function};

const COUNTED_AS_ZERO: &str = "OpenPBS counts a job as 0 when its formula fails";

/// One failure: where, of which kind, and the job that shows it if not every job does.
struct Failure<'c> {
    node: NodeId,
    kind: ErrorKind,
    is_certain: bool,
    shown: Option<(&'c Attempt, &'c EvalError)>,
}

/// Findings on operations that can fail.
pub(super) fn failures(case: &Case<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut places = HashSet::new();
    for failure in collected(case) {
        if let Some(finding) = finding(case, &failure)
            && places.insert((finding.span, finding.code))
        {
            findings.push(finding);
        }
    }
    for (node, _) in case.expr.iter() {
        let Some(finding) = power_by_caret(case, node, false) else { continue };
        if places.insert((finding.span, finding.code)) {
            findings.push(finding);
        }
    }
    findings
}

fn collected<'c>(case: &'c Case<'_>) -> Vec<Failure<'c>> {
    let shown = case.trial.failures();
    let by_place: HashMap<Span, NodeId> = case.expr.iter().map(|(node, part)| (part.span, node)).collect();
    let mut all = Vec::new();
    for (node, _) in case.expr.iter().filter(|(node, _)| case.facts.of(*node).always_fails()) {
        let span = case.expr.node(node).span;
        let shown = shown.iter().find(|(_, error)| error.span == span).copied();
        let kind = shown.map(|(_, error)| error.raised.kind).or_else(|| case.facts.of(node).errors.iter().next());
        all.extend(kind.map(|kind| Failure { node, kind, is_certain: true, shown }));
    }
    for (attempt, error) in shown {
        if let Some(&node) = by_place.get(&error.span)
            && !case.facts.of(node).always_fails()
        {
            all.push(Failure { node, kind: error.raised.kind, is_certain: false, shown: Some((attempt, error)) });
        }
    }
    all
}

fn finding(case: &Case<'_>, failure: &Failure<'_>) -> Option<Diagnostic> {
    let finding = match failure.kind {
        ErrorKind::ZeroDivision => division(case, failure),
        ErrorKind::Value => domain(case, failure),
        ErrorKind::Overflow => overflow(case, failure),
        ErrorKind::Complex => complex(case, failure),
        ErrorKind::Type => return power_by_caret(case, failure.node, true).or_else(|| mistyped(case, failure)),
        ErrorKind::Limit => huge(case, failure)?,
        // names have findings of their own
        _ => return None,
    };
    Some(finding)
}

/// An error for every job that gets there, else a warning with the job that shows it, by the inputs in its place.
fn diagnostic(case: &Case<'_>, failure: &Failure<'_>, code: &'static str, what: &str, at: NodeId) -> Diagnostic {
    let span = case.expr.node(at).span;
    if failure.is_certain {
        let who = if case.facts.of(failure.node).conditional { "every job that gets here" } else { "every job" };
        return Diagnostic::error(code, format!("{what} for {who}"), span);
    }
    let circumstances = failure.shown.and_then(|(attempt, _)| case.circumstances(attempt, at));
    let circumstances = circumstances.map_or_else(|| "for some jobs".to_owned(), |words| format!("where {words}"));
    Diagnostic::warning(code, format!("{what} {circumstances}"), span)
}

/// What a failing operation divides by: a divisor, or the base of a negative power.
fn divisor(case: &Case<'_>, node: NodeId) -> NodeId {
    match case.kind(node) {
        NodeKind::Binary { op: BinaryOperator::Power, left, .. } => *left,
        NodeKind::Binary { right, .. } => *right,
        NodeKind::Call { positional, .. } => positional.last().copied().unwrap_or(node),
        _ => node,
    }
}

fn division(case: &Case<'_>, failure: &Failure<'_>) -> Diagnostic {
    let divisor = divisor(case, failure.node);
    let what = format!("{} divides by 0", case.quoted(failure.node));
    let finding = diagnostic(case, failure, "JSF303", &what, divisor);
    let Some(name) = case.input(divisor).filter(|_| !failure.is_certain) else {
        return finding.with_help(COUNTED_AS_ZERO);
    };
    let finding = finding.with_label(case.why_zero(name));
    match case.least_above_zero(name) {
        Some(least) => {
            let replacement = format!("max({name}, {least})");
            let help = format!("write `{replacement}`; {COUNTED_AS_ZERO}");
            let span = case.expr.node(divisor).span;
            finding.with_help(help).with_fix(Fix { span, replacement, applicability: Applicability::Unsafe })
        }
        None => finding.with_help(format!(
            "give `{name}` a default on the server, or test it: `… / {name} if {name} else 0`; {COUNTED_AS_ZERO}"
        )),
    }
}

fn domain(case: &Case<'_>, failure: &Failure<'_>) -> Diagnostic {
    let what = format!("{} has no value", case.quoted(failure.node));
    let finding = diagnostic(case, failure, "JSF304", &what, failure.node);
    let NodeKind::Call { callee, positional, .. } = case.kind(failure.node) else {
        return finding.with_help(COUNTED_AS_ZERO);
    };
    let argument = match positional.first() {
        Some(&argument) if !failure.is_certain => case.text(argument),
        _ => "…",
    };
    let advice = match case.facts.function(*callee) {
        Some(Function::Log | Function::Log2 | Function::Log10) => {
            let name = case.text(*callee);
            let input = positional.first().and_then(|&argument| case.input(argument));
            let least = input.and_then(|input| case.least_above_zero(input)).unwrap_or("1e-7");
            format!(
                "`{name}` takes numbers above 0: write `{name}({argument} + 1)`, or `{name}(max({argument}, {least}))`"
            )
        }
        Some(Function::Sqrt) => format!("`sqrt` takes numbers from 0: write `sqrt(max({argument}, 0))`"),
        Some(Function::Acos | Function::Asin) => "it takes numbers from -1 to 1".to_owned(),
        Some(Function::Atanh) => "it takes numbers between -1 and 1".to_owned(),
        Some(Function::Acosh) => "it takes numbers from 1".to_owned(),
        Some(Function::Fmod | Function::Remainder) => "it divides by its second argument".to_owned(),
        Some(Function::Factorial | Function::Isqrt | Function::Comb | Function::Perm) => {
            "it takes integers from 0".to_owned()
        }
        _ => return finding.with_help(COUNTED_AS_ZERO),
    };
    finding.with_help(format!("{advice}; {COUNTED_AS_ZERO}"))
}

fn overflow(case: &Case<'_>, failure: &Failure<'_>) -> Diagnostic {
    let what = format!("{} grows beyond 1.8e308", case.quoted(failure.node));
    diagnostic(case, failure, "JSF305", &what, failure.node)
        .with_help(format!("divide what stands in it by a larger number; {COUNTED_AS_ZERO}"))
}

fn complex(case: &Case<'_>, failure: &Failure<'_>) -> Diagnostic {
    let what = format!("{} is a complex number", case.quoted(failure.node));
    diagnostic(case, failure, "JSF306", &what, failure.node)
        .with_label("a fractional power of a negative number")
        .with_help("keep the base from falling below 0, as in `max(…, 0) ** 0.5`; a complex result kills the scheduler")
}

fn huge(case: &Case<'_>, failure: &Failure<'_>) -> Option<Diagnostic> {
    // a long computation is no proof of a long integer
    let too_long = |error: &EvalError| error.raised.text.starts_with("an integer");
    if !failure.is_certain && !failure.shown.is_some_and(|(_, error)| too_long(error)) {
        return None;
    }
    let what = format!("{} is an integer of more than 39000 digits", case.quoted(failure.node));
    let finding = diagnostic(case, failure, "JSF309", &what, failure.node);
    Some(finding.with_help("Python computes it to the last digit, and may take all memory of the server's host; begin with a float, as in `2.0 ** …`"))
}

fn mistyped(case: &Case<'_>, failure: &Failure<'_>) -> Option<Diagnostic> {
    let what = match case.kind(failure.node) {
        NodeKind::Binary { op, .. } => format!("`{}` fails on these operands", op.symbol()),
        NodeKind::Unary { op, .. } => format!("`{}` fails on this operand", op.symbol()),
        NodeKind::Comparison { .. } => "this comparison fails".to_owned(),
        NodeKind::Call { callee, .. } if case.facts.function(*callee).is_some() => {
            format!("`{}` fails on these arguments", case.text(*callee))
        }
        // what is called is no function
        _ => return None,
    };
    let mut finding = diagnostic(case, failure, "JSF307", &what, failure.node);
    for child in case.kind(failure.node).children() {
        let values = case.facts.of(child).values;
        if case.facts.function(child).is_none() && !values.is_never() {
            finding = finding.with_place(case.expr.node(child).span, values.kinds().words().join(" or "));
        }
    }
    let text = failure.shown.map(|(_, error)| format!("Python says `{}`; ", error.raised.text)).unwrap_or_default();
    Some(finding.with_help(format!("{text}{COUNTED_AS_ZERO}")))
}

/// `^` where a power is meant: it fails on floats, or stands between a number and an integer.
fn power_by_caret(case: &Case<'_>, node: NodeId, fails: bool) -> Option<Diagnostic> {
    let NodeKind::Binary { op: BinaryOperator::BitXor, left, right } = *case.kind(node) else { return None };
    let is_literal = |node: NodeId| matches!(case.kind(case.inside(node)), NodeKind::Literal { .. });
    let is_test = |node: NodeId| case.facts.of(node).values.kinds().within(crate::formula::lint::Kinds::BOOL);
    if !case.facts.of(node).reached || (!fails && (!(is_literal(left) || is_literal(right)) || is_test(left))) {
        return None;
    }
    let always = case.facts.of(node).always_fails();
    let message = format!("{} is no power: `^` is exclusive-or here", case.quoted(node));
    let span = case.expr.node(node).span;
    let finding =
        if always { Diagnostic::error("JSF612", message, span) } else { Diagnostic::warning("JSF612", message, span) };
    let help = if always { "it fails for every job; for a power write `**`" } else { "for a power write `**`" };
    let finding = finding.with_help(help);
    let between = case.expr.node(left).span.end as usize..case.expr.node(right).span.start as usize;
    let caret = between.start + case.expr.text().get(between)?.find('^')?;
    let fix = Fix { span: Span::new(caret, caret + 1), replacement: "**".into(), applicability: Applicability::Unsafe };
    Some(finding.with_fix(fix))
}
