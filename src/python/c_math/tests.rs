//! Against the platform, which is glibc where these tests run.

use std::array::from_fn;

use super::*;

/// Numbers between two bounds, the same in each run.
fn numbers(least: f64, most: f64) -> impl Iterator<Item = f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        least + (most - least) * ((state >> 11) as f64 / (1u64 << 53) as f64)
    })
}

#[test]
fn a_fused_multiply_add_is_rounded_once() {
    let mut exponents = numbers(-60.0, 60.0);
    let mut signed = numbers(-2.0, 2.0);
    for _ in 0..100_000 {
        let [a, b, c] = from_fn(|_| signed.next().unwrap_or(1.0) * exponents.next().unwrap_or(0.0).floor().exp2());
        assert_eq!(emulated(a, b, c).to_bits(), a.mul_add(b, c).to_bits(), "{a:e} {b:e} {c:e}");
        let near = -(a * b);
        assert_eq!(emulated(a, b, near).to_bits(), a.mul_add(b, near).to_bits(), "{a:e} {b:e} {near:e}");
    }
    assert_eq!((emulated(0.0, 3.0, 2.0), emulated(2.0, 3.0, 0.0)), (2.0, 6.0));
}

/// How many of 200,000 numbers give other bits than the platform.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
fn differing(bounds: (f64, f64), own: impl Fn(f64) -> f64, platform: impl Fn(f64) -> f64) -> usize {
    let numbers = numbers(bounds.0, bounds.1).take(200_000);
    numbers.filter(|&x| !is_same(own(x), platform(std::hint::black_box(x)))).count()
}

/// Whether two numbers have the same bits, or both are NaN.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
fn is_same(own: f64, platform: f64) -> bool {
    own.to_bits() == platform.to_bits() || own.is_nan() && platform.is_nan()
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn exponentials_and_powers_are_those_of_glibc() {
    if !std::arch::is_x86_feature_detected!("fma") {
        return println!("this processor has no fused multiply-add, with which glibc computes other bits");
    }
    for bounds in [(-5.0, 5.0), (-800.0, 800.0), (-1e-15, 1e-15), (-1e4, 1e4)] {
        assert_eq!(differing(bounds, exp, f64::exp), 0, "exp {bounds:?}");
        assert_eq!(differing(bounds, exp2, f64::exp2), 0, "exp2 {bounds:?}");
        assert_eq!(differing(bounds, |x| pow(2.0, x), |x| 2f64.powf(x)), 0, "pow(2, x) {bounds:?}");
        assert_eq!(differing(bounds, |x| pow(0.9, x), |x| 0.9f64.powf(x)), 0, "pow(0.9, x) {bounds:?}");
        assert_eq!(differing(bounds, cosh, f64::cosh), 0, "cosh {bounds:?}");
        assert_eq!(differing(bounds, tanh, f64::tanh), 0, "tanh {bounds:?}");
    }
    for exponent in [-3.7, -1.0, 0.5, 2.0, 3.0, 1e-70, 1e-20, 17.25] {
        for bounds in [(0.0, 2.0), (0.0, 1e6), (1e-310, 1e-300), (-5.0, 5.0)] {
            let differing = differing(bounds, |x| pow(x, exponent), |x| x.powf(exponent));
            assert_eq!(differing, 0, "pow(x, {exponent}) {bounds:?}");
        }
    }
    let special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e300, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for x in special {
        assert_eq!(exp(x).to_bits(), x.exp().to_bits(), "exp({x})");
        assert_eq!(exp2(x).to_bits(), x.exp2().to_bits(), "exp2({x})");
        for y in special {
            let own = pow(x, y);
            assert!(is_same(own, std::hint::black_box(x).powf(y)), "pow({x}, {y}): {own}");
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn logarithms_are_nearly_those_of_glibc() {
    for (bounds, most) in [((0.0, 1e6), 20), ((0.0, 1e-300), 20), ((0.5, 2.0), 1000)] {
        assert!(differing(bounds, ln, f64::ln) <= most, "log {bounds:?}");
        assert!(differing(bounds, log2, f64::log2) <= 2 * most, "log2 {bounds:?}");
        assert!(differing(bounds, log10, f64::log10) <= 2 * most, "log10 {bounds:?}");
    }
    for x in [0.0, -0.0, -1.0, 1.0, f64::INFINITY, f64::NAN] {
        for (own, platform) in [(ln(x), x.ln()), (log2(x), x.log2()), (log10(x), x.log10())] {
            assert!(is_same(own, platform), "{x}: {own}");
        }
    }
    assert!((1..1000).all(|k| log2(f64::from(k).exp2()) == f64::from(k)));
}
