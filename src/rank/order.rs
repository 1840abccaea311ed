//! Sorts rows by value, with the NaN semantics of OpenPBS.

use std::cmp::Ordering;
use std::ops::Range;

use crate::parallel;
use crate::rank::ScorePrecision;

/// Compares two values as OpenPBS does: the higher comes first, and NaN equals every value.
pub fn higher_first(left: f64, right: f64) -> Ordering {
    right.partial_cmp(&left).unwrap_or(Ordering::Equal)
}

/// The rows of the best `limit` scores, best first, as OpenPBS orders its jobs: the higher score first, then the earlier
/// submission, then the lower row. The scores are rounded to `precision` first: [`ScorePrecision::Float32`] is the
/// scheduler's. `submitted` has the time of each row, in any unit that increases with time; without it, or from its end on,
/// the rows are in the order of submission. NaN equals every score, which is not an order: the result is then that of the
/// sort in glibc, which OpenPBS uses.
///
/// ```
/// use job_sort_formula::rank::{ScorePrecision, top_rows};
///
/// let scores = [0.5, 7.0, 0.500_000_001, 7.0];
/// assert_eq!(top_rows(&scores, None, ScorePrecision::Float32, usize::MAX), [1, 3, 0, 2]);
/// assert_eq!(top_rows(&scores, Some(&[40, 30, 20, 10]), ScorePrecision::Float32, 3), [3, 1, 2]);
/// ```
pub fn top_rows(scores: &[f64], submitted: Option<&[i64]>, precision: ScorePrecision, limit: usize) -> Vec<usize> {
    let values: Vec<f64> = scores.iter().map(|&score| precision.round(score)).collect();
    let times = submitted.unwrap_or_default();
    if times.is_sorted() {
        return sort_by_value(values, |_| true, limit);
    }
    let mut rows: Vec<usize> = (0..values.len()).collect();
    rows.sort_by_key(|&row| times.get(row).copied().unwrap_or(i64::MAX));
    sort_listed_by_value(&rows, &values, limit)
}

/// Sorts the rows that `is_listed` accepts by value, the higher first; rows of equal value keep their order. Returns at most
/// the first `limit` rows.
pub fn sort_by_value(values: Vec<f64>, is_listed: impl Fn(usize) -> bool, limit: usize) -> Vec<usize> {
    let are_floats = values.iter().fold(true, |are_floats, &value| are_floats & is_float(value));
    if !are_floats && values.iter().any(|value| value.is_nan()) {
        let mut rows: Vec<usize> = (0..values.len()).filter(|&row| is_listed(row)).collect();
        merge_sort(&mut rows, &mut |left: usize, right: usize| higher_first(values[left], values[right]));
        rows.truncate(limit);
        return rows;
    }
    // the keys alone are sorted, since looking up the value of a row for every comparison would miss the cache
    if !are_floats {
        let key = |row: usize| u128::from(double_key(values[row])) << 32 | row as u128;
        let keys = lowest_sorted(best_rows(&values, is_listed, limit).into_iter().map(key).collect(), limit);
        return keys.into_iter().map(|key| key as u32 as usize).collect();
    }
    let key = |(row, value): (usize, f64)| u64::from(float_key(value as f32)) << 32 | row as u64;
    let keys = if limit < values.len() {
        let rows = best_rows(&values, is_listed, limit);
        lowest_sorted(rows.into_iter().map(|row| key((row, values[row]))).collect(), limit)
    } else {
        // collected in the memory of the values, as the rows are in that of the keys: fresh memory costs more than the work
        all_sorted(values.into_iter().enumerate().filter(|&(row, _)| is_listed(row)).map(key).collect())
    };
    keys.into_iter().map(|key| key as u32 as usize).collect()
}

/// Sorts rows in any order as [`sort_by_value`] does.
pub fn sort_listed_by_value(rows: &[usize], values: &[f64], limit: usize) -> Vec<usize> {
    let values: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
    sort_by_value(values, |_| true, limit).into_iter().map(|index| rows[index]).collect()
}

/// The lowest `limit` keys, sorted.
fn lowest_sorted<K: Copy + Ord + Send>(mut keys: Vec<K>, limit: usize) -> Vec<K> {
    if limit < keys.len() {
        keys.select_nth_unstable(limit);
        keys.truncate(limit);
    }
    parallel::sort_unstable(&mut keys);
    keys
}

/// The number of rows that are compared at once.
const COMPARED_ROWS: usize = 16;

/// Rows among which are the best `limit`: those whose value is at least one that a sample of the values suggests, or all if
/// these are too few. No value is NaN.
fn best_rows(values: &[f64], is_listed: impl Fn(usize) -> bool, limit: usize) -> Vec<usize> {
    let bound = value_in_sample(values, limit);
    let mut rows = Vec::new();
    for (start, compared) in (0..).step_by(COMPARED_ROWS).zip(values.chunks(COMPARED_ROWS)) {
        if compared.iter().fold(false, |reach, &value| reach | (value >= bound)) {
            rows.extend((start..start + compared.len()).filter(|&row| values[row] >= bound && is_listed(row)));
        }
    }
    if rows.len() < limit { (0..values.len()).filter(|&row| is_listed(row)).collect() } else { rows }
}

/// The most values that are sampled.
const SAMPLED: usize = 1024;

/// A value that more than `limit` values most likely exceed, but not many more.
fn value_in_sample(values: &[f64], limit: usize) -> f64 {
    let mut sample: Vec<f64> = values.iter().copied().step_by(values.len().div_ceil(SAMPLED).max(1)).collect();
    // so many of the sample are expected among the best, give or take three standard deviations
    let expected = limit as f64 * sample.len() as f64 / values.len() as f64;
    let rank = ((expected + 3.0 * expected.sqrt()) as usize).saturating_add(1);
    if rank >= sample.len() {
        return f64::NEG_INFINITY;
    }
    *sample.select_nth_unstable_by(rank, |left, right| right.total_cmp(left)).1
}

/// Sorts keys of which the lower halves are ascending. Each thread sorts those in a range of keys.
fn all_sorted(mut keys: Vec<u64>) -> Vec<u64> {
    let ranges = ranges_of_keys(&keys);
    let mut other = vec![0; keys.len()];
    if ranges.len() == 1 {
        radix_sort(&mut keys, &mut other);
        return keys;
    }
    let lengths = parallel::map(ranges.clone(), |range| keys.iter().filter(|key| range.contains(key)).count());
    let parts = ranges.into_iter().zip(split(&mut other, &lengths)).collect();
    parallel::map(parts, |(range, part)| copy_range(&keys, range, part));
    let parts = split(&mut other, &lengths).into_iter().zip(split(&mut keys, &lengths)).collect();
    parallel::map(parts, |(part, scratch)| radix_sort(part, scratch));
    other
}

/// Ranges that contain all keys, about as many each as a sample tells: one for each thread, or one for few keys.
fn ranges_of_keys(keys: &[u64]) -> Vec<Range<u64>> {
    let count = parallel::threads_for(keys.len());
    let mut sample: Vec<u64> = keys.iter().copied().step_by(keys.len().div_ceil(SAMPLED).max(1)).collect();
    sample.sort_unstable();
    let mut bounds: Vec<u64> = (1..count).map(|part| sample[part * sample.len() / count]).collect();
    bounds.insert(0, 0);
    // no row has the highest number
    bounds.push(u64::MAX);
    bounds.windows(2).map(|bounds| bounds[0]..bounds[1]).collect()
}

/// Splits keys into parts of these lengths.
fn split<'k>(mut keys: &'k mut [u64], lengths: &[usize]) -> Vec<&'k mut [u64]> {
    let parts = lengths.iter().map(|&length| {
        let (part, rest) = std::mem::take(&mut keys).split_at_mut(length);
        keys = rest;
        part
    });
    parts.collect()
}

/// Copies the keys in a range, without a branch for each: which keys are in the range cannot be predicted.
fn copy_range(keys: &[u64], range: Range<u64>, copied: &mut [u64]) {
    let mut count = 0;
    for &key in keys {
        let Some(place) = copied.get_mut(count) else { return };
        *place = key;
        count += usize::from(range.contains(&key));
    }
}

/// Sorts keys of which the lower halves are ascending, byte by byte of the upper halves: faster than comparisons if all
/// keys are wanted. `scratch` is as long.
fn radix_sort(keys: &mut [u64], scratch: &mut [u64]) {
    let (mut from, mut to) = (keys, scratch);
    let mut is_in_scratch = false;
    for shift in [32, 40, 48, 56] {
        let mut counts = [0; 256];
        from.iter().for_each(|&key| counts[byte_at(key, shift)] += 1);
        if counts.contains(&from.len()) {
            continue;
        }
        let mut next = [0; 256];
        (1..next.len()).for_each(|byte| next[byte] = next[byte - 1] + counts[byte - 1]);
        for &key in from.iter() {
            let next = &mut next[byte_at(key, shift)];
            to[*next] = key;
            *next += 1;
        }
        std::mem::swap(&mut from, &mut to);
        is_in_scratch = !is_in_scratch;
    }
    if is_in_scratch {
        to.copy_from_slice(from);
    }
}

#[inline]
fn byte_at(key: u64, shift: u32) -> usize {
    usize::from((key >> shift) as u8)
}

/// Whether a C `float` represents this value exactly; false for NaN.
fn is_float(value: f64) -> bool {
    f64::from(value as f32) == value
}

/// An integer that orders values as [`higher_first`] does: the higher the value, the lower the key. Both zeros have the
/// same key. The value must not be NaN.
pub fn double_key(value: f64) -> u64 {
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
    let mut left = 0;
    let mut right = middle;
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
    fn keys_are_sorted_by_their_bytes() {
        for (spread, count) in [(1, 5000_u64), (3, 5000), (1 << 9, 50_000), (1 << 20, 50_000), (u32::MAX, 50_000)] {
            let keys = (0..count).map(|row| {
                let upper = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & u64::from(spread);
                upper << 32 | row
            });
            let keys: Vec<u64> = keys.collect();
            let mut expected = keys.clone();
            expected.sort();
            assert_eq!(all_sorted(keys), expected);
        }
        assert!(all_sorted(Vec::new()).is_empty());
    }

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
        for count in [0, 5, 1000, 300_000] {
            for divisor in [4.0, 7.0] {
                let values: Vec<f64> = (0..count).map(|row| (((row * 7919) % 1009) as f64 - 500.0) / divisor).collect();
                let rows: Vec<usize> = (0..count).rev().collect();
                let mut expected = rows.clone();
                expected.sort_by(|&left, &right| higher_first(values[left], values[right]));
                for limit in [0, 1, 17, count / 2, usize::MAX] {
                    let first = &expected[..limit.min(count)];
                    assert_eq!(sort_listed_by_value(&rows, &values, limit), first);
                }
            }
        }
        let values = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e-310, 1e300];
        assert_eq!(sort_by_value(values.to_vec(), |_| true, 7), [2, 6, 5, 0, 1, 4, 3]);
    }

    #[test]
    fn the_best_rows_are_found_whatever_the_sample_says() {
        // every 49th value is sampled: they are the highest, the lowest, or not listed
        for sampled in [1.0, -1.0, 0.5] {
            let values: Vec<f64> = (0..50_000)
                .map(|row| if row % 49 == 0 { sampled } else { f64::from(row * 7919 % 50_000) / 50_000.0 })
                .collect();
            for is_listed in [|_: usize| true, |row: usize| !row.is_multiple_of(49)] {
                for limit in [0, 1, 500, 20_000] {
                    let all = sort_by_value(values.clone(), is_listed, values.len());
                    assert_eq!(sort_by_value(values.clone(), is_listed, limit), all[..limit]);
                }
            }
        }
    }

    #[test]
    fn nan_equals_every_value() {
        let mut items = [f64::NAN, 1.0, f64::NAN];
        merge_sort(&mut items, &mut higher_first);
        assert!(items[0].is_nan() && items[1] == 1.0 && items[2].is_nan());
    }
}
