//! Whom the formula favours: heavy users, or jobs that have just come.

use crate::diagnostic::{Diagnostic, Span};
use crate::formula::lint::direction::{Direction, direction};
use crate::formula::lint::findings::Case;
use crate::formula::program::Program;
use crate::formula::syntax::NodeKind;
use crate::python::{Python, Value};

/// The names that have a right way round, the wrong one, its code, and what is wrong with it.
const WRONG: [(&str, Direction, &str, &str); 5] = [
    ("fairshare_tree_usage", Direction::Rising, "JSF601", "those who have used most go first"),
    ("fairshare_factor", Direction::Falling, "JSF601", "those who deserve most go last"),
    ("fairshare_perc", Direction::Falling, "JSF601", "those with the largest share go last"),
    ("fair_share_perc", Direction::Falling, "JSF601", "those with the largest share go last"),
    ("eligible_time", Direction::Falling, "JSF602", "the longer a job waits, the further back it goes"),
];

/// Findings on inputs that pull the wrong way, whatever the others are.
pub(super) fn fairness(case: &Case<'_>, program: &Program) -> Vec<Diagnostic> {
    let used = |name: &str| case.trial.place(name);
    let both = used("fairshare_perc").is_some() && used("fair_share_perc").is_some();
    let mut findings = Vec::new();
    for (name, wrong, code, effect) in WRONG {
        let Some(input) = used(name) else { continue };
        // two names of one number may well balance each other
        if (both && name.ends_with("share_perc")) || direction(case.expr, &case.facts, name) != wrong {
            continue;
        }
        if matters(case, program, input, wrong) {
            let moves = if wrong == Direction::Rising { "rises" } else { "falls" };
            let message = format!("the value {moves} as `{name}` grows: {effect}");
            let finding = Diagnostic::warning(code, message, place(case, name));
            findings.push(finding.with_help("turn its sign, or divide where you multiply"));
        }
    }
    findings
}

/// Whether the input changes the value of some job, the wrong way.
fn matters(case: &Case<'_>, program: &Program, input: usize, wrong: Direction) -> bool {
    let mut evaluator = program.evaluator(Python::with_fuel(1 << 20));
    let mut choices: Vec<&Value> = case.trial.choices[input].iter().collect();
    choices.sort_by(|x, y| double(x).total_cmp(&double(y)));
    let bases = case.trial.attempts.iter().filter(|attempt| attempt.result.is_ok()).take(8);
    for base in bases {
        let values = choices.iter().filter_map(|&choice| {
            let mut inputs = base.inputs.clone();
            inputs[input] = choice.clone();
            evaluator.evaluate(&inputs).ok().map(|value| double(&value))
        });
        let values: Vec<f64> = values.collect();
        let moved = |pair: &[f64]| if wrong == Direction::Rising { pair[0] < pair[1] } else { pair[0] > pair[1] };
        if values.windows(2).any(moved) {
            return true;
        }
    }
    false
}

fn double(value: &Value) -> f64 {
    match value {
        Value::Int(x) => *x as f64,
        Value::Float(x) => *x,
        Value::Bool(x) => f64::from(u8::from(*x)),
        _ => f64::NAN,
    }
}

/// Where the name first stands.
fn place(case: &Case<'_>, name: &str) -> Span {
    let is_it = |kind: &NodeKind| matches!(kind, NodeKind::Name(other) if **other == *name);
    let places = case.expr.nodes().iter().filter(|node| is_it(&node.kind)).map(|node| node.span);
    places.min().unwrap_or_default()
}
