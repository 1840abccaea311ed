//! Searches the whole number nearest to another one whose value is logged with given digits.
//!
//! Every search is bounded by construction, for any start, range and values: at most [`MAX_TRIED`] numbers are tried.

use std::ops::RangeInclusive;

use crate::number_format::logged;

/// How many numbers on either side of the start are tried one by one.
const NEAR: u64 = 1 << NEAR_BITS;
const NEAR_BITS: u32 = 5;
/// The most bits of a distance between two numbers.
const BITS: u32 = u64::BITS;
/// The most numbers that are tried: those near the start, then in either direction the distances that double, for each of
/// them a bisection to a number that matches, and once a bisection to the nearest one that does.
#[cfg(test)]
const MAX_TRIED: usize = 1 + 2 * NEAR as usize + 2 * ((BITS - NEAR_BITS + 1) * (1 + BITS) + BITS) as usize;

/// The whole number in `range` nearest to `start` whose value is logged with these digits. The numbers on either side of
/// `start` are tried one by one at first, then at growing distances; if the target lies between two of them, it is
/// searched by bisection. A start outside the range is replaced by the nearest bound. The result is also `None` as soon as
/// `value` has no result, because the work that was granted is spent.
pub(super) fn nearest(
    start: i64,
    range: RangeInclusive<i64>,
    digits: &str,
    mut value: impl FnMut(i64) -> Option<f64>,
) -> Option<i64> {
    if range.is_empty() {
        return None;
    }
    let target: f64 = digits.parse().ok()?;
    let mut try_number = |number: i64| {
        let value = value(number)?;
        Some(Tried { matches: logged(value) == digits, is_below: value < target })
    };
    let start = start.clamp(*range.start(), *range.end());
    let near =
        (1..=NEAR).flat_map(|near| [start.checked_add_unsigned(near), start.checked_sub_unsigned(near)]).flatten();
    for number in std::iter::once(start).chain(near).filter(|number| range.contains(number)) {
        if try_number(number)?.matches {
            return Some(number);
        }
    }
    let up = search_towards(start, *range.end(), &mut try_number)?;
    let down = search_towards(start, *range.start(), &mut try_number)?;
    up.into_iter().chain(down).min_by_key(|found| found.abs_diff(start))
}

/// What is known of a number that was tried.
#[derive(Debug, Clone, Copy)]
struct Tried {
    /// Whether its value is logged with the digits.
    matches: bool,
    /// Whether its value is less than the target.
    is_below: bool,
}

/// Searches from `start` to `end`, in either direction, at distances that double. The outer result is `None` if the
/// work is spent.
fn search_towards(start: i64, end: i64, try_number: &mut impl FnMut(i64) -> Option<Tried>) -> Option<Option<i64>> {
    let mut near = towards(start, end, NEAR);
    let mut near_is_below = try_number(near)?.is_below;
    for bits in NEAR_BITS + 1..=BITS {
        let far = towards(start, end, 1u64.checked_shl(bits).unwrap_or(u64::MAX));
        if far == near {
            break;
        }
        let tried = try_number(far)?;
        if tried.matches {
            return first_match(near, far, try_number).map(Some);
        }
        if near_is_below != tried.is_below
            && let Some(found) = bisect(near, far, near_is_below, try_number)?
        {
            return Some(Some(found));
        }
        near = far;
        near_is_below = tried.is_below;
    }
    Some(None)
}

/// The number at this distance from `start` in the direction of `end`, but not beyond `end`.
fn towards(start: i64, end: i64, distance: u64) -> i64 {
    let distance = distance.min(start.abs_diff(end));
    if end < start { start.saturating_sub_unsigned(distance) } else { start.saturating_add_unsigned(distance) }
}

/// Searches between two numbers whose values lie on either side of the target.
fn bisect(
    mut near: i64,
    mut far: i64,
    near_is_below: bool,
    try_number: &mut impl FnMut(i64) -> Option<Tried>,
) -> Option<Option<i64>> {
    while near.abs_diff(far) > 1 {
        let middle = i64::midpoint(near, far);
        let tried = try_number(middle)?;
        if tried.matches {
            return first_match(near, middle, try_number).map(Some);
        }
        if tried.is_below == near_is_below { near = middle } else { far = middle }
    }
    Some(None)
}

/// The matching number that is nearest to `near`, which does not match itself. `far` matches, and all numbers between the
/// result and `far` are taken to match.
fn first_match(mut near: i64, mut far: i64, try_number: &mut impl FnMut(i64) -> Option<Tried>) -> Option<i64> {
    while near.abs_diff(far) > 1 {
        let middle = i64::midpoint(near, far);
        if try_number(middle)?.matches { far = middle } else { near = middle }
    }
    Some(far)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of every size, and the extremes.
    fn numbers() -> impl Strategy<Value = i64> {
        let any_size = (any::<i64>(), 0..64_u32).prop_map(|(number, bits)| number >> bits);
        prop_oneof![any_size, Just(i64::MIN), Just(i64::MAX), Just(0), Just(1), Just(-1)]
    }

    /// Values that rise, fall, jump, oscillate, are constant, infinite or not numbers.
    fn value(kind: u8, parameter: f64, number: i64) -> f64 {
        let number = number as f64;
        match kind {
            0 => number * parameter,
            1 => -number,
            2 => parameter,
            3 => number.sin() * parameter,
            4 => (number * parameter).exp(),
            5 => parameter / number,
            6 => f64::NAN,
            7 if number > parameter => f64::INFINITY,
            7 => f64::NEG_INFINITY,
            8 => (number % 7.0) - 3.0,
            _ => (number - parameter) * (number + parameter),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn every_search_ends_and_finds_only_what_matches(
            start in numbers(),
            bounds in (numbers(), numbers()),
            kind in 0..10_u8,
            parameter in prop_oneof![any::<f64>(), -1e6..1e6, 0.0..1.0],
            target in prop_oneof![numbers().prop_map(|number| number as f64), -5.0..5.0, any::<f64>()],
        ) {
            let digits = logged(target);
            let (first, last) = bounds;
            let mut tried = 0;
            let found = nearest(start, first..=last, &digits, |number| {
                tried += 1;
                assert!((first..=last).contains(&number), "{number} is outside of {first}..={last}");
                assert!(tried <= MAX_TRIED, "more than {MAX_TRIED} numbers were tried");
                Some(value(kind, parameter, number))
            });
            prop_assert!(first <= last || tried == 0);
            if let Some(found) = found {
                prop_assert_eq!(logged(value(kind, parameter, found)), digits);
            }
        }

        #[test]
        fn a_start_outside_of_the_range_finds_the_number_nearest_to_it(
            start in numbers(),
            bounds in (-1_000_000_000_i64..1_000_000_000, 0..1_000_000_000_i64),
            place in 0.0..=1.0,
        ) {
            let (first, length) = bounds;
            let wanted = first + (length as f64 * place) as i64;
            let found = nearest(start, first..=first + length, "1", |number| Some(f64::from(u8::from(number >= wanted))));
            let expected = start.clamp(wanted, first + length);
            prop_assert_eq!(found, Some(expected));
        }
    }

    #[test]
    fn a_search_ends_when_its_work_is_spent() {
        for granted in 0..200 {
            let mut tried = 0;
            let found = nearest(0, -1_000_000..=1_000_000, "900000", |number| {
                tried += 1;
                (tried <= granted).then_some(number as f64)
            });
            assert!(found == Some(900_000) || tried == granted + 1, "{granted}: {found:?}");
        }
    }
}
