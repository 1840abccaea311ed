//! Who comes first.

use std::cmp::Ordering;

/// How two values compare for OpenPBS: the higher first; NaN is neither before nor behind anything.
pub fn higher_first(left: f64, right: f64) -> Ordering {
    right.partial_cmp(&left).unwrap_or(Ordering::Equal)
}

/// Sorts as glibc's `qsort` does, with which OpenPBS sorts its jobs: a merge sort that halves from the left.
///
/// A comparison by which NaN equals everything is no order, and then the outcome hangs on which pairs are
/// compared; the standard library's sort may panic on it. With a proper order this is a stable sort as any.
pub fn merge_sort<T: Copy>(items: &mut [T], compare: &mut impl FnMut(T, T) -> Ordering) {
    let mut scratch = Vec::with_capacity(items.len());
    sort_half(items, &mut scratch, compare);
}

/// Recursion is as deep as the logarithm of the length.
fn sort_half<T: Copy>(items: &mut [T], scratch: &mut Vec<T>, compare: &mut impl FnMut(T, T) -> Ordering) {
    if items.len() <= 1 {
        return;
    }
    let middle = items.len() / 2;
    sort_half(&mut items[..middle], scratch, compare);
    sort_half(&mut items[middle..], scratch, compare);
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
    fn sorts_and_keeps_equals_in_place() {
        let mut items: Vec<usize> = (0..1000).collect();
        merge_sort(&mut items, &mut |a: usize, b: usize| ((a * 7919) % 10).cmp(&((b * 7919) % 10)));
        let mut expected: Vec<usize> = (0..1000).collect();
        expected.sort_by_key(|item| (item * 7919) % 10);
        assert_eq!(items, expected);
    }

    #[test]
    fn nan_stays_where_it_is() {
        let mut items = [f64::NAN, 1.0, f64::NAN];
        merge_sort(&mut items, &mut higher_first);
        assert!(items[0].is_nan() && items[1] == 1.0 && items[2].is_nan());
    }
}
