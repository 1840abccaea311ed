//! Powers with whole exponents, with twice the bits of a double.

use super::Extended;

/// A power computed with twice the bits of a double and rounded once: the same on every platform.
pub(crate) fn power(base: f64, exponent: u32) -> f64 {
    let Some(mut square) = Wide::from_f64(base) else {
        return if exponent == 0 { 1.0 } else { base };
    };
    let mut product = Wide {
        mantissa: 1 << 127,
        exponent: 0,
    };
    for bit in 0..32 {
        if exponent >> bit & 1 == 1 {
            product = product.times(square);
        }
        square = square.times(square);
    }
    // far beyond the format: underflows to 0 or overflows to infinity
    let exponent = product.exponent.clamp(-100_000, 100_000) as i32;
    // truncated, so that a bit is set below those that are kept
    Extended::scaled(product.mantissa | 1, exponent - 127).to_f64()
}

/// A positive number of 128 bits, truncated and not rounded.
#[derive(Clone, Copy)]
struct Wide {
    /// The highest bit is set.
    mantissa: u128,
    /// The exponent of the highest bit.
    exponent: i64,
}

impl Wide {
    fn from_f64(value: f64) -> Option<Self> {
        if !value.is_normal() || value < 0.0 {
            return None;
        }
        let fraction = value.to_bits() & ((1 << 52) - 1);
        let exponent = (value.to_bits() >> 52) as i64 - 1023;
        Some(Self {
            mantissa: u128::from(fraction | 1 << 52) << 75,
            exponent,
        })
    }

    fn times(self, other: Self) -> Self {
        let high = high_product(self.mantissa, other.mantissa);
        let shift = high.leading_zeros();
        // saturating: the squares beyond the highest bit of the exponent are not used
        let exponent = self
            .exponent
            .saturating_add(other.exponent)
            .saturating_add(1 - i64::from(shift));
        Self {
            mantissa: high << shift,
            exponent,
        }
    }
}

/// The upper 128 bits of a product.
fn high_product(a: u128, b: u128) -> u128 {
    let (a_high, a_low) = halves(a);
    let (b_high, b_low) = halves(b);
    let (cross_high, cross_low) = halves(a_high * b_low);
    let (lowest_high, _) = halves(a_low * b_low);
    let middle = a_low * b_high + cross_low;
    let carry = (u128::from(middle as u64) + lowest_high) >> 64;
    a_high * b_high + cross_high + (middle >> 64) + carry
}

fn halves(wide: u128) -> (u128, u128) {
    (wide >> 64, wide & u128::from(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_right_to_the_last_bit() {
        for (base, exponent) in [(0.5, 10), (0.75, 3), (3.0, 20), (1.5, 7)] {
            assert_eq!(power(base, exponent), f64::powi(base, exponent as i32));
        }
        assert_eq!(high_product(u128::MAX, u128::MAX), u128::MAX - 1);
        assert_eq!(high_product(1 << 127, 1 << 127), 1 << 126);
        assert_eq!(power(0.0, 3), 0.0);
        assert_eq!(power(10.0, u32::MAX), f64::INFINITY);
    }
}
