//! Sites' own resources whose names are taken already: what a name then means to a real scheduler.

use job_sort_formula::jobs::{Job, JobTable};
use job_sort_formula::pbs::number_format::logged;
use job_sort_formula::pbs::qmgr_validation::validate;
use job_sort_formula::schema::InputType;
use job_sort_formula::{Formula, Schema, Value};

use crate::support::recorded::{self, ClashingFormula};

/// The one job that asked for the resource asked for 7 of it; 12.vm has 8 cpus, the others 1.
fn input(job: &str, name: &str, resource: &str) -> Value {
    match (job, name) {
        ("12.vm", "ncpus") => Value::Int(8),
        (_, "ncpus") => Value::Int(1),
        (_, "fairshare_factor") => Value::Float(0.946_099),
        ("0.vm" | "12.vm", _) | (_, "queue_priority") => Value::Int(0),
        _ if name == resource => Value::Int(7),
        _ => Value::Int(0),
    }
}

fn check(resource: &str, tried: &ClashingFormula) {
    let mut schema = Schema::openpbs();
    schema.add(resource, InputType::Count);
    let parsed = Formula::parse(&tried.formula);
    let Some(values) = tried.values.as_ref().filter(|values| !values.is_empty()) else {
        assert_eq!(validate(&tried.formula, &schema).accepted, Some(false), "{}", tried.formula);
        return;
    };
    let parsed = parsed.unwrap();
    if parsed.expr().unsupported().is_some() {
        assert_eq!((tried.formula.as_str(), tried.died), ("lambda: 1", Some(true)));
        return;
    }
    let program = parsed.compile(&schema).unwrap();
    let mut table = JobTable::new(program.inputs().iter().map(|name| &**name));
    for job in values.keys() {
        let inputs: Vec<_> = program.inputs().iter().map(|name| Ok(input(job, name, resource))).collect();
        table.push(&Job { id: job, ..Job::default() }, &inputs).unwrap();
    }
    for (row, score) in recorded::scores(&program, &table).iter() {
        let (job, error) = (table.id(row), score.exact.as_ref().err());
        let place = format!("{resource}: {} on {job}", tried.formula);
        if let Some(recorded) = &values[job] {
            assert_eq!(logged(score.kept), *recorded, "{place}");
        }
        assert_eq!(error.is_some_and(|error| error.crashes_the_scheduler()), tried.died == Some(true), "{place}");
        if tried.died == Some(false) {
            let recorded = tried.errors.as_ref().and_then(|errors| errors.get(job));
            let recorded = recorded.and_then(|text| text.split_once("used: ")).map(|(_, text)| text.to_owned());
            assert_eq!(error.map(ToString::to_string), recorded, "{place}");
        }
    }
}

#[test]
fn names_that_are_taken() {
    for clash in recorded::name_clashes() {
        clash.formulas.iter().for_each(|tried| check(&clash.resource, tried));
    }
}
