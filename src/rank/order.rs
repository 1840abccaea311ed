//! Sorts rows by value, with the NaN semantics of OpenPBS.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut;

/// The least number of rows that are sorted in parallel.
const PARALLEL_ROWS: usize = 100_000;

/// Compares two values as OpenPBS does: the higher comes first, and NaN equals every value.
pub fn higher_first(left: f64, right: f64) -> Ordering {
    right.partial_cmp(&left).unwrap_or(Ordering::Equal)
}

/// Sorts rows by value, the higher first; rows of equal value keep their order. `values` has an entry for every row of
/// the table. Returns at most the first `limit` rows.
pub fn sort_by_value(mut rows: Vec<usize>, values: &[f64], limit: usize) -> Vec<usize> {
    let (mut has_nan, mut are_floats) = (false, true);
    for &row in &rows {
        has_nan |= values[row].is_nan();
        are_floats &= is_float(values[row]);
    }
    if has_nan {
        merge_sort(&mut rows, &mut |left: usize, right: usize| higher_first(values[left], values[right]));
        rows.truncate(limit);
        rows
    } else if are_floats {
        let key = |row: usize, index: u32| u64::from(float_key(values[row] as f32)) << 32 | u64::from(index);
        sorted_by_key(&rows, limit, key, |key| key as u32)
    } else {
        let key = |row: usize, index: u32| u128::from(double_key(values[row])) << 32 | u128::from(index);
        sorted_by_key(&rows, limit, key, |key| key as u32)
    }
}

/// Sorts rows by a key, in parallel if there are many. `key` gets a row and its index in `rows`, `index_of` gets the index
/// back from the key. The keys alone are sorted, since looking up the key of a row for every comparison would miss the
/// cache.
fn sorted_by_key<K: Copy + Ord + Send>(
    rows: &[usize],
    limit: usize,
    key: impl Fn(usize, u32) -> K,
    index_of: impl Fn(K) -> u32,
) -> Vec<usize> {
    let mut keys: Vec<K> = rows.iter().zip(0..).map(|(&row, index)| key(row, index)).collect();
    if limit < keys.len() {
        keys.select_nth_unstable(limit);
        keys.truncate(limit);
    }
    if keys.len() < PARALLEL_ROWS {
        keys.sort_unstable();
    } else {
        keys.par_sort_unstable();
    }
    keys.into_iter().map(|key| rows[index_of(key) as usize]).collect()
}

/// Whether a C `float` represents this value exactly; false for NaN.
fn is_float(value: f64) -> bool {
    f64::from(value as f32) == value
}

/// An integer that orders values as [`higher_first`] does: the higher the value, the lower the key. Both zeros have the
/// same key. The value must not be NaN.
pub(super) fn double_key(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { bits } else { !(bits | 1 << 63) }
}

/// The [`double_key`] of a C `float`.
fn float_key(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 1 { bits } else { !(bits | 1 << 31) }
}

/// Sorts as the `qsort` of glibc does, which OpenPBS uses for its jobs: a top-down merge sort.
///
/// A comparison in which NaN equals every value is not a total order. The result then depends on which pairs are
/// compared, and the sort of the standard library may panic. With a total order this is a stable sort.
pub fn merge_sort<T: Copy>(items: &mut [T], compare: &mut impl FnMut(T, T) -> Ordering) {
    let mut scratch = Vec::with_capacity(items.len());
    merge_sort_with(items, &mut scratch, compare);
}

/// Recurses to a depth of the logarithm of the length.
fn merge_sort_with<T: Copy>(items: &mut [T], scratch: &mut Vec<T>, compare: &mut impl FnMut(T, T) -> Ordering) {
    if items.len() <= 1 {
        return;
    }
    let middle = items.len() / 2;
    merge_sort_with(&mut items[..middle], scratch, compare);
    merge_sort_with(&mut items[middle..], scratch, compare);
    scratch.clear();
    let (mut left, mut right) = (0, middle);
    while left < middle && right < items.len() {
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
        merge_sort(&mut items, &mut |a: usize, b: usize| ((a * 7919) % 10).cmp(&((b * 7919) % 10)));
        let mut expected: Vec<usize> = (0..1000).collect();
        expected.sort_by_key(|item| (item * 7919) % 10);
        assert_eq!(items, expected);
    }

    #[test]
    fn rows_of_equal_value_keep_their_order() {
        for count in [0, 5, 1000, 3 * PARALLEL_ROWS] {
            for divisor in [4.0, 7.0] {
                let value = |row: usize| (((row * 7919) % 1009) as f64 - 500.0) / divisor;
                let values: Vec<f64> = (0..count).map(value).collect();
                let rows: Vec<usize> = (0..count).rev().collect();
                let mut expected = rows.clone();
                expected.sort_by(|&left, &right| higher_first(values[left], values[right]));
                for limit in [0, 1, 17, count / 2, usize::MAX] {
                    let first = &expected[..limit.min(count)];
                    assert_eq!(sort_by_value(rows.clone(), &values, limit), first);
                }
            }
        }
        let values = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e-310, 1e300];
        assert_eq!(sort_by_value((0..7).collect(), &values, 7), [2, 6, 5, 0, 1, 4, 3]);
    }

    #[test]
    fn nan_equals_every_value() {
        let mut items = [f64::NAN, 1.0, f64::NAN];
        merge_sort(&mut items, &mut higher_first);
        assert!(items[0].is_nan() && items[1] == 1.0 && items[2].is_nan());
    }
}
