//! `jsf_top` gives the order of the library, and starts no threads for it.

use std::fs;
use std::ptr;

use job_sort_formula::rank::{ScorePrecision, top_rows};
use job_sort_formula_c::{jsf_status, jsf_top};

/// More than the rows from which the library sorts on several threads.
const ROWS: usize = 50_000;

/// The number of threads of this process; `None` where the system does not list them.
fn threads() -> Option<usize> {
    Some(fs::read_dir("/proc/self/task").ok()?.count())
}

fn order(scores: &[f64], limit: usize) -> Vec<usize> {
    let mut order = vec![u32::MAX; limit.min(scores.len())];
    // SAFETY: the arrays have the lengths that are passed
    let status = unsafe {
        jsf_top(
            scores.as_ptr(),
            scores.len(),
            limit,
            order.as_mut_ptr(),
            ptr::null_mut(),
        )
    };
    assert_eq!(status, jsf_status::Ok);
    order.into_iter().map(|row| row as usize).collect()
}

// one test, so that no other one starts or ends threads meanwhile
#[test]
fn many_rows_have_the_order_of_the_library_on_the_thread_of_the_caller() {
    let extremes = [
        0.0,
        -0.0,
        1.0,
        1.000_000_01,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e300,
        -1e300,
        1e-50,
        -1e-50,
        f64::from(f32::MIN_POSITIVE) / 3.0,
    ];
    let mut scores: Vec<f64> = (0..ROWS as u32)
        .map(|row| f64::from(row.wrapping_mul(2_654_435_761) as i32) / 65536.0)
        .collect();
    for (place, &score) in extremes.iter().enumerate() {
        for row in (place..ROWS).step_by(97) {
            scores[row] = score;
        }
    }
    let mut with_nan = scores.clone();
    with_nan[ROWS / 3] = f64::NAN;
    let before = threads();
    let limits = [0, 1, 10, 9999, 40_000, ROWS - 1, ROWS, usize::MAX];
    let orders = limits.map(|limit| [order(&scores, limit), order(&with_nan, limit)]);
    assert_eq!(threads(), before);
    for (limit, orders) in limits.into_iter().zip(orders) {
        let expected = [&scores, &with_nan]
            .map(|scores| top_rows(scores, None, ScorePrecision::Float32, limit));
        assert!(orders == expected, "the best {limit}");
    }
}
