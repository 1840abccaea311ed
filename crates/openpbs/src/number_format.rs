//! How OpenPBS prints numbers, and how Python reads them back.
//!
//! Resource amounts and logged formula values are printed with the number of [`decimals`] that
//! OpenPBS chooses, at most four; fair-share numbers with six.

/// The float that Python reads after the scheduler prints a fair-share number:
/// [`printed_fairshare`] then parsed.
pub use job_sort_formula::fairshare::policy::openpbs::printed_share as fairshare;
pub use job_sort_formula::rank::{
    decimals, fixed, openpbs_digits as resource, openpbs_logged as logged, printed,
    read_amount as read_resource,
};

/// The amount of a float resource as the scheduler reads it: the server rounds it to a C `float`
/// and prints that.
pub fn server_float(v: f64) -> f64 {
    let rounded = f64::from(v as f32);
    if rounded.is_finite() {
        printed(rounded).parse().unwrap_or(rounded)
    } else {
        rounded
    }
}

/// A fair-share number as the scheduler prints it, with `%f`: six decimals.
///
/// ```
/// use jsf_openpbs::number_format::printed_fairshare;
///
/// assert_eq!(printed_fairshare(f64::from(0.135_135_14_f32)), "0.135135");
/// ```
pub fn printed_fairshare(value: f64) -> String {
    fixed(value, 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_sort_formula::Value;
    use num_bigint::BigInt;

    /// An amount is the text that is printed, as Python reads it.
    #[test]
    fn a_resource_is_what_is_printed() {
        let mut bits = 0x1234_5678_9abc_def0_u64;
        for round in 0..300_000_u32 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let unit = (bits >> 11) as f64 / job_sort_formula::python::MAX_EXACT_FLOAT;
            let scale = [1.0, 1e-3, -1e3, 1e7, 1e13, 1e22][round as usize % 6];
            let tie = ((bits >> 40) as f64 + 0.5)
                / [1e1, 1e2, 1e3, 1e4, 32.0, 1024.0][round as usize % 6];
            let near = f64::from((unit * scale * 16.0) as i32) + 1e-4;
            for value in [unit * scale, tie, -tie, near, f64::from_bits(bits)] {
                let text = printed(value);
                match resource(value) {
                    Value::Float(read) => {
                        assert!(text.contains('.') || !value.is_finite(), "{value:e}");
                        assert!(
                            value.is_nan()
                                || read.to_bits() == text.parse::<f64>().unwrap().to_bits(),
                            "{value:e}"
                        );
                    }
                    integer => {
                        assert_eq!(
                            integer.repr(),
                            text.replace("-0", "0")
                                .parse::<BigInt>()
                                .unwrap()
                                .to_string()
                        )
                    }
                }
            }
        }
    }

    #[test]
    fn python_reads_an_integer_or_a_float() {
        assert!(matches!(resource(2.0004), Value::Int(2)));
        assert!(matches!(resource(-0.0), Value::Int(0)));
        assert!(matches!(resource(0.00012), Value::Int(0)));
        assert!(matches!(resource(36.9995), Value::Int(37)));
        assert!(matches!(resource(0.12345678), Value::Float(0.1235)));
        assert!(matches!(
            resource(9_007_199_254_740_992.0),
            Value::Int(9_007_199_254_740_992)
        ));
        assert!(matches!(
            resource(-9_223_372_036_854_775_808.0),
            Value::Int(i64::MIN)
        ));
        assert!(
            matches!(resource(9_223_372_036_854_775_807.0), Value::Big(big) if *big.digits() == BigInt::from(1u64 << 63))
        );
        assert!(matches!(
            resource(f64::INFINITY),
            Value::Float(f64::INFINITY)
        ));
    }

    #[test]
    fn the_server_rounds_to_float32() {
        for (given, kept) in [
            (123_456.123_456, 123_456.125),
            (1.0 / 3.0, 0.3333),
            (16_777_217.0, 16_777_216.0),
            (1e15, 999_999_986_991_104.0),
            (0.000_05, 0.0),
            (0.99999, 1.0),
            (1e300, f64::INFINITY),
        ] {
            assert_eq!(server_float(given), kept, "{given}");
        }
    }

    #[test]
    fn prints_infinities_and_nan_as_c_does() {
        assert_eq!(logged(f64::NAN.copysign(-1.0)), "-nan");
        assert_eq!(logged(f64::NAN.copysign(1.0)), "nan");
        assert_eq!(logged(-1e300), "-inf");
    }

    #[test]
    fn ties_go_to_the_even_digit_as_in_c() {
        assert_eq!(format!("{:.4}", 0.031_25), "0.0312");
        assert_eq!(format!("{:.0}", 2.5), "2");
        assert_eq!(format!("{:.0}", 0.5), "0");
    }

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
            assert_eq!(printed_fairshare(value), text);
        }
        assert!(fairshare(-1e-9).is_sign_negative());
        assert_eq!(fairshare(0.123_456_789).to_bits(), 0.123_457f64.to_bits());
    }

    #[test]
    fn the_fast_path_agrees_with_printing_and_parsing() {
        let mut bits = 0x1234_5678_9abc_def0_u64;
        for round in 0..300_000_u32 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let unit = (bits >> 11) as f64 / job_sort_formula::python::MAX_EXACT_FLOAT;
            let scale = [1.0, 1e-3, 1e-6, 1e3, 1e7, -0.5][round as usize % 6];
            let half = ((bits >> 40) as f64 + 0.5) / 1e6;
            for value in [
                unit * scale,
                f64::from((unit * scale) as f32),
                half,
                -half,
                f64::from(half as f32),
            ] {
                let expected: f64 = printed_fairshare(value).parse().unwrap();
                assert_eq!(fairshare(value).to_bits(), expected.to_bits(), "{value:e}");
            }
        }
    }

    #[test]
    fn logged_floats_have_the_digits_of_other_doubles() {
        for bits in (0..=u32::MAX).step_by(65_521) {
            let value = f64::from(f32::from_bits(bits));
            assert_eq!(logged(value), printed(value), "{bits:#x}");
        }
        // ties of the last digit, which are rounded to even, and what is near them
        for half in 0..50_000 {
            let value = f64::from(half as f32 / 10_000.0);
            assert_eq!(logged(value), printed(value), "{value}");
            assert_eq!(logged(-value * 1024.0), printed(-value * 1024.0), "{value}");
        }
    }
}
