//! The numbers against their referee, the `python3` on this machine: values bit for bit, errors word for word.
//!
//! `JSF_REFEREE_CASES` says how many operations to try, `JSF_REFEREE_SEED` where to begin. Without a Python 3.11 there
//! is no referee, and the test says so and passes.

use crate::support::cases;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use cases::{Generator, Operation, written};
use job_sort_formula::python::{BinaryOperator, ErrorKind, Function, Python, Raised, Value};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/referee/operations.py");

/// How many operations one process of Python is given.
const BATCH: usize = 250_000;

/// Functions that follow the formulas of the C library instead of calling it, and by how many units in the last place
/// another version of it may differ. With glibc 2.36, after which they are written, every distance is 0.
const TOLERATED: [(Function, u64); 8] = [
    (Function::Acosh, 2),
    (Function::Asinh, 2),
    (Function::Atanh, 2),
    (Function::Cbrt, 1),
    (Function::Dist, 1),
    (Function::Erf, 1),
    (Function::Erfc, 4),
    (Function::Hypot, 1),
];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn has_referee() -> bool {
    let output = Command::new("python3").args([SCRIPT, "--version"]).output();
    output.is_ok_and(|output| output.stdout.starts_with(b"3.11\n"))
}

/// What Python answers, one line for each expression.
fn ask(expressions: String) -> Vec<String> {
    let mut child = Command::new("python3")
        .arg(SCRIPT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let mut input = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || input.write_all(expressions.as_bytes()));
    let output = child.wait_with_output().expect("python3 ends");
    writer.join().expect("no panic").expect("python3 reads all");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// How far apart two doubles are, in units in the last place.
fn apart(ours: &str, theirs: &str) -> Option<u64> {
    let key = |text: &str| {
        let bits = u64::from_str_radix(text.strip_prefix('D')?, 16).ok()? as i64;
        Some(if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits })
    };
    Some(key(ours)?.abs_diff(key(theirs)?))
}

fn as_text(answer: &Result<Value, Raised>) -> String {
    match answer {
        Ok(value) => written(value),
        Err(raised) => raised.to_string(),
    }
}

/// Whether Python made a type of types, as `int | float`, which this crate does not have.
fn is_union(operation: &Operation, theirs: &str) -> bool {
    let of_types = matches!(operation, Operation::Binary(BinaryOperator::BitOr, x, y)
        if [x, y].iter().any(|operand| operand.type_name() == "type"));
    of_types && !theirs.starts_with("TypeError")
}

#[derive(Default)]
struct Tally {
    same: usize,
    beyond_limits: usize,
    outside: usize,
    furthest: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
}

impl Tally {
    fn judge(&mut self, operation: &Operation, ours: &Result<Value, Raised>, theirs: &str) {
        let text = as_text(ours);
        let complex = matches!(ours, Err(raised) if raised.kind == ErrorKind::Complex);
        if text == theirs {
            self.same += 1;
        } else if is_union(operation, theirs)
            || (complex && (theirs == "complex" || theirs.starts_with("OverflowError")))
        {
            self.outside += 1;
        } else if !self.tolerate(operation, &text, theirs) && self.wrong.len() < 40 {
            self.wrong.push(format!("{}\n    Python: {theirs}\n    here:   {text}", operation.expression()));
        }
    }

    fn tolerate(&mut self, operation: &Operation, ours: &str, theirs: &str) -> bool {
        let (Operation::Call(Value::Function(function), ..), Some(distance)) = (operation, apart(ours, theirs)) else {
            return false;
        };
        let Some((_, most)) = TOLERATED.iter().find(|(tolerated, _)| tolerated == function) else {
            return false;
        };
        let furthest = self.furthest.entry(function.name()).or_default();
        *furthest = distance.max(*furthest);
        distance <= *most
    }
}

#[test]
fn numbers_are_pythons() {
    if !has_referee() {
        eprintln!("no python3 of version 3.11 on this machine: the numbers go without their referee");
        return;
    }
    let mut left = setting("JSF_REFEREE_CASES", 50_000) as usize;
    let mut generator = Generator(setting("JSF_REFEREE_SEED", 20_260_117));
    let python = Python::new();
    let mut tally = Tally::default();
    while left > 0 {
        let mut asked = Vec::new();
        for _ in 0..left.min(BATCH) {
            let operation = generator.operation();
            let answer = operation.answer(&python);
            let limited = matches!(&answer, Err(raised) if raised.kind == ErrorKind::Limit);
            if limited || operation.is_endless() {
                tally.beyond_limits += 1;
            } else {
                asked.push((operation, answer));
            }
        }
        let expressions = asked.iter().map(|(operation, _)| operation.expression() + "\n").collect();
        let answers = ask(expressions);
        assert_eq!(answers.len(), asked.len(), "Python answers every line");
        for ((operation, ours), theirs) in asked.iter().zip(&answers) {
            tally.judge(operation, ours, theirs);
        }
        left = left.saturating_sub(BATCH);
    }
    eprintln!(
        "{} the same, {} beyond the limits, {} complex or unions, distances {:?}",
        tally.same, tally.beyond_limits, tally.outside, tally.furthest
    );
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
}
