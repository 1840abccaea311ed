use super::*;

fn whole(value: u64) -> Extended {
    Extended::from(value)
}

/// As in the table: mantissa and exponent of the leading bit.
fn shown(it: Extended) -> String {
    let sign = if it.negative { "-" } else { "" };
    match it.class {
        Class::Zero => "0".into(),
        Class::Finite => format!("{sign}{:016x}:{}", it.mantissa, it.exponent),
        Class::Infinite => format!("{sign}inf"),
        Class::Nan => "nan".into(),
    }
}

fn double(bits: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(bits, 16).expect("hexadecimal"))
}

/// 150 rows of `a b c`, then `x*y`, `x/y`, `x+y`, `x-y*z` for `x = a/3`, `y = b/7`, `z = c+1` as an x86 makes them in
/// `long double`, the last one and `x*2^-1060` as doubles, and the sign of `y - x`.
#[test]
fn every_operation_gives_the_bits_of_the_x87() {
    for row in include_str!("x87.txt").lines() {
        let fields: Vec<&str> = row.split(' ').collect();
        let [a, b, c] = [0, 1, 2].map(|i| double(fields[i]));
        let (x, y, z) = (Extended::from(a) / whole(3), Extended::from(b) / whole(7), Extended::from(c + 1.0));
        assert_eq!(shown(x * y), fields[3], "{row}");
        assert_eq!(shown(if b == 0.0 { Extended::ZERO } else { x / y }), fields[4], "{row}");
        assert_eq!(shown(x + y), fields[5], "{row}");
        let last = x - y * z;
        assert_eq!(shown(last), fields[6], "{row}");
        assert_eq!(last.to_f64() + 0.0, double(fields[7]) + 0.0, "{row}");
        let small = x * Extended::from(f64::from_bits(1)) * Extended::from(2f64.powi(14));
        assert_eq!(small.to_f64() + 0.0, double(fields[8]) + 0.0, "{row}");
        assert_eq!(y.partial_cmp(&x).map(|order| order as i32), fields[9].parse().ok(), "{row}");
    }
}

#[test]
fn every_double_comes_back() {
    let some = [0.0, 1.0, -1.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, 2.5e-320, f64::INFINITY, f64::NEG_INFINITY, 0.1];
    for value in some {
        assert_eq!(Extended::from(value).to_f64(), value);
    }
    assert!(Extended::from(f64::NAN).to_f64().is_nan());
    assert_eq!((Extended::from(f64::MAX) + Extended::from(f64::MAX)).to_f64(), f64::INFINITY);
}

#[test]
fn the_ends_of_the_range() {
    let big = (0..6).fold(whole(2), |power, _| power * power) * whole(1 << 63);
    let mut huge = big;
    while huge < Extended::INFINITY {
        huge = huge * huge;
    }
    assert_eq!(shown(huge), "inf");
    let mut small = Extended::ONE / whole(3);
    let mut steps = 0;
    while !small.is_zero() {
        small = small / whole(2);
        steps += 1;
    }
    // 1/3 is a little less than the sixteen-thousandth power, and the last half of the last bit is gone
    assert_eq!(steps, 16445);
    assert_eq!(shown(Extended::ZERO / Extended::ZERO), "nan");
    assert_eq!(shown(-whole(1) / Extended::ZERO), "-inf");
    assert_eq!(shown(Extended::INFINITY - Extended::INFINITY), "nan");
    assert!(-whole(2) < -whole(1) && -whole(1) < Extended::ZERO && Extended::ZERO < whole(1));
    assert_eq!(Extended::NAN.total_order(&-Extended::INFINITY), Ordering::Less);
    assert_eq!(Extended::NAN.total_order(&Extended::NAN), Ordering::Equal);
}

#[test]
fn equal_fractions_are_equal() {
    assert_eq!(Extended::quotient(1, 3), Extended::quotient(1 << 100, 3 << 100));
    assert_eq!(Extended::quotient(7, 49), Extended::ONE / whole(7));
    assert_eq!(shown(Extended::quotient(u128::MAX, u128::MAX)), shown(Extended::ONE));
    assert_eq!(Extended::quotient(u128::MAX, 1).to_f64(), 2f64.powi(128));
    assert_eq!(shown(Extended::quotient(0, 5)), "0");
    assert_eq!(shown(Extended::quotient(5, 0)), "inf");
    for (n, d) in [(1u64, 7u64), (10, 3), (u64::MAX, 12345), (3, u64::MAX), (1 << 63, 1), (999_999, 1_000_000)] {
        assert_eq!(Extended::quotient(n.into(), d.into()), whole(n) / whole(d), "{n}/{d}");
    }
}
