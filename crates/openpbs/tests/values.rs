//! Values, errors and orders, compared with those of the recorded scheduler for the same formulas
//! and jobs.

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::formula::program::CompileError;
use job_sort_formula::formula::syntax::{Construct, SyntaxErrorKind};
use job_sort_formula::rank::{Score, Scores, fill_fairshare};
use job_sort_formula::{ErrorKind, Formula, Job, JobTable, Program, Schema, Value};
use jsf_openpbs::amounts::{NumberMode, logged};
use jsf_openpbs::order::Order;
use jsf_openpbs::server_validation::validate;
use jsf_openpbs::submission::{InvalidLiteralKind, PythonStringLiteral};
use jsf_testing::golden;
use jsf_testing::recorded::{Record, RecordedJob, RecordedSite};

use crate::scheduler_results::{self, ClashingFormula};

/// Why this crate does not evaluate a formula that the scheduler accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outside {
    /// A quote breaks the scheduler's script: every job keeps its previous value.
    Quote,
    /// The formula is longer than the documented limit.
    TooLong,
    /// The formula contains statements, which `eval` in the scheduler does not accept either: every
    /// job gets an error.
    Statement,
    Is(Construct),
    Builtin(&'static str),
}

/// The formulas that are not evaluated, with the reason. Long ones are given by their start and
/// their length.
const OUTSIDE: [(&str, Outside); 51] = [
    ("{ncpus}", Outside::Is(Construct::Set)),
    ("{1,2}", Outside::Is(Construct::Set)),
    ("abs(3+4j)", Outside::Is(Construct::Imaginary)),
    ("(3+4j).real", Outside::Is(Construct::Attribute)),
    ("complex(1,2)", Outside::Builtin("complex")),
    ("complex(1,0)", Outside::Builtin("complex")),
    ("str(ncpus)", Outside::Builtin("str")),
    ("float(str(3))", Outside::Builtin("str")),
    ("eval(str(1))", Outside::Builtin("eval")),
    ("int(chr(49))", Outside::Builtin("chr")),
    ("hex(255)", Outside::Builtin("hex")),
    ("bin(2)", Outside::Builtin("bin")),
    ("hash(1)", Outside::Builtin("hash")),
    ("type(1)", Outside::Builtin("type")),
    ("vars()", Outside::Builtin("vars")),
    ("locals()", Outside::Builtin("locals")),
    ("__builtins__", Outside::Builtin("__builtins__")),
    ("NotImplemented", Outside::Builtin("NotImplemented")),
    ("range(3)", Outside::Builtin("range")),
    ("range(2)", Outside::Builtin("range")),
    ("sum(range(10))", Outside::Builtin("range")),
    ("reversed((1,2))", Outside::Builtin("reversed")),
    ("list((1,2))", Outside::Builtin("list")),
    ("zip((1,),(2,))", Outside::Builtin("zip")),
    ("next(iter((7,)))", Outside::Builtin("next")),
    ("sorted([3,1,2])[0]", Outside::Is(Construct::Subscript)),
    ("[1,2,3][1]", Outside::Is(Construct::Subscript)),
    ("[1,2,3][9]", Outside::Is(Construct::Subscript)),
    ("[][0]", Outside::Is(Construct::Subscript)),
    ("[x for x in (1,2)]", Outside::Is(Construct::Comprehension)),
    (
        "sum(x*ncpus for x in (1,2))",
        Outside::Is(Construct::Comprehension),
    ),
    (
        "sum([ncpus for i in range(3)])",
        Outside::Is(Construct::Comprehension),
    ),
    ("lambda x: x", Outside::Is(Construct::Lambda)),
    ("(lambda x: x+ncpus)(1)", Outside::Is(Construct::Lambda)),
    ("(x:=5)", Outside::Is(Construct::AssignmentExpression)),
    ("*(1,2),", Outside::Statement),
    ("...", Outside::Is(Construct::Ellipsis)),
    ("ncpus; 1", Outside::Statement),
    ("1; ncpus", Outside::Statement),
    ("ans=5", Outside::Statement),
    ("\"abc\"", Outside::Quote),
    ("len(\"abc\")", Outside::Quote),
    ("\"1\"", Outside::Quote),
    ("f\"{ncpus}\"", Outside::Quote),
    ("b\"1\"", Outside::Quote),
    ("\"a\"+\"b\"", Outside::Quote),
    ("float(\"1.5\")", Outside::Quote),
    ("float(\"nan\")", Outside::Quote),
    ("1+1+1+1+1+1+… 102399 bytes", Outside::TooLong),
    ("1           … 100001 bytes", Outside::TooLong),
    ("max(0,1,2,3,… 108894 bytes", Outside::TooLong),
];

/// The value of a job in a record where the previous formula is still in effect.
const STALE: &str = "-12345.0625";

fn short(formula: &str) -> String {
    match formula.get(..12) {
        Some(start) if formula.len() > 5000 => format!("{start}… {} bytes", formula.len()),
        _ => formula.to_owned(),
    }
}

fn program(formula: &str, schema: &Schema) -> Result<Program, Outside> {
    let script = PythonStringLiteral::parse(formula).map_err(|error| match error.kind {
        InvalidLiteralKind::Quote => Outside::Quote,
        other => panic!("{formula}: {other:?}"),
    })?;
    let parsed = Formula::parse(script.text()).map_err(|error| match error.kind() {
        SyntaxErrorKind::TooLong => Outside::TooLong,
        SyntaxErrorKind::Statement => Outside::Statement,
        other => panic!("{}: {other:?}", short(formula)),
    })?;
    parsed.compile(schema).map_err(|outside| match outside {
        CompileError::Construct { construct, .. } => Outside::Is(construct),
        CompileError::Builtin { name, .. } => Outside::Builtin(String::from(name).leak()),
        other => panic!("{formula}: {other:?}"),
    })
}

/// Checks the record of a formula that is not evaluated.
fn check_outside(record: &Record, outside: Outside) {
    let all_are =
        |values: &BTreeMap<String, String>, text: &str| values.values().all(|value| value == text);
    match outside {
        Outside::Quote => assert!(
            all_are(&record.values, STALE) && record.errors.is_empty(),
            "{}",
            record.formula
        ),
        Outside::Statement => {
            assert!(
                all_are(&record.errors, "invalid syntax (<string>, line 1)"),
                "{}",
                record.formula
            );
            assert_eq!(record.errors.len(), record.values.len());
        }
        _ => {}
    }
}

/// Compares with a record where the scheduler crashed at the first job, to which it gave -1.
fn crash_differences(record: &Record, table: &JobTable, scores: &Scores) -> Vec<String> {
    let mut wrong = Vec::new();
    for (row, Score { unrounded, value }) in scores.iter() {
        match unrounded {
            Err(error) if error.crashes_the_scheduler() && value == -1.0 => {}
            other => wrong.push(format!(
                "{}: {other:?} does not crash the scheduler",
                table.id(row)
            )),
        }
    }
    if record.values.values().any(|value| value != "-1") {
        wrong.push(format!("recorded {:?}", record.values));
    }
    wrong
}

/// Whether the formula is so deep that nothing is said of its values.
fn is_too_deep(program: &Program) -> bool {
    program
        .refused()
        .is_some_and(|raised| raised.kind == ErrorKind::Limit)
}

/// Evaluates every formula on the jobs that `table` gives for its program.
fn check(site: &RecordedSite, records: &[Record], table: impl Fn(&Program) -> JobTable) -> Found {
    let mut found = Found::default();
    for record in records {
        match program(&record.formula, &site.schema) {
            Ok(program) => check_record(site, record, &program, &table(&program), &mut found),
            Err(outside) => found.outside(record, outside),
        }
    }
    found
}

fn check_record(
    site: &RecordedSite,
    record: &Record,
    program: &Program,
    table: &JobTable,
    found: &mut Found,
) {
    let scores = scheduler_results::scores(program, table);
    found.evaluated += 1;
    let differences = if record.sched_crashed.is_empty() {
        if is_too_deep(program) {
            assert!(
                record.values.values().all(|value| value == STALE)
                    || record.errors.len() == record.values.len()
            );
            return;
        }
        let mut differences = scheduler_results::differences(record, table, &scores);
        let ordered = Order::new(&site.config, &site.queues).order(scores, table);
        differences.extend(scheduler_results::order_differences(
            record, table, &ordered,
        ));
        differences
    } else {
        let mut differences = crash_differences(record, table, &scores);
        differences.extend(repr_differences(record, program, table));
        differences
    };
    if !differences.is_empty() {
        found
            .wrong
            .push(format!("{}: {differences:#?}", short(&record.formula)));
    }
}

/// Compares values that are not numbers by their `repr`. A list was recorded as the error
/// `unhashable type`.
fn repr_differences(record: &Record, program: &Program, table: &JobTable) -> Vec<String> {
    let mut wrong = Vec::new();
    for (job, theirs) in record.exact.iter().flatten() {
        let row = table.row(job).unwrap();
        let inputs: Vec<Value> = program
            .inputs()
            .iter()
            .map(|name| table.column(name).unwrap().value(row))
            .collect();
        let value = match program.evaluate(&inputs) {
            // its parts are not computed
            Err(error) if error.kind() == ErrorKind::Complex && theirs.ends_with("j)") => continue,
            value => value.unwrap(),
        };
        let is_list = matches!(value, Value::List(_)) && theirs == "unhashable type: 'list'";
        if value.repr() != *theirs && !is_list {
            wrong.push(format!("{job}: {}, recorded {theirs}", value.repr()));
        }
    }
    wrong
}

#[derive(Default)]
struct Found {
    evaluated: usize,
    outside: BTreeSet<(String, Outside)>,
    wrong: Vec<String>,
}

impl Found {
    fn outside(&mut self, record: &Record, outside: Outside) {
        check_outside(record, outside);
        self.outside.insert((short(&record.formula), outside));
    }

    fn assert_nothing_wrong(&self) {
        assert!(
            self.wrong.is_empty(),
            "{} formulas differ:\n{}",
            self.wrong.len(),
            self.wrong.join("\n")
        );
    }
}

fn expected_outside() -> BTreeSet<(String, Outside)> {
    OUTSIDE
        .iter()
        .map(|&(formula, outside)| (formula.to_owned(), outside))
        .collect()
}

#[test]
fn values_from_the_inputs_of_python_are_those_of_the_scheduler() {
    let jobs: Vec<RecordedJob> = golden::lines("openpbs/evaluate/jobs.jsonl");
    let records: Vec<Record> = golden::lines("openpbs/evaluate/evaluate.jsonl.gz");
    let inputs = |program: &Program| {
        scheduler_results::table(&jobs, program.inputs().iter().map(|name| &**name))
    };
    let found = check(&RecordedSite::open(), &records, inputs);
    found.assert_nothing_wrong();
    assert_eq!(found.outside, expected_outside());
    assert_eq!((found.evaluated, records.len()), (244, 295));
}

/// `qstat -f -F json` as it was during the runs, when two jobs had waited one second less. One
/// number gets its last digit back, which the JSON of qstat drops.
fn qstat_f() -> String {
    let queue = golden::text("openpbs/qstat/qstat_f.json");
    assert_eq!(queue.matches("\"00:00:38\"").count(), 2);
    assert_eq!(queue.matches("9.00719925474099e+15").count(), 1);
    queue
        .replace("\"00:00:38\"", "\"00:00:37\"")
        .replace("9.00719925474099e+15", "9007199254740993")
}

/// The same from the files that an administrator has.
#[test]
fn values_from_qstat_and_the_files_are_those_of_the_scheduler() {
    let site = RecordedSite::open();
    let queue = qstat_f();
    let records: Vec<Record> = golden::lines("openpbs/evaluate/evaluate.jsonl.gz");
    let read = |program: &Program| {
        let needed: Vec<&str> = program.inputs().iter().map(|name| &**name).collect();
        let mut table = site.read_jobs(queue.as_bytes(), &needed).table;
        let tree = site.tree(&table);
        let unknown = fill_fairshare(&mut table, &tree, |share| {
            NumberMode::OpenPbs.fairshare(share)
        });
        assert_eq!(unknown, Vec::<String>::new());
        table
    };
    let found = check(&site, &records, read);
    found.assert_nothing_wrong();
    assert_eq!(found.outside, expected_outside());
    assert_eq!(found.evaluated, 244);
}

#[test]
fn values_of_thousands_of_jobs_are_those_of_the_scheduler() {
    let jobs: Vec<RecordedJob> = golden::lines("openpbs/bulk/jobs.jsonl.gz");
    let records: Vec<Record> = golden::lines("openpbs/bulk/evaluate.jsonl.gz");
    let inputs = |program: &Program| {
        scheduler_results::table(&jobs, program.inputs().iter().map(|name| &**name))
    };
    let found = check(&RecordedSite::open(), &records, inputs);
    found.assert_nothing_wrong();
    assert!(found.outside.is_empty());
    assert_eq!((found.evaluated, jobs.len()), (records.len(), 2559));
}

/// The inputs of the jobs with which taken names were tried: one job requested 7 of the resource;
/// 12.vm has 8 cpus, the others 1.
fn clash_input(job: &str, name: &str, resource: &str) -> Value {
    match (job, name) {
        ("12.vm", "ncpus") => Value::Int(8),
        (_, "ncpus") => Value::Int(1),
        (_, "fairshare_factor") => Value::Float(0.946_099),
        ("0.vm" | "12.vm", _) | (_, "queue_priority") => Value::Int(0),
        _ if name == resource => Value::Int(7),
        _ => Value::Int(0),
    }
}

fn check_clash(resource: &str, tried: &ClashingFormula) {
    let mut schema = Schema::openpbs();
    scheduler_results::declare(resource, &mut schema);
    let parsed = Formula::parse(&tried.formula);
    let Some(values) = tried.values.as_ref().filter(|values| !values.is_empty()) else {
        assert_ne!(
            validate(&tried.formula, &schema).accepted,
            Some(true),
            "{}",
            tried.formula
        );
        return;
    };
    let parsed = parsed.unwrap();
    if parsed.expr().unsupported().is_some() {
        assert_eq!(
            (tried.formula.as_str(), tried.died),
            ("lambda: 1", Some(true))
        );
        return;
    }
    let program = parsed.compile(&schema).unwrap();
    let mut table = JobTable::new(program.inputs().iter().map(|name| &**name));
    for job in values.keys() {
        let inputs: Vec<_> = program
            .inputs()
            .iter()
            .map(|name| Ok(clash_input(job, name, resource)))
            .collect();
        table
            .push(
                &Job {
                    id: job,
                    ..Job::default()
                },
                &inputs,
            )
            .unwrap();
    }
    for (row, score) in scheduler_results::scores(&program, &table).iter() {
        let (job, error) = (table.id(row), score.unrounded.as_ref().err());
        let place = format!("{resource}: {} on {job}", tried.formula);
        if let Some(recorded) = &values[job] {
            assert_eq!(logged(score.value), *recorded, "{place}");
        }
        assert_eq!(
            error.is_some_and(|error| error.crashes_the_scheduler()),
            tried.died == Some(true),
            "{place}"
        );
        if tried.died == Some(false) {
            let recorded = tried.errors.as_ref().and_then(|errors| errors.get(job));
            let recorded = recorded
                .and_then(|text| text.split_once("used: "))
                .map(|(_, text)| text.to_owned());
            assert_eq!(error.map(ToString::to_string), recorded, "{place}");
        }
    }
}

/// Resources of a site with a name that Python or the scheduler's script uses.
#[test]
fn taken_names_mean_what_they_mean_to_the_scheduler() {
    for clash in scheduler_results::name_clashes() {
        clash
            .formulas
            .iter()
            .for_each(|tried| check_clash(&clash.resource, tried));
    }
}
