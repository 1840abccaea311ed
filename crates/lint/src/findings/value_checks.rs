//! The findings on the values of a formula, one function for each kind.
//!
//! On single operations: those that fail for every job or for some; branches that are never taken,
//! comparisons with only one outcome, comparisons in the wrong unit, and integers that are rounded
//! to a double.
//!
//! On the result of the formula: it is not a number, it is an error or the same value for every job,
//! it orders jobs unfairly, or terms are absorbed when it is rounded to a C `float`.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use crate::findings::Analysis;
use crate::findings::sample_jobs::{SAMPLE_WORK, Sample};
use crate::ranges::{Interval, Known, NumberType, Rounded, comparison};
use crate::slope::slope;
use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Severity, Span};
use job_sort_formula::formula::program::{EvalError, Program, literal_value};
use job_sort_formula::formula::syntax::{ExprId, ExprKind};
use job_sort_formula::python::{
    BinaryOperator, BooleanOperator, ComparisonOperator, ErrorKind, Function, Python, Value,
};
use job_sort_formula::schema::{FairshareInput, InputType, current_name};

const VALUE_ON_ERROR: &str = "a job for which the formula fails gets the value 0";

/// An operation that fails.
struct Failure<'a> {
    node: ExprId,
    kind: ErrorKind,
    /// Whether it fails for every job for which it is evaluated.
    is_certain: bool,
    /// A sample job for which it fails.
    sample: Option<(&'a Sample, &'a EvalError)>,
}

/// A number compared with a duration is probably meant in another unit than seconds if it is less
/// than this.
const MIN_SECONDS: f64 = 60.0;

/// A number compared with a size is probably meant in another unit than kb if it is less than this.
const MIN_KB: f64 = 4096.0;

impl Analysis<'_> {
    /// Findings on operations that can fail.
    pub(super) fn check_failures(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let samples = self.samples.failures();
        // an error knows its span, not its node
        let mut by_span = HashMap::new();
        for (node, part) in self.expr.iter() {
            by_span.insert(part.span, node);
            if let Known::Fails(kind) = self.facts.at(node).known
                && self.facts.at(node).reachable
            {
                let mut samples = samples.iter().copied();
                findings.extend(self.failure(&Failure {
                    node,
                    kind,
                    is_certain: true,
                    sample: samples.find(|(_, error)| error.span() == part.span),
                }));
            }
            // `^` of two integers fails for no job
            findings.extend(self.power_by_caret(node, false));
        }
        for (sample, error) in samples {
            // what fails for every job is reported as certain above
            if let Some(&node) = by_span.get(&error.span())
                && !self.facts.always_fails(node)
            {
                findings.extend(self.failure(&Failure {
                    node,
                    kind: error.kind(),
                    is_certain: false,
                    sample: Some((sample, error)),
                }));
            }
        }
        // a `^` that fails and has a literal is found twice
        let mut reported = HashSet::new();
        findings.retain(|found: &Diagnostic| reported.insert((found.span, found.code)));
        findings
    }

    fn failure(&self, failure: &Failure<'_>) -> Option<Diagnostic> {
        let node = failure.node;
        let (code, what, help) = match failure.kind {
            ErrorKind::ZeroDivision => return Some(self.division(failure)),
            ErrorKind::Value => {
                let finding = self.failed(failure, Code::OutsideDomain, "is undefined", node);
                let mut help = VALUE_ON_ERROR.to_owned();
                if let Some(domain) = self.domain(failure) {
                    help = format!("{domain}; {VALUE_ON_ERROR}");
                }
                return Some(finding.with_help(help));
            }
            ErrorKind::Type => {
                let caret = self.power_by_caret(node, true);
                return caret.or_else(|| self.wrong_type(failure));
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
                    // the limit, 131,072 bits, is 39,457 digits
                    "is an integer of more than 39000 digits",
                    "Python computes every digit and can use up the memory of the host; use a float, as in `2.0 ** …`",
                )
            }
            // unknown names have findings of their own
            _ => return None,
        };
        let mut finding = self.failed(failure, code, what, node).with_help(help);
        if code == Code::ComplexPower {
            finding.label = "a fractional power of a negative number".to_owned();
        }
        Some(finding)
    }

    /// The finding that the operation does something.
    fn failed(&self, failure: &Failure<'_>, code: Code, does: &str, at: ExprId) -> Diagnostic {
        let what = format!("{} {does}", self.quoted(failure.node));
        self.error_or_warning(failure, code, &what, at)
    }

    /// An error if the operation fails for every job, else a warning with the inputs of a sample
    /// job.
    fn error_or_warning(
        &self,
        failure: &Failure<'_>,
        code: Code,
        what: &str,
        at: ExprId,
    ) -> Diagnostic {
        if !failure.is_certain {
            let condition = self.condition(failure.sample.map(|(sample, _)| sample), at);
            return self.finding(code, format!("{what} {condition}"), at);
        }
        let who = if self.facts.at(failure.node).conditional {
            "every job for which it is evaluated"
        } else {
            "every job"
        };
        let finding = self.finding(code, format!("{what} for {who}"), at);
        finding.with_severity(Severity::Error)
    }

    fn division(&self, failure: &Failure<'_>) -> Diagnostic {
        // what is 0: the divisor, or the base of a negative power
        let divisor = match self.kind(failure.node) {
            ExprKind::Binary {
                op: BinaryOperator::Power,
                left,
                ..
            } => *left,
            ExprKind::Binary { right, .. } => *right,
            ExprKind::Call { positional, .. } => positional.last().copied().unwrap_or(failure.node),
            _ => failure.node,
        };
        let finding = self.failed(failure, Code::DivisionByZero, "divides by 0", divisor);
        let name = match self.input(divisor) {
            // no bound mends an input that is 0 for every job
            Some(name) if !failure.is_certain => name,
            _ => return finding.with_help(VALUE_ON_ERROR),
        };
        let finding = finding.with_label(self.when_zero(name));
        match self.positive_bound(name) {
            Some(least) => {
                let replacement = format!("max({name}, {least})");
                let help = format!("write `{replacement}`; {VALUE_ON_ERROR}");
                finding
                    .with_help(help)
                    .replaced_by(replacement, Applicability::Unsafe)
            }
            None => finding.with_help(format!(
                "give `{name}` a default on the server, or write `… / {name} if {name} else 0`; {VALUE_ON_ERROR}"
            )),
        }
    }

    /// What the arguments of a function must be for which it is undefined.
    fn domain(&self, failure: &Failure<'_>) -> Option<String> {
        use Function as F;
        let ExprKind::Call {
            callee, positional, ..
        } = self.kind(failure.node)
        else {
            return None;
        };
        let name = self.text(*callee);
        let first = positional.first().copied();
        let argument = match first {
            Some(argument) if !failure.is_certain => self.text(argument),
            _ => "…",
        };
        let domain = match self.facts.function(*callee)? {
            F::Log | F::Log2 | F::Log10 => {
                let input = first.and_then(|argument| self.input(argument));
                let bound = input.and_then(|input| self.positive_bound(input));
                let least = bound.unwrap_or("1e-7");
                return Some(format!(
                    "`{name}` requires a number above 0; write `{name}({argument} + 1)` or `{name}(max({argument}, {least}))`"
                ));
            }
            F::Sqrt => {
                return Some(format!(
                    "`sqrt` requires a number of at least 0; write `sqrt(max({argument}, 0))`"
                ));
            }
            F::Acos | F::Asin => "the argument must be between -1 and 1",
            F::Atanh => "the argument must be between -1 and 1, exclusive",
            F::Acosh => "the argument must be at least 1",
            F::Fmod | F::Remainder => "the second argument must not be 0",
            F::Factorial | F::Isqrt | F::Comb | F::Perm => {
                "the arguments must be integers of at least 0"
            }
            _ => return None,
        };
        Some(domain.to_owned())
    }

    fn wrong_type(&self, failure: &Failure<'_>) -> Option<Diagnostic> {
        let what = match self.kind(failure.node) {
            ExprKind::Binary { op, .. } => {
                format!("`{}` does not support these operands", op.symbol())
            }
            ExprKind::Unary { op, .. } => {
                format!("`{}` does not support this operand", op.symbol())
            }
            ExprKind::Comparison { .. } => "these operands cannot be compared".to_owned(),
            ExprKind::Call { callee, .. } if self.facts.function(*callee).is_some() => {
                format!("`{}` does not support these arguments", self.text(*callee))
            }
            // a callee that is not a function has a finding of its own
            _ => return None,
        };
        let mut finding =
            self.error_or_warning(failure, Code::UnsupportedType, &what, failure.node);
        for child in self.kind(failure.node).children() {
            let name = match self.inner_kind(child) {
                ExprKind::Tuple(_) => "a tuple",
                ExprKind::List(_) => "a list",
                _ => match self.facts.number(child) {
                    Some(number) => number.kind().name(),
                    None => continue,
                },
            };
            finding = finding.with_secondary_label(self.span(child), name);
        }
        let text = match failure.sample {
            Some((_, error)) => format!("Python raises `{}`; ", error.text()),
            None => String::new(),
        };
        Some(finding.with_help(format!("{text}{VALUE_ON_ERROR}")))
    }

    /// `^` that was probably meant as a power: it fails for floats, or an operand is a literal.
    fn power_by_caret(&self, node: ExprId, fails: bool) -> Option<Diagnostic> {
        let ExprKind::Binary {
            op: BinaryOperator::BitXor,
            left,
            right,
        } = *self.kind(node)
        else {
            return None;
        };
        let is_meant = match (self.inner_kind(left), self.inner_kind(right)) {
            // `(mem > 5000) ^ 1` negates a condition
            (ExprKind::Comparison { .. }, _) => false,
            (left, right) => [left, right]
                .iter()
                .any(|kind| matches!(kind, ExprKind::Literal { .. })),
        };
        if !self.facts.at(node).reachable || !(fails || is_meant) {
            return None;
        }
        let message = format!(
            "{} is not a power: `^` is the exclusive or",
            self.quoted(node)
        );
        let mut finding = self.finding(Code::CaretForPower, message, node);
        let mut help = "write `**` for a power";
        if self.facts.always_fails(node) {
            finding.severity = Severity::Error;
            help = "it fails for every job; write `**` for a power";
        }
        let between = self.span(left).end as usize..self.span(right).start as usize;
        let caret = between.start + caret_outside_comments(self.expr.text().get(between)?)?;
        let caret = Span::new(caret, caret + 1);
        Some(
            finding
                .with_help(help)
                .with_fix(caret, "**", Applicability::Unsafe),
        )
    }

    /// Findings on conditions with only one outcome, on comparisons in the wrong unit, and on
    /// integers that are rounded to a double.
    pub(super) fn check_parts(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        // a condition whose branch is reported needs no second finding
        let mut reported: HashSet<ExprId> = HashSet::new();
        // from the root down: conditions are below what they decide
        for (node, part) in self.expr.iter().rev() {
            if !self.facts.at(node).reachable {
                continue;
            }
            match &part.kind {
                ExprKind::Conditional {
                    then,
                    condition,
                    otherwise,
                } => {
                    if let Some(is_true) = self.constant_truth(*condition) {
                        let branch = if is_true { *otherwise } else { *then };
                        reported.insert(self.without_parentheses(*condition));
                        findings.push(self.never_evaluated(branch, *condition, is_true));
                    } else {
                        findings.extend(self.covered_branch(*condition, *otherwise));
                    }
                }
                ExprKind::Boolean { op, operands } => {
                    let is_deciding = *op == BooleanOperator::Or;
                    let deciding = operands
                        // pairs, because the last operand keeps none from being evaluated
                        .windows(2)
                        .find(|pair| self.constant_truth(pair[0]) == Some(is_deciding));
                    if let Some(pair) = deciding {
                        reported.insert(self.without_parentheses(pair[0]));
                        findings.push(self.never_evaluated(pair[1], pair[0], is_deciding));
                    }
                }
                ExprKind::Comparison {
                    operators,
                    operands,
                } => match self.constant_truth(node) {
                    Some(truth) if !reported.contains(&node) => {
                        let message = format!("{} is always {truth}", self.quoted(node));
                        let finding = self.finding(Code::ConstantComparison, message, node);
                        findings.push(self.with_range(finding, node));
                    }
                    Some(_) => {}
                    None => {
                        for (op, pair) in operators.iter().zip(operands.windows(2)) {
                            findings.extend(self.wrong_unit(*op, pair[0], pair[1]));
                        }
                    }
                },
                &ExprKind::Binary { left, right, .. } if !self.facts.always_fails(node) => {
                    findings.extend(self.inexact_integer(left, right));
                    findings.extend(self.inexact_integer(right, left));
                }
                _ => {}
            }
        }
        findings
    }

    /// Whether a condition is true for every job or false for every job; `None` if it is neither.
    fn constant_truth(&self, condition: ExprId) -> Option<bool> {
        self.facts.number(condition)?.truth()
    }

    fn never_evaluated(&self, branch: ExprId, condition: ExprId, is_true: bool) -> Diagnostic {
        let finding = self.dead_branch(branch, condition, format!("always {is_true}"));
        self.with_range(finding, condition)
    }

    fn dead_branch(&self, branch: ExprId, condition: ExprId, label: String) -> Diagnostic {
        let message = format!("{} is never evaluated", self.quoted(branch));
        let finding = self.finding(Code::DeadBranch, message, branch);
        finding.with_secondary_label(self.span(condition), label)
    }

    /// The finding on the branch `b` of `a if ncpus > 4 else b if ncpus > 8 else c`: the condition
    /// above it is true for all its jobs.
    fn covered_branch(&self, above: ExprId, otherwise: ExprId) -> Option<Diagnostic> {
        use ComparisonOperator as Op;
        let &ExprKind::Conditional {
            then, condition, ..
        } = self.inner_kind(otherwise)
        else {
            return None;
        };
        let (name, op, bound) = self.threshold(above)?;
        let (other_name, other_op, other_bound) = self.threshold(condition)?;
        let range = self.ranges.interval(name, self.schema);
        let (low, high) = match other_op {
            Op::Greater | Op::GreaterOrEqual => (other_bound.low, range.high),
            Op::Less | Op::LessOrEqual => (range.low, other_bound.high),
            _ => return None,
        };
        let jobs = Interval::new(range.kind(), low, high);
        // an empty interval compares as anything
        if name != other_name || low > high || comparison(op, jobs, bound) != Some(true) {
            return None;
        }
        let label = format!("true wherever {} is", self.quoted(condition));
        Some(self.dead_branch(then, above, label))
    }

    /// The name, the operator and the number of a comparison of an input with a number.
    fn threshold(&self, condition: ExprId) -> Option<(&str, ComparisonOperator, Interval)> {
        let ExprKind::Comparison {
            operators,
            operands,
        } = self.inner_kind(condition)
        else {
            return None;
        };
        let (&[op], &[left, right]) = (&**operators, &**operands) else {
            return None;
        };
        match self.input(left) {
            Some(name) => Some((name, op, self.facts.number(right)?)),
            None => Some((self.input(right)?, op.mirrored(), self.facts.number(left)?)),
        }
    }

    /// Adds the range of the first input of a condition.
    fn with_range(&self, finding: Diagnostic, condition: ExprId) -> Diagnostic {
        let Some(name) = self.inputs(condition).first().copied() else {
            return finding;
        };
        let range = self.ranges.interval(name, self.schema);
        finding.with_help(format!("`{name}` is {range}"))
    }

    /// The finding on a comparison of a duration or a size with a number that is too small for its
    /// unit; the input may be on either side.
    fn wrong_unit(
        &self,
        op: ComparisonOperator,
        left: ExprId,
        right: ExprId,
    ) -> Option<Diagnostic> {
        // `in` a number fails, for which there is another finding
        if matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn) {
            return None;
        }
        let (name, number) = match self.inner_kind(right) {
            ExprKind::Literal { .. } => (left, right),
            _ => (right, left),
        };
        let ExprKind::Literal { .. } = self.inner_kind(number) else {
            return None;
        };
        let input = self.input(name)?;
        let value = self.facts.number(number)?.single()?;
        let (min, unit, unit_name, factor, larger_unit) = match self.schema.entry(input)?.input_type
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
        let finding = self.finding(Code::WrongUnit, message, number);
        let finding = finding.with_secondary_label(self.span(name), format!("in {unit_name}"));
        Some(finding.with_help(format!(
            "{} {larger_unit} are {} {unit}",
            Rounded(value),
            value * factor
        )))
    }

    /// The finding on the literal of an integer that changes when it is converted to a double, for
    /// a float beside it.
    fn inexact_integer(&self, integer: ExprId, other: ExprId) -> Option<Diagnostic> {
        let ExprKind::Literal { kind, text } = self.inner_kind(integer) else {
            return None;
        };
        if self.facts.number(other)?.kind() != NumberType::Float {
            return None;
        }
        let value = literal_value(*kind, text, self.schema.python()).ok()?;
        // exact, as Python compares an integer with a float
        let double = Value::Float(value.to_f64()?);
        let is_exact = Python::new().compare(ComparisonOperator::Equal, &double, &value);
        if is_exact.ok()? {
            return None;
        }
        let message = format!(
            "{} is rounded when it is combined with a float",
            self.quoted(integer)
        );
        let finding = self.finding(Code::InexactInteger, message, integer);
        Some(
            finding
                .with_secondary_label(self.span(other), "a float")
                .with_help(
                    "Python converts the integer to a double, which has a precision of 53 bits",
                ),
        )
    }

    /// The finding on the result of the formula. `on_operations` are the findings on its
    /// operations.
    pub(super) fn check_result(&self, on_operations: &[Diagnostic]) -> Option<Diagnostic> {
        if matches!(self.facts.result(), Known::Fails(_) | Known::Never) {
            return self.always_fails(on_operations);
        }
        self.non_numeric()
            .or_else(|| self.too_large())
            .or_else(|| self.constant())
    }

    /// The finding on a formula that fails for every job, unless a finding on a name or an
    /// operation says so.
    fn always_fails(&self, on_operations: &[Diagnostic]) -> Option<Diagnostic> {
        let says_so = |found: &Diagnostic| {
            matches!(
                found.code,
                Code::CaretForPower | Code::HugeInteger | Code::ComplexPower
            )
        };
        // other passes report an unknown name
        let is_unknown = |(node, _)| {
            let known = &self.facts.at(node).known;
            matches!(known, Known::Fails(ErrorKind::Name))
        };
        if on_operations.iter().any(says_so) || self.expr.iter().any(is_unknown) {
            return None;
        }
        let message = "the formula fails for every job";
        let mut finding = self.finding(Code::AlwaysFails, message, self.expr.root());
        if let Some(sample) = self.samples.all.first()
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

    fn non_numeric(&self) -> Option<Diagnostic> {
        let root = self.expr.root();
        let mut samples = self.samples.all.iter();
        let (sample, what) =
            samples.find_map(|sample| Some((sample, object_name(&sample.result)?)))?;
        let mut samples = self.samples.all.iter();
        let are_alike = samples.all(|sample| object_name(&sample.result) == Some(what));
        let is_written = matches!(
            self.inner_kind(root),
            ExprKind::Name(_) | ExprKind::Tuple(_) | ExprKind::List(_)
        );
        let mut message = format!("the result is {what}, not a number");
        if !(are_alike && is_written) {
            message += &format!(", {}", self.condition(Some(sample), root));
        }
        let help = "`qmgr` accepts the formula, but the scheduler converts the result without checking its type and crashes";
        Some(
            self.finding(Code::NotANumber, message, root)
                .with_help(help),
        )
    }

    fn too_large(&self) -> Option<Diagnostic> {
        let root = self.expr.root();
        let help = "the scheduler crashes, because it converts the result to a double; use a float, as in `2.0 ** …`";
        let mut samples = self.samples.all.iter();
        // an integer beyond the largest double
        let sample = samples.find(
            |sample| matches!(&sample.result, Ok(value @ Value::Big(_)) if value.to_f64().is_none()),
        )?;
        let (who, severity) = if self.inputs(root).is_empty() {
            ("for every job".to_owned(), Severity::Error)
        } else {
            (self.condition(Some(sample), root), Severity::Warning)
        };
        let message = format!("the result is an integer too large for a double {who}");
        let found = self.finding(Code::TooLargeForDouble, message, root);
        Some(found.with_severity(severity).with_help(help))
    }

    fn constant(&self) -> Option<Diagnostic> {
        let root = self.expr.root();
        let sample = self.samples.all.first()?.result.as_ref().ok()?;
        if !self.inputs(root).is_empty() {
            // the same for every job, although it depends on inputs
            self.facts.number(root)?.single()?;
        }
        let message = format!("every job gets the same value, {}", sample.repr());
        let mut finding = self.finding(Code::ConstantValue, message, root).with_help(
            "the result does not depend on the job, so the formula does not order the jobs",
        );
        // a number alone, such as `0`, is a way to disable the formula
        if !matches!(self.inner_kind(root), ExprKind::Literal { .. }) {
            finding.severity = Severity::Warning;
        }
        Some(finding)
    }

    /// Findings on inputs in which the formula only increases or decreases, unfairly, whatever the
    /// values of the other inputs.
    pub(super) fn check_fairness(&self, program: &Program) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for (input, name) in program.inputs().iter().enumerate() {
            let Some((wrong, code, effect)) = unfair(name) else {
                continue;
            };
            // a second name of the same number can cancel the effect
            let mut others = program.inputs().iter();
            let has_alias =
                others.any(|other| other != name && current_name(other) == current_name(name));
            let slope = slope(self.expr, &self.facts, name);
            let (is_wrong, verb) = match wrong {
                Ordering::Greater => (slope.is_some_and(|slope| slope.increases()), "increases"),
                _ => (slope.is_some_and(|slope| slope.decreases()), "decreases"),
            };
            if has_alias || !is_wrong || !self.has_effect(program, input, wrong) {
                continue;
            }
            let message = format!("the value {verb} as `{name}` increases: {effect}");
            // an input of the program is a name in the text
            let span = self.expr.first_use(name).unwrap_or_default();
            findings.push(Diagnostic::new(code, message, span).with_help(
                "negate it, or divide by it where the formula multiplies by it, and the other way round",
            ));
        }
        findings
    }

    /// Whether a change of the input alone changes the value of a sample job, in the wrong
    /// direction.
    fn has_effect(&self, program: &Program, input: usize, wrong: Ordering) -> bool {
        let mut interpreter = program.interpreter(Python::with_work_limit(SAMPLE_WORK));
        // ascending, so that adjacent values show the direction
        let mut candidates: Vec<&Value> = self.samples.candidates[input].iter().collect();
        candidates.sort_by(|x, y| nearest_double(x).total_cmp(&nearest_double(y)));
        let samples = self.samples.all.iter();
        // several, because one may hide the effect behind a `max` or a condition
        for base in samples.filter(|sample| sample.result.is_ok()).take(8) {
            let mut inputs = base.inputs.clone();
            let mut last = f64::NAN;
            for candidate in &candidates {
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

    /// Findings on terms of the outermost sum that are absorbed by the others.
    pub(super) fn absorbed_terms(&self) -> Vec<Diagnostic> {
        let terms = self.summands().unwrap_or_default();
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
            let others = [least - values.low, most - values.high];
            if let Some((finding, spacing)) = self.absorbed_term(term, values, others) {
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
    fn summands(&self) -> Option<Vec<(ExprId, Interval)>> {
        let mut terms = Vec::new();
        let mut parts = vec![(self.expr.root(), false)];
        while let Some((part, is_negative)) = parts.pop() {
            let part = self.without_parentheses(part);
            match *self.kind(part) {
                ExprKind::Binary {
                    op: op @ (BinaryOperator::Add | BinaryOperator::Subtract),
                    left,
                    right,
                } => {
                    let is_swapped = is_negative != (op == BinaryOperator::Subtract);
                    parts.extend([(right, is_swapped), (left, is_negative)]);
                }
                _ => {
                    let mut values = self.facts.number(part)?;
                    if is_negative {
                        values = values.negated();
                    }
                    terms.push((part, values));
                }
            }
        }
        Some(terms)
    }

    /// The finding on a term that varies by less than the precision of a `float` of the size of the
    /// others, and the distance between adjacent `float`s of that size.
    fn absorbed_term(
        &self,
        term: ExprId,
        values: Interval,
        [least, most]: [f64; 2],
    ) -> Option<(Diagnostic, f64)> {
        // the least magnitude that the others have; not positive if they can be 0
        let size = if least > 0.0 { least } else { -most };
        let width = values.high - values.low;
        // 0, infinite or NaN, also where the value is beyond the C `float`s
        let float = size as f32;
        let spacing = f64::from(float.next_up()) - f64::from(float);
        if size <= 0.0
            || width <= 0.0
            || !width.is_finite()
            || !spacing.is_finite()
            || self.inputs(term).is_empty()
        {
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
        let message = format!("{} {verb}", self.quoted(term));
        let finding = self.finding(Code::AbsorbedTerm, message, term);
        let finding = finding.with_label(format!("varies by at most {}", Rounded(width)));
        let finding = finding.with_help(format!(
            "the value is rounded to float32; next to the other terms, which are at least {}, it is rounded to a multiple of {}",
            Rounded(size),
            Rounded(spacing)
        ));
        Some((finding, spacing))
    }
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

fn nearest_double(value: &Value) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
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
