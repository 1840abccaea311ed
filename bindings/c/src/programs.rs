//! Compiled formulas: checked, compiled, and evaluated for columns.

use std::ffi::{CString, c_char};
use std::{mem, ptr, slice};

use job_sort_formula::printing::logged;
use job_sort_formula::rank::{
    ColumnError, ColumnScratch, OnError, ScoreError, ScorePrecision, top_rows,
};
use job_sort_formula::{Program, Span, Value};
use jsf_openpbs::submission::{FormulaSubmission, PythonStringLiteral, Refusal};

use crate::argument::{
    addresses, any_overlap, array, array_out, borrow, borrow_mut, free, name_at, optional_out, out,
    overlaps, text,
};
use crate::error_handles::{
    answered, c_text, created, created_text, guarded, jsf_error, jsf_failure, jsf_status,
};
use crate::schemas_and_columns::{NamedColumn, check_rows, jsf_column, jsf_schema, jsf_value};

/// A compiled formula. It is immutable: any number of threads may use it at the same time, each
/// with a scratch of its own. Free it with `jsf_program_free`.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct jsf_program {
    program: Program,
    /// The text that was compiled, if it has escapes.
    literal: Option<PythonStringLiteral>,
    inputs: Vec<CString>,
    undefined: Vec<CString>,
}

/// The memory of an evaluation, to be used again: then no call allocates memory, unless a job fails
/// or has an integer beyond 64 bits. It belongs to no program. Each thread needs its own: a call
/// needs it alone. Free it with `jsf_scratch_free`.
#[allow(non_camel_case_types)]
#[derive(Debug, Default)]
pub struct jsf_scratch {
    columnar: ColumnScratch,
    columns: Vec<NamedColumn<'static>>,
    /// The jobs that failed in the last call for columns, by row.
    errors: Vec<(usize, ScoreError)>,
    /// The inputs of one job.
    values: Vec<Value>,
}

impl jsf_program {
    /// The error of a job, with its place in the text that was compiled.
    fn error(&self, error: &ScoreError) -> jsf_error {
        jsf_error::new(jsf_status::Evaluation, error.to_string())
            .because(jsf_failure::from_score_error(error))
            .at(in_source(&self.literal, error.span()))
    }
}

/// A place of the compiled text in the text that was passed, which may have escapes.
fn in_source(literal: &Option<PythonStringLiteral>, span: Span) -> Span {
    match literal {
        Some(literal) => literal.in_source(span),
        None => span,
    }
}

/// Frees a text of `jsf_run` or `jsf_logged_score`. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_string_free(string: *mut c_char) {
    if !string.is_null() {
        // SAFETY: it is from `CString::into_raw` and was not freed
        drop(unsafe { CString::from_raw(string) });
    }
}

/// Compiles a formula of at most 64 KiB: `formula_length` bytes of UTF-8, or up to a NUL if that is
/// `JSF_NUL_TERMINATED`. A null `schema` has OpenPBS's names only. On success `*program` is the
/// program, to be freed with `jsf_program_free`.
///
/// The text is read as the scheduler's Python reads it between the quotes of `eval("...")`: escapes
/// such as `\t` first, and a double quote is an error. Places in errors are those of the text that
/// was passed. More than comments and blanks below the first line is an error: a server keeps the
/// first line only, and Python takes no second one between the quotes.
///
/// A name that the schema does not have is not an error here, because Python reports it only where
/// it is evaluated: see `jsf_program_undefined`.
///
/// Errors: `JSF_STATUS_SYNTAX` and `JSF_STATUS_NOT_ARITHMETIC`, with a place, and
/// `jsf_error_failure` says whether Python may evaluate the formula all the same;
/// `JSF_STATUS_UTF8`, `JSF_STATUS_ARGUMENT`. `*program` is null then. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_compile(
    formula: *const c_char,
    formula_length: usize,
    schema: *const jsf_schema,
    program: *mut *mut jsf_program,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a text of this length
        let formula = unsafe { text(formula, formula_length, "formula") }?;
        // SAFETY: the caller passes null or a schema of this library
        let schema = unsafe { jsf_schema::copied(schema) }?;
        // OpenPBS would leave out what follows a NUL; as an expression, it is a syntax error
        let has_nul = formula.contains('\0');
        let submission = if has_nul {
            FormulaSubmission::as_expression(formula)
        } else {
            FormulaSubmission::to_openpbs(formula)
        };
        if let Some(finding) = submission.lines_left_out() {
            let message = "a second line between the quotes of `eval(\"...\")`; a server would keep the first line only";
            let left_out = jsf_error::new(jsf_status::Syntax, message).at(finding.span);
            return Err(left_out.because(jsf_failure::Syntax));
        }
        let literal = submission.literal();
        // a text without escapes has its places already
        let literal = literal.filter(|literal| !literal.is_verbatim()).cloned();
        let formula = submission.formula().map_err(syntax_error)?;
        let program = formula.compile(&schema).map_err(|error| {
            jsf_error::new(jsf_status::NotArithmetic, error.to_string())
                .at(in_source(&literal, error.span()))
                .because(jsf_failure::Limit)
        })?;
        let (mut inputs, mut undefined) = (Vec::new(), Vec::new());
        for name in program.inputs() {
            inputs.push(c_text(&**name));
        }
        for (name, _) in program.undefined() {
            undefined.push(c_text(&**name));
        }
        Ok(jsf_program {
            program,
            literal,
            inputs,
            undefined,
        })
    };
    // SAFETY: the caller passes null or pointers to handles
    unsafe { created(program, "program", error, work) }
}

fn syntax_error(refusal: &Refusal) -> jsf_error {
    let finding = &refusal.finding;
    let failure = if refusal.is_of_python {
        jsf_failure::Syntax
    } else {
        jsf_failure::Limit
    };
    jsf_error::new(jsf_status::Syntax, &*finding.message)
        .at(finding.span)
        .because(failure)
}

/// The number of inputs that the formula reads; 0 if `program` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_input_count(program: *const jsf_program) -> usize {
    answered(0, || {
        // SAFETY: the caller passes null or a program of this library
        Ok(unsafe { borrow(program, "program") }?.inputs.len())
    })
}

/// The name of the input at `index`, from 0, in the order of the formula; null beyond the last one.
/// It is UTF-8, ends with a NUL, belongs to the program and lives as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_input(
    program: *const jsf_program,
    index: usize,
) -> *const c_char {
    answered(ptr::null(), || {
        Ok(name_at(
            // SAFETY: the caller passes null or a program of this library
            &unsafe { borrow(program, "program") }?.inputs,
            index,
        ))
    })
}

/// The undefined name at `index`, from 0: one that the formula uses and the schema does not have as
/// a number. Besides misspelled names these are functions that do not exist, and resources of the
/// types `boolean` and `string`. A job fails where Python evaluates such a name, so a scheduler
/// checks that the name at 0 is null. Null beyond the last one. It belongs to the program and lives
/// as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_undefined(
    program: *const jsf_program,
    index: usize,
) -> *const c_char {
    answered(ptr::null(), || {
        Ok(name_at(
            // SAFETY: the caller passes null or a program of this library
            &unsafe { borrow(program, "program") }?.undefined,
            index,
        ))
    })
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
    answered(ptr::null_mut(), || {
        Ok(Box::into_raw(Box::<jsf_scratch>::default()))
    })
}

/// Frees a scratch. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_scratch_free(scratch: *mut jsf_scratch) {
    // SAFETY: the caller passes null or a scratch of this library that was not freed
    unsafe { free(scratch) }
}

/// Scores `rows` jobs, at most `JSF_MAX_ROWS`, on the calling thread. `columns` has one column for
/// each input of the formula, in any order if they have names. `scores` gets the result for each
/// job: a double, neither sorted nor rounded to the `float` that the scheduler sorts on, as
/// `jsf_round_to_float32` rounds it. `jsf_top` orders the jobs.
///
/// A job that fails gets the value that OpenPBS gives it: 0 where Python raises an exception, and
/// -1 where Python's result is no real number (complex, `None`, ...) or an integer too large for a
/// double, which crash OpenPBS's scheduler. It gets 0 too where that value is not known, see
/// `jsf_failure`. Infinity and NaN are results of Python, not errors: a score may be NaN although
/// the job did not fail.
///
/// `failed` has a byte for each job, which becomes 0, or the `jsf_failure` if the job failed; it
/// may be null. `failures` becomes the number of jobs that failed; it may be null.
/// `jsf_program_error_of_row` has the text of the error. If there are no rows, the arrays may be
/// null. What is written must not overlap each other or anything that is read.
///
/// The rows of a call are a queue: all evaluations together are limited to about a second, and the
/// jobs beyond it fail with `JSF_FAILURE_LIMIT` without being tried.
///
/// Failed jobs are no error of the call. Errors: `JSF_STATUS_COLUMN`, `JSF_STATUS_ARGUMENT`,
/// `JSF_STATUS_UTF8` (a name). Nothing is written then, except `*error`.
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
        let (program, scratch) =
            unsafe { (borrow(program, "program")?, borrow_mut(scratch, "scratch")?) };
        check_rows(rows)?;
        // SAFETY: the caller passes null or arrays of these lengths
        let columns = unsafe { array(columns, column_count, "columns") }?;
        // SAFETY: as above; the arrays are only written, and `overlap` keeps them apart from each
        // other and what is read
        let (scores, failed, failures) = unsafe {
            (
                array_out(scores, rows, "scores")?,
                // without a pointer it is not wanted
                array_out(failed, if failed.is_null() { 0 } else { rows }, "failed")?,
                optional_out(failures, "failures")?,
            )
        };
        // without a pointer nothing is written, and nothing can overlap
        let count = failures.as_deref().map_or(&[][..], slice::from_ref);
        let written = [addresses(scores), addresses(failed), addresses(count)];
        if any_overlap(&written) || overlaps(&written, columns) {
            return Err(jsf_error::argument(
                "`scores`, `failed`, `failures` and `columns` overlap",
            ));
        }
        let jsf_scratch {
            columnar,
            columns: named,
            errors,
            ..
        } = scratch;
        let mut inputs = recycled(mem::take(named));
        let mut result = Ok(());
        for (index, column) in columns.iter().enumerate() {
            // SAFETY: the caller passes columns as the documentation of their fields says
            match unsafe { column.input(&program.program, index, &written) } {
                Ok(input) => inputs.push(input),
                Err(error) => result = result.and(Err(error)),
            }
        }
        errors.clear();
        if result.is_ok() {
            let program = &program.program;
            let scored =
                program.score_columns(&inputs, OnError::ZeroLikePbs, columnar, scores, errors);
            result = scored.map_err(column_error);
        }
        // also after an error: the next call needs the memory too
        *named = recycled(inputs);
        result?;
        for failed in &mut *failed {
            failed.write(0);
        }
        if !failed.is_empty() {
            for (row, error) in &*errors {
                failed[*row].write(jsf_failure::from_score_error(error) as u8);
            }
        }
        if let Some(failures) = failures {
            failures.write(errors.len());
        }
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

fn column_error(error: ColumnError) -> jsf_error {
    jsf_error::new(jsf_status::Column, error.to_string())
}

/// The memory of an array, for columns that live for another time. Collecting in place allocates
/// nothing.
fn recycled<'a>(mut columns: Vec<NamedColumn<'_>>) -> Vec<NamedColumn<'a>> {
    columns.clear();
    columns.into_iter().map_while(|_| None).collect()
}

/// Scores one job, on the calling thread. `values` has the inputs of the formula in the order of
/// `jsf_program_input`. `*score` gets the value that `jsf_program_score` has for such a job. It is
/// faster than a call of `jsf_program_score` for one row. One evaluation is limited to about a
/// quarter of a second.
///
/// Errors: `JSF_STATUS_EVALUATION` if the job fails; `*score` is written then too, `*error` has the
/// text of Python's exception, as OpenPBS logs it, and the place in the formula, and
/// `jsf_error_failure` says whether Python may compute a value. `JSF_STATUS_COLUMN` if
/// `value_count` is not `jsf_program_input_count`, and `JSF_STATUS_ARGUMENT`; `*score` is not
/// written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_evaluate(
    program: *const jsf_program,
    scratch: *mut jsf_scratch,
    values: *const jsf_value,
    value_count: usize,
    score: *mut f64,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or handles of this library
        let (program, scratch) =
            unsafe { (borrow(program, "program")?, borrow_mut(scratch, "scratch")?) };
        let jsf_scratch {
            columnar,
            values: inputs,
            ..
        } = scratch;
        let expected = program.inputs.len();
        if value_count != expected {
            let message = format!("number of values: expected {expected}, found {value_count}");
            return Err(jsf_error::new(jsf_status::Column, message));
        }
        inputs.clear();
        // SAFETY: the caller passes null or an array of this length
        let values = unsafe { array(values, value_count, "values") }?;
        for (index, value) in values.iter().enumerate() {
            inputs.push(value.value(index)?);
        }
        // SAFETY: the caller passes null or a pointer to a number
        let score = unsafe { out(score, "score") }?;
        let result = program.program.score_row(inputs, columnar);
        score.write(match &result {
            Ok(value) => *value,
            Err(error) => OnError::ZeroLikePbs.value(error),
        });
        match result {
            Ok(_) => Ok(()),
            Err(error) => Err(program.error(&error)),
        }
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Why a job failed in the last call of `jsf_program_score` with this program and this scratch:
/// `*reason` becomes an error with the text of Python's exception, as OpenPBS logs it, and the place
/// in the formula, to be freed with `jsf_error_free`, or null if the job did not fail. `row` counts
/// from 0.
///
/// Errors: `JSF_STATUS_ARGUMENT`, also if `reason` and `error` are the same pointer; `*reason` is
/// null then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_program_error_of_row(
    program: *const jsf_program,
    scratch: *const jsf_scratch,
    row: usize,
    reason: *mut *mut jsf_error,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // `guarded` writes null to `error` at its end, which would lose the reason
        if ptr::eq(reason, error) {
            return Err(jsf_error::argument(
                "`reason` and `error` are the same pointer",
            ));
        }
        // SAFETY: the caller passes null or a pointer to a handle
        let reason = unsafe { out(reason, "reason") }?;
        reason.write(ptr::null_mut());
        // SAFETY: the caller passes null or handles of this library
        let (program, scratch) =
            unsafe { (borrow(program, "program")?, borrow(scratch, "scratch")?) };
        // the errors are in the order of the rows
        if let Ok(place) = scratch.errors.binary_search_by_key(&row, |(row, _)| *row) {
            reason.write(program.error(&scratch.errors[place].1).into_handle());
        }
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Writes the rows of the best `limit` of `rows` scores to `order`, which has room for `limit`,
/// best first; all rows if there are fewer. The order is that of OpenPBS: scores are compared as
/// `float`, as `jsf_round_to_float32` rounds them, and of equal ones the lower row comes first, so
/// the rows are in the order of submission. NaN equals every score, which is not an order: the
/// result is then that of the sort in glibc, which OpenPBS uses. The call allocates memory, at most
/// about 32 bytes for each row, and starts no threads.
///
/// Errors: `JSF_STATUS_ARGUMENT`; nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_top(
    scores: *const f64,
    rows: usize,
    limit: usize,
    order: *mut u32,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        check_rows(rows)?;
        // SAFETY: the caller passes null or an array of this length
        let scores = unsafe { array(scores, rows, "scores") }?;
        let best = top_rows(scores, None, ScorePrecision::Float32, limit);
        // SAFETY: the caller passes null or an array of this length; the scores are not read any
        // more
        let order = unsafe { array_out(order, limit.min(rows), "order") }?;
        for (place, row) in order.iter_mut().zip(best) {
            place.write(row as u32);
        }
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// The value of a score that OpenPBS's scheduler sorts on: it keeps a C `float`, so that scores
/// which differ by less than 24 bits are equal. A score too large for a `float` becomes infinite.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_round_to_float32(score: f64) -> f64 {
    f64::from(score as f32)
}

/// The text of a score as OpenPBS's scheduler logs it: rounded as by `jsf_round_to_float32`, and
/// printed with at most four decimals, fewer where the following three digits are zeros or nines:
/// `50.8780`, `0.25`, `-0`, `inf`, `-nan`. `score` is as `jsf_program_score` and
/// `jsf_program_evaluate` give it. `*text` becomes this text, of at most 40 bytes and a NUL, to be
/// freed with `jsf_string_free`.
///
/// Errors: `JSF_STATUS_ARGUMENT` if `text` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_logged_score(
    score: f64,
    text: *mut *mut c_char,
    error: *mut *mut jsf_error,
) -> jsf_status {
    // SAFETY: the caller passes null or pointers to a text and a handle
    unsafe { created_text(text, "text", error, || Ok(logged(score))) }
}
