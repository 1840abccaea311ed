//! The cube root as the GNU C library approximates it.
//!
//! Rust's own is rounded correctly; the C library's, and so Python's, is off by a unit in the last place for about
//! every tenth argument.

use crate::python::conversion;

/// The polynomial that comes near the cube root between 1/2 and 1, the constant term first.
#[allow(clippy::excessive_precision)]
const START: [f64; 7] = [
    0.354895765043919860,
    1.50819193781584896,
    -2.11499494167371287,
    2.4469312256353444,
    -1.83469277483613086,
    0.784932344976639262,
    -0.145263899385486367,
];

/// The cube roots of 2 and 4.
#[allow(clippy::excessive_precision)]
const ROOT_2: f64 = 1.2599210498948731648;
#[allow(clippy::excessive_precision)]
const ROOT_4: f64 = 1.5874010519681994748;

/// `cbrt(x)`: the polynomial, one of Halley's steps, and what the exponent leaves over.
pub(super) fn cbrt(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let (digits, exponent) = conversion::parts(x);
    let length = 64 - i64::from(digits.leading_zeros());
    let (fraction, exponent) = (digits as f64 * conversion::power_of_two(-length), exponent + length);
    let start = START.iter().rev().fold(0.0, |sum, term| sum * fraction + term);
    let cube = start * start * start;
    let left_over = match exponent % 3 {
        -2 => 1.0 / ROOT_4,
        -1 => 1.0 / ROOT_2,
        1 => ROOT_2,
        2 => ROOT_4,
        _ => 1.0,
    };
    let root = start * (cube + 2.0 * fraction) / (2.0 * cube + fraction) * left_over;
    (root * conversion::power_of_two(exponent / 3)).copysign(x)
}
