//! Findings on the result of the formula: it is not a number, it is an error or the same value for
//! every job, or it orders jobs unfairly.

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::formula::lint::findings::Analysis;
use crate::formula::lint::findings::sampling::{FUEL, Sample};
use crate::formula::lint::ranges::Known;
use crate::formula::lint::slope::slope;
use crate::formula::program::{EvalError, Program};
use crate::formula::syntax::ExprKind;
use crate::python::{Arithmetic, ErrorKind, Function, Python, Value};
use crate::schema::{FairshareInput, current_name};

/// The finding on the result of the formula. `on_operations` are the findings on its operations.
pub(super) fn check(analysis: &Analysis<'_>, on_operations: &[Diagnostic]) -> Option<Diagnostic> {
    if matches!(analysis.facts.result(), Known::Fails(_) | Known::Never) {
        return always_fails(analysis, on_operations);
    }
    non_numeric(analysis)
        .or_else(|| too_large(analysis))
        .or_else(|| constant(analysis))
}

/// The finding on a formula that fails for every job, unless a finding on a name or an operation
/// says so.
fn always_fails(analysis: &Analysis<'_>, on_operations: &[Diagnostic]) -> Option<Diagnostic> {
    let is_reported = on_operations.iter().any(|finding| {
        matches!(
            finding.code,
            Code::CaretForPower | Code::HugeInteger | Code::ComplexPower
        )
    });
    if is_reported
        || analysis
            .expr
            .iter()
            .any(|(node, _)| is_unknown_name(&analysis.facts.at(node).known))
    {
        return None;
    }
    let span = analysis.span(analysis.expr.root());
    let finding = Diagnostic::new(Code::AlwaysFails, "the formula fails for every job", span);
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

/// Whether other passes report the failure.
fn is_unknown_name(known: &Known) -> bool {
    matches!(known, Known::Fails(ErrorKind::Name))
}

fn non_numeric(analysis: &Analysis<'_>) -> Option<Diagnostic> {
    let root = analysis.expr.root();
    let span = analysis.span(root);
    let help = "`qmgr` accepts the formula, but the scheduler converts the result without checking its type and crashes";
    let (sample, what) = analysis
        .samples
        .all
        .iter()
        .find_map(|sample| Some((sample, object_name(&sample.result)?)))?;
    let all_are = analysis
        .samples
        .all
        .iter()
        .all(|sample| object_name(&sample.result) == Some(what));
    let is_written = matches!(
        analysis.kind(analysis.without_parentheses(root)),
        ExprKind::Name(_) | ExprKind::Tuple { .. } | ExprKind::List(_)
    );
    let message = if all_are && is_written {
        format!("the result is {what}, not a number")
    } else {
        format!(
            "the result is {what}, not a number, {}",
            analysis.condition(Some(sample), root)
        )
    };
    Some(Diagnostic::new(Code::NotANumber, message, span).with_help(help))
}

/// The name of a value that is not a number.
fn object_name(result: &Result<Value, EvalError>) -> Option<&'static str> {
    match result.as_ref().ok()? {
        Value::None => Some("`None`"),
        Value::Tuple(_) => Some("a tuple"),
        Value::List(_) => Some("a list"),
        Value::Function(_) => Some("a function"),
        _ => None,
    }
}

fn too_large(analysis: &Analysis<'_>) -> Option<Diagnostic> {
    let span = analysis.span(analysis.expr.root());
    let help = "the scheduler crashes, because it converts the result to a double; use a float, as in `2.0 ** …`";
    let samples = &analysis.samples.all;
    if analysis.inputs(analysis.expr.root()).is_empty()
        && samples.first().is_some_and(exceeds_doubles)
    {
        let message = "the result is an integer too large for a double for every job";
        return Some(
            Diagnostic::new(Code::TooLargeForDouble, message, span)
                .with_severity(Severity::Error)
                .with_help(help),
        );
    }
    let sample = samples.iter().find(|sample| exceeds_doubles(sample))?;
    let condition = analysis.condition(Some(sample), analysis.expr.root());
    let message = format!("the result is an integer too large for a double {condition}");
    Some(Diagnostic::new(Code::TooLargeForDouble, message, span).with_help(help))
}

/// Whether the result is an integer beyond the largest double.
fn exceeds_doubles(sample: &Sample) -> bool {
    let Ok(value @ Value::Big(_)) = &sample.result else {
        return false;
    };
    Python::new()
        .call(
            &Value::Function(Function::Float),
            std::slice::from_ref(value),
            &[],
        )
        .is_err()
}

fn constant(analysis: &Analysis<'_>) -> Option<Diagnostic> {
    let root = analysis.expr.root();
    let sample = analysis.samples.all.first()?.result.as_ref().ok()?;
    let is_single = analysis
        .facts
        .number(root)
        .is_some_and(|number| number.single().is_some());
    if !is_single && !analysis.inputs(root).is_empty() {
        return None;
    }
    let value = sample.repr();
    let message = format!("every job gets the same value, {value}");
    let span = analysis.span(root);
    // a number alone, such as `0`, is a way to disable the formula
    let finding = match analysis.kind(analysis.without_parentheses(root)) {
        ExprKind::Literal { .. } => Diagnostic::new(Code::ConstantValue, message, span),
        _ => Diagnostic::new(Code::ConstantValue, message, span).with_severity(Severity::Warning),
    };
    Some(
        finding.with_help(
            "the result does not depend on the job, so the formula does not order the jobs",
        ),
    )
}

/// A change of the value that is unfair as an input increases.
#[derive(Clone, Copy, PartialEq)]
enum Unfair {
    Increase,
    Decrease,
}

/// The change that is unfair for an input, the code of the finding, and what happens then.
fn unfair(name: &str) -> Option<(Unfair, Code, &'static str)> {
    Some(match FairshareInput::from_name(name) {
        Some(FairshareInput::TreeUsage) => (
            Unfair::Increase,
            Code::FavorsHeavyUsers,
            "entities with the most usage run first",
        ),
        Some(FairshareInput::Factor) => (
            Unfair::Decrease,
            Code::FavorsHeavyUsers,
            "entities that deserve the most run last",
        ),
        Some(FairshareInput::Perc) => (
            Unfair::Decrease,
            Code::FavorsHeavyUsers,
            "entities with the largest share run last",
        ),
        None if name == "eligible_time" => (
            Unfair::Decrease,
            Code::DelaysWaitingJobs,
            "the longer a job waits, the later it runs",
        ),
        None => return None,
    })
}

/// Findings on inputs in which the formula only increases or decreases, unfairly, whatever the
/// values of the other inputs.
pub(super) fn check_fairness(analysis: &Analysis<'_>, program: &Program) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (input, name) in program.inputs().iter().enumerate() {
        let Some((wrong, code, effect)) = unfair(name) else {
            continue;
        };
        // a second name of the same number can cancel the effect
        let has_alias = program
            .inputs()
            .iter()
            .any(|other| other != name && current_name(other) == current_name(name));
        let slope = slope(analysis.expr, &analysis.facts, name);
        let is_wrong = slope.is_some_and(|slope| match wrong {
            Unfair::Increase => slope.increases(),
            Unfair::Decrease => slope.decreases(),
        });
        if has_alias || !is_wrong {
            continue;
        }
        if has_effect(analysis, program, input, wrong) {
            let verb = if wrong == Unfair::Increase {
                "increases"
            } else {
                "decreases"
            };
            let message = format!("the value {verb} as `{name}` increases: {effect}");
            let finding = Diagnostic::new(
                code,
                message,
                analysis.expr.first_use(name).unwrap_or_default(),
            );
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
fn has_effect(analysis: &Analysis<'_>, program: &Program, input: usize, wrong: Unfair) -> bool {
    let mut interpreter = program.interpreter(Python::with_fuel(FUEL));
    // ascending, so that adjacent values show the direction
    let mut candidates: Vec<&Value> = analysis.samples.candidates[input].iter().collect();
    candidates.sort_by(|x, y| nearest_double(x).total_cmp(&nearest_double(y)));
    let bases = analysis
        .samples
        .all
        .iter()
        .filter(|sample| sample.result.is_ok())
        // several, because one may hide the effect behind a `max` or a condition
        .take(8);
    for base in bases {
        let values = candidates.iter().filter_map(|&candidate| {
            let mut inputs = base.inputs.clone();
            inputs[input] = candidate.clone();
            interpreter
                .evaluate(&inputs)
                .ok()
                .map(|value| nearest_double(&value))
        });
        let values: Vec<f64> = values.collect();
        let is_wrong = |pair: &[f64]| {
            if wrong == Unfair::Increase {
                pair[0] < pair[1]
            } else {
                pair[0] > pair[1]
            }
        };
        if values.windows(2).any(is_wrong) {
            return true;
        }
    }
    false
}

fn nearest_double(value: &Value) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}
