//! One job at a time through C, against the columns of one row that took its place.
//!
//! `cargo bench -p job-sort-formula-c --bench one_job`

use std::hint::black_box;
use std::ptr;

use criterion::{Criterion, criterion_group, criterion_main};
use job_sort_formula_c::*;

/// The fair-share formula of PP-718.
const FORMULA: &str = "pow(2, -(fairshare_tree_usage/fairshare_perc))";

fn compiled(formula: &str) -> *mut jsf_program {
    let mut program = ptr::null_mut();
    // SAFETY: the text has the length that is passed
    let status = unsafe {
        jsf_program_compile(
            formula.as_ptr().cast(),
            formula.len(),
            ptr::null(),
            &mut program,
            ptr::null_mut(),
        )
    };
    assert_eq!(status, jsf_status::Ok);
    program
}

/// The score of a job, and whether it failed; the text of the error is made and freed.
fn by_values(program: *const jsf_program, scratch: *mut jsf_scratch, inputs: &[f64; 2]) -> f64 {
    let values = inputs.map(|real| jsf_value {
        kind: jsf_kind::F64 as u32,
        integer: 0,
        real,
    });
    let (mut score, mut error) = (0.0, ptr::null_mut());
    // SAFETY: the handles are the library's, and the array has the length that is passed
    unsafe {
        jsf_program_evaluate(
            program,
            scratch,
            values.as_ptr(),
            values.len(),
            &mut score,
            &mut error,
        );
        jsf_error_free(error);
    }
    score
}

fn by_columns(program: *const jsf_program, scratch: *mut jsf_scratch, inputs: &[f64; 2]) -> f64 {
    let columns = inputs.each_ref().map(|value| jsf_column {
        name: ptr::null(),
        kind: jsf_kind::SameF64 as u32,
        values: ptr::from_ref(value).cast(),
        rows: 1,
        entity_values: ptr::null(),
        entities: 0,
    });
    let (mut score, mut failed) = (0.0, 0);
    // SAFETY: the handles are the library's, and the arrays have the lengths that are passed
    unsafe {
        let columns = (columns.as_ptr(), columns.len());
        let no_error = ptr::null_mut();
        jsf_program_score(
            program,
            scratch,
            columns.0,
            columns.1,
            1,
            &mut score,
            &mut failed,
            ptr::null_mut(),
            no_error,
        );
        if failed != 0 {
            let mut reason = ptr::null_mut();
            jsf_program_error_of_row(program, columns.0, columns.1, 0, &mut reason, no_error);
            jsf_error_free(reason);
        }
    }
    score
}

fn one_job(criterion: &mut Criterion) {
    let (program, scratch) = (compiled(FORMULA), jsf_scratch_new());
    for (name, inputs) in [
        ("one job", [0.25, 0.5]),
        ("one job that fails", [0.25, 0.0]),
    ] {
        let mut group = criterion.benchmark_group(name);
        group.bench_function("values", |bencher| {
            bencher.iter(|| by_values(program, scratch, black_box(&inputs)))
        });
        group.bench_function("columns", |bencher| {
            bencher.iter(|| by_columns(program, scratch, black_box(&inputs)))
        });
        group.finish();
    }
    // SAFETY: the handles are not used any more
    unsafe {
        jsf_scratch_free(scratch);
        jsf_program_free(program);
    }
}

criterion_group!(benches, one_job);
criterion_main!(benches);
