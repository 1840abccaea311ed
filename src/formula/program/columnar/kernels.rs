//! The loops over lanes: one pass each, without branches, so that the compiler vectorizes them.

use crate::formula::program::columnar::double_double::DoubleDouble;
use crate::formula::program::columnar::vector::Operand;
use crate::simd::dispatch;

/// One number for all lanes, or one for each.
#[derive(Debug, Clone, Copy)]
pub(super) enum Broadcast<'a> {
    Same(f64),
    Each(&'a [f64]),
}

impl Broadcast<'_> {
    #[inline(always)]
    pub(super) fn at(self, lane: usize) -> f64 {
        match self {
            Self::Same(number) => number,
            Self::Each(numbers) => numbers.get(lane).copied().unwrap_or(f64::NAN),
        }
    }

    /// The lanes from `start` on, of which `rest` holds a copy if they are fewer than a block.
    #[inline(always)]
    fn block<'a>(&'a self, start: usize, rest: &'a mut [f64; BLOCK]) -> &'a [f64; BLOCK] {
        match self {
            Self::Same(number) => rest.fill(*number),
            Self::Each(numbers) => {
                let numbers = numbers.get(start..).unwrap_or(&[]);
                if let Some(block) = numbers.first_chunk() {
                    return block;
                }
                rest.iter_mut().zip(numbers).for_each(|(lane, number)| *lane = *number);
            }
        }
        rest
    }
}

/// `out = f(x, y)` in every lane; returns whether `fails(x, y, out)` is true in any.
///
/// The closures of this file capture nothing: a number behind a reference would be loaded again for every lane, and the
/// loop would not be vectorized.
#[inline]
pub(super) fn zip(
    x: Broadcast<'_>,
    y: Broadcast<'_>,
    out: &mut [f64],
    f: impl Fn(f64, f64) -> f64 + Copy,
    fails: impl Fn(f64, f64, f64) -> bool + Copy,
) -> bool {
    match (x, y) {
        (Broadcast::Each(x), Broadcast::Each(y)) => dispatch(
            #[inline(always)]
            move || {
                let mut any = 0;
                for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                    *out = f(x, y);
                    any |= u64::from(fails(x, y, *out));
                }
                any != 0
            },
        ),
        (Broadcast::Each(x), Broadcast::Same(y)) => dispatch(
            #[inline(always)]
            move || {
                let mut any = 0;
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = f(x, y);
                    any |= u64::from(fails(x, y, *out));
                }
                any != 0
            },
        ),
        (Broadcast::Same(x), Broadcast::Each(y)) => dispatch(
            #[inline(always)]
            move || {
                let mut any = 0;
                for (out, &y) in out.iter_mut().zip(y) {
                    *out = f(x, y);
                    any |= u64::from(fails(x, y, *out));
                }
                any != 0
            },
        ),
        (Broadcast::Same(x), Broadcast::Same(y)) => {
            out.fill(f(x, y));
            fails(x, y, f(x, y))
        }
    }
}

/// The lanes that [`zip_double_doubles`] loads at once.
const BLOCK: usize = 64;

/// `high + low = f(x, y)` in every lane, for integers beyond 2^53.
#[inline]
pub(super) fn zip_double_doubles(
    x: Operand<'_>,
    y: Operand<'_>,
    high: &mut [f64],
    low: &mut [f64],
    f: impl Fn(DoubleDouble, DoubleDouble) -> DoubleDouble + Copy,
) {
    dispatch(
        #[inline(always)]
        move || {
            let mut rest = [[0.0; BLOCK]; 4];
            let [x_high_rest, x_low_rest, y_high_rest, y_low_rest] = &mut rest;
            let blocks = high.chunks_mut(BLOCK).zip(low.chunks_mut(BLOCK));
            for (start, (high, low)) in (0..).step_by(BLOCK).zip(blocks) {
                let x_high = x.lanes.block(start, x_high_rest);
                let x_low = x.low.block(start, x_low_rest);
                let y_high = y.lanes.block(start, y_high_rest);
                let y_low = y.low.block(start, y_low_rest);
                let mut highs = [0.0; BLOCK];
                let mut lows = [0.0; BLOCK];
                for lane in 0..BLOCK {
                    let x = DoubleDouble { high: x_high[lane], low: x_low[lane] };
                    let y = DoubleDouble { high: y_high[lane], low: y_low[lane] };
                    let result = f(x, y);
                    highs[lane] = result.high;
                    lows[lane] = result.low;
                }
                high.copy_from_slice(&highs[..high.len()]);
                low.copy_from_slice(&lows[..low.len()]);
            }
        },
    );
}

/// The greatest magnitude of the lanes that are not NaN, and whether any is NaN.
#[inline]
pub(super) fn bound(lanes: &[f64]) -> (f64, bool) {
    dispatch(
        #[inline(always)]
        move || {
            let mut bits = 0;
            let mut any_nan = 0;
            for &lane in lanes {
                any_nan |= u64::from(lane.is_nan());
                // the bits of magnitudes are in their order
                bits = bits.max(if lane.is_nan() { 0 } else { lane.abs().to_bits() as i64 });
            }
            (f64::from_bits(bits as u64), any_nan != 0)
        },
    )
}

/// `out = x * high + x * low`, the sum rounded once. Call it only if the processor has fused multiply-add vectors.
#[inline]
pub(super) fn dot(x: Broadcast<'_>, [high, low]: [f64; 2], out: &mut [f64]) {
    match x {
        Broadcast::Each(x) => dispatch(
            #[inline(always)]
            move || out.iter_mut().zip(x).for_each(|(out, &x)| *out = x.mul_add(high, x * low)),
        ),
        Broadcast::Same(x) => out.fill(x.mul_add(high, x * low)),
    }
}

/// Sets `out` to 1 in the lanes where `test(x, y)` is true, else to 0.
#[inline]
pub(super) fn test(x: Broadcast<'_>, y: Broadcast<'_>, out: &mut [u8], test: impl Fn(f64, f64) -> bool + Copy) {
    match (x, y) {
        (Broadcast::Each(x), Broadcast::Each(y)) => dispatch(
            #[inline(always)]
            move || {
                for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                    *out = u8::from(test(x, y));
                }
            },
        ),
        (Broadcast::Each(x), Broadcast::Same(y)) => dispatch(
            #[inline(always)]
            move || {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = u8::from(test(x, y));
                }
            },
        ),
        (Broadcast::Same(x), Broadcast::Each(y)) => dispatch(
            #[inline(always)]
            move || {
                for (out, &y) in out.iter_mut().zip(y) {
                    *out = u8::from(test(x, y));
                }
            },
        ),
        (Broadcast::Same(x), Broadcast::Same(y)) => out.fill(u8::from(test(x, y))),
    }
}

/// Whether `test(x)` is true in any lane.
#[inline]
pub(super) fn any(lanes: &[f64], test: impl Fn(f64) -> bool + Copy) -> bool {
    dispatch(
        #[inline(always)]
        move || lanes.iter().fold(0, |any, &lane| any | u64::from(test(lane))) != 0,
    )
}

/// `out = x` where the mask is set, else `y`.
#[inline]
pub(super) fn select(mask: &[u8], x: Broadcast<'_>, y: Broadcast<'_>, out: &mut [f64]) {
    match (x, y) {
        (Broadcast::Each(x), Broadcast::Each(y)) => dispatch(
            #[inline(always)]
            move || {
                for (((out, &m), &x), &y) in out.iter_mut().zip(mask).zip(x).zip(y) {
                    *out = if m != 0 { x } else { y };
                }
            },
        ),
        (Broadcast::Each(x), Broadcast::Same(y)) => dispatch(
            #[inline(always)]
            move || {
                for ((out, &m), &x) in out.iter_mut().zip(mask).zip(x) {
                    *out = if m != 0 { x } else { y };
                }
            },
        ),
        (Broadcast::Same(x), Broadcast::Each(y)) => dispatch(
            #[inline(always)]
            move || {
                for ((out, &m), &y) in out.iter_mut().zip(mask).zip(y) {
                    *out = if m != 0 { x } else { y };
                }
            },
        ),
        (Broadcast::Same(x), Broadcast::Same(y)) => dispatch(
            #[inline(always)]
            move || {
                for (out, &m) in out.iter_mut().zip(mask) {
                    *out = if m != 0 { x } else { y };
                }
            },
        ),
    }
}

/// Makes -0.0 positive in the lanes that are not floats; returns whether any of them reaches `limit` in magnitude.
#[inline]
pub(super) fn normalize_zeros(lanes: &mut [f64], types: &[u8], limit: f64) -> bool {
    dispatch(
        #[inline(always)]
        move || {
            let mut any = 0;
            for (lane, &kind) in lanes.iter_mut().zip(types) {
                let integer = *lane + 0.0;
                *lane = if kind != 0 { integer } else { *lane };
                any |= u64::from(kind != 0) & u64::from(integer.abs() >= limit);
            }
            any != 0
        },
    )
}

/// Converts small integers to doubles.
#[inline]
pub(super) fn widen<T: Copy + Into<f64>>(small: &[T], out: &mut [f64]) {
    dispatch(
        #[inline(always)]
        move || {
            for (out, &small) in out.iter_mut().zip(small) {
                *out = small.into();
            }
        },
    );
}

/// Converts integers to the nearest doubles; returns a magnitude that none of them exceeds.
#[inline]
pub(super) fn convert_integers(integers: &[i64], out: &mut [f64]) -> f64 {
    /// The double 1.5 * 2^52, in whose neighbourhood doubles are one apart.
    const OFFSET: f64 = 6_755_399_441_055_744.0;
    dispatch(
        #[inline(always)]
        move || {
            let mut bits = 0;
            for (out, &integer) in out.iter_mut().zip(integers) {
                // few processors have a vector instruction for `integer as f64`; this is exact up to 2^51
                *out = f64::from_bits(OFFSET.to_bits().wrapping_add_signed(integer)) - OFFSET;
                bits |= integer ^ integer >> 63;
            }
            if bits >> 51 != 0 {
                out.iter_mut().zip(integers).for_each(|(out, &integer)| *out = integer as f64);
            }
            // the double nearest to greater bits can be less than they are
            if bits >> 53 != 0 { -(i64::MIN as f64) } else { bits as f64 + 1.0 }
        },
    )
}

/// `out = f(x, y)` on bytes.
#[inline]
pub(super) fn zip_bytes(x: &[u8], y: &[u8], out: &mut [u8], f: impl Fn(u8, u8) -> u8 + Copy) {
    dispatch(
        #[inline(always)]
        move || {
            for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                *out = f(x, y);
            }
        },
    );
}

/// `x = f(x, y)` on bytes, in place.
#[inline]
pub(super) fn zip_into(x: &mut [u8], y: &[u8], f: impl Fn(u8, u8) -> u8 + Copy) {
    dispatch(
        #[inline(always)]
        move || x.iter_mut().zip(y).for_each(|(x, &y)| *x = f(*x, y)),
    );
}

/// `x = f(x)` on bytes, in place.
#[inline]
pub(super) fn map_bytes(bytes: &mut [u8], f: impl Fn(u8) -> u8 + Copy) {
    dispatch(
        #[inline(always)]
        move || bytes.iter_mut().for_each(|byte| *byte = f(*byte)),
    );
}

/// `out = x` where the mask is 1, `y` where it is 0, on bytes.
#[inline]
pub(super) fn select_bytes(mask: &[u8], x: &[u8], y: &[u8], out: &mut [u8]) {
    dispatch(
        #[inline(always)]
        move || {
            for (((out, &m), &x), &y) in out.iter_mut().zip(mask).zip(x).zip(y) {
                // an `if` would select between addresses and load each byte alone
                *out = (x ^ y) & m.wrapping_neg() ^ y;
            }
        },
    );
}

/// Whether any byte is set.
#[inline]
pub(super) fn any_byte(bytes: &[u8]) -> bool {
    dispatch(
        #[inline(always)]
        move || bytes.iter().fold(0, |any, &byte| any | byte) != 0,
    )
}
