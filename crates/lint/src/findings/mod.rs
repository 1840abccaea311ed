//! Findings on the values of a formula: what they look at, and how they quote it.
//!
//! The ranges prove what cannot happen. What can happen is reported only if it does for a sample
//! job, whose inputs have typical values: an interval is often wider than the values behind it, and
//! in practice an input does not have every value that its type allows.

mod checks;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ranges::{Facts, Interval, NumberType, Ranges, Rounded, analyze_ranges};
use job_sort_formula::diagnostic::{Code, Diagnostic, Span, sort_by_span};
use job_sort_formula::formula::program::{EvalError, Interpreter, Program, literal_value};
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind, LiteralKind, Node};
use job_sort_formula::python::{ErrorKind, Python, PythonVersion, Value};
use job_sort_formula::schema::{FairshareInput, InputType, Origin, Schema};

/// The most findings that are returned. A formula of 64 KiB can have thousands, all alike.
const MAX_FINDINGS: usize = 100;

/// The length, in characters, to which a message shortens an expression. The span of the finding
/// shows all of it.
const MAX_QUOTED: usize = 48;
/// The most inputs whose values a message gives.
const MAX_INPUTS: usize = 3;

/// A formula and what is known about it.
struct Analysis<'e> {
    expr: &'e Expr,
    schema: &'e Schema,
    ranges: &'e Ranges,
    facts: Facts,
    samples: Samples,
}

/// Findings on the values of a formula, in the order of their places, at most 100. A formula that
/// is not arithmetic has none.
///
/// Errors that are certain follow from the ranges of the inputs. Errors that are only possible are
/// reported if they occur for a sample job, whose inputs have typical values within `ranges`.
///
/// ```
/// use job_sort_formula::Formula;
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "pow(2, -(fairshare_tree_usage / fairshare_perc))".parse()?;
/// let findings = jsf_lint::lint_values(formula.expr(), &Schema::openpbs(), &jsf_lint::Ranges::default());
/// assert_eq!(findings[0].code, "JSF303");
/// assert_eq!(findings[0].label, "0 for an entity without shares");
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn lint_values(expr: &Arc<Expr>, schema: &Schema, ranges: &Ranges) -> Vec<Diagnostic> {
    let Ok(program) = Program::compile(Arc::clone(expr), schema) else {
        return Vec::new();
    };
    let facts = analyze_ranges(expr, schema, ranges);
    let samples = Samples::new(&program, schema, ranges);
    let analysis = Analysis {
        expr,
        schema,
        ranges,
        facts,
        samples,
    };
    let mut findings = analysis.check_failures();
    // the result is judged by sample jobs, and a refused program has none
    if program.refused().is_none() {
        findings.extend(analysis.check_result(&findings));
    }
    findings.extend(analysis.check_fairness(&program));
    findings.extend(analysis.check_conditions());
    findings.extend(analysis.check_precision());
    // before the cut, so that the first ones in the text are kept
    sort_by_span(&mut findings);
    findings.truncate(MAX_FINDINGS);
    findings
}

impl Analysis<'_> {
    fn kind(&self, node: ExprId) -> &ExprKind {
        &self.expr.node(node).kind
    }

    /// The kind of the node in its parentheses, if it has some.
    fn inner_kind(&self, node: ExprId) -> &ExprKind {
        self.kind(self.without_parentheses(node))
    }

    fn span(&self, node: ExprId) -> Span {
        self.expr.node(node).span
    }

    fn finding(&self, code: Code, message: impl Into<String>, node: ExprId) -> Diagnostic {
        Diagnostic::new(code, message, self.span(node))
    }

    /// The parts that are evaluated for some job.
    fn reachable(&self) -> impl Iterator<Item = (ExprId, &Node)> {
        self.expr
            .iter()
            .filter(|(node, _)| self.facts.at(*node).reachable)
    }

    /// The text of a node.
    fn text(&self, node: ExprId) -> &str {
        self.span(node).slice(self.expr.text())
    }

    fn without_parentheses(&self, node: ExprId) -> ExprId {
        self.expr.without_parentheses(node)
    }

    /// The name of the input, if the node is one.
    fn input(&self, node: ExprId) -> Option<&str> {
        match self.inner_kind(node) {
            ExprKind::Name(name) if self.samples.index(name).is_some() => Some(name),
            _ => None,
        }
    }

    /// The inputs that an expression uses, each once, in the order of the text.
    fn inputs(&self, expression: ExprId) -> Vec<&str> {
        let mut uses: Vec<(Span, &str)> = Vec::new();
        let mut unvisited = vec![expression];
        while let Some(id) = unvisited.pop() {
            let node = self.expr.node(id);
            match &node.kind {
                ExprKind::Name(name) if self.samples.index(name).is_some() => {
                    uses.push((node.span, name))
                }
                kind => unvisited.extend(kind.children()),
            }
        }
        // by place, since the walk visits nodes from the last to the first
        uses.sort_unstable();
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for (_, name) in uses {
            if seen.insert(name) {
                names.push(name);
            }
        }
        names
    }

    /// The text of a node in back-ticks, shortened if it is long.
    fn quoted(&self, node: ExprId) -> String {
        let mut text = String::new();
        for word in self.text(node).split_whitespace() {
            text += if text.is_empty() { "" } else { " " };
            text += word;
            // a character has at most four bytes: more cannot be shown
            if text.len() > MAX_QUOTED * 4 {
                break;
            }
        }
        if text.chars().count() <= MAX_QUOTED {
            return format!("`{text}`");
        }
        let start: String = text.chars().take(MAX_QUOTED - 1).collect();
        format!("`{start}…`")
    }

    /// Says for which jobs an expression does what it does for a sample job, such as "if `a` is 0
    /// and `b` is 3".
    fn condition(&self, sample: Option<&Sample>, node: ExprId) -> String {
        let inputs = self.inputs(node);
        let mut equations = Vec::new();
        if let Some(sample) = sample {
            for (name, value) in self.samples.relevant_inputs(sample, &inputs) {
                equations.push(format!("`{name}` is {}", without_decimals(value)));
            }
        }
        match equations.len() {
            1..=MAX_INPUTS => format!("if {}", equations.join(" and ")),
            _ => "for some jobs".to_owned(),
        }
    }

    /// Says for which jobs an input is 0.
    fn when_zero(&self, name: &str) -> &'static str {
        if let Some(input) = FairshareInput::from_name(name) {
            return match input {
                FairshareInput::Perc => "0 for an entity without shares",
                FairshareInput::TreeUsage => "0 for an entity without usage",
                FairshareInput::Factor => {
                    "0 for an entity without shares, or with far more usage than its share"
                }
            };
        }
        match name {
            "eligible_time" => "0 for a job that has not waited yet",
            "queue_priority" => "0 in a queue without a priority",
            "job_priority" => "0 for a job without a priority",
            "ncpus" => "0 for a job that requests no CPUs",
            "accrue_type" => "0 for a job that does not accrue eligible time yet",
            _ => match self.schema.entry(name) {
                Some(entry) if entry.origin == Origin::Special => "may be 0",
                Some(entry) if entry.is_withheld => "0 for a job to which the site gives none",
                _ => "0 for a job that does not request it",
            },
        }
    }

    /// A small positive lower bound for an input that is never negative, as text.
    fn positive_bound(&self, name: &str) -> Option<&'static str> {
        let entry = self.schema.entry(name)?;
        let from_zero = self.ranges.interval(name, self.schema).low >= 0.0;
        match (name, entry.input_type) {
            // a formula that divides by a priority expects a positive one
            ("queue_priority" | "job_priority", _) => Some("1"),
            _ if !from_zero => None,
            (_, InputType::Ratio) => Some("1e-6"),
            (_, InputType::Float) => None,
            _ => Some("1"),
        }
    }
}

/// A number without the `.0` of a float.
fn without_decimals(value: &Value) -> String {
    match value {
        Value::Float(number) => Rounded(*number).to_string(),
        other => other.repr(),
    }
}

/// The maximum number of nodes that are evaluated, over all sample jobs.
const MAX_STEPS: usize = 200_000;
const MAX_SAMPLES: usize = 320;
/// The maximum for a formula whose integers exceed the limit on their size, which takes long to
/// find out.
const MAX_COSTLY_SAMPLES: usize = 24;
/// The fuel of one evaluation, which long integers use up.
const FUEL: u64 = 1 << 20;
/// The maximum number of literals of the formula that are used as inputs.
const MAX_LITERALS: usize = 12;

/// A sample job and its result.
struct Sample {
    /// The values of the inputs, in the order of [`Samples::names`].
    pub(super) inputs: Vec<Value>,
    /// The only input whose value is not the typical one.
    varied: Option<usize>,
    /// The value of the formula, or the error.
    pub(super) result: Result<Value, EvalError>,
}

/// The results of a formula for sample jobs.
struct Samples {
    /// The inputs.
    names: Vec<Box<str>>,
    /// The index of each input in `names`.
    indices: HashMap<Box<str>, usize>,
    /// The sample jobs.
    pub(super) all: Vec<Sample>,
    /// The values of each input, the typical one first.
    pub(super) candidates: Vec<Vec<Value>>,
    /// Whether an integer exceeded the limit.
    is_costly: bool,
}

impl Samples {
    /// Evaluates the formula for sample jobs whose inputs are within their ranges.
    fn new(program: &Program, schema: &Schema, ranges: &Ranges) -> Self {
        let names = program.inputs().to_vec();
        let literals = literals(program.expr());
        let mut samples = Self {
            indices: names.iter().cloned().zip(0..).collect(),
            names,
            all: Vec::new(),
            candidates: Vec::new(),
            is_costly: false,
        };
        for name in &samples.names {
            let candidates = candidates(name, schema, ranges, &literals);
            samples.candidates.push(candidates);
        }
        if program.refused().is_some() || samples.candidates.iter().any(Vec::is_empty) {
            return samples;
        }
        // at least 4 for the longest formula, to have more than the typical job
        let max_samples = (MAX_STEPS / program.expr().nodes().len().max(1)).clamp(4, MAX_SAMPLES);
        let mut interpreter = program.interpreter(Python::with_fuel(FUEL));
        samples.vary_one_input(max_samples, &mut interpreter);
        samples.mix_inputs(max_samples, &mut interpreter);
        samples
    }

    /// The index of an input; `None` if the formula has no such input.
    fn index(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    fn evaluate(
        &mut self,
        inputs: Vec<Value>,
        varied: Option<usize>,
        interpreter: &mut Interpreter<'_>,
    ) {
        let result = interpreter.evaluate(&inputs);
        if let Err(error) = &result {
            self.is_costly |= error.kind() == ErrorKind::Limit;
        }
        self.all.push(Sample {
            inputs,
            varied,
            result,
        });
    }

    /// The maximum number of samples, after those that have been evaluated.
    fn limited(&self, max_samples: usize) -> usize {
        if self.is_costly {
            max_samples.min(MAX_COSTLY_SAMPLES)
        } else {
            max_samples
        }
    }

    fn typical(&self) -> Vec<Value> {
        // no input is without candidates
        self.candidates
            .iter()
            .map(|candidates| candidates[0].clone())
            .collect()
    }

    /// Evaluates the typical job, and that job with one input changed.
    fn vary_one_input(&mut self, max_samples: usize, interpreter: &mut Interpreter<'_>) {
        self.evaluate(self.typical(), None, interpreter);
        let longest = self.candidates.iter().map(Vec::len).max().unwrap_or(0);
        for choice in 1..longest {
            for input in 0..self.names.len() {
                let Some(value) = self.candidates[input].get(choice).cloned() else {
                    continue;
                };
                // two thirds, which leaves the rest to jobs with several unusual inputs
                if self.all.len() * 3 > self.limited(max_samples) * 2 {
                    return;
                }
                let mut inputs = self.typical();
                inputs[input] = value;
                self.evaluate(inputs, Some(input), interpreter);
            }
        }
    }

    /// Evaluates jobs with pseudo-random candidates for all inputs.
    fn mix_inputs(&mut self, max_samples: usize, interpreter: &mut Interpreter<'_>) {
        // a fixed seed: the same formula has the same findings everywhere
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        if self.names.len() < 2 {
            return;
        }
        while self.all.len() < self.limited(max_samples) {
            let mut inputs = Vec::with_capacity(self.names.len());
            for candidates in &self.candidates {
                state = state
                    // the linear congruential generator of Knuth's MMIX
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                // the high bits, because the low ones of this generator repeat soon
                inputs.push(candidates[(state >> 33) as usize % candidates.len()].clone());
            }
            self.evaluate(inputs, None, interpreter);
        }
    }

    /// The first sample with each kind of error at each place.
    fn failures(&self) -> Vec<(&Sample, &EvalError)> {
        let mut seen: HashSet<(Span, ErrorKind)> = HashSet::new();
        let mut failures = Vec::new();
        for sample in &self.all {
            if let Err(error) = &sample.result
                && seen.insert((error.span(), error.kind()))
            {
                failures.push((sample, error));
            }
        }
        failures
    }

    /// The values that explain a result: that of the input that was varied, else those of the
    /// inputs in `among`.
    fn relevant_inputs<'t>(
        &'t self,
        sample: &'t Sample,
        among: &[&str],
    ) -> Vec<(&'t str, &'t Value)> {
        let mut relevant = Vec::new();
        for (index, name) in self.names.iter().enumerate() {
            if among.contains(&&**name) {
                let input = (&**name, &sample.inputs[index]);
                if sample.varied == Some(index) {
                    return vec![input];
                }
                relevant.push(input);
            }
        }
        relevant
    }
}

/// The numeric literals of the formula.
fn literals(expr: &Expr) -> Vec<f64> {
    let mut literals: Vec<f64> = Vec::new();
    for node in expr.nodes() {
        let ExprKind::Literal { kind, text } = &node.kind else {
            continue;
        };
        let number = match literal_value(*kind, text, PythonVersion::default()) {
            Ok(Value::Int(number)) => number as f64,
            Ok(Value::Float(number)) if *kind == LiteralKind::Float => number,
            _ => continue,
        };
        if literals.len() < MAX_LITERALS && !literals.contains(&number) {
            literals.push(number);
        }
    }
    literals
}

/// The values that an input has in practice, the typical one first.
fn candidates(name: &str, schema: &Schema, ranges: &Ranges, literals: &[f64]) -> Vec<Value> {
    let input_type = match schema.entry(name) {
        Some(entry) => entry.input_type,
        None => InputType::Float,
    };
    let within = ranges.interval(name, schema);
    let common: &[f64] = match (name, input_type) {
        ("accrue_type", _) => &[2.0, 0.0, 1.0, 3.0],
        ("job_priority" | "queue_priority", _) => &[100.0, 0.0, -100.0, 1.0, 1023.0, -1024.0],
        // every job has a chunk
        ("nodect", _) => &[4.0, 1.0, 2.0, 128.0],
        (_, InputType::Ratio) => &[0.25, 0.0, 1.0, 0.5, 0.000_001, 0.01, 0.9],
        (_, InputType::Duration) => &[3600.0, 0.0, 1.0, 86_400.0, 60.0, 604_800.0, 2_592_000.0],
        (_, InputType::Size) => &[4_194_304.0, 0.0, 1.0, 1024.0, 1_073_741_824.0, 524_288.0],
        (_, InputType::Count) => &[16.0, 0.0, 1.0, 2.0, 1024.0, 64.0, 10_000.0],
        _ => &[10.0, 0.0, 1.0, 0.5, 100.0, 1000.0, 2.25],
    };
    let mut numbers = common.to_vec();
    let is_explicit = ranges.explicit(name).is_some();
    if is_explicit {
        numbers.push(within.low);
        // no job has the most that a type allows
        if within.high < Ranges::default().interval(name, schema).high {
            numbers.extend([within.high, (within.low + within.high) / 2.0]);
        }
    }
    for &number in literals {
        // the type of a site's resource allows negative values, but few sites have any
        let is_usual = is_explicit || number >= 0.0 || common.contains(&number);
        if number.abs() <= 1e9 && is_usual {
            numbers.push(number);
        }
    }
    let mut values: Vec<Value> = Vec::new();
    for number in numbers {
        let value = to_value(number, within);
        if within.contains(&value) && !values.iter().any(|known| known.is_identical(&value)) {
            values.push(value);
        }
    }
    values
}

/// The number in the type that the input has; a float resource without decimals is an integer.
fn to_value(number: f64, within: Interval) -> Value {
    let is_whole = match within.kind() {
        NumberType::Int => true,
        NumberType::Float => false,
        NumberType::Either => number == number.floor(),
    };
    // below 2^53, where the conversion is exact
    if is_whole && number.abs() < 9e15 {
        Value::Int(number.round() as i64)
    } else {
        Value::Float(number)
    }
}
