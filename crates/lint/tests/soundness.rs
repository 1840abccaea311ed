//! What the range analysis excludes does not happen in any part of random formulas for random jobs.
//!
//! `JSF_SOUNDNESS_DRAWS` sets how many jobs are tried, `JSF_SOUNDNESS_SEED` the seed.

mod formulas;
mod trace;

use std::cmp::Ordering;

use formulas::{Dice, NAMES};
use job_sort_formula::python::{ComparisonOperator, ErrorKind, Function, Python, Value};
use job_sort_formula::{Formula, Program, Schema};
use jsf_lint::{Facts, Known, Ranges, Slope};
use jsf_testing::setting;
use trace::{Seen, Tracer};

const JOBS_PER_FORMULA: usize = 8;

/// What the facts exclude although it happened.
fn contradiction(facts: &Facts, (node, result): &Seen) -> Option<String> {
    let fact = facts.at(*node);
    let is_right = match (&fact.known, result) {
        _ if !fact.reachable => false,
        (Known::Anything, _) => true,
        (Known::Number(interval), Ok(value)) => interval.contains(value),
        (Known::Object(known), Ok(value)) => known.is_identical(value),
        (Known::Fails(known), Err(kind)) => known == kind,
        _ => false,
    };
    let happened = result.as_ref().map(Value::repr);
    (!is_right).then(|| format!("is {happened:?}, not {fact:?}"))
}

fn is_identical(left: &Result<Value, ErrorKind>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Ok(x), Some(y)) => x.is_identical(y) || (x.repr() == "nan" && y.repr() == "nan"),
        (Err(_), None) => true,
        _ => false,
    }
}

struct Counts {
    draws: u64,
    formulas: u64,
    parts: u64,
    errors: u64,
    wrong: Vec<String>,
}

fn check(text: &str, schema: &Schema, dice: &mut Dice, counts: &mut Counts) {
    let Ok(formula) = Formula::parse(text) else {
        return;
    };
    let Ok(program) = formula.compile(schema) else {
        return;
    };
    let ranges = formulas::ranges(dice, schema);
    let facts = jsf_lint::analyze_ranges(formula.expr(), schema, &ranges);
    counts.formulas += 1;
    for _ in 0..JOBS_PER_FORMULA {
        let job: Vec<(&str, Value)> = NAMES
            .iter()
            .map(|&name| (name, formulas::draw(dice, ranges.interval(name, schema))))
            .collect();
        let input = |name: &str| {
            job.iter()
                .find(|(known, _)| *known == name)
                .unwrap()
                .1
                .clone()
        };
        let mut tracer = Tracer::new(formula.expr(), schema, &input);
        let value = tracer.value(formula.expr().root());
        let inputs: Vec<Value> = program.inputs().iter().map(|name| input(name)).collect();
        let evaluated = program.evaluate(&inputs).map_err(|error| error.kind());
        assert!(
            is_identical(&evaluated, value.as_ref()),
            "the tracer differs on {text}: {evaluated:?}, {value:?}"
        );
        counts.draws += 1;
        counts.parts += tracer.seen.len() as u64;
        counts.errors += u64::from(value.is_none());
        for seen in &tracer.seen {
            if let Some(wrong) = contradiction(&facts, seen) {
                let part = formula.expr().node(seen.0).span.slice(text);
                let job: Vec<_> = job
                    .iter()
                    .map(|(name, value)| format!("{name}={}", value.repr()))
                    .collect();
                counts.wrong.push(format!(
                    "`{part}` {wrong}\nin {text}\nfor {}",
                    job.join(" ")
                ));
                return;
            }
        }
    }
}

#[test]
fn excluded_values_and_errors_do_not_happen() {
    let draws = setting("JSF_SOUNDNESS_DRAWS", 10_000);
    let mut dice = Dice::new(setting("JSF_SOUNDNESS_SEED", 1));
    let schema = formulas::schema();
    let mut counts = Counts {
        draws: 0,
        formulas: 0,
        parts: 0,
        errors: 0,
        wrong: Vec::new(),
    };
    while counts.draws < draws && counts.wrong.len() < 12 {
        let most = if dice.one_in(10) { 60 } else { 16 };
        let size = 1 + dice.below(most);
        let plain = !dice.one_in(3);
        let text = if dice.one_in(4) {
            formulas::zeros(&mut dice, size)
        } else {
            formulas::formula(&mut dice, size, plain)
        };
        check(&text, &schema, &mut dice, &mut counts);
    }
    let Counts {
        draws,
        formulas,
        parts,
        errors,
        wrong,
    } = counts;
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    println!("{draws} draws of {formulas} formulas, {parts} parts, {errors} draws with an error");
    assert!(
        errors * 10 > draws && errors * 10 < draws * 9,
        "too few or too many errors: {errors} of {draws}"
    );
}

fn double(value: &Value) -> Option<f64> {
    match Python::new().call(
        &Value::Function(Function::Float),
        std::slice::from_ref(value),
        &[],
    ) {
        Ok(Value::Float(double)) if !double.is_nan() => Some(double),
        _ => None,
    }
}

fn compared(x: &Value, y: &Value) -> Ordering {
    let is = |op| Python::new().compare(op, x, y).unwrap();
    match (
        is(ComparisonOperator::Less),
        is(ComparisonOperator::Greater),
    ) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// The values of a program as one input grows and the others stay, without those that are not
/// numbers.
fn along(
    program: &Program,
    name: &str,
    ranges: &Ranges,
    schema: &Schema,
    dice: &mut Dice,
) -> Vec<f64> {
    let inputs: Vec<Value> = program
        .inputs()
        .iter()
        .map(|name| formulas::draw(dice, ranges.interval(name, schema)))
        .collect();
    let place = program
        .inputs()
        .iter()
        .position(|input| **input == *name)
        .unwrap();
    let within = ranges.interval(name, schema);
    let mut grown: Vec<Value> = (0..6).map(|_| formulas::draw(dice, within)).collect();
    let zeros = [Value::Float(-0.0), Value::Int(0), Value::Float(0.0)];
    grown.extend(
        (0..3)
            .map(|_| dice.pick(&zeros).clone())
            .filter(|zero| within.contains(zero)),
    );
    grown.retain(|value| double(value).is_some());
    // the sort is stable, so that among equal values zeros of any sign and type come first at times
    grown.sort_by(compared);
    let evaluate = |value: Value| {
        let mut inputs = inputs.clone();
        inputs[place] = value;
        program.evaluate(&inputs).ok().as_ref().and_then(double)
    };
    grown.into_iter().filter_map(evaluate).collect()
}

/// Whether a step contradicts the direction of a slope by more than the last bits of a few
/// functions.
fn contradicts(slope: &Slope, before: f64, after: f64) -> bool {
    let slack = 1e-9 * before.abs().max(after.abs());
    match slope {
        _ if slope.increases() => after < before - slack,
        _ if slope.decreases() => after > before + slack,
        _ => *slope == Slope::CONSTANT && (after - before).abs() > slack,
    }
}

#[test]
fn values_move_as_the_slope_says() {
    let draws = setting("JSF_SOUNDNESS_DRAWS", 10_000);
    let mut dice = Dice::new(setting("JSF_SOUNDNESS_SEED", 1) + 1000);
    let schema = formulas::schema();
    let (mut done, mut certain, mut moved, mut wrong) = (0, 0, 0, Vec::new());
    while done < draws && wrong.len() < 10 {
        let size = 2 + dice.below(9);
        let text = if dice.one_in(2) {
            formulas::zeros(&mut dice, size)
        } else {
            formulas::formula(&mut dice, size, true)
        };
        let Ok(formula) = Formula::parse(&text) else {
            continue;
        };
        let Ok(program) = formula.compile(&schema) else {
            continue;
        };
        let ranges = formulas::ranges(&mut dice, &schema);
        let facts = jsf_lint::analyze_ranges(formula.expr(), &schema, &ranges);
        for name in program.inputs() {
            let slope = jsf_lint::slope(formula.expr(), &facts, name);
            done += 1;
            let is_certain =
                |slope: &Slope| slope.increases() || slope.decreases() || *slope == Slope::CONSTANT;
            let Some(slope) = slope.filter(is_certain) else {
                continue;
            };
            certain += 1;
            let values = along(&program, name, &ranges, &schema, &mut dice);
            moved += usize::from(values.first() != values.last());
            if values
                .windows(2)
                .any(|pair| contradicts(&slope, pair[0], pair[1]))
            {
                wrong.push(format!("{slope:?} in {name}: {text}: {values:?}"));
            }
        }
    }
    println!("{done} inputs, the direction of {certain} is certain, {moved} of them moved");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(moved > 100, "too few values move: {moved}");
}

/// The derivative's exponent, one less, is rounded to the same double.
#[test]
fn a_power_too_large_for_the_next_integer_has_no_slope() {
    let schema = formulas::schema();
    let slope = |text: &str| {
        let formula = Formula::parse(text).unwrap();
        let facts = jsf_lint::analyze_ranges(formula.expr(), &schema, &Ranges::default());
        jsf_lint::slope(formula.expr(), &facts, "job_priority")
    };
    assert!(slope("job_priority ** 3").unwrap().increases());
    assert_eq!(slope("job_priority ** 1e300"), None);
}
