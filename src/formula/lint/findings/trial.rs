//! Jobs as they occur, made up to see what the formula does with them.
//!
//! The ranges say what cannot happen. What can is only reported with a job that shows it: an interval is often
//! wider than the values behind it, and a resource that may be anything by its type is not everything in practice.

use std::collections::HashMap;

use crate::diagnostic::Span;
use crate::formula::lint::ranges::{Facts, Kinds, Ranges, Values};
use crate::formula::program::{EvalError, Evaluator, Program, literal};
use crate::formula::syntax::{Expr, LiteralKind, NodeKind};
use crate::python::{ErrorKind, Python, Value};
use crate::schema::{InputType, Schema};

/// How many instructions all jobs together may take.
const MOST_STEPS: usize = 200_000;
const MOST_JOBS: usize = 320;
/// Where integers may grow without bound, each job may cost as much as many others.
const MOST_COSTLY_JOBS: usize = 24;
/// What one job may spend on long integers.
const WORK: u64 = 1 << 20;
/// How many numbers of the formula are tried as inputs.
const MOST_LITERALS: usize = 12;

/// A made-up job and what the formula made of it.
pub(super) struct Attempt {
    /// The values of the inputs, in the order of [`Trial::names`].
    pub(super) inputs: Vec<Value>,
    /// The input that alone is unlike that of the usual job.
    pub(super) odd: Option<usize>,
    /// The value, or the error.
    pub(super) result: Result<Value, EvalError>,
}

/// A formula tried on jobs.
pub(super) struct Trial {
    /// The inputs.
    pub(super) names: Vec<Box<str>>,
    /// The place of each input among them.
    places: HashMap<Box<str>, usize>,
    /// The jobs.
    pub(super) attempts: Vec<Attempt>,
    /// What each input may be, the usual value first.
    pub(super) choices: Vec<Vec<Value>>,
}

impl Trial {
    /// Tries the formula on jobs whose inputs are within their ranges.
    pub(super) fn of(program: &Program, schema: &Schema, ranges: &Ranges, facts: &Facts) -> Self {
        let names = program.inputs().to_vec();
        let literals = literals(program.expr());
        let choices: Vec<_> = names.iter().map(|name| choices(name, schema, ranges, &literals)).collect();
        let places = names.iter().cloned().zip(0..).collect();
        let mut trial = Self { names, places, attempts: Vec::new(), choices };
        if program.refused().is_some() || trial.choices.iter().any(Vec::is_empty) {
            return trial;
        }
        let most = match facts.errors().contains(ErrorKind::Limit) {
            true => MOST_COSTLY_JOBS,
            false => (MOST_STEPS / program.expr().nodes().len().max(1)).clamp(4, MOST_JOBS),
        };
        let mut evaluator = program.evaluator(Python::with_fuel(WORK));
        trial.one_at_a_time(most, &mut evaluator);
        trial.mixed(most, &mut evaluator);
        trial
    }

    /// The place of an input among the names, if it is one.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    fn attempt(&mut self, inputs: Vec<Value>, odd: Option<usize>, evaluator: &mut Evaluator<'_, Python>) {
        let result = evaluator.evaluate(&inputs);
        self.attempts.push(Attempt { inputs, odd, result });
    }

    fn usual(&self) -> Vec<Value> {
        self.choices.iter().filter_map(|choices| choices.first().cloned()).collect()
    }

    /// The usual job, and that job with one input changed.
    fn one_at_a_time(&mut self, most: usize, evaluator: &mut Evaluator<'_, Python>) {
        self.attempt(self.usual(), None, evaluator);
        let longest = self.choices.iter().map(Vec::len).max().unwrap_or(0);
        for choice in 1..longest {
            for input in 0..self.names.len() {
                let Some(value) = self.choices[input].get(choice).cloned() else { continue };
                if self.attempts.len() * 3 > most * 2 {
                    return;
                }
                let mut inputs = self.usual();
                inputs[input] = value;
                self.attempt(inputs, Some(input), evaluator);
            }
        }
    }

    /// Jobs with any mixture of values.
    fn mixed(&mut self, most: usize, evaluator: &mut Evaluator<'_, Python>) {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        if self.names.len() < 2 {
            return;
        }
        while self.attempts.len() < most {
            let mut pick = |choices: &Vec<Value>| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                choices.get((state >> 33) as usize % choices.len().max(1)).cloned()
            };
            let inputs = self.choices.iter().filter_map(&mut pick).collect();
            self.attempt(inputs, None, evaluator);
        }
    }

    /// The first job of each kind of error at each place.
    pub(super) fn failures(&self) -> Vec<(&Attempt, &EvalError)> {
        let mut first: HashMap<(Span, ErrorKind), usize> = HashMap::new();
        let mut failures = Vec::new();
        for (index, attempt) in self.attempts.iter().enumerate() {
            if let Err(error) = &attempt.result
                && *first.entry((error.span, error.raised.kind)).or_insert(index) == index
            {
                failures.push((attempt, error));
            }
        }
        failures
    }

    /// The values of the inputs that count for an attempt: the odd one, else those named in `among`.
    pub(super) fn circumstances<'t>(&'t self, attempt: &'t Attempt, among: &[&str]) -> Vec<(&'t str, &'t Value)> {
        let inputs = self.names.iter().map(|name| &**name).zip(&attempt.inputs);
        let named: Vec<_> = inputs.filter(|(name, _)| among.contains(name)).collect();
        let odd = attempt.odd.and_then(|odd| self.names.get(odd));
        match named.iter().find(|(name, _)| odd.is_some_and(|odd| **odd == **name)) {
            Some(&odd) => vec![odd],
            None => named,
        }
    }
}

/// The numbers in the formula.
fn literals(expr: &Expr) -> Vec<f64> {
    let mut literals: Vec<f64> = Vec::new();
    for node in expr.nodes() {
        let NodeKind::Literal { kind, text } = &node.kind else { continue };
        let number = match literal::value(*kind, text) {
            Ok(Value::Int(number)) => number as f64,
            Ok(Value::Float(number)) if *kind == LiteralKind::Float => number,
            _ => continue,
        };
        if literals.len() < MOST_LITERALS && !literals.contains(&number) {
            literals.push(number);
        }
    }
    literals
}

/// What an input is in practice, the usual value first.
fn choices(name: &str, schema: &Schema, ranges: &Ranges, literals: &[f64]) -> Vec<Value> {
    let kind = schema.entry(name).map_or(InputType::Float, |entry| entry.input_type);
    let within = ranges.of(name, schema);
    let usual: &[f64] = match (name, kind) {
        ("accrue_type", _) => &[2.0, 0.0, 1.0, 3.0],
        ("job_priority" | "queue_priority", _) => &[100.0, 0.0, -100.0, 1.0, 1023.0, -1024.0],
        // no job is without a chunk
        ("nodect", _) => &[4.0, 1.0, 2.0, 128.0],
        (_, InputType::Ratio) => &[0.25, 0.0, 1.0, 0.5, 0.000_001, 0.01, 0.9],
        (_, InputType::Duration) => &[3600.0, 0.0, 1.0, 86_400.0, 60.0, 604_800.0, 2_592_000.0],
        (_, InputType::Size) => &[4_194_304.0, 0.0, 1.0, 1024.0, 1_073_741_824.0, 524_288.0],
        (_, InputType::Count) => &[16.0, 0.0, 1.0, 2.0, 1024.0, 64.0, 10_000.0],
        _ => &[10.0, 0.0, 1.0, 0.5, 100.0, 1000.0, 2.25],
    };
    let mut numbers = usual.to_vec();
    let is_own = ranges.own(name).is_some();
    if is_own {
        numbers.extend([within.least(), within.most(), (within.least() + within.most()) / 2.0]);
    }
    // a site's resource may be negative by its type; nothing says that it is
    let is_usual = |number: f64| is_own || number >= 0.0 || usual.contains(&number);
    numbers.extend(literals.iter().filter(|&&number| is_usual(number) && number.abs() <= 1e9));
    let mut values: Vec<Value> = Vec::new();
    for number in numbers {
        let value = as_kind(number, within);
        if within.contains(&value) && !values.iter().any(|known| known.is_same(&value)) {
            values.push(value);
        }
    }
    values
}

/// A number of the type that the input has; a float resource without decimals is an integer.
fn as_kind(number: f64, within: Values) -> Value {
    let whole = within.kinds().meets(Kinds::INT);
    let float = within.kinds().meets(Kinds::FLOAT);
    if whole && (!float || number == number.floor()) && number.abs() < 9e15 {
        Value::Int(number.round() as i64)
    } else {
        Value::Float(number)
    }
}
