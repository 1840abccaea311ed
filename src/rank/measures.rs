//! Numbers that say how far two rankings agree, and how evenly something is distributed.

use super::order::double_key;
use crate::parallel;

/// Kendall's tau-b of two lists of values of the same things: 1 if both order them alike, -1 if one
/// reverses the other. Pairs that are tied in a list are left out of its part of the denominator.
/// Things with a NaN are left out. `None` if all values of a list are equal, or if there are fewer
/// than two.
///
/// Sorts once and counts inversions in a merge sort, so it takes O(n log n) time: W. R. Knight, "A
/// Computer Method for Calculating Kendall's Tau with Ungrouped Data", 1966.
pub fn tau_b(first: &[f64], second: &[f64]) -> Option<f64> {
    let numbers = first
        .iter()
        .zip(second)
        .filter(|(first, second)| !first.is_nan() && !second.is_nan());
    let mut pairs: Vec<_> = numbers
        // both keys reverse the order, which leaves their agreement as it is
        .map(|(&first, &second)| (double_key(first), double_key(second)))
        .collect();
    parallel::sort_unstable(&mut pairs);
    let ties_in_first = tied_pairs(&pairs, |left, right| left.0 == right.0);
    let ties_in_both = tied_pairs(&pairs, |left, right| left == right);
    let mut seconds: Vec<u64> = pairs.into_iter().map(|(_, second)| second).collect();
    let mut scratch = vec![0; seconds.len()];
    let inversions = sort_counting_inversions(&mut seconds, &mut scratch);
    let ties_in_second = tied_pairs(&seconds, |left, right| left == right);
    // below 2^32 rows, as row numbers have 32 bits: the pairs fit
    let count = seconds.len() as i64;
    let all = count * (count - 1) / 2;
    let concordant_less_discordant =
        all - ties_in_first - ties_in_second + ties_in_both - 2 * inversions;
    let in_first = all - ties_in_first;
    let in_second = all - ties_in_second;
    let tau =
        concordant_less_discordant as f64 / (in_first as f64).sqrt() / (in_second as f64).sqrt();
    // rounding can carry it beyond 1
    (in_first > 0 && in_second > 0).then(|| tau.clamp(-1.0, 1.0))
}

/// The number of pairs of equal items; equal items must be neighbours.
fn tied_pairs<T>(sorted: &[T], is_equal: impl Fn(&T, &T) -> bool) -> i64 {
    sorted
        .chunk_by(is_equal)
        .map(|run| run.len() as i64 * (run.len() as i64 - 1) / 2)
        .sum()
}

/// Sorts the items and returns the number of pairs of which the greater one came first. Recurses to
/// a depth of the logarithm of the length. `scratch` has the same length.
fn sort_counting_inversions(items: &mut [u64], scratch: &mut [u64]) -> i64 {
    if items.len() <= 1 {
        return 0;
    }
    let middle = items.len() / 2;
    let count = items.len();
    let (left, right) = items.split_at_mut(middle);
    let (left_scratch, right_scratch) = scratch.split_at_mut(middle);
    let (in_left, in_right) = parallel::join(
        count,
        || sort_counting_inversions(left, left_scratch),
        || sort_counting_inversions(right, right_scratch),
    );
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
    let sum: f64 = amounts.iter().sum();
    let squares: f64 = amounts.iter().map(|amount| amount * amount).sum();
    (squares > 0.0).then(|| sum * sum / (amounts.len() as f64 * squares))
}

/// The Gini coefficient of amounts that are not negative: 0 if all are equal, `1 - 1/n` if one of
/// `n` has everything. `None` if there is nothing to distribute.
pub fn gini_coefficient(amounts: &[f64]) -> Option<f64> {
    let mut sorted = amounts.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let sum: f64 = sorted.iter().sum();
    let weighted: f64 = sorted
        .iter()
        .zip(1..)
        .map(|(amount, place)| (2.0 * f64::from(place) - count - 1.0) * amount)
        .sum();
    (sum > 0.0).then(|| weighted / (count * sum))
}
