//! How a fair-share number reaches the formula: printed with C's `%f`, and read back by Python as a float.

/// The number as `%f` prints it: six decimals, ties to even; `inf`, `nan` and `-nan` as in glibc.
///
/// ```
/// use job_sort_formula::pbs::fairshare_format::printed;
///
/// assert_eq!(printed(f64::from(0.135_135_14_f32)), "0.135135");
/// ```
pub fn printed(value: f64) -> String {
    match (value.is_nan(), value.is_sign_negative()) {
        (true, true) => "-nan".to_owned(),
        (true, false) => "nan".to_owned(),
        (false, _) => format!("{value:.6}"),
    }
}

/// The float that the formula sees for the number: [`printed`], then parsed.
pub fn as_formula_sees(value: f64) -> f64 {
    let millionths = value * 1e6;
    let whole = millionths.round_ties_even();
    // Below 2^40 the error of the product is less than 2^-13, so the rounding is certain unless it is near a tie; the
    // quotient of the two integers is correctly rounded, as parsing the decimal is.
    if millionths.abs() < 1_099_511_627_776.0 && (millionths - whole).abs() < 0.499 {
        return whole / 1e6;
    }
    if value.is_finite() { printed(value).parse().unwrap_or(value) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_decimals_ties_to_even() {
        for (value, text) in [
            (0.007_812_5, "0.007812"),
            (0.023_437_5, "0.023438"),
            (-1e-9, "-0.000000"),
            (0.0, "0.000000"),
            (1e15 + 0.5, "1000000000000000.500000"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN.copysign(1.0), "nan"),
            (f64::NAN.copysign(-1.0), "-nan"),
        ] {
            assert_eq!(printed(value), text);
        }
        assert!(as_formula_sees(-1e-9).is_sign_negative());
        assert_eq!(as_formula_sees(0.123_456_789).to_bits(), 0.123_457f64.to_bits());
    }

    #[test]
    fn the_fast_path_agrees_with_printing_and_parsing() {
        let mut bits = 0x1234_5678_9abc_def0_u64;
        for round in 0..300_000_u32 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let unit = (bits >> 11) as f64 / crate::python::MAX_EXACT_FLOAT;
            let scale = [1.0, 1e-3, 1e-6, 1e3, 1e7, -0.5][round as usize % 6];
            let half = ((bits >> 40) as f64 + 0.5) / 1e6;
            for value in [unit * scale, f64::from((unit * scale) as f32), half, -half, f64::from(half as f32)] {
                let expected: f64 = printed(value).parse().unwrap();
                assert_eq!(as_formula_sees(value).to_bits(), expected.to_bits(), "{value:e}");
            }
        }
    }
}
