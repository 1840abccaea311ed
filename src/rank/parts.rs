//! Many keys, sorted in parts that fit the caches, on all processors.
//!
//! A key holds 32 bits to sort by and below them the place that it came from, so that no two are equal. Enters: what
//! makes the keys of a stretch of places. Leaves: the places in the order of their keys.

use std::ops::Range;

use crate::parallel;

/// How many parts there are: enough that one of a million keys stays in a processor's own cache.
const PARTS: usize = 8;
/// Fewer places than this make one part.
const FEW: usize = 1 << 14;
/// How many places a thread makes the keys of at a time.
const STRETCH: usize = 1 << 15;
/// How many keys are looked at to find where one part ends and the next begins.
const SAMPLE: usize = 64 * PARTS;
/// The bits by which keys are dealt out at a time.
const DIGIT: u32 = 11;

/// Keys in parts: all of one part are less than all of the next.
pub(super) struct Parts {
    /// The least key of each part but the first.
    starts: [u64; PARTS - 1],
    keys: [Vec<u64>; PARTS],
}

impl Parts {
    /// Adds the key that sorts by `key` and came from `place`. Places must come in ascending order.
    #[inline]
    pub(super) fn push(&mut self, key: u32, place: usize) {
        let key = u64::from(key) << 32 | place as u64 & 0xffff_ffff;
        let part = self.starts.iter().map(|&start| usize::from(start <= key)).sum::<usize>();
        self.keys[part].push(key);
    }
}

/// The places for which `fill` pushes a key, by ascending key and those of equal keys as they stand; only the first
/// `most`. `fill` is given stretches of the places below `len`, and must push the same for a place in any of them.
/// `len` is at most 2^32.
pub(super) fn sorted(len: usize, most: usize, fill: impl Fn(Range<usize>, &mut Parts) + Sync) -> Vec<usize> {
    let starts = if len < FEW { [u64::MAX; PARTS - 1] } else { starts(len, &fill) };
    let stretches = (0..len).step_by(STRETCH).map(|start| start..len.min(start + STRETCH)).collect();
    let mut stretches = parallel::map(stretches, |places: Range<usize>| {
        let room = if len < FEW { 0 } else { places.len() / PARTS * 5 / 4 };
        let mut parts = Parts { starts, keys: std::array::from_fn(|_| Vec::with_capacity(room)) };
        fill(places, &mut parts);
        parts.keys
    });
    let parts = (0..PARTS)
        .map(|part| -> Vec<_> { stretches.iter_mut().map(|stretch| std::mem::take(&mut stretch[part])).collect() });
    let parts: Vec<_> = parts.collect();
    let mut order = vec![0; parts.iter().flatten().map(Vec::len).sum::<usize>().min(most)];
    let mut rest = order.as_mut_slice();
    let mut work = Vec::with_capacity(PARTS);
    for part in parts {
        let (here, behind) = rest.split_at_mut(rest.len().min(part.iter().map(Vec::len).sum()));
        work.push((part, here));
        rest = behind;
    }
    work.retain(|(_, order)| !order.is_empty());
    parallel::map(work, |(part, order)| {
        let mut keys = part.concat();
        drop(part);
        sort_by_digits(&mut keys);
        order.iter_mut().zip(keys).for_each(|(place, key)| *place = (key & 0xffff_ffff) as usize);
    });
    order
}

/// Where parts of about equal size begin, by a sample of the keys.
fn starts(len: usize, fill: &impl Fn(Range<usize>, &mut Parts)) -> [u64; PARTS - 1] {
    let mut sample = Parts { starts: [u64::MAX; PARTS - 1], keys: Default::default() };
    (0..SAMPLE).map(|at| len / SAMPLE * at).for_each(|place| fill(place..place + 1, &mut sample));
    let keys = &mut sample.keys[0];
    keys.sort_unstable();
    std::array::from_fn(|part| keys.get((part + 1) * keys.len() / PARTS).copied().unwrap_or(u64::MAX))
}

/// Sorts by the upper half of the keys, those of equal ones as they stand: digit by digit from the lowest, as far as
/// the keys differ.
fn sort_by_digits(keys: &mut Vec<u64>) {
    let (mut low, mut high) = (u64::MAX, 0);
    for key in keys.iter().map(|key| key >> 32) {
        (low, high) = (low.min(key), high.max(key));
    }
    let mut dealt = vec![0; keys.len()];
    let mut shift = 0;
    while shift < 32 && high.saturating_sub(low) >> shift > 0 {
        let digit = |key: u64| (((key >> 32) - low) >> shift) as usize & ((1 << DIGIT) - 1);
        let mut next = [0; 1 << DIGIT];
        keys.iter().for_each(|&key| next[digit(key)] += 1);
        let mut start = 0;
        for next in &mut next {
            start += std::mem::replace(next, start);
        }
        for &key in keys.iter() {
            let next = &mut next[digit(key)];
            dealt[*next] = key;
            *next += 1;
        }
        std::mem::swap(keys, &mut dealt);
        shift += DIGIT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of every kind: all equal, few, near to each other, spread over all bits, and places without one.
    #[test]
    fn places_come_by_key_and_then_as_they_stand() {
        let keys: [fn(usize) -> Option<u32>; 6] = [
            |_| Some(7),
            |_| None,
            |place| Some((place % 3) as u32),
            |place| Some(u32::MAX - (place * 7919 % 5000) as u32),
            |place| Some((place as u32).wrapping_mul(2_654_435_761)),
            |place| (!place.is_multiple_of(5)).then_some((place as u32).wrapping_mul(2_654_435_761) >> 9),
        ];
        for key in keys {
            for len in [0, 1, 100, FEW - 1, FEW, 5 * STRETCH + 77] {
                let fill = |places: Range<usize>, parts: &mut Parts| {
                    places.for_each(|place| key(place).into_iter().for_each(|key| parts.push(key, place)));
                };
                let mut expected: Vec<usize> = (0..len).filter(|&place| key(place).is_some()).collect();
                expected.sort_by_key(|&place| key(place));
                for most in [0, 1, 10, len / 2, usize::MAX] {
                    assert_eq!(sorted(len, most, fill), expected[..expected.len().min(most)]);
                }
            }
        }
    }
}
