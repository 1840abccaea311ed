//! Student's t-distribution with a whole number of degrees of freedom.
//!
//! Source: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", 1964, formulas 26.7.3
//! and 26.7.4.

use std::f64::consts::FRAC_2_PI;

/// A bisection ends after so many steps.
const BISECTIONS: usize = 64;

/// The probability that `t` is at least so far from 0, on either side. Below 1e-12 it is a rounding
/// error.
pub(crate) fn two_sided_p(t: f64, degrees: usize) -> f64 {
    let angle = libm::atan(t.abs() / libm::sqrt(degrees as f64));
    let sine = libm::sin(angle);
    let cosine = libm::cos(angle);
    let is_odd = degrees % 2 == 1;
    let first = if is_odd { cosine } else { 1.0 };
    let terms = degrees / 2;
    let mut term = first;
    let mut sum = 0.0;
    for index in 1..=terms {
        sum += term;
        let even = 2.0 * index as f64;
        let ratio = if is_odd {
            even / (even + 1.0)
        } else {
            (even - 1.0) / even
        };
        term *= cosine * cosine * ratio;
    }
    let within = if is_odd {
        FRAC_2_PI * (angle + sine * sum)
    } else {
        sine * sum
    };
    (1.0 - within).clamp(0.0, 1.0)
}

/// The distance from 0 that `t` exceeds, on either side, with this probability.
pub(crate) fn quantile(two_sided: f64, degrees: usize) -> f64 {
    let mut low = 0.0;
    let mut high = 1.0;
    while two_sided_p(high, degrees) > two_sided {
        high *= 2.0;
    }
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        if two_sided_p(middle, degrees) > two_sided {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // the handbook's table 26.10, and the normal distribution for many degrees
        let cases = [
            (1, 12.706),
            (2, 4.303),
            (5, 2.571),
            (6, 2.447),
            (29, 2.045),
            (120, 1.980),
            (100_000, 1.960),
        ];
        for (degrees, expected) in cases {
            let found = quantile(0.05, degrees);
            assert!((found - expected).abs() < 6e-4, "{degrees}: {found}");
        }
        assert!((quantile(0.001, 5) - 6.869).abs() < 6e-4);
    }

    #[test]
    fn probabilities_are_those_of_the_quantiles() {
        for degrees in [1, 2, 3, 8, 51] {
            for p in [0.9, 0.05, 1e-6] {
                let found = two_sided_p(quantile(p, degrees), degrees);
                assert!((found - p).abs() < 1e-10, "{degrees}: {found}");
            }
        }
        assert_eq!(two_sided_p(0.0, 4), 1.0);
        assert_eq!(two_sided_p(f64::INFINITY, 4), 0.0);
    }
}
