//! What the analysis excludes never happens: random formulas on random jobs, every part of them.
//!
//! `JSF_SOUNDNESS_DRAWS` says how many jobs are drawn, `JSF_SOUNDNESS_SEED` where the dice start.

#[path = "soundness/formulas.rs"]
mod formulas;
#[path = "soundness/trace.rs"]
mod trace;

use std::time::Instant;

use formulas::{Dice, NAMES};
use job_sort_formula::formula::analysis::{self, Facts};
use job_sort_formula::formula::number::{ErrorKind, Value};
use job_sort_formula::{Formula, Schema};
use trace::{Seen, Tracer};

const JOBS_PER_FORMULA: usize = 8;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What the facts exclude although it was seen.
fn contradiction(facts: &Facts, (node, result): &Seen) -> Option<String> {
    let fact = facts.of(*node);
    match result {
        _ if !fact.reached => Some("is reached".to_owned()),
        Ok(value) if !fact.values.contains(value) => Some(format!("is {}, not {}", value.repr(), fact.values)),
        Err(kind) if !fact.errors.contains(*kind) => Some(format!("raises {kind:?}, not {:?}", fact.errors)),
        _ => None,
    }
}

fn is_same(left: &Result<Value, ErrorKind>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Ok(x), Some(y)) => x.is_same(y) || (x.repr() == "nan" && y.repr() == "nan"),
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
    let Ok(formula) = Formula::parse(text) else { return };
    let Ok(program) = formula.compile(schema) else { return };
    let ranges = formulas::ranges(dice, schema);
    let facts = analysis::ranges(formula.expr(), schema, &ranges);
    counts.formulas += 1;
    for _ in 0..JOBS_PER_FORMULA {
        let job: Vec<(&str, Value)> =
            NAMES.iter().map(|&name| (name, formulas::draw(dice, ranges.of(name, schema)))).collect();
        let input = |name: &str| job.iter().find(|(known, _)| *known == name).unwrap().1.clone();
        let mut tracer = Tracer::new(formula.expr(), schema, &input);
        let value = tracer.value(formula.expr().root());
        let inputs: Vec<Value> = program.inputs().iter().map(|name| input(name)).collect();
        let evaluated = program.evaluate(&inputs).map_err(|error| error.raised.kind);
        assert!(is_same(&evaluated, value.as_ref()), "the tracer is wrong on {text}: {evaluated:?}, {value:?}");
        counts.draws += 1;
        counts.parts += tracer.seen.len() as u64;
        counts.errors += u64::from(value.is_none());
        for seen in &tracer.seen {
            if let Some(wrong) = contradiction(&facts, seen) {
                let part = formula.expr().node(seen.0).span.of(text);
                let job: Vec<_> = job.iter().map(|(name, value)| format!("{name}={}", value.repr())).collect();
                counts.wrong.push(format!("`{part}` {wrong}\nin {text}\nfor {}", job.join(" ")));
                return;
            }
        }
    }
}

#[test]
fn nothing_happens_that_the_analysis_excludes() {
    let draws = setting("JSF_SOUNDNESS_DRAWS", 60_000);
    let mut dice = Dice::new(setting("JSF_SOUNDNESS_SEED", 1));
    let schema = formulas::schema();
    let mut counts = Counts { draws: 0, formulas: 0, parts: 0, errors: 0, wrong: Vec::new() };
    let start = Instant::now();
    while counts.draws < draws && counts.wrong.len() < 12 {
        let most = if dice.one_in(10) { 60 } else { 16 };
        let size = 1 + dice.below(most);
        let plain = !dice.one_in(3);
        let text = formulas::formula(&mut dice, size, plain);
        check(&text, &schema, &mut dice, &mut counts);
    }
    let Counts { draws, formulas, parts, errors, wrong } = counts;
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let seconds = start.elapsed().as_secs_f64();
    println!("{draws} draws of {formulas} formulas, {parts} parts, {errors} draws with an error, {seconds:.1} s");
    assert!(errors * 10 > draws && errors * 10 < draws * 9, "the formulas are too dull: {errors} of {draws}");
}
