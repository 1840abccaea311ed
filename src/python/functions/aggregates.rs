//! Functions over many values, `sum`, `prod`, `fsum`, `hypot` and `dist`, and those that convert and
//! round numbers: the builtins `abs`, `float`, `int`, `divmod`, `round`, and `floor`, `ceil`,
//! `trunc` of `math`.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use crate::python::functions::{accumulate, coordinates, missing_method};
use crate::python::limits::WorkLimit;
use crate::python::value::{Integer, Number};
use crate::python::version::Norm;
use crate::python::{
    BinaryOperator, Python, PythonVersion, Raised, Value, float, integer, operators,
};

/// `sum(iterable, start=0)`: plain `+` from the left, or with the rounding errors of floats
/// compensated.
pub(super) fn sum(items: &Value, start: Option<&Value>, python: &Python) -> Result<Value, Raised> {
    let start = start.cloned().unwrap_or(Value::Int(0));
    if python.version.compensates_sums() {
        return compensated_sum(items.iterable_argument()?, start, python);
    }
    accumulate(items, start, BinaryOperator::Add, python)
}

/// The sum as integers of a word while it is one, then as floats with their rounding errors
/// (Neumaier's algorithm), and then by `+`.
fn compensated_sum(items: &[Value], start: Value, python: &Python) -> Result<Value, Raised> {
    let work = &python.work;
    let mut rest = items.iter();
    let mut total = start;
    // a bool as `start` is not summed here: CPython's `PyLong_CheckExact` refuses it
    while let Value::Int(sum) = total {
        let Some(item) = rest.next() else {
            return Ok(total);
        };
        // CPython leaves this loop at the first item that is no integer of a C `long`
        let small = match item.integer() {
            Some(Integer::Small(item)) => sum.checked_add(item),
            _ => None,
        };
        total = match small {
            Some(sum) => Value::Int(sum),
            None => {
                total = operators::binary(BinaryOperator::Add, &total, item, work)?;
                break;
            }
        };
    }
    if let Value::Float(start) = total {
        let mut sum = CompensatedSum {
            sum: start,
            compensation: 0.0,
        };
        loop {
            match rest.next() {
                None => return Ok(Value::Float(sum.rounded())),
                Some(Value::Float(item)) => sum.add(*item),
                Some(item) => match item.integer() {
                    Some(integer) if python.version.compensates_integers_in_sums() => {
                        sum.add(integer.to_float()?)
                    }
                    // before 3.14, CPython adds an integer without its rounding error
                    Some(Integer::Small(item)) => sum.sum += item as f64,
                    _ => {
                        total = operators::binary(
                            BinaryOperator::Add,
                            &Value::Float(sum.rounded()),
                            item,
                            work,
                        )?;
                        break;
                    }
                },
            }
        }
    }
    for item in rest {
        total = operators::binary(BinaryOperator::Add, &total, item, work)?;
    }
    Ok(total)
}

/// A sum of floats and its rounding error.
#[derive(Debug, Clone, Copy)]
struct CompensatedSum {
    sum: f64,
    compensation: f64,
}

impl CompensatedSum {
    fn add(&mut self, item: f64) {
        let next = self.sum + item;
        let (large, small) = if self.sum.abs() >= item.abs() {
            (self.sum, item)
        } else {
            (item, self.sum)
        };
        // exact only if the larger operand comes first
        self.compensation += (large - next) + small;
        self.sum = next;
    }

    /// The sum with its error, which is left out where it is not finite, and where it is 0, for the
    /// sign of a zero.
    fn rounded(self) -> f64 {
        let is_used = self.compensation != 0.0 && self.compensation.is_finite();
        if is_used {
            self.sum + self.compensation
        } else {
            self.sum
        }
    }
}

/// `sumprod(p, q)`: integers of a word exactly, then floats with three times the precision, and
/// then by `*` and `+`.
pub(super) fn sumprod(p: &Value, q: &Value, work: &WorkLimit) -> Result<Value, Raised> {
    let (p, q) = (p.iterable_argument()?, q.iterable_argument()?);
    let mut pairs = p.iter().zip(q).peekable();
    let mut integers = 0_i64;
    // only looked at: the pair that ends this loop belongs to the next one
    while let Some((p, q)) = pairs.peek()
        && let Some(product) = small_product(p, q)
        && let Some(sum) = integers.checked_add(product)
    {
        integers = sum;
        pairs.next();
    }
    let mut total = Value::Int(integers);
    let mut floats = TripleLength::default();
    let mut has_floats = false;
    while let Some((p, q)) = pairs.peek()
        && let Some((p, q)) = float_factors(p, q)
    {
        let next = floats.plus_product(p, q);
        // CPython goes on with `*` and `+` from the first infinity or nan
        if !next.high.is_finite() {
            break;
        }
        (floats, has_floats) = (next, true);
        pairs.next();
    }
    // not always: `+ 0.0` would make a float of a sum of integers
    if has_floats {
        total = operators::binary(
            BinaryOperator::Add,
            &total,
            &Value::Float(floats.rounded()),
            work,
        )?;
    }
    for (p, q) in pairs {
        let product = operators::binary(BinaryOperator::Multiply, p, q, work)?;
        total = operators::binary(BinaryOperator::Add, &total, &product, work)?;
    }
    // last, because CPython notices it only after all pairs, whose errors come first
    if p.len() == q.len() {
        Ok(total)
    } else {
        Err(Raised::value("Inputs are not the same length"))
    }
}

/// The product of two integers of a word, if it is one; bools do not count.
fn small_product(p: &Value, q: &Value) -> Option<i64> {
    match (p, q) {
        (Value::Int(p), Value::Int(q)) => p.checked_mul(*q),
        _ => None,
    }
}

/// Two floats, or a float and an integer.
fn float_factors(p: &Value, q: &Value) -> Option<(f64, f64)> {
    match (p, q) {
        // bools count here, as in CPython, unlike among the integers above
        (Value::Float(p), Value::Float(q)) => Some((*p, *q)),
        // an integer beyond the doubles is left to `*`, which raises
        (Value::Float(p), q) => Some((*p, q.integer()?.to_float().ok()?)),
        (p, Value::Float(q)) => Some((p.integer()?.to_float().ok()?, *q)),
        _ => None,
    }
}

/// A sum in three doubles.
#[derive(Debug, Clone, Copy, Default)]
struct TripleLength {
    high: f64,
    low: f64,
    tiny: f64,
}

impl TripleLength {
    /// Adds a product: algorithm 5.10 of Ogita, Rump and Oishi, with three doubles.
    fn plus_product(self, x: f64, y: f64) -> Self {
        let product = x * y;
        let (high, sum_error) = two_sum(self.high, product);
        // the fused operation gives the exact rounding error of the product
        let (first, first_error) = two_sum(self.low, x.mul_add(y, -product));
        let (low, second_error) = two_sum(first, sum_error);
        Self {
            high,
            low,
            tiny: self.tiny + first_error + second_error,
        }
    }

    fn rounded(self) -> f64 {
        let (last, error) = two_sum(self.low, self.tiny);
        let (high, low) = two_sum(self.high, last);
        high + (low + error)
    }
}

/// A sum and its rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let rounded_b = sum - a;
    (sum, (a - (sum - rounded_b)) + (b - rounded_b))
}

/// `fsum(iterable)`: Shewchuk's exact summation with non-overlapping partial sums, rounded once.
pub(super) fn fsum(items: &Value) -> Result<Value, Raised> {
    let mut partials: Vec<f64> = Vec::new();
    let mut special = 0.0;
    let mut infinities = 0.0;
    for item in items.iterable_argument()? {
        let value = item.math_argument()?;
        let high = add_partial(&mut partials, value);
        if high.is_finite() {
            if high != 0.0 {
                partials.push(high);
            }
            continue;
        }
        if value.is_finite() {
            return Err(Raised::overflow("intermediate overflow in fsum"));
        }
        if value.is_infinite() {
            infinities += value;
        }
        special += value;
        // what was added before an infinity or a nan no longer matters
        partials.clear();
    }
    if special == 0.0 {
        return Ok(Value::Float(round_once(&partials)));
    }
    // a nan among the items is the result; only infinities of both signs are an error
    if infinities.is_nan() {
        Err(Raised::value("-inf + inf in fsum"))
    } else {
        Ok(Value::Float(special))
    }
}

/// Adds a value to the partial sums and returns the rounded total. `partials` keeps its rounding
/// errors only: together with the returned number, they sum to the exact total.
fn add_partial(partials: &mut Vec<f64>, mut value: f64) -> f64 {
    let mut kept = 0;
    for index in 0..partials.len() {
        let (large, small) = match partials[index] {
            partial if value.abs() < partial.abs() => (partial, value),
            partial => (value, partial),
        };
        let high = large + small;
        let low = small - (high - large);
        if low != 0.0 {
            // never ahead of `index`, so that nothing unread is overwritten
            partials[kept] = low;
            kept += 1;
        }
        value = high;
    }
    partials.truncate(kept);
    value
}

/// The sum of non-overlapping doubles, in increasing order of magnitude, rounded once, ties to
/// even.
fn round_once(partials: &[f64]) -> f64 {
    let mut rest = partials.iter().rev().copied();
    let mut high = rest.next().unwrap_or(0.0);
    for partial in rest.by_ref() {
        let before = high;
        high = before + partial;
        let low = partial - (high - before);
        if low == 0.0 {
            continue;
        }
        // The rounding error may be exactly half a unit; the next partial sum then decides the
        // direction.
        let follows = rest.next().unwrap_or(0.0);
        let corrected = high + 2.0 * low;
        if follows != 0.0 && (low < 0.0) == (follows < 0.0) && corrected - high == 2.0 * low {
            high = corrected;
        }
        break;
    }
    high
}

/// `hypot(*coordinates)`.
pub(super) fn hypot(coordinates: &[Value], python: PythonVersion) -> Result<f64, Raised> {
    if python.norm() == Norm::Library {
        return library_hypot(coordinates, python);
    }
    let lengths = coordinates
        .iter()
        .map(|value| Ok(value.math_argument()?.abs()));
    Ok(norm(&lengths.collect::<Result<Vec<_>, _>>()?, python))
}

/// `dist(p, q)`.
pub(super) fn dist(p: &Value, q: &Value, python: PythonVersion) -> Result<Value, Raised> {
    let length = |(a, b): (&Value, &Value)| Ok((a.math_argument()? - b.math_argument()?).abs());
    let lengths: Result<Vec<_>, _> = coordinates(p, q)?.map(length).collect();
    Ok(Value::Float(norm(&lengths?, python)))
}

/// The square root of the sum of squares, rounded nearly once: squares and sum are double-double
/// numbers.
fn norm(lengths: &[f64], python: PythonVersion) -> f64 {
    // `f64::max` skips nans
    let largest = lengths.iter().copied().fold(0.0, f64::max);
    // before the nans: an infinite coordinate counts more
    if largest.is_infinite() {
        return largest;
    }
    if lengths.iter().any(|length| length.is_nan()) {
        return python.nan();
    }
    if largest == 0.0 || lengths.len() == 1 {
        return largest;
    }
    if python.norm() == Norm::Compensated {
        return compensated_norm(lengths, largest);
    }
    // Scaled to about 1 by a power of two, no square overflows, and none that matters underflows.
    let (_, scale) = float::fraction_and_exponent(largest);
    let mut high = 0.0_f64;
    let mut low = 0.0_f64;
    for length in lengths {
        let scaled = length
            // in two steps, because a factor as large as 2^1073 is no double
            * float::power_of_two(-scale / 2)
            * float::power_of_two(scale / 2 - scale);
        let square = scaled * scaled;
        let sum = high + square;
        let (large, small) = if high < square {
            (square, high)
        } else {
            (high, square)
        };
        low += (small - (sum - large)) + scaled.mul_add(scaled, -square);
        high = sum;
    }
    let root = (high + low).sqrt();
    let correction = (high - root * root) - root.mul_add(root, -(root * root)) + low;
    let root = root + correction / (2.0 * root);
    root * float::power_of_two(scale / 2) * float::power_of_two(scale - scale / 2)
}

/// The square root of the sum of squares, with the rounding errors of the sum.
fn compensated_norm(lengths: &[f64], largest: f64) -> f64 {
    // begins at 1, so that it is never less than a square; subtracted at the end
    let mut sum = 1.0;
    let mut fraction = 0.0;
    for length in lengths {
        let ratio = length / largest;
        let square = ratio * ratio;
        let before = sum;
        sum += square;
        fraction += (before - sum) + square;
    }
    largest * (sum - 1.0 + fraction).sqrt()
}

/// `hypot(x, y)` of the C library.
fn library_hypot(coordinates: &[Value], python: PythonVersion) -> Result<f64, Raised> {
    let mut coordinates: Vec<_> = coordinates.iter().map(Value::math_argument).collect();
    if python.raises_the_second_error() {
        // the error of the last one is found first
        if let Some(error) = coordinates.iter().rposition(Result::is_err) {
            coordinates.swap(0, error);
        }
    }
    let coordinates = coordinates.into_iter().collect::<Result<Vec<_>, _>>()?;
    let length = coordinates.iter().copied().reduce(f64::hypot);
    // never empty: before Python 3.8 `hypot` takes two
    let length = length.unwrap_or_default();
    if length.is_infinite() && coordinates.iter().all(|coordinate| coordinate.is_finite()) {
        return Err(Raised::range());
    }
    Ok(length)
}

/// `abs(x)`.
pub(super) fn abs(x: &Value) -> Result<Value, Raised> {
    match x.number() {
        Some(Number::Integer(value)) => Ok(integer::magnitude(value)),
        Some(Number::Float(value)) => Ok(Value::Float(value.abs())),
        None => Err(Raised::type_error(format!(
            "bad operand type for abs(): '{}'",
            x.type_name()
        ))),
    }
}

/// `float(x)`.
pub(super) fn to_float(x: &Value) -> Result<f64, Raised> {
    match x.number() {
        Some(number) => number.to_float(),
        None => Err(Raised::type_error(format!(
            "float() argument must be a string or a real number, not '{}'",
            x.type_name()
        ))),
    }
}

/// `int()`, `int(x)`, `int(x, base)`.
pub(super) fn int(x: Option<&Value>, base: Option<&Value>) -> Result<Value, Raised> {
    match (x, base) {
        (None, None) => Ok(Value::Int(0)),
        (None, Some(_)) => Err(Raised::type_error("int() missing string argument")),
        (Some(_), Some(base)) => Err(int_base_error(base)),
        (Some(x), None) => match x.number() {
            Some(Number::Integer(value)) => Ok(value.to_value()),
            Some(Number::Float(value)) => integer::float_to_int(value.trunc()),
            None => Err(Raised::type_error(format!(
                "int() argument must be a string, a bytes-like object or a real number, not '{}'",
                x.type_name()
            ))),
        },
    }
}

/// The error of `int(x, base)`: a base needs a string, and formulas have no strings.
fn int_base_error(base: &Value) -> Raised {
    match base.integer_argument() {
        Err(error) => error,
        Ok(Integer::Small(0 | 2..=36)) => {
            Raised::type_error("int() can't convert non-string with explicit base")
        }
        Ok(_) => Raised::value("int() base must be >= 2 and <= 36, or 0"),
    }
}

/// `divmod(x, y)`.
pub(super) fn divmod(x: &Value, y: &Value, work: &WorkLimit) -> Result<Value, Raised> {
    let pair = match (x.number(), y.number()) {
        (Some(Number::Integer(_)), Some(Number::Integer(b))) if b.is_zero() => {
            return Err(Raised::zero_division(integer::FLOOR_DIVISION_BY_ZERO));
        }
        (Some(Number::Integer(a)), Some(Number::Integer(b))) => {
            let (quotient, remainder) = integer::floor_divide(a, b, work)?;
            [Value::int(quotient), Value::int(remainder)]
        }
        (Some(a), Some(b)) => {
            let (quotient, remainder) = float::divmod(a.to_float()?, b.to_float()?)?;
            [Value::Float(quotient), Value::Float(remainder)]
        }
        _ => return Err(operators::unsupported("divmod()", x, y)),
    };
    Ok(Value::Tuple(pair.into()))
}

/// `floor(x)` and `ceil(x)`.
pub(super) fn to_integer(x: &Value, round: fn(f64) -> f64) -> Result<Value, Raised> {
    // not by way of a double, which would round it
    match x.integer() {
        Some(value) => Ok(value.to_value()),
        None => integer::float_to_int(round(x.math_argument()?)),
    }
}

/// `trunc(x)`.
pub(super) fn trunc(x: &Value) -> Result<Value, Raised> {
    match x.number() {
        Some(Number::Integer(value)) => Ok(value.to_value()),
        Some(Number::Float(value)) => integer::float_to_int(value.trunc()),
        None => Err(missing_method(x.type_name(), "__trunc__")),
    }
}

/// `round(number, ndigits=None)`.
pub(super) fn round(x: &Value, digits: Option<&Value>, work: &WorkLimit) -> Result<Value, Raised> {
    let number = x
        .number()
        .ok_or_else(|| missing_method(x.type_name(), "__round__"))?;
    let digits = match digits {
        None | Some(Value::None) => None,
        Some(value) => Some(saturated(value.integer_argument()?)),
    };
    match (number, digits) {
        (Number::Integer(value), None) => Ok(value.to_value()),
        (Number::Integer(value), Some(digits)) => round_integer(value, digits, work),
        // without `ndigits`, Python's result is an int
        (Number::Float(value), None) => integer::float_to_int(value.round_ties_even()),
        (Number::Float(value), Some(digits)) => round_float(value, digits).map(Value::Float),
    }
}

/// The number of digits, saturated to 64 bits.
fn saturated(digits: Integer) -> i64 {
    match digits {
        Integer::Small(value) => value,
        Integer::Big(value) if value.is_negative() => i64::MIN,
        Integer::Big(_) => i64::MAX,
    }
}

/// The nearest multiple of `10^-digits`, ties to even. An integer has no decimals, so `digits >= 0`
/// changes nothing.
fn round_integer(value: Integer, digits: i64, work: &WorkLimit) -> Result<Value, Raised> {
    if digits >= 0 {
        return Ok(value.to_value());
    }
    // Ten to a greater power than this is more than ten times the integer.
    let places = digits.unsigned_abs();
    if places > value.bits() / 3 + 2 {
        return Ok(Value::Int(0));
    }
    // a power and a division, each quadratic in the length
    let words = value.word_count();
    work.take(words.saturating_mul(words).saturating_mul(2))?;
    // the cast is safe: `places` is at most a third of the limit of bits, plus 2
    let unit = BigInt::from(10).pow(places as u32);
    integer::value_within_limit(integer::divide_to_nearest(&value.to_big(), &unit) * unit)
}

/// With more decimals than this, `round` returns a double unchanged.
// CPython's `NDIGITS_MAX`: `(DBL_MANT_DIG - DBL_MIN_EXP) * log10(2)`
const MAX_DIGITS: i64 = 323;
/// With fewer decimals than this, `round` returns a zero.
// CPython's `NDIGITS_MIN`: `-(DBL_MAX_EXP + 1) * log10(2)`
const MIN_DIGITS: i64 = -308;

/// Rounds `x` to the nearest number with `digits` decimals and returns the double nearest to that.
/// With negative `digits`, rounds to a multiple of `10^-digits`.
fn round_float(x: f64, digits: i64) -> Result<f64, Raised> {
    if !x.is_finite() || digits > MAX_DIGITS {
        return Ok(x);
    }
    if digits < MIN_DIGITS {
        // keeps the sign of `x`
        return Ok(0.0 * x);
    }
    let result = match usize::try_from(digits) {
        // the standard library prints the exact value, so that its decimals are rounded once
        Ok(decimals) => format!("{:.decimals$}", x.abs()).parse().unwrap_or(x),
        Err(_) => round_to_tens(x.abs(), digits.unsigned_abs() as u32),
    };
    if result.is_infinite() {
        return Err(Raised::overflow("rounded value too large to represent"));
    }
    Ok(result.copysign(x))
}

/// Rounds a double of at least 0 to a multiple of `10^places`, ties to even; infinity if that
/// exceeds the doubles.
fn round_to_tens(x: f64, places: u32) -> f64 {
    let unit = BigInt::from(10).pow(places);
    let whole = integer::truncated(x);
    // The fraction matters only at a tie, which it breaks upwards: adding 1 to the doubled value
    // does the same.
    let fraction = x.fract() != 0.0;
    let doubled = whole * 2_u32 + u32::from(fraction);
    let multiple = integer::divide_to_nearest(&doubled, &(&unit * 2_u32)) * unit;
    if multiple.is_zero() {
        0.0
    } else {
        integer::big_to_float(&multiple).unwrap_or(f64::INFINITY)
    }
}
