//! Findings on the result of the formula: it is not a number, it is an error or the same value for every job, or it orders
//! jobs unfairly.

use std::cmp::Ordering;

use crate::diagnostic::{Diagnostic, Span};
use crate::formula::lint::findings::Analysis;
use crate::formula::lint::findings::sampling::{FUEL, Sample};
use crate::formula::lint::monotonicity::{Monotonicity, monotonicity};
use crate::formula::lint::parents::name_of;
use crate::formula::lint::ranges::{Fact, Rounded, TypeSet};
use crate::formula::program::Program;
use crate::formula::syntax::ExprKind;
use crate::python::{Arithmetic, ErrorKind, Function, Python, Value};
use crate::schema::{FairshareInput, current_name};

/// The finding on the result of the formula. `on_operations` are the findings on its operations.
pub(super) fn check(analysis: &Analysis<'_>, on_operations: &[Diagnostic]) -> Option<Diagnostic> {
    let values = analysis.facts.result();
    if values.is_empty() {
        return always_fails(analysis, on_operations);
    }
    non_numeric(analysis).or_else(|| too_large(analysis)).or_else(|| constant(analysis))
}

/// The finding on a formula that fails for every job, unless a finding on a name or an operation says so.
fn always_fails(analysis: &Analysis<'_>, on_operations: &[Diagnostic]) -> Option<Diagnostic> {
    let is_reported = on_operations.iter().any(|finding| matches!(finding.code, "JSF612" | "JSF309" | "JSF306"));
    if is_reported || analysis.expr.iter().any(|(node, _)| is_reported_elsewhere(analysis.facts.at(node))) {
        return None;
    }
    let span = analysis.expr.node(analysis.expr.root()).span;
    let finding = Diagnostic::error("JSF308", "the formula fails for every job", span);
    let finding = match analysis.samples.all.first().map(|sample| &sample.result) {
        Some(Err(error)) => finding.with_secondary_label(error.span, error.raised.text.to_string()),
        _ => finding,
    };
    Some(
        finding.with_help(
            "`qmgr` accepts it nevertheless; every job gets the value 0, and the order of submission decides",
        ),
    )
}

/// Whether the expression always fails with an error on which other passes report.
fn is_reported_elsewhere(fact: &Fact) -> bool {
    let kinds = [ErrorKind::Name, ErrorKind::Syntax];
    fact.always_fails() && kinds.iter().any(|&kind| fact.errors.contains(kind))
}

fn non_numeric(analysis: &Analysis<'_>) -> Option<Diagnostic> {
    let types = analysis.facts.result().types();
    let span = analysis.expr.node(analysis.expr.root()).span;
    let help =
        "`qmgr` accepts the formula, but the scheduler converts the result without checking its type and crashes";
    if !types.intersects(TypeSet::NUMBER) {
        let message = format!("the result is {}, not a number", types.names().join(" or "));
        return Some(Diagnostic::error("JSF401", message, span).with_help(help));
    }
    let (sample, types) = analysis.samples.all.iter().find_map(|sample| {
        let types = TypeSet::from_value(sample.result.as_ref().ok()?);
        (!types.is_subset(TypeSet::NUMBER)).then_some((sample, types))
    })?;
    let condition = analysis.condition(Some(sample), analysis.expr.root());
    let message = format!("the result is {}, not a number, {condition}", types.names().join(" or "));
    Some(Diagnostic::error("JSF401", message, span).with_help(help))
}

fn too_large(analysis: &Analysis<'_>) -> Option<Diagnostic> {
    let values = analysis.facts.result();
    let span = analysis.expr.node(analysis.expr.root()).span;
    let help = "the scheduler crashes, because it converts the result to a double; use a float, as in `2.0 ** …`";
    let samples = &analysis.samples.all;
    // the bounds are doubles, so they do not tell integers just below the largest double from those above it
    let is_near_limit = values.is_integral() && (values.least() >= f64::MAX / 2.0 || values.most() <= -f64::MAX / 2.0);
    if is_near_limit && !samples.is_empty() && samples.iter().all(exceeds_doubles) {
        let message = "the result is an integer too large for a double for every job";
        return Some(Diagnostic::error("JSF405", message, span).with_help(help));
    }
    let sample = samples.iter().find(|sample| exceeds_doubles(sample))?;
    let condition = analysis.condition(Some(sample), analysis.expr.root());
    let message = format!("the result is an integer too large for a double {condition}");
    Some(Diagnostic::warning("JSF405", message, span).with_help(help))
}

/// Whether the result is an integer beyond the largest double.
fn exceeds_doubles(sample: &Sample) -> bool {
    let Ok(value @ Value::Big(_)) = &sample.result else { return false };
    Python::new().call(&Value::Function(Function::Float), std::slice::from_ref(value), &[]).is_err()
}

fn constant(analysis: &Analysis<'_>) -> Option<Diagnostic> {
    let root = analysis.expr.root();
    let has_inputs = analysis.expr.iter().any(|(node, part)| {
        analysis.facts.at(node).reachable && matches!(part.kind, ExprKind::Name(_)) && analysis.input(node).is_some()
    });
    let single = analysis.facts.result().single();
    if (has_inputs && single.is_none()) || !analysis.facts.errors().is_empty() {
        return None;
    }
    let value =
        analysis.facts.constant(root).map(Value::repr).or_else(|| single.map(|value| Rounded(value).to_string()));
    let value = value.unwrap_or_else(|| analysis.facts.result().to_string());
    let message = format!("every job gets the same value, {value}");
    let span = analysis.expr.node(root).span;
    // a number alone, such as `0`, is a way to disable the formula
    let finding = match analysis.kind(analysis.without_parentheses(root)) {
        ExprKind::Literal { .. } => Diagnostic::note("JSF607", message, span),
        _ => Diagnostic::warning("JSF607", message, span),
    };
    Some(finding.with_help("the result does not depend on the job, so the formula does not order the jobs"))
}

/// The monotonicity that is unfair for an input, the code of the finding, and what happens then.
fn unfair(name: &str) -> Option<(Monotonicity, &'static str, &'static str)> {
    Some(match FairshareInput::from_name(name) {
        Some(FairshareInput::TreeUsage) => {
            (Monotonicity::Increasing, "JSF601", "entities with the most usage run first")
        }
        Some(FairshareInput::Factor) => (Monotonicity::Decreasing, "JSF601", "entities that deserve the most run last"),
        Some(FairshareInput::Perc) => (Monotonicity::Decreasing, "JSF601", "entities with the largest share run last"),
        None if name == "eligible_time" => {
            (Monotonicity::Decreasing, "JSF602", "the longer a job waits, the later it runs")
        }
        None => return None,
    })
}

/// Findings on inputs in which the formula has an unfair monotonicity, whatever the values of the other inputs.
pub(super) fn check_fairness(analysis: &Analysis<'_>, program: &Program) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (input, name) in program.inputs().iter().enumerate() {
        let Some((wrong, code, effect)) = unfair(name) else { continue };
        // a second name of the same number can cancel the effect
        let has_alias = program.inputs().iter().any(|other| other != name && current_name(other) == current_name(name));
        if has_alias || monotonicity(analysis.expr, &analysis.facts, name) != wrong {
            continue;
        }
        if has_effect(analysis, program, input, wrong) {
            let verb = if wrong == Monotonicity::Increasing { "increases" } else { "decreases" };
            let message = format!("the value {verb} as `{name}` increases: {effect}");
            let finding = Diagnostic::warning(code, message, first_use(analysis, name));
            findings.push(
                finding.with_help(
                    "negate it, or divide by it where the formula multiplies by it, and the other way round",
                ),
            );
        }
    }
    findings
}

/// Whether a change of the input alone changes the value of a sample job, in the wrong direction.
fn has_effect(analysis: &Analysis<'_>, program: &Program, input: usize, wrong: Monotonicity) -> bool {
    let mut interpreter = program.interpreter(Python::with_fuel(FUEL));
    let mut candidates: Vec<&Value> = analysis.samples.candidates[input].iter().collect();
    candidates.sort_by(|x, y| nearest_double(x).total_cmp(&nearest_double(y)));
    let bases = analysis.samples.all.iter().filter(|sample| sample.result.is_ok()).take(8);
    for base in bases {
        let values = candidates.iter().filter_map(|&candidate| {
            let mut inputs = base.inputs.clone();
            inputs[input] = candidate.clone();
            interpreter.evaluate(&inputs).ok().map(|value| nearest_double(&value))
        });
        let values: Vec<f64> = values.collect();
        let direction = if wrong == Monotonicity::Increasing { Ordering::Less } else { Ordering::Greater };
        if values.windows(2).any(|pair| pair[0].partial_cmp(&pair[1]) == Some(direction)) {
            return true;
        }
    }
    false
}

fn nearest_double(value: &Value) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

/// The first place at which the formula uses the input.
fn first_use(analysis: &Analysis<'_>, name: &str) -> Span {
    let uses = analysis.expr.nodes().iter().filter(|node| name_of(node) == Some(name));
    uses.map(|node| node.span).min().unwrap_or_default()
}
