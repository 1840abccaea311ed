//! The findings on the values of a formula, one function for each kind.
//!
//! On single operations: those that fail for every job or for some; branches that are never taken,
//! comparisons with only one outcome, and comparisons in the wrong unit.
//!
//! On the result of the formula: it is not a number, it is an error or the same value for every job,
//! it orders jobs unfairly, or it loses precision. Terms are absorbed when the value is rounded to a
//! C `float`, and integers are rounded to a double.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use crate::findings::{Analysis, FUEL, Sample};
use crate::ranges::{Interval, Known, NumberType, Rounded, comparison};
use crate::slope::slope;
use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Severity, Span};
use job_sort_formula::formula::program::{EvalError, Program, literal_value};
use job_sort_formula::formula::syntax::{ExprId, ExprKind};
use job_sort_formula::python::{
    Arithmetic, BinaryOperator, BooleanOperator, ComparisonOperator, ErrorKind, Function, Python,
    Value,
};
use job_sort_formula::schema::{FairshareInput, InputType, Range, current_name};

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
pub(super) fn check_failures(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for failure in all_failures(analysis) {
        findings.extend(finding(analysis, &failure));
    }
    // `^` of two integers fails for no job, so that no failure leads to it
    for (node, _) in analysis.expr.iter() {
        findings.extend(power_by_caret(analysis, node, false));
    }
    let mut reported = HashSet::new();
    findings.retain(|finding| reported.insert((finding.span, finding.code)));
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
        let sample = samples.find(|(_, error)| error.span() == span);
        all.push(Failure {
            node,
            kind,
            is_certain: true,
            sample,
        });
    }
    // what fails for every job is reported as certain above
    for (sample, error) in samples {
        if let Some(&node) = by_span.get(&error.span())
            && !analysis.facts.always_fails(node)
        {
            all.push(Failure {
                node,
                kind: error.kind(),
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
            if failure.is_certain || failure.sample?.1.text().starts_with("an integer") =>
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
        Some((_, error)) => format!("Python raises `{}`; ", error.text()),
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

/// A number compared with a duration is probably meant in another unit than seconds if it is less
/// than this.
const MIN_SECONDS: f64 = 60.0;
/// A number compared with a size is probably meant in another unit than kb if it is less than this.
const MIN_KB: f64 = 4096.0;

/// Findings on conditions with only one outcome, and on comparisons in the wrong unit.
pub(super) fn check_conditions(analysis: &Analysis<'_>) -> Vec<Diagnostic> {
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

/// The finding on the result of the formula. `on_operations` are the findings on its operations.
pub(super) fn check_result(
    analysis: &Analysis<'_>,
    on_operations: &[Diagnostic],
) -> Option<Diagnostic> {
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
        finding = finding.with_secondary_label(error.span(), error.text());
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
    let mut message = format!("the result is {what}, not a number");
    if !(are_alike && is_written) {
        message += &format!(", {}", analysis.condition(Some(sample), root));
    }
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
    let mut samples = analysis.samples.all.iter();
    // an integer beyond the largest double
    let sample = samples.find(
        |sample| matches!(&sample.result, Ok(value @ Value::Big(_)) if value.to_f64().is_none()),
    )?;
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
    let mut finding = Diagnostic::new(Code::ConstantValue, message, span)
        .with_help("the result does not depend on the job, so the formula does not order the jobs");
    // a number alone, such as `0`, is a way to disable the formula
    let value = analysis.kind(analysis.without_parentheses(root));
    if !matches!(value, ExprKind::Literal { .. }) {
        finding.severity = Severity::Warning;
    }
    Some(finding)
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
