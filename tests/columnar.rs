//! The columnar executor gives the bits of the interpreter, for random formulas on random columns.
//!
//! `JSF_REFEREE_CASES` sets how many lanes are compared, `JSF_REFEREE_SEED` the seed.

use job_sort_formula::formula::program::{ColumnarExecutor, LANES};
use job_sort_formula::jobs::Column;
use job_sort_formula::python::Python;
use job_sort_formula::rank::ColumnScratch;
use job_sort_formula::schema::InputType;
use job_sort_formula::{Formula, Program, PythonVersion, Schema, Value};
use jsf_testing::random::Generator;
use jsf_testing::random::formulas::{INTEGERS, NUMBERS, Writer, schema};
use jsf_testing::setting;

/// A column of similar numbers, as queues have them, or of any numbers.
fn column(random: &mut Generator, rows: usize) -> Column {
    let same = random.number();
    let profile = random.below(10);
    let mut value = || match profile {
        0 => same.clone(),
        1 => Value::Int(random.below(24) as i64 - 4),
        2 => Value::Int(random.below(100_000) as i64),
        3 => random.integer(),
        4 => Value::Float(random.moderate()),
        5 => Value::Float(random.below(1_000_000) as f64 / 1e6),
        6 if random.below(2) == 0 => Value::Int(random.below(50) as i64),
        6 => Value::Float(random.below(50) as f64 / 4.0),
        7 => Value::Float(random.float()),
        8 => Value::Int(random.below(20_000) as i64 - 10_000),
        _ => random.number(),
    };
    (0..rows).map(|_| Ok(value())).collect()
}

struct Tally {
    lanes: usize,
    computed: usize,
    errors: usize,
}

/// Compares all rows, except for the lanes that the columnar executor leaves to the interpreter.
fn compare(
    text: &str,
    program: &Program,
    columns: &[(&str, Column)],
    rows: usize,
    tally: &mut Tally,
) {
    let inputs: Vec<&Column> = program
        .inputs()
        .iter()
        .filter_map(|name| columns.iter().find(|(known, _)| **name == **known))
        .map(|(_, c)| c)
        .collect();
    let mut executor = ColumnarExecutor::default();
    let mut interpreter = program.interpreter(Python::new());
    for start in (0..rows).step_by(LANES) {
        let count = LANES.min(rows - start);
        let outcome = executor.evaluate(
            program,
            &|slot| Some(inputs.get(slot)?.view(start, count)),
            count,
        );
        assert_eq!(outcome.lanes().len(), count);
        for lane in 0..count {
            tally.lanes += 1;
            let Some(found) = outcome.value(lane) else {
                continue;
            };
            let row: Vec<Value> = inputs
                .iter()
                .map(|column| column.value(start + lane))
                .collect();
            match interpreter.evaluate(&row) {
                Ok(value) => {
                    assert!(
                        value.is_identical(&found),
                        "{text:?} for {row:?}: {found:?} by columns, {value:?} by the interpreter"
                    );
                    tally.computed += 1;
                }
                Err(error) => panic!(
                    "{text:?} for {row:?}: {found:?} by columns, {error:?} by the interpreter"
                ),
            }
        }
        tally.errors += outcome.fallback_lanes().count();
    }
}

fn program(text: &str, schema: &Schema) -> Option<Program> {
    Formula::parse(text).ok()?.compile(schema).ok()
}

#[test]
fn columns_give_the_bits_of_the_interpreter() {
    for version in PythonVersion::all() {
        compare_version(version);
    }
}

fn compare_version(version: PythonVersion) {
    let is_default = version == PythonVersion::default();
    let cases = setting(
        "JSF_REFEREE_CASES",
        if is_default { 200_000 } else { 20_000 },
    ) as usize;
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_261_121));
    let schema = schema().with_python(version);
    let mut tally = Tally {
        lanes: 0,
        computed: 0,
        errors: 0,
    };
    let (mut formulas, mut columnar) = (0, 0);
    while tally.lanes < cases {
        let most = if random.below(40) == 0 { 5000 } else { 300 };
        let rows = 1 + random.below(most) as usize;
        let columns: Vec<_> = INTEGERS
            .iter()
            .chain(&NUMBERS)
            .map(|&name| (name, column(&mut random, rows)))
            .collect();
        for _ in 0..20 {
            let text = Writer::formula(&mut random).tokens.join(" ");
            let Some(program) = program(&text, &schema) else {
                continue;
            };
            let before = tally.computed;
            compare(&text, &program, &columns, rows, &mut tally);
            formulas += 1;
            columnar += usize::from(tally.computed > before);
        }
    }
    eprintln!(
        "Python {version}: {} lanes of {formulas} formulas: {} the same in all bits, {} left to the interpreter; {columnar} formulas ran by columns",
        tally.lanes, tally.computed, tally.errors
    );
    assert!(
        tally.computed * 4 > tally.lanes,
        "most lanes are left to the interpreter"
    );
}

/// Conditions whose two branches occur in one column, with errors in only one of them.
#[test]
fn a_branch_that_is_not_taken_raises_no_error() {
    let mut schema = Schema::empty();
    for name in ["a", "b"] {
        schema.add(name, InputType::Float).expect("a name");
    }
    let column = |f: &dyn Fn(i64) -> i64| {
        (0..3000)
            .map(|row| Ok(Value::Int(f(row))))
            .collect::<Column>()
    };
    let columns = [
        ("a", column(&|row| row % 7)),
        ("b", column(&|row| row % 11 - 5)),
    ];
    for text in [
        "1 / a if a else 2.5",
        "a and b / a or b",
        "a > 0 and b > 0 and log(a * b)",
        "0 < a <= b < 4",
        "(1 / b if b else 2) if a > 3 else (log(b) if b > 0 else a)",
        "undefined_name if a > 100 else b",
        "max(a, b, 2.5) if a else min(a, b)",
        "a ** 2 // 3 + -a % 4 + ~b",
        "(a > b) + (not a) * True",
        "max(a, 2.0) ** 3 + round(b / 2) + int(a / 3)",
    ] {
        let mut tally = Tally {
            lanes: 0,
            computed: 0,
            errors: 0,
        };
        compare(
            text,
            &program(text, &schema).expect(text),
            &columns,
            3000,
            &mut tally,
        );
        assert_eq!((tally.computed, tally.errors), (3000, 0), "{text}");
    }
}

#[test]
fn another_number_of_inputs_than_the_formula_reads_is_an_error() {
    let program = program("ncpus + 2 * mem", &Schema::openpbs()).expect("a program");
    let one = Value::Int(1);
    for inputs in [vec![], vec![one.clone()], vec![one; 3]] {
        let expected = format!("number of inputs: expected 2, found {}", inputs.len());
        assert_eq!(program.evaluate(&inputs).unwrap_err().text(), expected);
        assert_eq!(
            program
                .score_row(&inputs, &mut ColumnScratch::new())
                .unwrap_err()
                .to_string(),
            expected
        );
    }
}
