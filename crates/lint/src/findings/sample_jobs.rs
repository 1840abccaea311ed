//! Sample jobs: the inputs that jobs have in practice, and what a formula computes for them.

use std::collections::{HashMap, HashSet};

use crate::ranges::{Interval, NumberType, Ranges};
use job_sort_formula::formula::program::{EvalError, Interpreter, Program, literal_value};
use job_sort_formula::formula::syntax::{Expr, ExprKind};
use job_sort_formula::python::Python;
use job_sort_formula::schema::InputType;
use job_sort_formula::{ErrorKind, PythonVersion, Schema, Span, Value};

/// The maximum number of nodes that are evaluated, over all sample jobs.
const MAX_STEPS: usize = 200_000;
const MAX_SAMPLES: usize = 320;
/// The maximum for a formula whose integers exceed the limit on their size, which takes long to
/// find out.
const MAX_COSTLY_SAMPLES: usize = 24;
/// The work of one evaluation, which long integers use up.
pub(super) const SAMPLE_WORK: u64 = 1 << 20;
/// The maximum number of literals of the formula that are used as inputs.
const MAX_LITERALS: usize = 12;

/// A sample job and its result.
pub(super) struct Sample {
    /// The values of the inputs, in the order of [`Samples::names`].
    pub(super) inputs: Vec<Value>,
    /// The only input whose value is not the typical one.
    varied: Option<usize>,
    /// The value of the formula, or the error.
    pub(super) result: Result<Value, EvalError>,
}

/// The results of a formula for sample jobs.
pub(super) struct Samples {
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
    pub(super) fn new(program: &Program, schema: &Schema, ranges: &Ranges) -> Self {
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
        let mut interpreter = program.interpreter(Python::with_work_limit(SAMPLE_WORK));
        samples.vary_one_input(max_samples, &mut interpreter);
        samples.mix_inputs(max_samples, &mut interpreter);
        samples
    }

    /// The index of an input; `None` if the formula has no such input.
    pub(super) fn index(&self, name: &str) -> Option<usize> {
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
        // a single input has been varied already
        if self.names.len() < 2 {
            return;
        }
        // asked each time, since any sample may prove costly
        while self.all.len() < self.limited(max_samples) {
            let mut sample = Vec::with_capacity(self.names.len());
            for candidates in &self.candidates {
                state = state
                    // the linear congruential generator of Knuth's MMIX
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                // the high bits, because the low ones of this generator repeat soon
                sample.push(candidates[(state >> 33) as usize % candidates.len()].clone());
            }
            self.evaluate(sample, None, interpreter);
        }
    }

    /// The first sample with each kind of error at each place.
    pub(super) fn failures(&self) -> Vec<(&Sample, &EvalError)> {
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
    pub(super) fn relevant_inputs<'t>(
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
            Ok(Value::Float(number)) => number,
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
