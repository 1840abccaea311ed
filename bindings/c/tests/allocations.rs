//! A call with a scratch that has grown allocates nothing, unless a job fails. Nodes are added to a
//! tree one by one in the memory of each, not of the tree.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

use job_sort_formula_c::*;

/// Counts the bytes that each thread allocates.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATED.try_with(|bytes| bytes.set(bytes.get() + layout.size()));
        // SAFETY: as the caller promises
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATED.try_with(|bytes| bytes.set(bytes.get() + size));
        // SAFETY: as the caller promises
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const ROWS: usize = 5000;

/// The bytes that the second and the third call allocate.
fn allocated(formula: &str, columns: &[jsf_column]) -> usize {
    let (mut program, scratch) = (ptr::null_mut(), jsf_scratch_new());
    let (mut scores, mut failed, mut failures) = (vec![0.0; ROWS], vec![0_u8; ROWS], 0_usize);
    // SAFETY: the text and the arrays have the lengths that are passed
    unsafe {
        let status = jsf_program_compile(
            formula.as_ptr().cast(),
            formula.len(),
            ptr::null(),
            &mut program,
            ptr::null_mut(),
        );
        assert_eq!(status, jsf_status::Ok);
        let mut score = || {
            let before = ALLOCATED.get();
            let status = jsf_program_score(
                program,
                scratch,
                columns.as_ptr(),
                columns.len(),
                ROWS,
                scores.as_mut_ptr(),
                failed.as_mut_ptr(),
                &mut failures,
                ptr::null_mut(),
            );
            assert_eq!((status, failures), (jsf_status::Ok, 0), "{formula}");
            ALLOCATED.get() - before
        };
        let first = score();
        assert!(first > 0, "the count works");
        let later = score() + score();
        jsf_program_free(program);
        jsf_scratch_free(scratch);
        later
    }
}

fn column<T>(name: &'static std::ffi::CStr, kind: jsf_kind, values: &[T]) -> jsf_column {
    jsf_column {
        name: name.as_ptr(),
        kind: kind as u32,
        values: values.as_ptr().cast(),
        rows: values.len(),
        entity_values: ptr::null(),
        entities: 0,
    }
}

#[test]
fn a_second_call_allocates_nothing() {
    let ncpus: Vec<i32> = (0..ROWS as i32).map(|row| 1 + row % 64).collect();
    let waited: Vec<i64> = (0..ROWS as i64).map(|row| 60 * row).collect();
    let beyond_doubles: Vec<i64> = (0..ROWS as i64).map(|row| (1 << 53) + 1 + row).collect();
    let walltime: Vec<f64> = (0..ROWS).map(|row| 0.5 + row as f64).collect();
    let user: Vec<u32> = (0..ROWS as u32).map(|row| row % 100).collect();
    let factors: Vec<f64> = (0..100).map(|user| f64::from(user) / 100.0).collect();
    let ncpus = column(c"ncpus", jsf_kind::I32, &ncpus);
    let waited = column(c"eligible_time", jsf_kind::I64, &waited);
    let beyond_doubles = column(c"mem", jsf_kind::I64, &beyond_doubles);
    let walltime = column(c"walltime", jsf_kind::F64, &walltime);
    let priority = column(c"job_priority", jsf_kind::SameI64, &[3_i64]);
    let amounts: Vec<f64> = (0..ROWS)
        .map(|row| [1e16, 0.03125, 2.0, 123_456_789.123][row % 4])
        .collect();
    let amounts = column(c"ncpus", jsf_kind::PbsAmount, &amounts);
    let factor = column(c"fairshare_factor", jsf_kind::ByEntity, &user);
    let factor = jsf_column {
        entity_values: factors.as_ptr(),
        entities: factors.len(),
        ..factor
    };
    let cases: [(&str, &[jsf_column]); 8] = [
        ("ncpus * 2 + eligible_time / 3600", &[ncpus, waited]),
        (
            "100 * fairshare_factor + pow(2, -walltime) + job_priority",
            &[factor, walltime, priority],
        ),
        (
            "eligible_time ** 2 / min(max(walltime, 21600.0), 43200.0) ** 3 * ncpus",
            &[waited, walltime, ncpus],
        ),
        (
            "ncpus if eligible_time > 600 else sqrt(walltime)",
            &[ncpus, waited, walltime],
        ),
        ("ncpus * 2.0 + 1", &[amounts]),
        // every row is left to the interpreter
        ("mem + 1", &[beyond_doubles]),
        (
            "mem % 7 * fairshare_factor - ncpus",
            &[beyond_doubles, factor, ncpus],
        ),
        (
            "(mem // 3 if mem > ncpus else 0) * walltime",
            &[beyond_doubles, ncpus, walltime],
        ),
    ];
    let found: Vec<(&str, usize)> = cases
        .iter()
        .map(|(formula, columns)| (*formula, allocated(formula, columns)))
        .collect();
    assert!(
        found.iter().all(|(_, bytes)| *bytes == 0),
        "bytes of two calls: {found:?}"
    );
}

#[test]
fn a_second_job_allocates_nothing() {
    const FORMULA: &str = "pow(2, -(fairshare_tree_usage/fairshare_perc)) + ncpus";
    let (mut program, scratch) = (ptr::null_mut(), jsf_scratch_new());
    let values = [
        (jsf_kind::F64, 0, 0.25),
        (jsf_kind::F64, 0, 0.5),
        (jsf_kind::PbsAmount, 0, 4.00002),
    ];
    let values = values.map(|(kind, integer, real)| jsf_value {
        kind: kind as u32,
        integer,
        real,
    });
    // SAFETY: the text and the array have the lengths that are passed
    unsafe {
        let status = jsf_program_compile(
            FORMULA.as_ptr().cast(),
            FORMULA.len(),
            ptr::null(),
            &mut program,
            ptr::null_mut(),
        );
        assert_eq!(status, jsf_status::Ok);
        let evaluate = || {
            let (mut score, before) = (0.0, ALLOCATED.get());
            let status = jsf_program_evaluate(
                program,
                scratch,
                values.as_ptr(),
                3,
                &mut score,
                ptr::null_mut(),
            );
            assert_eq!((status, score), (jsf_status::Ok, 0.5_f64.sqrt() + 4.0));
            ALLOCATED.get() - before
        };
        assert!(evaluate() > 0, "the count works");
        assert_eq!(evaluate() + evaluate(), 0);
        jsf_program_free(program);
        jsf_scratch_free(scratch);
    }
}
