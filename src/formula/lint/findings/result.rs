//! What becomes of the whole: no number, no value, always the same value.

use crate::diagnostic::Diagnostic;
use crate::formula::lint::findings::Case;
use crate::formula::lint::ranges::{Bound, Fact, Kinds};
use crate::formula::syntax::NodeKind;
use crate::python::{ErrorKind, Value};

/// Findings on the result, given those on the parts.
pub(super) fn result(case: &Case<'_>, on_parts: &[Diagnostic]) -> Option<Diagnostic> {
    let values = case.facts.result();
    if values.is_never() {
        return fails(case, on_parts);
    }
    no_number(case).or_else(|| too_large(case)).or_else(|| constant(case))
}

/// The formula fails for every job, unless a name is to blame or a finding has said so.
fn fails(case: &Case<'_>, on_parts: &[Diagnostic]) -> Option<Diagnostic> {
    let said = |finding: &Diagnostic| matches!(finding.code, "JSF612" | "JSF309" | "JSF306");
    let other = [ErrorKind::Name, ErrorKind::Syntax, ErrorKind::Memory, ErrorKind::Recursion];
    let by_name = |fact: &Fact| fact.always_fails() && other.iter().any(|&kind| fact.errors.contains(kind));
    if on_parts.iter().any(said) || case.expr.iter().any(|(node, _)| by_name(case.facts.of(node))) {
        return None;
    }
    let span = case.expr.node(case.expr.root()).span;
    let finding = Diagnostic::error("JSF308", "the formula fails for every job", span);
    let finding = match case.trial.attempts.first().map(|attempt| &attempt.result) {
        Some(Err(error)) => finding.with_place(error.span, error.raised.text.to_string()),
        _ => finding,
    };
    Some(
        finding
            .with_help("`qmgr` accepts it all the same; every job is worth 0 then, and submission decides the order"),
    )
}

fn no_number(case: &Case<'_>) -> Option<Diagnostic> {
    let kinds = case.facts.result().kinds();
    let span = case.expr.node(case.expr.root()).span;
    let help = "the scheduler takes the result as a number without looking, and dies; `qmgr` accepts the formula";
    if !kinds.meets(Kinds::NUMBER) {
        let message = format!("the result is {}, no number", kinds.words().join(" or "));
        return Some(Diagnostic::error("JSF401", message, span).with_help(help));
    }
    let odd = case.trial.attempts.iter().find_map(|attempt| match &attempt.result {
        Ok(value) if !Kinds::of(value).within(Kinds::NUMBER) => Some((attempt, Kinds::of(value))),
        _ => None,
    });
    let (attempt, kinds) = odd?;
    let circumstances = case.circumstances(attempt, case.expr.root());
    let circumstances = circumstances.map_or_else(|| "for some jobs".to_owned(), |words| format!("where {words}"));
    let message = format!("the result is {}, no number, {circumstances}", kinds.words().join(" or "));
    Some(Diagnostic::error("JSF401", message, span).with_help(help))
}

fn too_large(case: &Case<'_>) -> Option<Diagnostic> {
    let values = case.facts.result();
    let span = case.expr.node(case.expr.root()).span;
    let help = "the scheduler takes it as a double, which holds no such integer, and dies; begin with a float, as in `2.0 ** …`";
    let is_too_large = |value: &Value| matches!(value, Value::Big(_)) && beyond_doubles(value);
    // just below the largest double the bounds cannot tell
    let results = || case.trial.attempts.iter().map(|attempt| &attempt.result);
    let is_beyond = values.is_whole() && (values.least() >= f64::MAX / 2.0 || values.most() <= -f64::MAX / 2.0);
    if is_beyond && results().all(|result| result.as_ref().is_ok_and(is_too_large)) && results().next().is_some() {
        let message = "the result is an integer beyond 1.8e308 for every job";
        return Some(Diagnostic::error("JSF405", message, span).with_help(help));
    }
    let attempt = case.trial.attempts.iter().find(|attempt| attempt.result.as_ref().is_ok_and(is_too_large))?;
    let circumstances = case.circumstances(attempt, case.expr.root());
    let circumstances = circumstances.map_or_else(|| "for some jobs".to_owned(), |words| format!("where {words}"));
    let message = format!("the result is an integer beyond 1.8e308 {circumstances}");
    Some(Diagnostic::warning("JSF405", message, span).with_help(help))
}

fn beyond_doubles(value: &Value) -> bool {
    use crate::python::{Arithmetic, Function, Python};
    Python::new().call(&Value::Function(Function::Float), std::slice::from_ref(value), &[]).is_err()
}

fn constant(case: &Case<'_>) -> Option<Diagnostic> {
    let root = case.expr.root();
    let depends = case.expr.iter().any(|(node, part)| {
        case.facts.of(node).reached && matches!(part.kind, NodeKind::Name(_)) && case.input(node).is_some()
    });
    let only = case.facts.result().only();
    if (depends && only.is_none()) || !case.facts.errors().is_empty() {
        return None;
    }
    let value = case.facts.constant(root).map(Value::repr).or_else(|| only.map(|value| Bound(value).to_string()));
    let value = value.unwrap_or_else(|| case.facts.result().to_string());
    let message = format!("every job gets the same value, {value}");
    let span = case.expr.node(root).span;
    // `0` is a way to switch the formula off
    let finding = match case.kind(case.inside(root)) {
        NodeKind::Literal { .. } => Diagnostic::note("JSF607", message, span),
        _ => Diagnostic::warning("JSF607", message, span),
    };
    Some(finding.with_help("nothing that differs from job to job reaches the result, so submission decides the order"))
}
