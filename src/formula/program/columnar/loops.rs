//! The loops over lanes: one pass each, without a branch, for the compiler to make vector instructions of.

use crate::formula::number::vectorised;

/// One number for all lanes, or one for each.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arm<'a> {
    Same(f64),
    Each(&'a [f64]),
}

impl Arm<'_> {
    #[inline(always)]
    pub(super) fn at(self, lane: usize) -> f64 {
        match self {
            Self::Same(number) => number,
            Self::Each(numbers) => numbers.get(lane).copied().unwrap_or(f64::NAN),
        }
    }
}

/// `out = f(x)` in every lane; whether `fails(x, out)` holds in any.
#[inline]
pub(super) fn map(x: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64, fails: impl Fn(f64, f64) -> bool) -> bool {
    vectorised(
        #[inline(always)]
        || {
            let mut any = false;
            for (out, &x) in out.iter_mut().zip(x) {
                *out = f(x);
                any |= fails(x, *out);
            }
            any
        },
    )
}

/// `out = f(x, y)` in every lane; whether `fails(x, y, out)` holds in any.
#[inline]
pub(super) fn zip(
    x: Arm<'_>,
    y: Arm<'_>,
    out: &mut [f64],
    f: impl Fn(f64, f64) -> f64,
    fails: impl Fn(f64, f64, f64) -> bool,
) -> bool {
    let mut any = false;
    match (x, y) {
        (Arm::Each(x), Arm::Each(y)) => vectorised(
            #[inline(always)]
            || {
                for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                    *out = f(x, y);
                    any |= fails(x, y, *out);
                }
            },
        ),
        (Arm::Each(x), Arm::Same(y)) => return map(x, out, |x| f(x, y), |x, r| fails(x, y, r)),
        (Arm::Same(x), Arm::Each(y)) => return map(y, out, |y| f(x, y), |y, r| fails(x, y, r)),
        (Arm::Same(x), Arm::Same(y)) => {
            out.fill(f(x, y));
            any = fails(x, y, f(x, y));
        }
    }
    any
}

/// `out = f(x, y)` on bytes.
#[inline]
pub(super) fn zip_bytes(x: &[u8], y: &[u8], out: &mut [u8], f: impl Fn(u8, u8) -> u8) {
    vectorised(
        #[inline(always)]
        || {
            for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                *out = f(x, y);
            }
        },
    )
}

/// `out = f(x)` on bytes, in place.
#[inline]
pub(super) fn map_bytes(bytes: &mut [u8], f: impl Fn(u8) -> u8) {
    vectorised(
        #[inline(always)]
        || bytes.iter_mut().for_each(|byte| *byte = f(*byte)),
    )
}

/// A mask of the lanes where `holds(x, y)`.
#[inline]
pub(super) fn test(x: Arm<'_>, y: Arm<'_>, out: &mut [u8], holds: impl Fn(f64, f64) -> bool) {
    match (x, y) {
        (Arm::Each(x), Arm::Each(y)) => vectorised(
            #[inline(always)]
            || {
                for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                    *out = u8::from(holds(x, y));
                }
            },
        ),
        (Arm::Each(x), Arm::Same(y)) => vectorised(
            #[inline(always)]
            || {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = u8::from(holds(x, y));
                }
            },
        ),
        (Arm::Same(x), Arm::Each(y)) => vectorised(
            #[inline(always)]
            || {
                for (out, &y) in out.iter_mut().zip(y) {
                    *out = u8::from(holds(x, y));
                }
            },
        ),
        (Arm::Same(x), Arm::Same(y)) => out.fill(u8::from(holds(x, y))),
    }
}

/// `out = x` where the mask is set, else `y`.
#[inline]
pub(super) fn select(mask: &[u8], x: Arm<'_>, y: Arm<'_>, out: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || match (x, y) {
            (Arm::Each(x), Arm::Each(y)) => {
                for (((out, &m), &x), &y) in out.iter_mut().zip(mask).zip(x).zip(y) {
                    *out = if m != 0 { x } else { y };
                }
            }
            (Arm::Each(x), Arm::Same(y)) => {
                for ((out, &m), &x) in out.iter_mut().zip(mask).zip(x) {
                    *out = if m != 0 { x } else { y };
                }
            }
            (Arm::Same(x), Arm::Each(y)) => {
                for ((out, &m), &y) in out.iter_mut().zip(mask).zip(y) {
                    *out = if m != 0 { x } else { y };
                }
            }
            (Arm::Same(x), Arm::Same(y)) => {
                for (out, &m) in out.iter_mut().zip(mask) {
                    *out = if m != 0 { x } else { y };
                }
            }
        },
    )
}

/// `out = x` where the mask is set, else `y`, on bytes.
#[inline]
pub(super) fn select_bytes(mask: &[u8], x: &[u8], y: &[u8], out: &mut [u8]) {
    vectorised(
        #[inline(always)]
        || {
            for (((out, &m), &x), &y) in out.iter_mut().zip(mask).zip(x).zip(y) {
                *out = if m != 0 { x } else { y };
            }
        },
    )
}

/// Whether any byte is set, and whether all are.
#[inline]
pub(super) fn any_and_all(bytes: &[u8]) -> (bool, bool) {
    vectorised(
        #[inline(always)]
        || {
            let (mut some, mut every) = (0, 1);
            for &byte in bytes {
                some |= byte;
                every &= byte;
            }
            (some != 0, every != 0)
        },
    )
}

/// Small integers as doubles.
#[inline]
pub(super) fn widen(small: &[i32], out: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            for (out, &small) in out.iter_mut().zip(small) {
                *out = f64::from(small);
            }
        },
    )
}

/// `x = f(x, y)` on bytes, in place.
#[inline]
pub(super) fn zip_into(x: &mut [u8], y: &[u8], f: impl Fn(u8, u8) -> u8) {
    vectorised(
        #[inline(always)]
        || x.iter_mut().zip(y).for_each(|(x, &y)| *x = f(*x, y)),
    )
}

/// Whether `holds(x)` in any lane.
#[inline]
pub(super) fn any(lanes: &[f64], holds: impl Fn(f64) -> bool) -> bool {
    vectorised(
        #[inline(always)]
        || {
            let mut any = false;
            for &lane in lanes {
                any |= holds(lane);
            }
            any
        },
    )
}

/// Makes -0.0 positive in the lanes that are no floats; whether any of those reaches `limit` in magnitude.
#[inline]
pub(super) fn settle(lanes: &mut [f64], kinds: &[u8], limit: f64) -> bool {
    vectorised(
        #[inline(always)]
        || {
            let mut any = false;
            for (lane, &kind) in lanes.iter_mut().zip(kinds) {
                let integer = *lane + 0.0;
                *lane = if kind != 0 { integer } else { *lane };
                any |= kind != 0 && integer.abs() >= limit;
            }
            any
        },
    )
}
