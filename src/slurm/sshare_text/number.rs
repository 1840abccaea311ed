//! Floating-point numbers as `sshare` prints them.

/// What the daemon has for "no number" and for "infinite" in 32 and in 64 bits: printed as nothing. The largest double
/// below them is not among the numbers that occur.
const BLANK: [f64; 3] = [4_294_967_294.0, 4_294_967_295.0, 18_446_744_073_709_551_615.0];

/// `%f`, and nothing for a number that means none.
pub(super) fn float(value: f64) -> String {
    match value {
        _ if BLANK.contains(&value) => String::new(),
        _ if value.is_nan() => if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned(),
        _ => format!("{value:.6}"),
    }
}

/// `%e` with as many digits as fit in the width.
pub(super) fn scientific(value: f64, width: usize) -> String {
    let text = |digits: usize| {
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        format!("{mantissa}e{sign}{exponent:0>2}")
    };
    let widest = text(width);
    let excess = widest.len().saturating_sub(width);
    format!("{:>width$}", text(width.saturating_sub(excess)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_c_does() {
        assert_eq!(float(0.396_039_603_960_396_06), "0.396040");
        assert_eq!(float(f64::INFINITY), "inf");
        assert_eq!(float(18_446_744_073_709_551_615.0), "");
        assert_eq!(scientific(1e15, 10), "1.0000e+15");
        assert_eq!(scientific(123_456_789.0, 10), "1.2346e+08");
        assert_eq!(scientific(-1.5e200, 11), "-1.500e+200");
    }
}
