//! Columns that the caller owns give the bits and the errors of the interpreter.
//!
//! `JSF_REFEREE_CASES` sets how many values are compared, `JSF_REFEREE_SEED` the seed.

use job_sort_formula::printing::resource;
use job_sort_formula::python::Python;
use job_sort_formula::rank::{
    ColumnError, ColumnScratch, InputColumn, OnError, QueueWork, ScorePrecision, score,
};
use job_sort_formula::schema::InputType;
use job_sort_formula::{ErrorKind, Formula, Job, JobTable, Program, Schema, Value};
use jsf_testing::random::formulas::{INTEGERS, NUMBERS, Writer, schema};
use jsf_testing::random::{Generator, OwnedColumn};
use jsf_testing::setting;

fn borrow(column: &OwnedColumn) -> InputColumn<'_> {
    match column {
        OwnedColumn::I32(values) => InputColumn::I32(values),
        OwnedColumn::I64(values) => InputColumn::I64(values),
        OwnedColumn::F64(values) => InputColumn::F64(values),
        OwnedColumn::Mixed(values, is_int) => InputColumn::Mixed { values, is_int },
        OwnedColumn::Same(value) => InputColumn::Same(value.clone()),
        OwnedColumn::ByEntity(index, values) => InputColumn::ByEntity { index, values },
    }
}

/// Compares the scores and errors of all rows with the interpreter's; returns the number of errors.
fn compare(
    program: &Program,
    columns: &[(&str, OwnedColumn)],
    rows: usize,
    scratch: &mut ColumnScratch,
) -> usize {
    compare_with(
        program,
        columns,
        columns
            .iter()
            .map(|(name, column)| (*name, borrow(column)))
            .collect(),
        rows,
        scratch,
    )
}

/// Compares as [`compare`] does, for columns that are borrowed already.
fn compare_with(
    program: &Program,
    columns: &[(&str, OwnedColumn)],
    mut borrowed: Vec<(&str, InputColumn<'_>)>,
    rows: usize,
    scratch: &mut ColumnScratch,
) -> usize {
    borrowed.retain(|(name, _)| program.inputs().iter().any(|input| **input == **name));
    let (mut scores, mut errors) = (vec![f64::NAN; rows], Vec::new());
    program
        .score_columns(
            &borrowed,
            OnError::ZeroLikePbs,
            scratch,
            &mut scores,
            &mut errors,
        )
        .unwrap();
    let mut failed = errors.iter().peekable();
    let mut interpreter = program.interpreter(Python::new());
    let queue = QueueWork::default();
    for (row, score) in scores.into_iter().enumerate() {
        let value = |name: &str| {
            columns
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, column)| column.value(row))
        };
        let inputs: Vec<Value> = program
            .inputs()
            .iter()
            .map(|name| value(name).unwrap())
            .collect();
        let text = program.expr();
        let result = interpreter.evaluate(&inputs);
        if queue.add(interpreter.arithmetic().work()) {
            assert!(
                failed
                    .next_if(|(failed, error)| *failed == row && error.kind() == ErrorKind::Limit)
                    .is_some()
            );
            continue;
        }
        if row % 16 == 0 {
            let alone = program.score_row(&inputs, scratch).unwrap_or(score);
            assert_eq!(alone.to_bits(), score.to_bits(), "{text} for {inputs:?}");
        }
        match (result, failed.next_if(|(failed, _)| *failed == row)) {
            (Ok(value), None) => {
                let expected = value.to_f64().unwrap_or(f64::NAN);
                assert_eq!(
                    score.to_bits(),
                    expected.to_bits(),
                    "{text} for {inputs:?}: {score} not {expected}"
                );
            }
            // the comparison with Python follows the complex number
            (Err(expected), Some((_, error))) if expected.kind() == ErrorKind::Complex => {
                let value = if error.crashes_the_scheduler() {
                    -1.0
                } else {
                    0.0
                };
                assert_eq!(score, value, "{text} for {inputs:?}: {error}");
            }
            (Err(expected), Some((_, error))) => {
                assert_eq!(
                    (error.to_string(), score),
                    (expected.text().to_owned(), 0.0),
                    "{text} for {inputs:?}"
                );
            }
            (Ok(_), Some((_, error))) => assert!(score == -1.0, "{text} for {inputs:?}: {error}"),
            (Err(error), None) => panic!("{text} for {inputs:?}: {score}, expected {error:?}"),
        }
    }
    assert!(failed.next().is_none());
    errors.len()
}

/// One integer beyond 2^53 is computed exactly, whatever the others are.
#[test]
fn the_caller_chooses_the_value_of_an_error() {
    let program = Formula::parse("1 / ncpus if ncpus < 2 else (-ncpus) ** 0.5")
        .unwrap()
        .compile(&Schema::openpbs())
        .unwrap();
    for (on_error, expected) in [
        (OnError::ZeroLikePbs, [1.0, 0.0, -1.0]),
        (OnError::Fail, [1.0, 0.0, 0.0]),
        (OnError::Null, [1.0, f64::NEG_INFINITY, f64::NEG_INFINITY]),
    ] {
        let columns = [("ncpus", InputColumn::I64(&[1, 0, 4]))];
        let (mut scores, mut errors) = ([7.0; 3], Vec::new());
        program
            .score_columns(
                &columns,
                on_error,
                &mut ColumnScratch::new(),
                &mut scores,
                &mut errors,
            )
            .unwrap();
        assert_eq!(scores, expected);
        let kinds: Vec<_> = errors
            .iter()
            .map(|(row, error)| (*row, error.kind()))
            .collect();
        assert_eq!(
            kinds,
            [(1, ErrorKind::ZeroDivision), (2, ErrorKind::ComplexResult)]
        );
    }
}

#[test]
fn an_integer_beyond_the_exact_doubles_is_exact_in_a_column() {
    let mut scratch = ColumnScratch::new();
    for text in [
        "ncpus % 2",
        "ncpus - 9007199254740992",
        "ncpus == 9007199254740992",
        "ncpus + 9007199254740992",
    ] {
        let program = Formula::parse(text)
            .unwrap()
            .compile(&Schema::openpbs())
            .unwrap();
        for edge in [1i64 << 51, 1 << 52, 1 << 53, 1 << 54, i64::MAX - 3] {
            for integer in edge - 3..=edge + 3 {
                for integers in [
                    vec![integer],
                    vec![integer, 0],
                    vec![-1, -integer],
                    vec![0, -integer, 2],
                ] {
                    let rows = integers.len();
                    compare(
                        &program,
                        &[("ncpus", OwnedColumn::I64(integers))],
                        rows,
                        &mut scratch,
                    );
                }
            }
        }
    }
}

#[test]
fn columns_of_every_type_give_the_bits_of_the_interpreter() {
    let cases = setting("JSF_REFEREE_CASES", 200_000) as usize;
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_261_122));
    let (schema, mut scratch) = (schema(), ColumnScratch::new());
    let (mut values, mut errors, mut formulas) = (0, 0, 0);
    while values < cases {
        let most = if random.below(20) == 0 { 3000 } else { 200 };
        let rows = 1 + random.below(most) as usize;
        let integers = INTEGERS.iter().map(|&name| (name, true));
        let names = integers.chain(NUMBERS.iter().map(|&name| (name, false)));
        let columns: Vec<_> = names
            .map(|(name, is_integer)| (name, OwnedColumn::random(&mut random, rows, is_integer)))
            .collect();
        for _ in 0..10 {
            let text = Writer::formula(&mut random).tokens.join(" ");
            let Some(program) = Formula::parse(&text)
                .ok()
                .and_then(|formula| formula.compile(&schema).ok())
            else {
                continue;
            };
            errors += compare(&program, &columns, rows, &mut scratch);
            (values, formulas) = (values + rows, formulas + 1);
        }
    }
    eprintln!(
        "{values} values of {formulas} formulas: the same in all bits, {errors} errors the same"
    );
    assert!(errors * 2 < values);
}

/// Terms of one entity are evaluated once for each, where there are many rows.
#[test]
fn columns_of_the_same_entities_give_the_bits_of_the_interpreter() {
    let cases = setting("JSF_REFEREE_CASES", 200_000) as usize;
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_261_124));
    let (schema, mut scratch) = (schema(), ColumnScratch::new());
    let (mut values, mut errors, mut formulas) = (0, 0, 0);
    while values < cases {
        let rows = 1500 + random.below(1500) as usize;
        let entities = 1 + random.below(1300);
        let index: Vec<u32> = (0..rows).map(|_| random.below(entities) as u32).collect();
        let integers = INTEGERS
            .iter()
            .map(|&name| (name, OwnedColumn::random(&mut random, rows, true)));
        let mut columns: Vec<_> = integers.collect();
        let of_entities =
            |random: &mut Generator| (0..entities).map(|_| random.moderate()).collect::<Vec<_>>();
        let numbers: Vec<_> = NUMBERS
            .iter()
            .map(|&name| (name, of_entities(&mut random)))
            .collect();
        columns.extend(
            numbers.iter().map(|(name, values)| {
                (*name, OwnedColumn::ByEntity(index.clone(), values.clone()))
            }),
        );
        for _ in 0..10 {
            let text = Writer::formula(&mut random).tokens.join(" ");
            let Some(program) = Formula::parse(&text)
                .ok()
                .and_then(|formula| formula.compile(&schema).ok())
            else {
                continue;
            };
            let one_index = columns.iter().map(|(name, column)| match column {
                OwnedColumn::ByEntity(_, values) => (
                    *name,
                    InputColumn::ByEntity {
                        index: &index,
                        values,
                    },
                ),
                other => (*name, borrow(other)),
            });
            errors += compare_with(&program, &columns, one_index.collect(), rows, &mut scratch);
            (values, formulas) = (values + rows, formulas + 1);
        }
    }
    eprintln!(
        "{values} values of {formulas} formulas: the same in all bits, {errors} errors the same"
    );
}

#[test]
fn a_column_that_does_not_fit_is_named() {
    let program = Formula::parse("ncpus * fair_share_perc")
        .unwrap()
        .compile(&Schema::openpbs())
        .unwrap();
    let score = |columns: &[(&str, InputColumn<'_>)]| {
        let (mut scores, mut errors) = ([f64::NAN; 2], Vec::new());
        let result = program.score_columns(
            columns,
            OnError::ZeroLikePbs,
            &mut ColumnScratch::new(),
            &mut scores,
            &mut errors,
        );
        if result.is_err() {
            assert!(
                scores.iter().all(|score| score.is_nan()),
                "nothing is written"
            );
        }
        result.map(|()| scores)
    };
    let ncpus = || ("ncpus", InputColumn::I32(&[2, 3]));
    let share = || {
        (
            "fairshare_perc",
            InputColumn::ByEntity {
                index: &[1, 0],
                values: &[0.25, 0.5],
            },
        )
    };
    assert_eq!(score(&[share(), ncpus()]), Ok([1.0, 0.75]));
    let message = |columns: &[(&str, InputColumn<'_>)]| score(columns).unwrap_err().to_string();
    assert_eq!(
        message(&[ncpus()]),
        "the formula reads `fair_share_perc`, for which there is no column"
    );
    assert_eq!(
        message(&[ncpus(), share(), ncpus()]),
        "the column `ncpus` is given twice"
    );
    let both_names = [
        ncpus(),
        share(),
        ("fair_share_perc", InputColumn::Same(Value::Int(1))),
    ];
    assert_eq!(
        message(&both_names),
        "the column `fair_share_perc` is given twice"
    );
    assert_eq!(
        message(&[ncpus(), share(), ("mem", InputColumn::I64(&[1, 2]))]),
        "the formula does not read `mem`; it reads `ncpus`, `fair_share_perc`"
    );
    assert_eq!(
        message(&[("ncpus", InputColumn::I64(&[1])), share()]),
        "the column `ncpus` has 1 rows, expected 2, which is the number of scores"
    );
    let index = InputColumn::ByEntity {
        index: &[0, 2],
        values: &[0.25, 0.5],
    };
    assert_eq!(
        message(&[ncpus(), ("fairshare_perc", index)]),
        "row 1 of the column `fairshare_perc` has the entity 2, but there are values for 2 entities"
    );
    let no_values = InputColumn::ByEntity {
        index: &[0, 0],
        values: &[],
    };
    assert!(matches!(
        score(&[ncpus(), ("fairshare_perc", no_values)]),
        Err(ColumnError::Entity { row: 0, .. })
    ));
}

#[test]
fn a_formula_without_inputs_and_a_queue_without_jobs_have_scores() {
    let mut schema = Schema::empty();
    schema.add("a", InputType::Float).expect("a name");
    let (mut scratch, mut errors) = (ColumnScratch::new(), Vec::new());
    let constant = Formula::parse("2 ** 10").unwrap().compile(&schema).unwrap();
    let mut scores = vec![0.0; 1500];
    constant
        .score_columns(
            &[],
            OnError::ZeroLikePbs,
            &mut scratch,
            &mut scores,
            &mut errors,
        )
        .unwrap();
    assert!(scores.iter().all(|&score| score == 1024.0));
    let program = Formula::parse("1 / a").unwrap().compile(&schema).unwrap();
    program
        .score_columns(
            &[("a", InputColumn::F64(&[]))],
            OnError::ZeroLikePbs,
            &mut scratch,
            &mut [0.0; 0],
            &mut errors,
        )
        .unwrap();
    assert!(errors.is_empty());
}

/// An amount is an integer for one job and a float for the next, as OpenPBS prints it.
#[test]
fn amounts_have_the_digits_of_openpbs() {
    let special = [
        2.0,
        0.00002,
        1.0 / 3.0,
        0.99999,
        -0.0,
        1e16,
        9.3e18,
        -1e300,
        f64::INFINITY,
        f64::NAN,
    ];
    let mut random = Generator(3);
    let amounts: Vec<f64> = (0..5000)
        .map(|row| {
            if row < 2000 {
                random.pick(&special)
            } else {
                random.below(90_000) as f64 / 1000.0
            }
        })
        .collect();
    for text in [
        "ncpus",
        "ncpus // 3 % 2",
        "ncpus * ncpus + mem",
        "1 / ncpus",
    ] {
        let program = Formula::parse(text)
            .unwrap()
            .compile(&Schema::openpbs())
            .unwrap();
        let columns = [
            ("ncpus", InputColumn::PbsAmount(&amounts)),
            ("mem", InputColumn::PbsAmount(&amounts)),
        ];
        let columns = &columns[..program.inputs().len()];
        let (mut scores, mut errors) = (vec![0.0_f64; amounts.len()], Vec::new());
        let mut scratch = ColumnScratch::new();
        program
            .score_columns(
                columns,
                OnError::ZeroLikePbs,
                &mut scratch,
                &mut scores,
                &mut errors,
            )
            .unwrap();
        for (row, &amount) in amounts.iter().enumerate() {
            let inputs = vec![resource(amount); program.inputs().len()];
            let expected = program.score_row(&inputs, &mut scratch);
            let error = errors
                .iter()
                .find(|(failed, _)| *failed == row)
                .map(|(_, error)| error.to_string());
            match expected {
                Ok(expected) => assert_eq!(
                    scores[row].to_bits(),
                    expected.to_bits(),
                    "{text} for {amount}"
                ),
                Err(expected) => {
                    assert_eq!(error, Some(expected.to_string()), "{text} for {amount}")
                }
            }
        }
    }
}

/// The rows of columns are a queue, whose evaluations together are limited as those of a table are.
#[test]
fn the_rows_of_columns_have_the_budget_of_a_table() {
    let gpus: Vec<i64> = (0..300)
        .map(|row| if row % 3 == 0 { -200_000 } else { row % 7 })
        .collect();
    let text = "comb(100000 + ncpus, 50000) > 0 if ncpus >= 0 else ncpus";
    let program = Formula::parse(text)
        .unwrap()
        .compile(&Schema::openpbs())
        .unwrap();
    let mut table = JobTable::new(["ncpus"]);
    for (row, &gpus) in gpus.iter().enumerate() {
        table
            .push(
                &Job {
                    id: &row.to_string(),
                    ..Job::default()
                },
                &[Ok(Value::Int(gpus))],
            )
            .unwrap();
    }
    let of_table = score(
        &program,
        &table,
        ScorePrecision::Double,
        OnError::ZeroLikePbs,
    );
    let columns = [("ncpus", InputColumn::I64(&gpus))];
    let (mut scores, mut errors) = (vec![0.0; gpus.len()], Vec::new());
    program
        .score_columns(
            &columns,
            OnError::ZeroLikePbs,
            &mut ColumnScratch::new(),
            &mut scores,
            &mut errors,
        )
        .unwrap();
    assert_eq!(scores, of_table.values());
    let errors: Vec<(usize, String)> = errors
        .iter()
        .map(|(row, error)| (*row, format!("{error:?}")))
        .collect();
    let expected: Vec<(usize, String)> = of_table
        .errors()
        .map(|(row, error)| (row, format!("{error:?}")))
        .collect();
    assert_eq!(errors, expected);
    assert!(
        errors.len() > 150 && errors[0].1.contains("after those of the jobs before it"),
        "{}",
        errors.len()
    );
    // one evaluation is bounded, and so are the evaluations of later queues
    let row = program
        .score_row(&[Value::Int(6)], &mut ColumnScratch::new())
        .unwrap();
    assert_eq!(row, 1.0);
}

#[test]
fn both_names_of_the_share_may_have_columns() {
    let program = Formula::parse("10 * fair_share_perc + fairshare_perc")
        .unwrap()
        .compile(&Schema::openpbs())
        .unwrap();
    let share = |name, value| (name, InputColumn::Same(Value::Float(value)));
    for (columns, expected) in [
        (
            vec![share("fairshare_perc", 0.5), share("fair_share_perc", 0.25)],
            3.0,
        ),
        (vec![share("fairshare_perc", 0.5)], 5.5),
    ] {
        let mut scores = [f64::NAN];
        let result = program.score_columns(
            &columns,
            OnError::ZeroLikePbs,
            &mut ColumnScratch::new(),
            &mut scores,
            &mut Vec::new(),
        );
        assert_eq!((result, scores), (Ok(()), [expected]));
    }
}
