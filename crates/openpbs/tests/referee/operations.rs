//! Single operations: values are equal bit for bit, errors word for word.

use std::collections::BTreeMap;

use job_sort_formula::python::{
    BinaryOperator, ErrorKind, Function, Python, PythonVersion, Raised, Value,
};
use jsf_testing::random::{Generator, Operation, written};
use jsf_testing::setting;

use crate::python::Script;

/// How many operations one Python process evaluates.
const BATCH: usize = 250_000;

/// Functions that follow the algorithms of the C library instead of calling it, and by how many
/// units in the last place they may differ from other versions. With glibc 2.36, whose algorithms
/// they follow, they do not differ.
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

/// The distance of two doubles in units in the last place.
fn distance(ours: &str, theirs: &str) -> Option<u64> {
    let key = |text: &str| {
        let bits = u64::from_str_radix(text.strip_prefix('D')?, 16).ok()? as i64;
        Some(if bits < 0 {
            i64::MIN.wrapping_sub(bits)
        } else {
            bits
        })
    };
    Some(key(ours)?.abs_diff(key(theirs)?))
}

/// Whether Python would compute for hours what this crate answers at once.
fn is_endless(operation: &Operation) -> bool {
    let Operation::Call(Value::Function(Function::Round), positional, keywords) = operation else {
        return false;
    };
    let digits = positional.get(1).or(keywords
        .iter()
        .find(|(name, _)| *name == "ndigits")
        .map(|(_, value)| value));
    match digits {
        Some(Value::Int(digits)) => *digits < -5000,
        Some(Value::Big(digits)) => digits.is_negative(),
        _ => false,
    }
}

fn as_text(answer: &Result<Value, Raised>) -> String {
    match answer {
        Ok(value) => written(value),
        Err(raised) => raised.to_string(),
    }
}

/// Whether the result is a union of types such as `int | float`, which this crate does not have.
fn is_union(operation: &Operation, theirs: &str) -> bool {
    let of_types = matches!(operation, Operation::Binary(BinaryOperator::BitOr, x, y)
        if [x, y].iter().any(|operand| operand.type_name() == "type"));
    of_types && !theirs.starts_with("TypeError")
}

/// Whether the operation names a function that this version does not have: a formula then has an
/// undefined name, which has no value.
fn is_unknown_function(operation: &Operation, theirs: &str, version: PythonVersion) -> bool {
    let name = theirs
        .strip_prefix("NameError: name '")
        .and_then(|rest| rest.split('\'').next());
    let function = name.and_then(Function::from_name);
    function.is_some_and(|function| {
        !function.exists_in(version) && operation.expression().contains(function.name())
    })
}

/// Whether both raised the same type of exception.
pub fn is_same_exception(ours: &Result<Value, Raised>, theirs: &str) -> bool {
    let kind = |raised: &Raised| {
        theirs
            .strip_prefix(raised.kind.exception())
            .is_some_and(|rest| rest.starts_with(": "))
    };
    ours.as_ref().is_err_and(kind)
}

#[derive(Default)]
struct Tally {
    version: PythonVersion,
    /// Exceptions of the same type whose text is that of 3.11.
    messages: usize,
    same: usize,
    beyond_limits: usize,
    outside: usize,
    furthest: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
}

impl Tally {
    fn compare(&mut self, operation: &Operation, ours: &Result<Value, Raised>, theirs: &str) {
        let text = as_text(ours);
        let complex = matches!(ours, Err(raised) if raised.kind == ErrorKind::Complex);
        if text == theirs {
            self.same += 1;
        } else if self.version != PythonVersion::default() && is_same_exception(ours, theirs) {
            self.messages += 1;
        } else if is_union(operation, theirs)
            || is_unknown_function(operation, theirs, self.version)
            || (complex && (theirs == "complex" || theirs.starts_with("OverflowError")))
        {
            self.outside += 1;
        } else if !self.tolerate(operation, &text, theirs) && self.wrong.len() < 40 {
            self.wrong.push(format!(
                "Python {}: {}\n    Python: {theirs}\n    here:   {text}",
                self.version,
                operation.expression()
            ));
        }
    }

    fn tolerate(&mut self, operation: &Operation, ours: &str, theirs: &str) -> bool {
        let (Operation::Call(Value::Function(function), ..), Some(distance)) =
            (operation, distance(ours, theirs))
        else {
            return false;
        };
        let Some((_, most)) = TOLERATED
            .iter()
            .find(|(tolerated, _)| tolerated == function)
        else {
            return false;
        };
        let furthest = self.furthest.entry(function.name()).or_default();
        *furthest = distance.max(*furthest);
        distance <= *most
    }
}

#[test]
fn results_of_operations_are_those_of_python() {
    let wrong: Vec<String> = Script::find_all("operations.py")
        .iter()
        .flat_map(wrong_operations)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The operations whose results are not those of this Python.
fn wrong_operations(script: &Script) -> Vec<String> {
    let mut left = script.cases(50_000) as usize;
    let mut generator = Generator(setting("JSF_REFEREE_SEED", 20_260_117));
    let python = Python::new().of_version(script.version);
    let mut tally = Tally {
        version: script.version,
        ..Tally::default()
    };
    while left > 0 {
        let mut asked = Vec::new();
        for _ in 0..left.min(BATCH) {
            let operation = generator.operation();
            let answer = operation.result(&python);
            let limited = matches!(&answer, Err(raised) if raised.kind == ErrorKind::Limit);
            if limited || is_endless(&operation) {
                tally.beyond_limits += 1;
            } else {
                asked.push((operation, answer));
            }
        }
        let expressions = asked
            .iter()
            .map(|(operation, _)| operation.expression() + "\n")
            .collect();
        let answers = script.run(&[], expressions);
        assert_eq!(answers.len(), asked.len(), "Python answers every line");
        for ((operation, ours), theirs) in asked.iter().zip(&answers) {
            tally.compare(operation, ours, theirs);
        }
        left = left.saturating_sub(BATCH);
    }
    eprintln!(
        "Python {}: {} the same, {} with another message, {} beyond the limits, {} complex, unions or unknown functions, \
         distances {:?}, {} wrong",
        script.version,
        tally.same,
        tally.messages,
        tally.beyond_limits,
        tally.outside,
        tally.furthest,
        tally.wrong.len()
    );
    tally.wrong
}
