//! Numbers that say how far two rankings agree, and how evenly something is distributed.

use crate::rank::double_key;

/// Kendall's tau-b of two lists of values of the same things: 1 if both order them alike, -1 if one
/// reverses the other. Pairs that are tied in a list are left out of its part of the denominator.
/// Things with a NaN are left out. `None` if all values of a list are equal, or if there are fewer
/// than two.
///
/// Sorts once and counts inversions in a merge sort, so it takes O(n log n) time: W. R. Knight, "A
/// Computer Method for Calculating Kendall's Tau with Ungrouped Data", 1966.
pub fn tau_b(first: &[f64], second: &[f64]) -> Option<f64> {
    let mut pairs = Vec::with_capacity(first.len());
    for (&first, &second) in first.iter().zip(second) {
        if !first.is_nan() && !second.is_nan() {
            // both keys reverse the order, which leaves their agreement as it is
            pairs.push((double_key(first), double_key(second)));
        }
    }
    pairs.sort_unstable();
    let (firsts, mut seconds): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
    let ties_in_first = tied_pairs(&firsts);
    let ties_in_both = tied_pairs(&pairs);
    let mut scratch = vec![0; seconds.len()];
    let inversions = sort_counting_inversions(&mut seconds, &mut scratch);
    let ties_in_second = tied_pairs(&seconds);
    // below 2^32 rows, as row numbers have 32 bits: the pairs fit
    let count = seconds.len() as i64;
    let all = count * (count - 1) / 2;
    let concordant_less_discordant =
        all - ties_in_first - ties_in_second + ties_in_both - 2 * inversions;
    let in_first = all - ties_in_first;
    let in_second = all - ties_in_second;
    if in_first == 0 || in_second == 0 {
        return None;
    }
    let tau =
        // in the order of scipy's `kendalltau`, with which a test compares
        concordant_less_discordant as f64 / (in_first as f64).sqrt() / (in_second as f64).sqrt();
    // rounding can carry it beyond 1
    Some(tau.clamp(-1.0, 1.0))
}

/// The number of pairs of equal items; equal items must be neighbours.
fn tied_pairs<T: PartialEq>(sorted: &[T]) -> i64 {
    let mut pairs = 0;
    for run in sorted.chunk_by(PartialEq::eq) {
        let length = run.len() as i64;
        pairs += length * (length - 1) / 2;
    }
    pairs
}

/// Sorts the items and returns the number of pairs of which the greater one came first. Recurses to
/// a depth of the logarithm of the length. `scratch` has the same length.
fn sort_counting_inversions(items: &mut [u64], scratch: &mut [u64]) -> i64 {
    if items.len() <= 1 {
        return 0;
    }
    let middle = items.len() / 2;
    let (left, right) = items.split_at_mut(middle);
    let (left_scratch, right_scratch) = scratch.split_at_mut(middle);
    let in_left = sort_counting_inversions(left, left_scratch);
    let in_right = sort_counting_inversions(right, right_scratch);
    let mut left = 0;
    let mut right = middle;
    let mut between = 0;
    for slot in scratch.iter_mut() {
        // `<=`: equal items are no inversion
        if right == items.len() || left < middle && items[left] <= items[right] {
            *slot = items[left];
            left += 1;
        } else {
            *slot = items[right];
            between += (middle - left) as i64;
            right += 1;
        }
    }
    items.copy_from_slice(scratch);
    in_left + in_right + between
}

/// Jain's fairness index of amounts that are not negative: 1 if all are equal, `1/n` if one of `n`
/// has everything. `None` if there is nothing to distribute.
///
/// Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for
/// Resource Allocation in Shared Computer Systems", 1984.
pub fn jain_index(amounts: &[f64]) -> Option<f64> {
    let mut sum = 0.0;
    let mut squares = 0.0;
    for amount in amounts {
        sum += amount;
        squares += amount * amount;
    }
    if squares > 0.0 {
        Some(sum * sum / (amounts.len() as f64 * squares))
    } else {
        None
    }
}

/// The Gini coefficient of amounts that are not negative: 0 if all are equal, `1 - 1/n` if one of
/// `n` has everything. `None` if there is nothing to distribute.
pub fn gini_coefficient(amounts: &[f64]) -> Option<f64> {
    let mut sorted = amounts.to_vec();
    // sorted, because the differences of all pairs then follow from one sum
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let mut sum = 0.0;
    let mut weighted = 0.0;
    for (index, amount) in sorted.iter().enumerate() {
        sum += amount;
        weighted += (2.0 * (index + 1) as f64 - count - 1.0) * amount;
    }
    if sum > 0.0 {
        Some(weighted / (count * sum))
    } else {
        None
    }
}
