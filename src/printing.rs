//! Numbers as OpenPBS's scheduler prints them for Python and for its log, and as Python then reads
//! them: amounts of resources and values with at most four decimals, fair-share numbers with six.

use std::io::Write as _;

use crate::python::{MAX_EXACT_FLOAT, Value, float_to_int};

/// The most decimals of a resource amount or a logged value.
// what the scheduler passes to its `float_digits`
const MAX_DECIMALS: usize = 4;

/// The number that Python reads after the scheduler prints the resource amount `v`: an integer if
/// it is printed without decimals, else a float. At most four decimals are printed, fewer where the
/// following three digits are zeros or nines. Infinities and NaN stay floats; the scheduler ignores
/// jobs with them. Fair-share numbers are printed with six decimals, see
/// [`EntityShares::printed`](crate::fairshare::EntityShares::printed).
///
/// ```
/// use job_sort_formula::printing::resource;
///
/// let printed = [2.0, 0.00002, 1.0 / 3.0, 0.99999].map(|amount| resource(amount).repr());
/// assert_eq!(printed, ["2", "0", "0.3333", "1"]);
/// ```
pub fn resource(v: f64) -> Value {
    match read_resource(v) {
        // never the float: only finite numbers are integers
        (whole, true) => float_to_int(whole).unwrap_or(Value::Float(v)),
        (decimal, false) => Value::Float(decimal),
    }
}

/// The value of a formula as OpenPBS's scheduler logs it: rounded to a C `float`, then printed with
/// the decimals of [`resource`], and with the sign of a negative zero; infinities and NaN as
/// C prints them.
///
/// ```
/// use job_sort_formula::printing::logged;
///
/// let logged = [58_720_257.0, 50.878, 0.25, -0.00002, 1e39].map(logged);
/// assert_eq!(logged, ["58720256", "50.8780", "0.25", "-0", "inf"]);
/// ```
pub fn logged(value: f64) -> String {
    let rounded = f64::from(value as f32);
    let places = decimals(rounded);
    let scale = 10_u64.pow(places as u32);
    // a float has 24 bits, so the product is exact; `format!` of a double takes ten times as long,
    // a quarter of the time of a ranking
    let scaled = (rounded.abs() * scale as f64).round_ties_even();
    if scaled >= MAX_EXACT_FLOAT || value.is_nan() {
        // a NaN keeps the sign that C prints
        return printed(if value.is_nan() { value } else { rounded });
    }
    let sign = if rounded.is_sign_negative() { "-" } else { "" };
    let (whole, decimals) = (scaled as u64 / scale, scaled as u64 % scale);
    match places {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{decimals:0places$}"),
    }
}

/// `v` as OpenPBS prints it: at most four [`decimals`]; infinities and NaN as C prints them, `inf`,
/// `-nan`.
pub fn printed(v: f64) -> String {
    fixed(v, decimals(v))
}

/// `value` as C's `%.*f` prints it: rounded to `decimals` decimals, ties to even; `inf`, `nan` and
/// `-nan` as in glibc.
pub fn fixed(value: f64, decimals: usize) -> String {
    match (value.is_nan(), value.is_sign_negative()) {
        (true, true) => "-nan".to_owned(),
        (true, false) => "nan".to_owned(),
        (false, _) => format!("{value:.decimals$}"),
    }
}

/// The number of [`resource`] as a double, and whether it is an integer. The double is exact,
/// because a double without decimals is printed with all its digits.
pub fn read_resource(v: f64) -> (f64, bool) {
    match decimals(v) {
        _ if !v.is_finite() => (v, false),
        // the sum turns -0, which Python reads as 0
        0 => (v.round_ties_even() + 0.0, true),
        places => (printed_and_read(v, places), false),
    }
}

/// The number of decimals that OpenPBS prints for `v`: the smallest i ≤ 4 such that the three
/// digits after the i-th decimal are 000 or 999, else 4.
pub fn decimals(v: f64) -> usize {
    if !v.is_finite() {
        return 0;
    }
    let mut scale = 1.0;
    for decimals in 0..MAX_DECIMALS {
        if matches!(next_three_digits(v.abs() * scale), 0 | 999..) {
            return decimals;
        }
        scale *= 10.0;
    }
    MAX_DECIMALS
}

/// The first three digits after the point of a number that is not negative.
fn next_three_digits(x: f64) -> i64 {
    // from 2^53 on there is no fraction
    if x < MAX_EXACT_FLOAT {
        // truncated, not rounded, as the scheduler does: 0.00096 is printed as 0
        ((x - x as i64 as f64) * 1000.0) as i64
    } else {
        0
    }
}

/// A fair-share number as Python reads it after the scheduler has printed it with `%f`.
pub fn fairshare(value: f64) -> f64 {
    printed_and_read(value, 6)
}

/// A number as Python reads it after the scheduler has printed it with one to six decimals.
fn printed_and_read(value: f64, decimals: usize) -> f64 {
    const SCALES: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
    let scale = SCALES[decimals];
    let scaled = value * scale;
    let rounded = scaled.round_ties_even();
    // Below 2^40 the error of the product is less than 2^-13, so the rounding is certain unless it
    // is near a tie; the quotient of the two integers is correctly rounded, as parsing the decimal
    // is.
    if scaled.abs() < 1_099_511_627_776.0 && (scaled - rounded).abs() < 0.499 {
        return rounded / scale;
    }
    if value.is_finite() {
        // without `format!`: the amounts of a column are read without an allocation
        parse_printed(value, decimals).unwrap_or(value)
    } else {
        value
    }
}

/// Prints a finite number and parses it, on the stack.
fn parse_printed(value: f64, decimals: usize) -> Option<f64> {
    // a sign, the digits of the largest double, a point and six decimals
    let mut text = [0; 1 + 309 + 1 + 6];
    let mut rest = &mut text[..];
    write!(rest, "{value:.decimals$}").ok()?;
    let unused = rest.len();
    std::str::from_utf8(&text[..text.len() - unused])
        .ok()?
        .parse()
        .ok()
}
