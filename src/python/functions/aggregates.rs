//! Functions over many values: `sum`, `sumprod`, `fsum`, `hypot` and `dist`.

use crate::python::functions::{accumulate, coordinates};
use crate::python::limits::WorkLimit;
use crate::python::value::Integer;
use crate::python::version::Norm;
use crate::python::{BinaryOperator, Python, PythonVersion, Raised, Value, operators};

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
    let (_, scale) = libm::frexp(largest);
    let mut high = 0.0_f64;
    let mut low = 0.0_f64;
    for &length in lengths {
        let scaled = libm::ldexp(length, -scale);
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
    libm::ldexp(root, scale)
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
