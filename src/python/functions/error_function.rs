//! `erf` and `erfc` by the rational approximations that Sun published with fdlibm, summed in pairs of terms, which
//! is the order in which the GNU C library, and so Python, rounds.
// The coefficients stand as they are published, with more digits than a double keeps.
#![allow(clippy::excessive_precision)]

/// `erf(1)`, of which the approximation about 1 is what is left.
const AT_ONE: f64 = 8.45062911510467529297e-01;

/// `2 / sqrt(pi) - 1`, the slope at 0 but for 1.
const SLOPE_LESS_ONE: f64 = 1.28379167095512586316e-01;

/// One approximation: numerator and denominator, the constant terms first.
type Ratio<'a> = (&'a [f64], &'a [f64]);

/// Below 0.84375, in `x²`.
const NEAR_ZERO: Ratio = (
    &[
        1.28379167095512558561e-01,
        -3.25042107247001499370e-01,
        -2.84817495755985104766e-02,
        -5.77027029648944159157e-03,
        -2.37630166566501626084e-05,
    ],
    &[
        1.0,
        3.97917223959155352819e-01,
        6.50222499887672944485e-02,
        5.08130628187576562776e-03,
        1.32494738004321644526e-04,
        -3.96022827877536812320e-06,
    ],
);

/// From there to 1.25, in `|x| - 1`.
const NEAR_ONE: Ratio = (
    &[
        -2.36211856075265944077e-03,
        4.14856118683748331666e-01,
        -3.72207876035701323847e-01,
        3.18346619901161753674e-01,
        -1.10894694282396677476e-01,
        3.54783043256182359371e-02,
        -2.16637559486879084300e-03,
    ],
    &[
        1.0,
        1.06420880400844228286e-01,
        5.40397917702171048937e-01,
        7.18286544141962662868e-02,
        1.26171219808761642112e-01,
        1.36370839120290507362e-02,
        1.19844998467991074170e-02,
    ],
);

/// From there to 1 / 0.35, in `1 / x²`.
const MIDDLE: Ratio = (
    &[
        -9.86494403484714822705e-03,
        -6.93858572707181764372e-01,
        -1.05586262253232909814e+01,
        -6.23753324503260060396e+01,
        -1.62396669462573470355e+02,
        -1.84605092906711035994e+02,
        -8.12874355063065934246e+01,
        -9.81432934416914548592e+00,
    ],
    &[
        1.0,
        1.96512716674392571292e+01,
        1.37657754143519042600e+02,
        4.34565877475229228821e+02,
        6.45387271733267880336e+02,
        4.29008140027567833386e+02,
        1.08635005541779435134e+02,
        6.57024977031928170135e+00,
        -6.04244152148580987438e-02,
    ],
);

/// Beyond, in `1 / x²`.
const FAR: Ratio = (
    &[
        -9.86494292470009928597e-03,
        -7.99283237680523006574e-01,
        -1.77579549177547519889e+01,
        -1.60636384855821916062e+02,
        -6.37566443368389627722e+02,
        -1.02509513161107724954e+03,
        -4.83519191608651397019e+02,
    ],
    &[
        1.0,
        3.03380607434824582924e+01,
        3.25792512996573918826e+02,
        1.53672958608443695994e+03,
        3.19985821950859553908e+03,
        2.55305040643316442583e+03,
        4.74528541206955367215e+02,
        -2.24409524465858183362e+01,
    ],
);

/// The bounds of the approximations. The last, 1 / 0.35, is compared by the upper half of the double, and fdlibm has
/// it one further for `erf` than for `erfc`.
const TO_ONE: f64 = 0.84375;
const TO_MIDDLE: f64 = 1.25;
const TO_FAR: u64 = 0x4006_DB6E;
const TO_FAR_OF_COMPLEMENT: u64 = 0x4006_DB6D;

/// Below this, `2^-1015`, a straight line has to be scaled up, or its slope is lost among the subnormals.
const TINY: f64 = f64::MIN_POSITIVE * 128.0;

/// Below this, `2^-28`, `erf` is a straight line.
const SMALL: f64 = 1.0 / 268_435_456.0;

/// From here on `erf` is 1, and `erfc` of the negative is 2.
const END: f64 = 6.0;

/// From here on `erfc` is 0.
const END_OF_COMPLEMENT: f64 = 28.0;

/// The polynomial, each pair of terms by itself.
fn polynomial(terms: &[f64], x: f64) -> f64 {
    let second = x * x;
    let fourth = second * second;
    let powers = [1.0, second, fourth, fourth * second, fourth * fourth];
    let pair = |pair: &[f64]| match pair {
        [first, second] => first + x * second,
        rest => rest.iter().sum(),
    };
    let rest = terms.chunks(2).zip(powers).skip(1);
    rest.fold(terms.get(..2).map_or(0.0, pair), |sum, (terms, power)| sum + power * pair(terms))
}

fn ratio((numerator, denominator): Ratio, x: f64) -> f64 {
    polynomial(numerator, x) / polynomial(denominator, x)
}

/// `1 - erf(x)` for `x` of 1.25 or more. The exponent is split so that the square of its upper half is exact.
fn tail(x: f64, to_far: u64) -> f64 {
    let inverse = 1.0 / (x * x);
    let approximation = if x.to_bits() >> 32 < to_far { MIDDLE } else { FAR };
    let upper = f64::from_bits(x.to_bits() & !0xffff_ffff);
    let main = (-upper * upper - 0.5625).exp();
    main * ((upper - x) * (upper + x) + ratio(approximation, inverse)).exp() / x
}

/// `erf(x)`.
pub(super) fn erf(x: f64) -> f64 {
    let size = x.abs();
    if x.is_nan() {
        return x;
    }
    let result = if size < TINY {
        0.0625 * (16.0 * size + 16.0 * SLOPE_LESS_ONE * size)
    } else if size < SMALL {
        size + SLOPE_LESS_ONE * size
    } else if size < TO_ONE {
        size + size * ratio(NEAR_ZERO, size * size)
    } else if size < TO_MIDDLE {
        AT_ONE + ratio(NEAR_ONE, size - 1.0)
    } else if size < END {
        1.0 - tail(size, TO_FAR)
    } else {
        1.0
    };
    result.copysign(x)
}

/// `erfc(x)`.
pub(super) fn erfc(x: f64) -> f64 {
    let size = x.abs();
    if x.is_nan() {
        x
    } else if size < f64::EPSILON / 16.0 {
        1.0 - x
    } else if size < TO_ONE {
        let excess = x * ratio(NEAR_ZERO, x * x);
        if x < 0.25 { 1.0 - (x + excess) } else { 0.5 - (excess + (x - 0.5)) }
    } else if size < TO_MIDDLE {
        let from_one = ratio(NEAR_ONE, size - 1.0);
        if x < 0.0 { 1.0 + (AT_ONE + from_one) } else { (1.0 - AT_ONE) - from_one }
    } else if x < -END {
        2.0
    } else if x >= END_OF_COMPLEMENT {
        0.0
    } else if x < 0.0 {
        2.0 - tail(size, TO_FAR_OF_COMPLEMENT)
    } else {
        tail(size, TO_FAR_OF_COMPLEMENT)
    }
}
