//! The results of this crate and of Python for a formula, and whether they are equal.

use std::collections::BTreeMap;
use std::fmt;

use job_sort_formula::formula::syntax::{ExprKind, SyntaxErrorKind};
use job_sort_formula::python::{ErrorKind, Function, Python, PythonVersion, Raised, Value};
use job_sort_formula::{Formula, Schema};
use jsf_testing::random::written;

use crate::operations::is_same_exception;

/// Functions that follow the algorithms of one version of the C library. With another version they
/// differ by a few units in the last place; `operations.rs` has the tolerances.
pub const INEXACT: [Function; 8] = [
    Function::Acosh,
    Function::Asinh,
    Function::Atanh,
    Function::Cbrt,
    Function::Dist,
    Function::Erf,
    Function::Erfc,
    Function::Hypot,
];

/// The relative tolerance for a formula that calls them.
const TOLERANCE: f64 = 1e-9;

/// The inputs of one job.
pub type Job = Vec<(&'static str, Value)>;

/// The result of this crate for a text.
pub enum Outcome {
    /// Python does not compile it.
    Refused(Raised),
    /// This crate does not evaluate it, whether or not Python compiles it.
    Foreign,
    /// The value for each of these jobs.
    Computed(Vec<(usize, Result<Value, Raised>)>),
}

/// A text and the result of this crate.
pub struct Question {
    text: String,
    /// Whether it calls one of [`INEXACT`].
    inexact: bool,
    /// Whether it compares and has sequences. In Python a computed nan is a different object from
    /// one in a sequence; values of this crate have no identity.
    by_identity: bool,
    outcome: Outcome,
}

impl Question {
    pub fn new(
        text: String,
        indices: &[usize],
        jobs: &[Job],
        schema: &Schema,
        tally: &mut Tally,
    ) -> Option<Self> {
        let formula = match Formula::parse_for(&text, schema.python()) {
            Ok(formula) => formula,
            Err(error) => {
                assert!(
                    text.get(error.span().start as usize..error.span().end as usize)
                        .is_some(),
                    "span in {text:?}"
                );
                if matches!(
                    error.kind(),
                    SyntaxErrorKind::TooLong | SyntaxErrorKind::TooDeep
                ) {
                    return None;
                }
                let outcome = Outcome::Refused(Raised::new(ErrorKind::Syntax, error.to_string()));
                return Some(Self {
                    text,
                    inexact: false,
                    by_identity: false,
                    outcome,
                });
            }
        };
        let inexact = formula
            .names()
            .iter()
            .any(|name| INEXACT.iter().any(|function| function.name() == *name));
        let nodes = || formula.expr().nodes().iter();
        let by_identity = nodes().any(|node| matches!(node.kind, ExprKind::Comparison { .. }))
            && nodes().any(|node| matches!(node.kind, ExprKind::Tuple(_) | ExprKind::List(_)));
        let Ok(program) = formula.compile(schema) else {
            return Some(Self {
                text,
                inexact,
                by_identity,
                outcome: Outcome::Foreign,
            });
        };
        if let Some(raised) = program.refused() {
            if raised.kind == ErrorKind::Limit {
                tally.beyond_limits += 1;
                return None;
            }
            return Some(Self {
                text,
                inexact,
                by_identity,
                outcome: Outcome::Refused(raised.clone()),
            });
        }
        let mut evaluator = program.interpreter(Python::new());
        let mut results = Vec::new();
        for &index in indices {
            let input = |name: &str| {
                jobs[index]
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| value.clone())
            };
            let inputs: Vec<_> = program
                .inputs()
                .iter()
                .map(|name| input(name).expect("an input"))
                .collect();
            match evaluator.evaluate(&inputs) {
                Err(error) if error.kind() == ErrorKind::Limit => tally.beyond_limits += 1,
                result => results.push((
                    index,
                    result.map_err(|error| Raised::new(error.kind(), error.text().to_owned())),
                )),
            }
        }
        Some(Self {
            text,
            inexact,
            by_identity,
            outcome: Outcome::Computed(results),
        })
    }

    /// The values must be equal although the text calls an inexact function.
    pub fn exactly(self) -> Self {
        Self {
            inexact: false,
            ..self
        }
    }

    pub fn written(&self) -> String {
        let indices: Vec<_> = match &self.outcome {
            Outcome::Computed(results) => {
                results.iter().map(|(index, _)| index.to_string()).collect()
            }
            _ => Vec::new(),
        };
        let text = serde_json::to_string(&self.text).expect("a string");
        format!("[\"formula\",{text},[{}]]\n", indices.join(","))
    }
}

#[derive(Default)]
pub struct Tally {
    pub version: PythonVersion,
    /// Exceptions of the same type whose text is that of 3.11.
    messages: usize,
    formulas: usize,
    refused: usize,
    foreign: usize,
    values: usize,
    errors: BTreeMap<ErrorKind, usize>,
    complex: usize,
    near: usize,
    inexact: usize,
    by_identity: usize,
    endless: usize,
    beyond_limits: usize,
    different: usize,
    pub wrong: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: usize = self.errors.values().sum();
        write!(
            f,
            "{} formulas ({} refused by both, {} foreign), {} evaluations: {} the same value, {errors} the same error \
             {:?}, {} with another message, {} complex, {} near, {} beside an inexact function, {} by the \
             identity of a nan, {} without end; besides {} beyond the limits; {} \
             wrong",
            self.formulas,
            self.refused,
            self.foreign,
            self.values
                + errors
                + self.messages
                + self.complex
                + self.near
                + self.inexact
                + self.by_identity
                + self.endless
                + self.different,
            self.values,
            self.errors,
            self.messages,
            self.complex,
            self.near,
            self.inexact,
            self.by_identity,
            self.endless,
            self.beyond_limits,
            self.different,
        )
    }
}

impl Tally {
    fn wrong(&mut self, question: &Question, job: Option<&Job>, theirs: &str, ours: &str) {
        self.different += 1;
        if self.wrong.len() >= 100 {
            return;
        }
        let named = |(name, _): &&(&str, Value)| question.text.contains(name);
        let job = job.map(|job| {
            job.iter()
                .filter(named)
                .map(|(name, value)| format!("{name} = {value}, "))
                .collect::<String>()
        });
        let job = job.unwrap_or_default();
        self.wrong.push(format!(
            "{:?}\n    {job}\n    Python: {theirs}\n    here:   {ours}",
            question.text
        ));
    }

    /// Compares the lines that Python wrote for a question, and returns how many they were.
    pub fn compare(&mut self, question: &Question, answers: &[String], jobs: &[Job]) -> usize {
        self.formulas += 1;
        let compiled = &*answers[0];
        match &question.outcome {
            Outcome::Refused(ours) if compiled.starts_with(ours.kind.exception()) => {
                self.refused += 1
            }
            // Python's parser may run out of memory before it reaches the mistake
            Outcome::Refused(ours)
                if ours.kind == ErrorKind::Syntax && compiled.starts_with("MemoryError: ") =>
            {
                self.refused += 1
            }
            // before 3.12 a NUL byte is a ValueError
            Outcome::Refused(_)
                if compiled.starts_with("ValueError: source code string cannot contain null") =>
            {
                self.refused += 1
            }
            // the grammar does not have all that may be written in a lambda, a generator, an
            // f-string, and in calls before 3.8
            Outcome::Refused(ours)
                if compiled == "ok"
                    && ours.kind == ErrorKind::Syntax
                    && ["lambda", "for", "'", "\"", ")=", ") ="]
                        .iter()
                        .any(|word| question.text.contains(word)) =>
            {
                self.foreign += 1;
            }
            Outcome::Refused(ours) => self.wrong(question, None, compiled, &ours.to_string()),
            Outcome::Foreign => self.foreign += 1,
            _ if compiled != "ok" => self.wrong(question, None, compiled, "ok"),
            Outcome::Computed(results) => {
                for ((index, ours), theirs) in results.iter().zip(&answers[1..]) {
                    self.compare_value(question, &jobs[*index], ours, theirs);
                }
            }
        }
        match (&question.outcome, compiled) {
            (Outcome::Computed(results), "ok") => 1 + results.len(),
            _ => 1,
        }
    }

    fn compare_value(
        &mut self,
        question: &Question,
        job: &Job,
        ours: &Result<Value, Raised>,
        theirs: &str,
    ) {
        let text = match ours {
            Ok(value) => written(value),
            Err(raised) => raised.to_string(),
        };
        match ours {
            _ if theirs.starts_with("Endless") => self.endless += 1,
            Ok(_) if text == theirs => self.values += 1,
            Err(raised) if text == theirs => *self.errors.entry(raised.kind).or_default() += 1,
            _ if self.version != PythonVersion::default() && is_same_exception(ours, theirs) => {
                self.messages += 1
            }
            Err(raised) if raised.kind == ErrorKind::Complex => self.complex += 1,
            Ok(Value::Float(value)) if question.inexact && is_near(*value, theirs) => {
                self.near += 1
            }
            _ if question.by_identity && may_be_nan(&question.text, job) => self.by_identity += 1,
            _ if question.inexact => self.inexact += 1,
            _ => self.wrong(question, Some(job), theirs, &text),
        }
    }
}

fn may_be_nan(text: &str, job: &Job) -> bool {
    let is_finite = |value: &Value| !matches!(value, Value::Float(value) if !value.is_finite());
    ["nan", "inf", "1e400"]
        .iter()
        .any(|name| text.contains(name))
        || job
            .iter()
            .any(|(name, value)| text.contains(name) && !is_finite(value))
}

fn is_near(ours: f64, theirs: &str) -> bool {
    let bits = theirs
        .strip_prefix('D')
        .and_then(|bits| u64::from_str_radix(bits, 16).ok());
    bits.map(f64::from_bits)
        .is_some_and(|theirs| (ours - theirs).abs() <= TOLERANCE * ours.abs())
}
