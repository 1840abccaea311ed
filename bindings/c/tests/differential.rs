//! Random formulas and columns through the C functions give the bits and the errors of the
//! interpreter.
//!
//! `JSF_REFEREE_CASES` sets how many values are compared, `JSF_REFEREE_SEED` the seed.

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use job_sort_formula::python::Python;
use job_sort_formula::rank::QueueWork;
use job_sort_formula::schema::InputType;
use job_sort_formula::{ErrorKind, Formula, Program, Schema, Value, printing};
use job_sort_formula_c::*;
use jsf_openpbs::amounts::resource;
use jsf_testing::random::formulas::{INTEGERS, NUMBERS, Writer};
use jsf_testing::random::{Generator, OwnedColumn};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// A column of a type that C has.
enum Column {
    /// The value that is the same in every row is a number of 64 bits.
    Owned(OwnedColumn),
    PbsAmount(Vec<f64>),
}

impl Column {
    fn random(random: &mut Generator, rows: usize, is_integer: bool) -> Self {
        loop {
            match OwnedColumn::random(random, rows, is_integer) {
                OwnedColumn::Same(value) if !matches!(value, Value::Int(_) | Value::Float(_)) => {}
                OwnedColumn::Mixed(..) => {
                    return Self::PbsAmount((0..rows).map(|_| amount(random)).collect());
                }
                column => return Self::Owned(column),
            }
        }
    }

    /// The value of a row.
    fn value(&self, row: usize) -> Value {
        match self {
            Self::Owned(column) => column.value(row),
            Self::PbsAmount(amounts) => resource(amounts[row]),
        }
    }
}

/// An amount with few or many decimals, of any size.
fn amount(random: &mut Generator) -> f64 {
    match random.below(6) {
        0 => random.below(100_000) as f64,
        1 => random.below(100_000) as f64 / 32.0,
        2 => random.moderate() * 1e18,
        3 => random.float(),
        _ => random.moderate(),
    }
}

fn c_value(value: &Value, amount: Option<f64>) -> Option<jsf_value> {
    let (kind, integer, real) = match (amount, value) {
        (Some(amount), _) => (jsf_kind::PbsAmount, 0, amount),
        (None, Value::Int(integer)) => (jsf_kind::I64, *integer, 0.0),
        (None, Value::Float(real)) => (jsf_kind::F64, 0, *real),
        _ => return None,
    };
    Some(jsf_value {
        kind: kind as u32,
        integer,
        real,
    })
}

fn c_column(column: &Column, name: *const c_char) -> jsf_column {
    fn numbers<T>(name: *const c_char, kind: jsf_kind, values: &[T]) -> jsf_column {
        let (values, rows) = (values.as_ptr().cast(), values.len());
        jsf_column {
            name,
            kind: kind as u32,
            values,
            rows,
            entity_values: ptr::null(),
            entities: 0,
        }
    }
    let owned = match column {
        Column::PbsAmount(amounts) => return numbers(name, jsf_kind::PbsAmount, amounts),
        Column::Owned(owned) => owned,
    };
    match owned {
        OwnedColumn::I32(values) => numbers(name, jsf_kind::I32, values),
        OwnedColumn::I64(values) => numbers(name, jsf_kind::I64, values),
        OwnedColumn::F64(values) => numbers(name, jsf_kind::F64, values),
        OwnedColumn::Same(Value::Int(value)) => {
            numbers(name, jsf_kind::SameI64, std::slice::from_ref(value))
        }
        OwnedColumn::Same(Value::Float(value)) => {
            numbers(name, jsf_kind::SameF64, std::slice::from_ref(value))
        }
        OwnedColumn::Same(_) | OwnedColumn::Mixed(..) => panic!("C has no type for {owned:?}"),
        OwnedColumn::ByEntity(index, values) => jsf_column {
            entity_values: values.as_ptr(),
            entities: values.len(),
            ..numbers(name, jsf_kind::ByEntity, index)
        },
    }
}

/// A column, its name, and its name for C.
type Named = (&'static str, CString, Column);

/// The program of a formula, as both sides compile it; `None` if it is not a formula.
fn compile(text: &str, schema: *const jsf_schema) -> Option<(Program, *mut jsf_program)> {
    let mut compiled = ptr::null_mut();
    // SAFETY: the text is valid, the handles are of the library or null
    let status = unsafe {
        jsf_program_compile(
            text.as_ptr().cast(),
            text.len(),
            schema,
            &mut compiled,
            ptr::null_mut(),
        )
    };
    let program = Formula::parse(text)
        .ok()
        .and_then(|formula| formula.compile(&schema_of_names()).ok());
    assert_eq!(status == jsf_status::Ok, program.is_some(), "{text}");
    program.map(|program| (program, compiled))
}

/// OpenPBS's names, and those of the library's tests as resources of a site.
fn schema_of_names() -> Schema {
    let mut schema = Schema::openpbs();
    INTEGERS.iter().chain(&NUMBERS).for_each(|name| {
        let _ = schema.add(name, InputType::Float);
    });
    schema
}

/// The same for C.
fn c_schema() -> *mut jsf_schema {
    let schema = jsf_schema_new();
    for name in INTEGERS.iter().chain(&NUMBERS) {
        // SAFETY: the texts are valid
        let status = unsafe {
            jsf_schema_add_resource(
                schema,
                name.as_ptr().cast(),
                name.len(),
                c"float".as_ptr(),
                ptr::null_mut(),
            )
        };
        assert!(matches!(
            status,
            jsf_status::Ok | jsf_status::BuiltIn | jsf_status::Argument
        ));
    }
    schema
}

/// Compares the scores and errors of all rows with the interpreter's; returns the number of errors.
fn compare(
    (program, compiled): (&Program, *mut jsf_program),
    columns: &[Named],
    rows: usize,
    scratch: *mut jsf_scratch,
    by_place: bool,
) -> usize {
    let find = |name: &str| columns.iter().find(|(known, ..)| *known == name).unwrap();
    let read: Vec<&Named> = program.inputs().iter().map(|name| find(name)).collect();
    let mut borrowed: Vec<jsf_column> = read
        .iter()
        .map(|(_, name, column)| {
            c_column(column, if by_place { ptr::null() } else { name.as_ptr() })
        })
        .collect();
    if !by_place {
        borrowed.reverse();
    }
    let (mut scores, mut failed, mut failures) =
        (vec![f64::NAN; rows], vec![7_u8; rows], usize::MAX);
    let mut error = ptr::null_mut();
    // SAFETY: the arrays have the lengths that are passed
    let status = unsafe {
        jsf_program_score(
            compiled,
            scratch,
            borrowed.as_ptr(),
            borrowed.len(),
            rows,
            scores.as_mut_ptr(),
            failed.as_mut_ptr(),
            &mut failures,
            &mut error,
        )
    };
    assert!(status == jsf_status::Ok && error.is_null());
    let text = program.expr();
    let mut interpreter = program.interpreter(Python::new());
    let (queue, mut errors) = (QueueWork::default(), 0);
    for (row, (score, failed)) in scores.into_iter().zip(failed).enumerate() {
        let inputs: Vec<Value> = read.iter().map(|(.., column)| column.value(row)).collect();
        let result = interpreter.evaluate(&inputs);
        if queue.add(interpreter.arithmetic().work()) {
            assert_eq!(
                (failed, score),
                (jsf_failure::Limit as u8, 0.0),
                "{text} for {inputs:?}"
            );
            errors += 1;
            continue;
        }
        if row % 16 == 0 {
            compare_alone(compiled, scratch, &read, row, (score, failed));
        }
        match result {
            Ok(value) if failed == 0 => {
                let expected = value.to_f64().unwrap_or(f64::NAN);
                assert_eq!(
                    score.to_bits(),
                    expected.to_bits(),
                    "{text} for {inputs:?}: {score} not {expected}"
                );
            }
            Ok(value) => {
                let is_integer = matches!(value, Value::Big(_));
                let failure = if is_integer {
                    jsf_failure::TooLarge
                } else {
                    jsf_failure::NotANumber
                };
                assert_eq!(
                    (failed, score),
                    (failure as u8, -1.0),
                    "{text} for {inputs:?}"
                );
            }
            // whether the complex number is the result, the library's own tests compare with Python
            Err(raised) if raised.kind() == ErrorKind::Complex => {
                let expected = if failed == jsf_failure::NotANumber as u8 {
                    -1.0
                } else {
                    0.0
                };
                assert!(
                    failed != 0 && score == expected,
                    "{text} for {inputs:?}: {score}"
                );
            }
            Err(raised) => {
                assert_eq!(
                    (failed, score),
                    (failure_of(raised.kind()) as u8, 0.0),
                    "{text} for {inputs:?}: {raised}"
                );
                let message = error_of_row(compiled, scratch, row);
                let (text, span) = (raised.text().to_owned(), raised.span());
                assert_eq!(message, (text, span.start, span.end));
            }
        }
        errors += usize::from(failed != 0);
    }
    assert_eq!(errors, failures);
    errors
}

fn failure_of(kind: ErrorKind) -> jsf_failure {
    match kind {
        ErrorKind::ZeroDivision => jsf_failure::ZeroDivision,
        ErrorKind::Value => jsf_failure::Value,
        ErrorKind::Overflow => jsf_failure::Overflow,
        ErrorKind::Type => jsf_failure::Type,
        ErrorKind::Name => jsf_failure::Name,
        ErrorKind::Syntax => jsf_failure::Syntax,
        _ => jsf_failure::Limit,
    }
}

/// Compares the score and the failure of a row with what the function for one job gives.
fn compare_alone(
    program: *const jsf_program,
    scratch: *mut jsf_scratch,
    read: &[&Named],
    row: usize,
    (expected, failed): (f64, u8),
) {
    let value = |column: &Column| match column {
        Column::PbsAmount(amounts) => c_value(&Value::None, Some(amounts[row])),
        Column::Owned(_) => c_value(&column.value(row), None),
    };
    let values: Vec<jsf_value> = read
        .iter()
        .map(|(.., column)| value(column).expect("C has the type"))
        .collect();
    let (mut score, mut error) = (f64::NAN, ptr::null_mut());
    // SAFETY: the array has the length that is passed
    unsafe {
        let status = jsf_program_evaluate(
            program,
            scratch,
            values.as_ptr(),
            values.len(),
            &mut score,
            &mut error,
        );
        assert_eq!(status == jsf_status::Ok, failed == 0, "{status:?}");
        assert_eq!(
            (score.to_bits(), jsf_error_failure(error) as u8),
            (expected.to_bits(), failed)
        );
        jsf_error_free(error);
        let mut logged = ptr::null_mut();
        assert_eq!(
            jsf_logged_score(score, &mut logged, ptr::null_mut()),
            jsf_status::Ok
        );
        assert_eq!(
            CStr::from_ptr(logged).to_str().unwrap(),
            printing::logged(score)
        );
        jsf_string_free(logged);
    }
}

/// The message of the error of a row, and its place.
fn error_of_row(
    program: *const jsf_program,
    scratch: *const jsf_scratch,
    row: usize,
) -> (String, u32, u32) {
    let (mut reason, mut start, mut end) = (ptr::null_mut(), 0, 0);
    // SAFETY: the handles are the library's; the message is read before the error is freed
    unsafe {
        let status = jsf_program_error_of_row(program, scratch, row, &mut reason, ptr::null_mut());
        assert!(status == jsf_status::Ok && jsf_error_status(reason) == jsf_status::Evaluation);
        assert!(jsf_error_span(reason, &mut start, &mut end));
        let message = CStr::from_ptr(jsf_error_message(reason))
            .to_str()
            .unwrap()
            .to_owned();
        jsf_error_free(reason);
        (message, start, end)
    }
}

#[test]
fn columns_through_c_give_the_bits_of_the_interpreter() {
    let cases = setting("JSF_REFEREE_CASES", 50_000) as usize;
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_261_123));
    let (schema, scratch) = (c_schema(), jsf_scratch_new());
    let (mut values, mut errors, mut formulas) = (0, 0, 0);
    while values < cases {
        let most = if random.below(20) == 0 { 3000 } else { 200 };
        let rows = 1 + random.below(most) as usize;
        let integers = INTEGERS.iter().map(|&name| (name, true));
        let names = integers.chain(NUMBERS.iter().map(|&name| (name, false)));
        let columns: Vec<Named> = names
            .map(|(name, is_integer)| {
                (
                    name,
                    CString::new(name).unwrap(),
                    Column::random(&mut random, rows, is_integer),
                )
            })
            .collect();
        for _ in 0..10 {
            let text = Writer::formula(&mut random).tokens.join(" ");
            let Some((program, compiled)) = compile(&text, schema) else {
                continue;
            };
            errors += compare(
                (&program, compiled),
                &columns,
                rows,
                scratch,
                random.below(2) == 0,
            );
            (values, formulas) = (values + rows, formulas + 1);
            // SAFETY: the program is not used any more
            unsafe { jsf_program_free(compiled) };
        }
    }
    // SAFETY: the handles are not used any more
    unsafe {
        jsf_schema_free(schema);
        jsf_scratch_free(scratch);
    }
    eprintln!("{values} values of {formulas} formulas: 0 different, {errors} errors the same");
    assert!(errors * 2 < values);
}
