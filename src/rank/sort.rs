//! The sort of values, with the NaN semantics of OpenPBS.

use std::cmp::Ordering;

use crate::rank::ScorePrecision;

/// Compares two values as OpenPBS does: the higher comes first, and NaN equals every value.
pub fn higher_first(left: f64, right: f64) -> Ordering {
    right.partial_cmp(&left).unwrap_or(Ordering::Equal)
}

/// The rows of the best `limit` scores, best first, as OpenPBS orders its jobs: the higher score
/// first, then the earlier submission, then the lower row. The scores are rounded to `precision`
/// first: [`ScorePrecision::Float32`] is the scheduler's. `submitted` has the time of each row, in
/// any unit that increases with time; without it, or from its end on, the rows are in the order of
/// submission. NaN equals every score, which is not an order: the result is then that of the sort
/// in glibc, which OpenPBS uses.
///
/// ```
/// use job_sort_formula::rank::{ScorePrecision, top_rows};
///
/// let scores = [0.5, 7.0, 0.500_000_001, 7.0];
/// assert_eq!(top_rows(&scores, None, ScorePrecision::Float32, usize::MAX), [1, 3, 0, 2]);
/// assert_eq!(top_rows(&scores, Some(&[40, 30, 20, 10]), ScorePrecision::Float32, 3), [3, 1, 2]);
/// ```
pub fn top_rows(
    scores: &[f64],
    submitted: Option<&[i64]>,
    precision: ScorePrecision,
    limit: usize,
) -> Vec<usize> {
    let values: Vec<f64> = scores.iter().map(|&score| precision.round(score)).collect();
    let times = submitted.unwrap_or_default();
    if times.is_sorted() {
        return sort_by_value(&values, limit);
    }
    let mut rows: Vec<usize> = (0..values.len()).collect();
    // stable: jobs of one time stay in the order of their rows
    rows.sort_by_key(|&row| times.get(row).copied().unwrap_or(i64::MAX));
    sort_listed_by_value(&rows, &values, limit)
}

/// Sorts rows by value, the higher first; rows of equal value keep their order. Returns at most the
/// first `limit` rows.
pub fn sort_by_value(values: &[f64], limit: usize) -> Vec<usize> {
    if values.iter().any(|value| value.is_nan()) {
        let mut rows: Vec<usize> = (0..values.len()).collect();
        merge_sort(&mut rows, &mut |left: usize, right: usize| {
            higher_first(values[left], values[right])
        });
        rows.truncate(limit);
        return rows;
    }
    // the keys alone are sorted, since looking up the value of a row for every comparison would
    // miss the cache
    let mut keys = Vec::with_capacity(values.len());
    for (row, &value) in values.iter().enumerate() {
        // the row, of 32 bits, breaks ties: an unstable sort then keeps their order
        keys.push(u128::from(double_key(value)) << 32 | row as u128);
    }
    // those behind the limit need not be sorted
    if limit < keys.len() {
        keys.select_nth_unstable(limit);
        keys.truncate(limit);
    }
    keys.sort_unstable();
    // the lower 32 bits are the row
    keys.into_iter().map(|key| key as u32 as usize).collect()
}

/// Sorts listed rows by value, the higher first; rows of equal value keep their order. Returns at
/// most the first `limit` rows.
pub fn sort_listed_by_value(rows: &[usize], values: &[f64], limit: usize) -> Vec<usize> {
    let values: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
    let mut order = sort_by_value(&values, limit);
    for row in &mut order {
        *row = rows[*row];
    }
    order
}

/// An integer that orders values as [`higher_first`] does: the higher the value, the lower the key.
/// Both zeros have the same key. The value must not be NaN.
pub fn double_key(value: f64) -> u64 {
    // -0 + 0 is 0
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 {
        bits
    } else {
        !(bits | 1 << 63)
    }
}

/// Sorts as the `qsort` of glibc does, which OpenPBS uses for its jobs: a top-down merge sort.
///
/// A comparison in which NaN equals every value is not a total order. The result then depends on
/// which pairs are compared, and the sort of the standard library may panic. With a total order
/// this is a stable sort.
pub fn merge_sort<T: Copy>(items: &mut [T], compare: &mut impl FnMut(T, T) -> Ordering) {
    let mut scratch = Vec::with_capacity(items.len());
    merge_sort_with(items, &mut scratch, compare);
}

/// Recurses to a depth of the logarithm of the length.
fn merge_sort_with<T: Copy>(
    items: &mut [T],
    scratch: &mut Vec<T>,
    compare: &mut impl FnMut(T, T) -> Ordering,
) {
    if items.len() <= 1 {
        return;
    }
    // the first half is the shorter one, as in glibc's `msort_with_tmp`
    let middle = items.len() / 2;
    merge_sort_with(&mut items[..middle], scratch, compare);
    merge_sort_with(&mut items[middle..], scratch, compare);
    scratch.clear();
    let mut left = 0;
    let mut right = middle;
    while left < middle && right < items.len() {
        // not `<`: items that are equal, as a NaN is to all, stay in place
        if compare(items[left], items[right]) != Ordering::Greater {
            scratch.push(items[left]);
            left += 1;
        } else {
            scratch.push(items[right]);
            right += 1;
        }
    }
    scratch.extend_from_slice(&items[left..middle]);
    let merged = scratch.len();
    items[..merged].copy_from_slice(scratch);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_sort_is_stable() {
        let mut items: Vec<usize> = (0..1000).collect();
        merge_sort(&mut items, &mut |a: usize, b: usize| {
            ((a * 7919) % 10).cmp(&((b * 7919) % 10))
        });
        let mut expected: Vec<usize> = (0..1000).collect();
        expected.sort_by_key(|item| (item * 7919) % 10);
        assert_eq!(items, expected);
    }

    #[test]
    fn rows_of_equal_value_keep_their_order() {
        for count in [0, 5, 1000, 300_000] {
            for divisor in [4.0, 7.0] {
                let values: Vec<f64> = (0..count)
                    .map(|row| (((row * 7919) % 1009) as f64 - 500.0) / divisor)
                    .collect();
                let rows: Vec<usize> = (0..count).rev().collect();
                let mut expected = rows.clone();
                expected.sort_by(|&left, &right| higher_first(values[left], values[right]));
                for limit in [0, 1, 17, count / 2, usize::MAX] {
                    let first = &expected[..limit.min(count)];
                    assert_eq!(sort_listed_by_value(&rows, &values, limit), first);
                }
            }
        }
        let values = [
            0.0,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -1.0,
            1e-310,
            1e300,
        ];
        assert_eq!(sort_by_value(&values, 7), [2, 6, 5, 0, 1, 4, 3]);
    }

    #[test]
    fn nan_equals_every_value() {
        let mut items = [f64::NAN, 1.0, f64::NAN];
        merge_sort(&mut items, &mut higher_first);
        assert!(items[0].is_nan() && items[1] == 1.0 && items[2].is_nan());
    }
}
