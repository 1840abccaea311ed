//! Compiled formulas: checked, compiled, and evaluated for columns.

use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::{Mutex, TryLockError};

use job_sort_formula::rank::{ColumnError, ColumnScratch, ScoreError};
use job_sort_formula::{Formula, Program};
use jsf_openpbs::check::{Checked, SiteFacts};
use jsf_openpbs::submission::FormulaSubmission;

use crate::argument::{
    addresses, array, array_out, borrow, free, optional_array_out, optional_out, out, overlap, text,
};
use crate::column::{NamedColumn, Written, check_rows, jsf_column, single_row};
use crate::error::{answered, c_text, guarded, jsf_error, jsf_status};
use crate::need::in_c;
use crate::schema::jsf_schema;

/// A compiled formula. It is immutable: any number of threads may use it at the same time, each with a scratch of its own.
/// Free it with `jsf_program_free`.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct jsf_program {
    program: Program,
    inputs: Vec<CString>,
    undefined: Vec<CString>,
}

/// The memory of an evaluation, to be used again: then no call allocates memory, unless a job fails. It belongs to no
/// program. Each thread needs its own; a call with a scratch that another call is using returns `JSF_STATUS_ARGUMENT`. Free it
/// with `jsf_scratch_free`.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct jsf_scratch {
    buffers: Mutex<Buffers>,
}

#[derive(Debug, Default)]
struct Buffers {
    columnar: ColumnScratch,
    columns: Vec<NamedColumn<'static>>,
    errors: Vec<(usize, ScoreError)>,
}

/// Checks a formula as `jsf check` does: whether `qmgr` accepts it, and every finding. `*json` becomes a text in JSON, ended by
/// a NUL, to be freed with `jsf_string_free`:
/// `{"formula":…,"python":"3.11","verdict":{"accepted":true,"code":0,…},"crashes_scheduler":false,"findings":[{"code":"JSF301","severity":"error",
/// "message":…,"span":{"start":8,"end":22},"help":…,"fix":…}]}`. A span counts bytes of the text. A text that is not a formula
/// is a finding, not an error of the call. A null `schema` has OpenPBS's names only.
///
/// Errors: `JSF_STATUS_ARGUMENT`, `JSF_STATUS_UTF8`; `*json` is null then. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_check(
    formula: *const c_char,
    formula_length: usize,
    schema: *const jsf_schema,
    json: *mut *mut c_char,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a pointer to a pointer
        let json = unsafe { out(json, "json") }?;
        *json = ptr::null_mut();
        // SAFETY: the caller passes null or a text of this length
        let formula = unsafe { text(formula, formula_length, "formula") }?;
        // SAFETY: the caller passes null or a schema of this library
        let (schema, python_source) = unsafe { jsf_schema::copied_with_python_source(schema) }?;
        let facts = SiteFacts { python_source: python_source.as_deref(), ..SiteFacts::default() };
        let mut checked = Checked::new(&FormulaSubmission::to_openpbs(formula), &schema, &facts);
        checked.findings = checked.findings.into_iter().map(|found| found.worded(in_c)).collect();
        let document = serde_json::to_string(&checked.document(formula));
        let document = document.map_err(|error| jsf_error::new(jsf_status::Internal, error.to_string()))?;
        *json = c_text(document).into_raw();
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Frees a text of `jsf_check` or `jsf_tree_write_groups`. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_string_free(string: *mut c_char) {
    if !string.is_null() {
        // SAFETY: it is from `CString::into_raw` and was not freed
        drop(unsafe { CString::from_raw(string) });
    }
}

/// Compiles a formula of at most 64 KiB: `formula_length` bytes of UTF-8, or up to a NUL if that is `JSF_NUL_TERMINATED`. A null
/// `schema` has OpenPBS's names only. On success `*program` is the program, to be freed with `jsf_program_free`.
///
/// A name that the schema does not have is not an error here, because Python reports it only where it is evaluated: see
/// `jsf_program_undefined`.
///
/// Errors: `JSF_STATUS_SYNTAX` and `JSF_STATUS_NOT_ARITHMETIC`, with a place; `JSF_STATUS_UTF8`, `JSF_STATUS_ARGUMENT`.
/// `*program` is null then. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_compile(
    formula: *const c_char,
    formula_length: usize,
    schema: *const jsf_schema,
    program: *mut *mut jsf_program,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a pointer to a handle
        let out = unsafe { out(program, "program") }?;
        *out = ptr::null_mut();
        // SAFETY: the caller passes null or a text of this length
        let formula = unsafe { text(formula, formula_length, "formula") }?;
        // SAFETY: the caller passes null or a schema of this library
        let schema = unsafe { jsf_schema::copied(schema) }?;
        let formula = Formula::parse(formula).map_err(|error| {
            let finding = error.diagnostic();
            jsf_error::new(jsf_status::Syntax, finding.message).at(finding.span)
        })?;
        let program = formula
            .compile(&schema)
            .map_err(|error| jsf_error::new(jsf_status::NotArithmetic, error.to_string()).at(error.span()))?;
        let inputs = program.inputs().iter().map(|name| c_text(&**name)).collect();
        let undefined = program.undefined().iter().map(|(name, _)| c_text(&**name)).collect();
        *out = Box::into_raw(Box::new(jsf_program { program, inputs, undefined }));
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// The number of inputs that the formula reads; 0 if `program` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_input_count(program: *const jsf_program) -> usize {
    // SAFETY: the caller passes null or a program of this library
    answered(0, || Ok(unsafe { borrow(program, "program") }?.inputs.len()))
}

/// The name of the input at `index`, from 0, in the order of the formula; null beyond the last one. It is UTF-8, ends with a
/// NUL, belongs to the program and lives as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_input(program: *const jsf_program, index: usize) -> *const c_char {
    // SAFETY: the caller passes null or a program of this library
    let inputs =
        || Ok(unsafe { borrow(program, "program") }?.inputs.get(index).map_or(ptr::null(), |name| name.as_ptr()));
    answered(ptr::null(), inputs)
}

/// The undefined name at `index`, from 0: one that the formula uses and the schema does not have as a number. Besides
/// misspelled names these are functions that do not exist, and resources of the types `boolean` and `string`. A job fails
/// where Python evaluates such a name, so a scheduler checks that the name at 0 is null. Null beyond the last one. It belongs
/// to the program and lives as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_undefined(program: *const jsf_program, index: usize) -> *const c_char {
    // SAFETY: the caller passes null or a program of this library
    let names =
        || Ok(unsafe { borrow(program, "program") }?.undefined.get(index).map_or(ptr::null(), |name| name.as_ptr()));
    answered(ptr::null(), names)
}

/// Frees a program. Null is ignored. No thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_free(program: *mut jsf_program) {
    // SAFETY: the caller passes null or a program of this library that was not freed
    unsafe { free(program) }
}

/// Memory for evaluations, to be freed with `jsf_scratch_free`. It grows with its first use.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_scratch_new() -> *mut jsf_scratch {
    answered(ptr::null_mut(), || Ok(Box::into_raw(Box::new(jsf_scratch { buffers: Mutex::default() }))))
}

/// Frees a scratch. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_scratch_free(scratch: *mut jsf_scratch) {
    // SAFETY: the caller passes null or a scratch of this library that was not freed
    unsafe { free(scratch) }
}

/// Scores `rows` jobs, at most `JSF_MAX_ROWS`, on the calling thread. `columns` has one column for each input of the formula,
/// in any order if they have names. `scores` gets the result for each job: a double, neither sorted nor rounded to the `float`
/// that the scheduler sorts on. It is what a `jsf_ranked_job` has as `exact`; its `score` is `jsf_round_to_float32` of it. A
/// job whose formula raises an error gets OpenPBS's value, 0, or -1 if the result is not a real number, and 0 where that value is
/// not known, because the error says that it is beyond a limit of this library or needs complex numbers. Infinity and NaN are
/// results of Python too, not errors: a score may be NaN although the job did not fail.
///
/// `failed` has a byte for each job, which becomes 1 if the job failed and else 0; it may be null. `failures` becomes the
/// number of jobs that failed; it may be null. `jsf_program_error_of_row` says why a job failed. If there are no rows, the
/// arrays may be null. The arrays that are written must not overlap each other or anything that is read.
///
/// Failed jobs are no error of the call. Errors: `JSF_STATUS_COLUMN`, `JSF_STATUS_ARGUMENT`, `JSF_STATUS_UTF8` (a name). Nothing
/// is written then, except `*error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_score(
    program: *const jsf_program,
    scratch: *mut jsf_scratch,
    columns: *const jsf_column,
    column_count: usize,
    rows: usize,
    scores: *mut f64,
    failed: *mut u8,
    failures: *mut usize,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or handles of this library
        let (program, scratch) = unsafe { (borrow(program, "program")?, borrow(scratch, "scratch")?) };
        let mut buffers = match scratch.buffers.try_lock() {
            Ok(buffers) => buffers,
            Err(TryLockError::Poisoned(buffers)) => buffers.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(jsf_error::argument(
                    "the scratch is being used by another call: each thread needs its own",
                ));
            }
        };
        check_rows(rows)?;
        // SAFETY: the caller passes null or arrays of these lengths
        let columns = unsafe { array(columns, column_count, "columns") }?;
        // SAFETY: as above; the arrays are only written, and `overlap` keeps them apart from each other and what is read
        let (scores, failed, failures) = unsafe {
            (
                array_out(scores, rows, "scores")?,
                optional_array_out(failed, rows, "failed")?,
                optional_out(failures, "failures")?,
            )
        };
        let written = [addresses(scores), addresses(failed)];
        if overlap(&written[0], &written[1]) || written.iter().any(|array| overlap(array, &addresses(columns))) {
            return Err(jsf_error::argument("`scores`, `failed` and `columns` overlap"));
        }
        let Buffers { columnar, columns: named, errors } = &mut *buffers;
        let mut inputs = recycled(std::mem::take(named));
        let mut result = Ok(());
        for (index, column) in columns.iter().enumerate() {
            // SAFETY: the caller passes columns as the documentation of their fields says
            match unsafe { column.input(&program.program, index, &Written(&written)) } {
                Ok(input) => inputs.push(input),
                Err(error) => result = result.and(Err(error)),
            }
        }
        let result = result.and_then(|()| {
            program.program.score_columns(&inputs, columnar, scores, errors).map_err(|error| column_error(&error))
        });
        *named = recycled(inputs);
        result?;
        failed.fill(0);
        if !failed.is_empty() {
            errors.iter().for_each(|(row, _)| failed[*row] = 1);
        }
        failures.into_iter().for_each(|failures| *failures = errors.len());
        errors.clear();
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

fn column_error(error: &ColumnError) -> jsf_error {
    jsf_error::new(jsf_status::Column, error.to_string())
}

/// The memory of an array, for columns that live for another time. Collecting in place allocates nothing.
fn recycled<'a>(mut columns: Vec<NamedColumn<'_>>) -> Vec<NamedColumn<'a>> {
    columns.clear();
    columns.into_iter().map_while(|_| None).collect()
}

/// Evaluates the formula once more for one job, and says why it failed: returns `JSF_STATUS_EVALUATION`, and `*error` has the
/// text of Python's exception, as OpenPBS logs it, and the place in the formula. Returns `JSF_STATUS_OK` if the job does not
/// fail. `columns` are those of `jsf_program_score`; `row` counts from 0.
///
/// Errors: `JSF_STATUS_COLUMN`, `JSF_STATUS_ARGUMENT` (also for a row beyond the last one), `JSF_STATUS_UTF8`. Any thread may
/// call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_error_of_row(
    program: *const jsf_program,
    columns: *const jsf_column,
    column_count: usize,
    row: usize,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a program of this library
        let program = &unsafe { borrow(program, "program") }?.program;
        // SAFETY: the caller passes null or an array of this length
        let columns = unsafe { array(columns, column_count, "columns") }?;
        let mut inputs = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            // SAFETY: the caller passes columns as the documentation of their fields says
            let (name, column) = unsafe { column.input(program, index, &Written(&[])) }?;
            let single = single_row(&column, row);
            let single = single.ok_or_else(|| jsf_error::argument(format!("the column `{name}` has no row {row}")))?;
            inputs.push((name, single));
        }
        let (mut score, mut errors) = ([0.0], Vec::new());
        let scored = program.score_columns(&inputs, &mut ColumnScratch::new(), &mut score, &mut errors);
        scored.map_err(|error| column_error(&error))?;
        match errors.first() {
            Some((_, error)) => Err(jsf_error::new(jsf_status::Evaluation, error.to_string()).at(error.span())),
            None => Ok(()),
        }
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// The value of a score that OpenPBS's scheduler sorts on: it keeps a C `float`, so that scores which differ by less than 24
/// bits are equal. A score too large for a `float` becomes infinite.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_round_to_float32(score: f64) -> f64 {
    f64::from(score as f32)
}
