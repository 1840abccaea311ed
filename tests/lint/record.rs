//! What the analysis says of a formula, against what a real scheduler did with it.

use job_sort_formula::formula::lint;
use job_sort_formula::formula::lint::Ranges;
use job_sort_formula::{Formula, Value};

use crate::support::golden;
use crate::support::recorded::{self, Record, RecordedJob};

/// For the recorded jobs and nothing wider: an error that is excluded was not recorded, a failure of every job was
/// recorded for every job, and each value lies within its range.
#[test]
fn no_record_contradicts_the_analysis() {
    let jobs: Vec<RecordedJob> = golden::lines("openpbs/evaluate/jobs.jsonl");
    let schema = recorded::schema();
    let (mut checked, mut certain, mut free) = (0, 0, 0);
    for record in golden::lines::<Record>("openpbs/evaluate/evaluate.jsonl") {
        let Ok(formula) = Formula::parse(&record.formula) else { continue };
        let Ok(program) = formula.compile(&schema) else { continue };
        if program.refused().is_some() || !record.sched_crashed.is_empty() {
            continue;
        }
        let table = recorded::table(&jobs, program.inputs().iter().map(|name| &**name));
        let rows = || (0..table.len()).filter(|&row| record.values.contains_key(table.id(row)));
        let mut ranges = Ranges::default();
        for (name, column) in table.columns() {
            ranges.observe(name, rows().map(|row| column.value(row)));
        }
        let facts = lint::ranges(formula.expr(), &schema, &ranges);
        let text = &record.formula;
        checked += 1;
        if facts.errors().is_empty() {
            free += 1;
            assert!(record.errors.is_empty(), "{text}: {:?}", record.errors);
        }
        if facts.result().is_empty() {
            certain += 1;
            assert_eq!(record.errors.len(), record.values.len(), "{text}");
        }
        for row in rows().filter(|&row| !record.errors.contains_key(table.id(row))) {
            let inputs: Vec<Value> =
                program.inputs().iter().map(|name| table.column(name).unwrap().value(row)).collect();
            let value = program.evaluate(&inputs).unwrap();
            assert!(facts.result().contains(&value), "{text}: {} is not {}", value.repr(), facts.result());
        }
    }
    assert!(checked > 200 && certain > 20 && free > 100, "{checked} checked, {certain} fail, {free} cannot");
}
