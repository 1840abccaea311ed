//! The loops over lanes: one pass each, without branches, so that the compiler vectorizes them.
//!
//! The closures capture nothing: a number behind a reference would be loaded again for every lane.

use crate::formula::program::columnar::lanes::{LaneType, is_exact};
use crate::simd::dispatch;

/// One number for all lanes, or one for each.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operand<'a> {
    Same(f64),
    Each(&'a [f64]),
}

/// Of a function that fails for no numbers.
#[inline(always)]
pub(super) fn never(_: f64, _: f64, _: f64) -> bool {
    false
}

/// Whether a number is infinite or NaN.
#[inline(always)]
pub(super) fn is_not_finite(number: f64) -> bool {
    !number.is_finite()
}

/// Whether a double may not represent the integer.
#[inline(always)]
pub(super) fn is_inexact(integer: f64) -> bool {
    !is_exact(integer)
}

/// `out = f(x, y)` in every lane; returns whether `fails(x, y, out)` is true in any.
#[inline]
pub(super) fn zip(
    out: &mut [f64],
    x: Operand<'_>,
    y: Operand<'_>,
    f: impl Fn(f64, f64) -> f64 + Copy,
    fails: impl Fn(f64, f64, f64) -> bool + Copy,
) -> bool {
    let step = move |out: &mut f64, x, y| {
        *out = f(x, y);
        u64::from(fails(x, y, *out))
    };
    for_each(out, x, y, step) != 0
}

/// Sets the mask where `test(x, y)` is true.
#[inline]
pub(super) fn compare(
    mask: &mut [bool],
    x: Operand<'_>,
    y: Operand<'_>,
    test: impl Fn(&f64, &f64) -> bool + Copy,
) {
    let step = move |mask: &mut bool, x: f64, y: f64| {
        *mask = test(&x, &y);
        0
    };
    for_each(mask, x, y, step);
}

#[inline]
fn for_each<T>(
    out: &mut [T],
    x: Operand<'_>,
    y: Operand<'_>,
    step: impl Fn(&mut T, f64, f64) -> u64 + Copy,
) -> u64 {
    match (x, y) {
        (Operand::Each(x), Operand::Each(y)) => {
            run(out, x.iter().copied().zip(y.iter().copied()), step)
        }
        (Operand::Each(x), Operand::Same(y)) => run(out, x.iter().map(move |&x| (x, y)), step),
        (Operand::Same(x), Operand::Each(y)) => run(out, y.iter().map(move |&y| (x, y)), step),
        // `max(1, 2, x)` compares two constants first
        (Operand::Same(x), Operand::Same(y)) => run(out, std::iter::repeat((x, y)), step),
    }
}

#[inline]
fn run<T>(
    out: &mut [T],
    pairs: impl Iterator<Item = (f64, f64)>,
    step: impl Fn(&mut T, f64, f64) -> u64 + Copy,
) -> u64 {
    dispatch(
        #[inline(always)]
        move || {
            out.iter_mut()
                .zip(pairs)
                // `|`, because every lane must be computed, without a branch
                .fold(0, |any, (out, (x, y))| any | step(out, x, y))
        },
    )
}

/// Fills lanes with converted numbers; returns how many there are.
#[inline]
pub(super) fn load<T: Copy>(
    numbers: &[T],
    out: &mut [f64],
    convert: impl Fn(T) -> f64 + Copy,
) -> usize {
    let count = out.len().min(numbers.len());
    dispatch(
        #[inline(always)]
        move || {
            for (out, &number) in out.iter_mut().zip(numbers) {
                *out = convert(number);
            }
        },
    );
    count
}

/// Whether `test(x)` is true in any lane.
#[inline]
pub(super) fn any(lanes: &[f64], test: impl Fn(f64) -> bool + Copy) -> bool {
    dispatch(
        #[inline(always)]
        move || {
            let mut any = 0;
            for &lane in lanes {
                any |= u64::from(test(lane));
            }
            any != 0
        },
    )
}

/// Sets the mask where `test(x)` is true in an active lane.
#[inline]
pub(super) fn test(
    x: &[f64],
    active: &[bool],
    mask: &mut [bool],
    test: impl Fn(f64) -> bool + Copy,
) {
    dispatch(
        #[inline(always)]
        move || {
            for (mask, (&x, &active)) in mask.iter_mut().zip(x.iter().zip(active)) {
                *mask = active & test(x);
            }
        },
    );
}

/// Makes the zeros of integers positive.
#[inline]
pub(super) fn make_zeros_positive(integers: &mut [f64]) {
    dispatch(
        #[inline(always)]
        move || {
            for integer in integers {
                *integer += 0.0;
            }
        },
    );
}

/// Makes the zeros of integers positive; returns whether an integer reaches 2^53 or is NaN.
#[inline]
pub(super) fn check_integers(numbers: &mut [f64], types: &[u8]) -> bool {
    dispatch(
        #[inline(always)]
        move || {
            let mut any = 0;
            for (number, &kind) in numbers.iter_mut().zip(types) {
                let is_integer = kind != LaneType::Float as u8;
                let integer = *number + 0.0;
                // stored in either case, since a conditional store would be a branch
                *number = if is_integer { integer } else { *number };
                any |= u64::from(is_integer) & u64::from(!is_exact(integer));
            }
            any != 0
        },
    )
}

/// `x = y` where the mask is set. An `if` would select between addresses and load each number
/// alone.
#[inline]
pub(super) fn select(mask: &[bool], x: &mut [f64], y: &[f64]) {
    dispatch(
        #[inline(always)]
        move || {
            for ((x, y), &is_selected) in x.iter_mut().zip(y).zip(mask) {
                let bits = (x.to_bits() ^ y.to_bits()) & u64::from(is_selected).wrapping_neg();
                *x = f64::from_bits(x.to_bits() ^ bits);
            }
        },
    );
}

/// [`select`] on types.
#[inline]
pub(super) fn select_types(mask: &[bool], x: &mut [u8], y: &[u8]) {
    dispatch(
        #[inline(always)]
        move || {
            for ((x, y), &is_selected) in x.iter_mut().zip(y).zip(mask) {
                *x ^= (*x ^ y) & u8::from(is_selected).wrapping_neg();
            }
        },
    );
}
