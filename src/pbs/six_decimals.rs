//! How a fair-share number gets into the formula: printed with C's `%f`, read back by Python as a float.

/// The number as `%f` prints it: six decimals, ties to even; `inf`, `nan` and `-nan` as glibc writes them.
///
/// ```
/// use job_sort_formula::pbs::six_decimals::printed;
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

/// The float that the formula sees for the number: [`printed`], and read again.
pub fn as_formula_sees(value: f64) -> f64 {
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
}
