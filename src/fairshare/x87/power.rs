//! Powers with whole exponents, with twice the bits of a double.

use rustc_apfloat::ieee::{Double, Quad};
use rustc_apfloat::{Float, FloatConvert, StatusAnd};

/// A power computed with 113 bits and rounded once: the same on every platform. A base that is not
/// a positive normal number is its own power.
pub(crate) fn power(base: f64, exponent: u32) -> f64 {
    if exponent == 0 {
        return 1.0;
    }
    if !base.is_normal() || base < 0.0 {
        return base;
    }
    let double = Double::from_bits(base.to_bits().into());
    let StatusAnd { value, .. } = double.convert(&mut false);
    let mut square: Quad = value;
    let mut product = Quad::from_u128(1).value;
    for bit in 0..u32::BITS - exponent.leading_zeros() {
        if exponent >> bit & 1 == 1 {
            product *= square;
        }
        square *= square;
    }
    let StatusAnd { value, .. }: StatusAnd<Double> = product.convert(&mut false);
    f64::from_bits(value.to_bits() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_right_to_the_last_bit() {
        for (base, exponent) in [(0.5, 10), (0.75, 3), (3.0, 20), (1.5, 7)] {
            assert_eq!(power(base, exponent), f64::powi(base, exponent as i32));
        }
        assert_eq!(power(0.0, 3), 0.0);
        assert_eq!(power(0.5, u32::MAX), 0.0);
        assert_eq!(power(10.0, u32::MAX), f64::INFINITY);
    }
}
