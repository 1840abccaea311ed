//! The exponentials, powers and logarithms of the GNU C library since 2.28, for platforms that have another one.
//!
//! A double enters, and the double leaves that glibc returns on a processor with a fused multiply-add: every step is rounded
//! as it is there. [`exp`], [`exp2`] and [`pow`] are equal in all bits. [`ln`], [`log2`] and [`log10`] are rounded from
//! 68 bits; glibc's own error makes it return the other neighbour for about one of 10,000 numbers, and one of 1,000
//! near 1.
//!
//! Source: the algorithms that S. Nagy published in ARM's optimized routines (under the MIT licence), from which glibc has its
//! own; `cosh`, `tanh` and `log10` after fdlibm, as in glibc.

use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

use super::tables::{EXP_2, LOG};

/// Adding this to a small number rounds it to an integer, held in the lowest bits of the sum.
const SHIFT: f64 = 1.5 * (1u64 << 52) as f64;
/// The entries of a table.
const ENTRIES: f64 = 128.0;
/// 128 / ln 2.
const INVERSE_LN_2: f64 = 184.6649652337873;
/// -ln 2 / 128 as a sum of two doubles; the first has 36 bits.
const MINUS_LN_2_HIGH: f64 = -0.005415212348111709;
const MINUS_LN_2_LOW: f64 = -1.2864023111638344e-14;
/// The polynomial of `e^r - 1 - r`, from the square on.
const EXP: [f64; 4] = [0.49999999999996786, 0.16666666666665886, 0.0416666808410674, 0.008333335853059549];
/// The polynomial of `2^r - 1`.
const EXP_2_POLYNOMIAL: [f64; 5] =
    [LN_2, 0.24022650695909065, 0.0555041086686087, 0.009618131975721055, 0.0013332074570119598];
/// ln 2 as a sum of two doubles; the first has 42 bits.
const LN_2_HIGH: f64 = 0.6931471805598903;
const LN_2_LOW: f64 = 5.497923018708371e-14;
/// The polynomial of `ln (1 + r) - r + r²/2`, divided by powers of `-r²/2`.
const LOG_POLYNOMIAL: [f64; 6] = [
    -0.6666666666666679,
    0.5000000000000007,
    0.7999999995323976,
    -0.6666666663487739,
    -1.142909628459501,
    1.0000415263675542,
];

/// The biased exponent of a double.
fn biased_exponent(x: f64) -> u32 {
    (x.to_bits() >> 52) as u32 & 0x7ff
}

/// The biased exponent of 2^-54, below which `e^x` is 1 + x.
const TINY: u32 = 0x3c9;
/// The biased exponent of 512, from which on the result of an exponential may not be a normal number.
const LARGE: u32 = 0x408;
/// The biased exponent of 1024, from which on the result of an exponential is infinite or 0.
const HUGE: u32 = 0x409;

/// `exp(x)`.
pub fn exp(x: f64) -> f64 {
    match biased_exponent(x) {
        ..TINY => 1.0 + x,
        HUGE.. if x.is_nan() => x,
        HUGE.. if x < 0.0 => 0.0,
        HUGE.. => f64::INFINITY,
        exponent => exp_of_sum(x, 0.0, exponent >= LARGE),
    }
}

/// `e^(high + low)`; `may_overflow` if the result may be subnormal, zero or infinite.
fn exp_of_sum(high: f64, low: f64, may_overflow: bool) -> f64 {
    let shifted = fused(INVERSE_LN_2, high, SHIFT);
    let k = shifted - SHIFT;
    let r = fused(k, MINUS_LN_2_LOW, fused(k, MINUS_LN_2_HIGH, high)) + low;
    let scale = Scale::new(shifted.to_bits());
    let square = r * r;
    let lower = fused(square, fused(r, EXP[1], EXP[0]), scale.tail + r);
    let fraction = fused(square * square, fused(r, EXP[3], EXP[2]), lower);
    if may_overflow {
        return scale.times_of_any_size(fraction, fused);
    }
    let scale = f64::from_bits(scale.bits);
    fused(scale, fraction, scale)
}

/// `exp2(x)`. glibc has it without fused multiply-adds.
pub fn exp2(x: f64) -> f64 {
    match biased_exponent(x) {
        ..TINY => return 1.0 + x,
        HUGE.. if x.is_nan() => return x,
        HUGE.. if x > 0.0 => return f64::INFINITY,
        _ if x <= -1075.0 => return 0.0,
        _ => {}
    }
    let shifted = x + SHIFT / ENTRIES;
    let r = x - (shifted - SHIFT / ENTRIES);
    let scale = Scale::new(shifted.to_bits());
    let square = r * r;
    let c = EXP_2_POLYNOMIAL;
    let fraction = scale.tail + r * c[0] + square * (c[1] + r * c[2]) + square * square * (c[3] + r * c[4]);
    if x.abs() > 928.0 {
        return scale.times_of_any_size(fraction, |a, b, c| a * b + c);
    }
    let scale = f64::from_bits(scale.bits);
    scale + scale * fraction
}

/// 2^(k/128) for an integer `k`.
struct Scale {
    k: u64,
    /// The nearest double, if it is a normal one.
    bits: u64,
    /// What it lacks, relative to it.
    tail: f64,
}

impl Scale {
    /// `k` is in the lowest bits of a double that was rounded by adding [`SHIFT`].
    fn new(k: u64) -> Self {
        let (tail, bits) = EXP_2[(k % 128) as usize];
        Self { k, bits: bits.wrapping_add(k << 45), tail: f64::from_bits(tail) }
    }

    /// `scale (1 + fraction)` where the scale or the product may not be a normal number.
    fn times_of_any_size(&self, fraction: f64, multiply_add: impl Fn(f64, f64, f64) -> f64) -> f64 {
        if self.k & 0x8000_0000 == 0 {
            let scale = f64::from_bits(self.bits.wrapping_sub(1009 << 52));
            return multiply_add(scale, fraction, scale) * f64::from_bits((1009 + 1023) << 52);
        }
        let scale = f64::from_bits(self.bits.wrapping_add(1022 << 52));
        let mut result = scale + scale * fraction;
        if result < 1.0 {
            // the result is subnormal: it is rounded once, to its last bit
            let low = scale - result + scale * fraction;
            let high = 1.0 + result;
            result = (high + (1.0 - high + result + low)) - 1.0;
        }
        f64::MIN_POSITIVE * result
    }
}

/// `pow(x, y)`.
pub fn pow(x: f64, y: f64) -> f64 {
    // below 2^-65 the result is 1 + y ln x, above 2^63 it is a power of 1, 0 or infinite
    const MODERATE: std::ops::Range<u32> = 0x3be..0x43e;
    let bits = bits_of_positive(x).filter(|_| MODERATE.contains(&biased_exponent(y)));
    let Some(bits) = bits else { return special_power(x, y) };
    let (high, low) = log_of_bits(bits);
    let product = y * high;
    match biased_exponent(product) {
        ..TINY => 1.0 + product,
        HUGE.. if product < 0.0 => 0.0,
        HUGE.. => f64::INFINITY,
        exponent => {
            let rest = fused(y, low, fused(y, high, -product));
            exp_of_sum(product, rest, exponent >= LARGE)
        }
    }
}

/// `pow` of zeros, infinities, nans, negative bases, and exponents of an extreme size.
fn special_power(x: f64, y: f64) -> f64 {
    let is_finite = x.is_finite() && y.is_finite();
    if is_finite && x < 0.0 && y.trunc() == y && y != 0.0 {
        let power = pow(-x, y);
        return if y % 2.0 == 0.0 { power } else { -power };
    }
    if is_finite && x > 0.0 && x != 1.0 && y != 0.0 {
        return match (biased_exponent(y) < 0x3ff, (x > 1.0) == (y > 0.0)) {
            (true, _) if x > 1.0 => 1.0 + y,
            (true, _) => 1.0 - y,
            (false, true) => f64::INFINITY,
            (false, false) => 0.0,
        };
    }
    // the results are exact, and every C library has them
    x.powf(y)
}

/// `ln x` with 68 bits, from the bits of a normal double; those of a subnormal one have a negative exponent.
fn log_of_bits(bits: u64) -> (f64, f64) {
    /// About the square root of 1/2: a number and its octave are reduced to between it and twice it.
    const LEAST: u64 = 0x3fe6_9555_0000_0000;
    let from_least = bits.wrapping_sub(LEAST);
    let (inverse, log, log_rest) = LOG[(from_least >> 45) as usize % 128];
    let k = (from_least as i64 >> 52) as f64;
    let z = f64::from_bits(bits.wrapping_sub(from_least & 0xfff << 52));
    let r = fused(z, inverse, -1.0);
    let first = fused(k, LN_2_HIGH, log);
    let second = first + r;
    let low_1 = fused(k, LN_2_LOW, log_rest);
    let low_2 = first - second + r;
    let half = -0.5 * r;
    let square = r * half;
    let cube = r * square;
    let high = second + square;
    let low_3 = fused(half, r, -square);
    let low_4 = second - high + square;
    let [a1, a2, a3, a4, a5, a6] = LOG_POLYNOMIAL;
    let upper = fused(square, fused(r, a6, a5), fused(r, a4, a3));
    let polynomial = fused(square, upper, fused(r, a2, a1));
    let low = fused(cube, polynomial, low_1 + low_2 + low_3 + low_4);
    let sum = high + low;
    (sum, high - sum + low)
}

/// The bits of a positive finite double for [`log_of_bits`]; `None` for any other number.
fn bits_of_positive(x: f64) -> Option<u64> {
    let bits = match biased_exponent(x) {
        0 => (x * (1u64 << 52) as f64).to_bits().wrapping_sub(52 << 52),
        _ => x.to_bits(),
    };
    (x > 0.0 && x.is_finite()).then_some(bits)
}

/// `log(x)`.
pub fn ln(x: f64) -> f64 {
    bits_of_positive(x).map_or_else(|| x.ln(), |bits| log_of_bits(bits).0)
}

/// `log2(x)`.
pub fn log2(x: f64) -> f64 {
    /// log2 e less its nearest double.
    const LOG2_E_REST: f64 = 2.035_527_374_093_103_3e-17;
    let Some(bits) = bits_of_positive(x) else { return x.ln() };
    let (high, low) = log_of_bits(bits);
    let product = high * LOG2_E;
    product + fused(low, LOG2_E, fused(high, LOG2_E_REST, fused(high, LOG2_E, -product)))
}

/// `log10(x)`.
pub fn log10(x: f64) -> f64 {
    const LOG10_2_HIGH: f64 = 3.010_299_956_636_117_7e-1;
    const LOG10_2_LOW: f64 = 3.694_239_077_158_931e-13;
    let Some(bits) = bits_of_positive(x) else { return x.ln() };
    let k = (bits as i64 >> 52) - 1023;
    let is_below_1 = i64::from(k < 0);
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | ((1023 - is_below_1) as u64) << 52);
    let k = (k + is_below_1) as f64;
    (k * LOG10_2_LOW + LOG10_E * ln(mantissa)) + k * LOG10_2_HIGH
}

/// `cosh(x)`.
pub fn cosh(x: f64) -> f64 {
    /// Above it `e^x` is infinite, but half of it may not be.
    const MAX_EXP: f64 = 709.782_712_893_384;
    let x = x.abs();
    if x < 0.5 * LN_2 {
        let above_1 = x.exp_m1();
        return 1.0 + above_1 * above_1 / (2.0 * (1.0 + above_1));
    }
    if x > MAX_EXP {
        let root = exp(0.5 * x);
        return 0.5 * root * root;
    }
    let power = exp(x);
    if x < 22.0 { 0.5 * power + 0.5 / power } else { 0.5 * power }
}

/// `tanh(x)`.
pub fn tanh(x: f64) -> f64 {
    let a = x.abs();
    if x.is_nan() || a < f64::EPSILON / 8.0 {
        return x;
    }
    let result = if a >= 22.0 {
        1.0
    } else if a >= 1.0 {
        1.0 - 2.0 / ((2.0 * a).exp_m1() + 2.0)
    } else {
        let below_1 = (-2.0 * a).exp_m1();
        -below_1 / (below_1 + 2.0)
    };
    result.copysign(x)
}

/// `a b + c`, rounded once.
///
/// Where the processor may lack the instruction, the product and the sum are split exactly and their parts are rounded to
/// odd: S. Boldo, G. Melquiond, "Emulation of a FMA and Correctly Rounded Sums", 2008. No product here is so small or so
/// large that its parts are not normal numbers, or it does not count.
#[inline(always)]
fn fused(a: f64, b: f64, c: f64) -> f64 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) { a.mul_add(b, c) } else { emulated(a, b, c) }
}

#[inline(always)]
fn emulated(a: f64, b: f64, c: f64) -> f64 {
    let (product, product_rest) = exact_product(a, b);
    let (lower, lower_rest) = exact_sum(c, product_rest);
    let (upper, upper_rest) = exact_sum(product, lower);
    upper + sum_to_odd(lower_rest, upper_rest)
}

/// T. J. Dekker, "A Floating-Point Technique for Extending the Available Precision", 1971.
#[inline(always)]
fn exact_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let (a, a_rest) = halves(a);
    let (b, b_rest) = halves(b);
    (product, a * b - product + a * b_rest + a_rest * b + a_rest * b_rest)
}

/// Two numbers of at most 26 significant bits each, which add up to the number.
#[inline(always)]
fn halves(x: f64) -> (f64, f64) {
    let scaled = x * ((1 << 27) + 1) as f64;
    let upper = scaled - (scaled - x);
    (upper, x - upper)
}

#[inline(always)]
fn exact_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// The sum; if it is not exact, the neighbour whose last bit is 1.
#[inline(always)]
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let (sum, rest) = exact_sum(a, b);
    let bits = sum.to_bits();
    if rest == 0.0 || bits & 1 == 1 {
        return sum;
    }
    f64::from_bits(if (rest > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
