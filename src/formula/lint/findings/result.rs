//! Findings on the result of the formula: it is not a number, it is an error or the same value for
//! every job, it orders jobs unfairly, or it loses precision. Terms are absorbed when the value is
//! rounded to a C `float`, and integers are rounded to a double.

use std::cmp::Ordering;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::formula::lint::findings::{Analysis, FUEL, Sample};
use crate::formula::lint::ranges::{Interval, Known, NumberType, Rounded};
use crate::formula::lint::slope::slope;
use crate::formula::program::{EvalError, Program, literal_value};
use crate::formula::syntax::{ExprId, ExprKind};
use crate::python::{Arithmetic, BinaryOperator, ComparisonOperator, ErrorKind, Python, Value};
use crate::schema::{FairshareInput, Range, current_name};

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
    for finding in on_operations {
        if matches!(
            finding.code,
            Code::CaretForPower | Code::HugeInteger | Code::ComplexPower
        ) {
            return None;
        }
    }
    for (node, _) in analysis.expr.iter() {
        // other passes report an unknown name
        if matches!(analysis.facts.at(node).known, Known::Fails(ErrorKind::Name)) {
            return None;
        }
    }
    let span = analysis.span(analysis.expr.root());
    let mut finding = Diagnostic::new(Code::AlwaysFails, "the formula fails for every job", span);
    if let Some(sample) = analysis.samples.all.first()
        && let Err(error) = &sample.result
    {
        finding = finding.with_secondary_label(error.span, error.raised.text.to_string());
    }
    Some(
        finding.with_help(
            "`qmgr` accepts it nevertheless; every job gets the value 0, and the order of submission decides",
        ),
    )
}

fn non_numeric(analysis: &Analysis<'_>) -> Option<Diagnostic> {
    let root = analysis.expr.root();
    let span = analysis.span(root);
    let help = "`qmgr` accepts the formula, but the scheduler converts the result without checking its type and crashes";
    let mut samples = analysis.samples.all.iter();
    let (sample, what) = samples.find_map(|sample| Some((sample, object_name(&sample.result)?)))?;
    let mut samples = analysis.samples.all.iter();
    let are_alike = samples.all(|sample| object_name(&sample.result) == Some(what));
    let is_written = matches!(
        analysis.kind(analysis.without_parentheses(root)),
        ExprKind::Name(_) | ExprKind::Tuple { .. } | ExprKind::List(_)
    );
    let message = if are_alike && is_written {
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
    let sample = analysis
        .samples
        .all
        .iter()
        .find(|sample| exceeds_doubles(sample))?;
    let message = "the result is an integer too large for a double";
    let root = analysis.expr.root();
    let (message, severity) = if analysis.inputs(root).is_empty() {
        (format!("{message} for every job"), Severity::Error)
    } else {
        let condition = analysis.condition(Some(sample), root);
        (format!("{message} {condition}"), Severity::Warning)
    };
    let found = Diagnostic::new(Code::TooLargeForDouble, message, span);
    Some(found.with_severity(severity).with_help(help))
}

/// Whether the result is an integer beyond the largest double.
fn exceeds_doubles(sample: &Sample) -> bool {
    matches!(&sample.result, Ok(value @ Value::Big(_)) if value.to_f64().is_none())
}

fn constant(analysis: &Analysis<'_>) -> Option<Diagnostic> {
    let root = analysis.expr.root();
    let sample = analysis.samples.all.first()?.result.as_ref().ok()?;
    if !analysis.inputs(root).is_empty() {
        // the same for every job, although it depends on inputs
        analysis.facts.number(root)?.single()?;
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

/// How the value compares with that of a smaller input where that is unfair, the code of the
/// finding, and what happens then.
fn unfair(name: &str) -> Option<(Ordering, Code, &'static str)> {
    let (wrong, effect) = match FairshareInput::from_name(name) {
        Some(FairshareInput::TreeUsage) => {
            (Ordering::Greater, "entities with the most usage run first")
        }
        Some(FairshareInput::Factor) => (Ordering::Less, "entities that deserve the most run last"),
        Some(FairshareInput::Perc) => (Ordering::Less, "entities with the largest share run last"),
        None if name == "eligible_time" => {
            let effect = "the longer a job waits, the later it runs";
            return Some((Ordering::Less, Code::DelaysWaitingJobs, effect));
        }
        None => return None,
    };
    Some((wrong, Code::FavorsHeavyUsers, effect))
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
        let is_wrong = match (slope, wrong) {
            (Some(slope), Ordering::Greater) => slope.increases(),
            (Some(slope), _) => slope.decreases(),
            (None, _) => false,
        };
        if has_alias || !is_wrong || !has_effect(analysis, program, input, wrong) {
            continue;
        }
        let verb = match wrong {
            Ordering::Greater => "increases",
            _ => "decreases",
        };
        let message = format!("the value {verb} as `{name}` increases: {effect}");
        let span = analysis.expr.first_use(name).unwrap_or_default();
        findings.push(Diagnostic::new(code, message, span).with_help(
            "negate it, or divide by it where the formula multiplies by it, and the other way round",
        ));
    }
    findings
}

/// Whether a change of the input alone changes the value of a sample job, in the wrong direction.
fn has_effect(analysis: &Analysis<'_>, program: &Program, input: usize, wrong: Ordering) -> bool {
    let mut interpreter = program.interpreter(Python::with_fuel(FUEL));
    // ascending, so that adjacent values show the direction
    let mut candidates: Vec<&Value> = analysis.samples.candidates[input].iter().collect();
    candidates.sort_by(|x, y| nearest_double(x).total_cmp(&nearest_double(y)));
    let mut bases: Vec<&Sample> = analysis.samples.all.iter().collect();
    bases.retain(|sample| sample.result.is_ok());
    // several, because one may hide the effect behind a `max` or a condition
    bases.truncate(8);
    for base in bases {
        let mut last = f64::NAN;
        for candidate in &candidates {
            let mut inputs = base.inputs.clone();
            inputs[input] = (*candidate).clone();
            let Ok(value) = interpreter.evaluate(&inputs) else {
                continue;
            };
            let value = nearest_double(&value);
            // NaN, before the first value, compares with nothing
            if value.partial_cmp(&last) == Some(wrong) {
                return true;
            }
            last = value;
        }
    }
    false
}

fn nearest_double(value: &Value) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

/// Findings on lost precision.
pub(super) fn check_precision(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
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
