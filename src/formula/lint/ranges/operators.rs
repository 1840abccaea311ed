//! Python's operators on value sets.
//!
//! `+ - * /` of doubles round to nearest, which is monotonic: the bounds of a result are the results at the bounds.
//! Integers are exact, so that their bounds are rounded outward beyond 2^53.

use crate::formula::lint::ranges::facts::OperationResult;
use crate::formula::lint::ranges::type_set::{ErrorSet, TypeSet};
use crate::formula::lint::ranges::value_set::{Truth, ValueSet};
use crate::python::{BinaryOperator, ComparisonOperator, ErrorKind, MAX_EXACT_FLOAT, UnaryOperator};
use crate::schema::Range;

/// `op x`.
pub(super) fn unary(op: UnaryOperator, x: ValueSet) -> OperationResult {
    if op == UnaryOperator::Not {
        let truth = x.truth();
        return OperationResult::ok(truth_values(truth.negated()));
    }
    let number = x.numbers();
    let least = number.least();
    let most = number.most();
    let types = number.types().promoted();
    let accepted = if op == UnaryOperator::Invert { TypeSet::INTEGRAL } else { TypeSet::NUMBER };
    let values = match op {
        UnaryOperator::Invert if number.types().intersects(TypeSet::INTEGRAL) => {
            ValueSet::between(TypeSet::INT, -most.floor() - 1.0, -least.ceil() - 1.0).rounded_outward()
        }
        UnaryOperator::Invert => ValueSet::EMPTY,
        _ if number.is_empty() => ValueSet::EMPTY,
        UnaryOperator::Minus => bounded(types, -most, -least).or_nan(number.may_be_nan()),
        _ => bounded(types, least, most).or_nan(number.may_be_nan()),
    };
    let values = if op != UnaryOperator::Invert && !x.may_be_zero() { values.nonzero() } else { values };
    OperationResult::ok(values).may_raise(ErrorKind::Type, !x.types().is_subset(accepted)).unless_empty(&[x])
}

/// The truth values that are possible.
pub(super) fn truth_values(truth: Truth) -> ValueSet {
    match (truth.may_be_true, truth.may_be_false) {
        (true, true) => ValueSet::TRUTH,
        (true, false) => ValueSet::between(TypeSet::BOOL, 1.0, 1.0),
        (false, true) => ValueSet::between(TypeSet::BOOL, 0.0, 0.0),
        (false, false) => ValueSet::EMPTY,
    }
}

/// The numbers between two bounds; empty if the bounds are in the wrong order.
pub(super) fn bounded(types: TypeSet, least: f64, most: f64) -> ValueSet {
    if least > most { ValueSet::EMPTY } else { ValueSet::between(types, least, most) }
}

/// `x op y`.
pub(super) fn binary(op: BinaryOperator, x: ValueSet, y: ValueSet) -> OperationResult {
    let a = x.numbers();
    let b = y.numbers();
    let mut outcome = non_numeric(op, x, y);
    if !a.is_empty() && !b.is_empty() {
        outcome = outcome.or(numeric(op, a, b));
    }
    outcome.unless_empty(&[x, y])
}

/// The outcome if an operand is not a number.
fn non_numeric(op: BinaryOperator, x: ValueSet, y: ValueSet) -> OperationResult {
    if x.is_number() && y.is_number() {
        return OperationResult::EMPTY;
    }
    let types = match op {
        BinaryOperator::Add => x.types().and(y.types()).and(TypeSet::SEQUENCE),
        BinaryOperator::Multiply => repeated(x, y).or(repeated(y, x)),
        _ => TypeSet::EMPTY,
    };
    let too_long = ErrorSet::from_kind(ErrorKind::Limit).or(ErrorSet::from_kind(ErrorKind::Overflow));
    let errors = if types.is_empty() { ErrorSet::EMPTY } else { too_long };
    OperationResult { values: ValueSet::non_numbers(types), errors: errors.or(ErrorSet::from_kind(ErrorKind::Type)) }
}

/// The types of the product of a sequence and a count.
fn repeated(sequence: ValueSet, count: ValueSet) -> TypeSet {
    let is_count = count.types().intersects(TypeSet::INTEGRAL);
    if is_count { sequence.types().and(TypeSet::SEQUENCE) } else { TypeSet::EMPTY }
}

fn numeric(op: BinaryOperator, a: ValueSet, b: ValueSet) -> OperationResult {
    use BinaryOperator as Op;
    match op {
        Op::MatrixMultiply => OperationResult::error(ErrorKind::Type),
        Op::BitAnd | Op::BitOr | Op::BitXor | Op::ShiftLeft | Op::ShiftRight => bitwise(op, a, b),
        Op::Power => power(a, b),
        _ => {
            let outcome = match op {
                Op::Add => OperationResult::ok(sum(a, b)),
                Op::Subtract => OperationResult::ok(sum(a, negated(b))),
                Op::Multiply => OperationResult::ok(product(a, b)),
                Op::Divide => quotient(a, b),
                Op::FloorDivide => floor_quotient(a, b),
                _ => modulo(a, b),
            };
            outcome.may_raise(ErrorKind::Overflow, mixed_overflow(a, b)).may_raise(ErrorKind::Limit, is_long(a, b))
        }
    }
}

/// Whether one operand can be an integer beyond the largest double and the other one a float.
fn mixed_overflow(a: ValueSet, b: ValueSet) -> bool {
    (a.may_exceed_doubles() && b.types().intersects(TypeSet::FLOAT))
        || (b.may_exceed_doubles() && a.types().intersects(TypeSet::FLOAT))
}

/// Whether an operand or the result can be an integer beyond the largest double, so that the limit on the size of
/// integers may apply.
fn is_long(a: ValueSet, b: ValueSet) -> bool {
    a.may_exceed_doubles()
        || b.may_exceed_doubles()
        || (a.types().intersects(TypeSet::INTEGRAL)
            && b.types().intersects(TypeSet::INTEGRAL)
            && (a.max_abs() * b.max_abs()).is_infinite())
}

/// The values of `-x`.
fn negated(x: ValueSet) -> ValueSet {
    unary(UnaryOperator::Minus, x).values
}

/// The values of `a + b`.
fn sum(a: ValueSet, b: ValueSet) -> ValueSet {
    let types = arithmetic_types(a, b);
    let least = replace_nan(a.least() + b.least(), f64::NEG_INFINITY);
    let most = replace_nan(a.most() + b.most(), f64::INFINITY);
    let may_cancel = a.may_be_infinite()
        && b.may_be_infinite()
        && ((a.most() == f64::INFINITY && b.least() == f64::NEG_INFINITY)
            || (b.most() == f64::INFINITY && a.least() == f64::NEG_INFINITY));
    bounded_or_nan(types, least, most, a.may_be_nan() || b.may_be_nan() || may_cancel, a, b)
}

/// The types of the result of an operator for which integers give an integer.
fn arithmetic_types(a: ValueSet, b: ValueSet) -> TypeSet {
    let may_be_int = a.types().intersects(TypeSet::INTEGRAL) && b.types().intersects(TypeSet::INTEGRAL);
    let may_be_float = a.types().intersects(TypeSet::FLOAT) || b.types().intersects(TypeSet::FLOAT);
    let types = if may_be_int { TypeSet::INT } else { TypeSet::EMPTY };
    if may_be_float { types.or(TypeSet::FLOAT) } else { types }
}

/// The numbers between two bounds, or none if an operand can only be NaN; with NaN if `nan` is true.
fn bounded_or_nan(types: TypeSet, least: f64, most: f64, nan: bool, a: ValueSet, b: ValueSet) -> ValueSet {
    let both_bounded = a.bounds().is_some() && b.bounds().is_some();
    let values = if both_bounded { ValueSet::between(types, least, most).rounded_outward() } else { ValueSet::EMPTY };
    values.or_nan(nan)
}

fn replace_nan(x: f64, otherwise: f64) -> f64 {
    if x.is_nan() { otherwise } else { x }
}

/// The values of `a * b`.
fn product(a: ValueSet, b: ValueSet) -> ValueSet {
    let corners = Range::hull([
        times(a.least(), b.least()),
        times(a.least(), b.most()),
        times(a.most(), b.least()),
        times(a.most(), b.most()),
    ]);
    let may_be_undefined = (a.may_be_zero() && b.may_be_infinite()) || (b.may_be_zero() && a.may_be_infinite());
    let nan = a.may_be_nan() || b.may_be_nan() || may_be_undefined;
    let may_be_zero = a.may_be_zero() || b.may_be_zero() || a.min_abs() * b.min_abs() == 0.0;
    let values = bounded_or_nan(arithmetic_types(a, b), corners.least, corners.most, nan, a, b);
    if may_be_zero { values } else { values.nonzero() }
}

/// A product of two bounds; 0 if one of them is 0 and the other infinite.
fn times(x: f64, y: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x * y }
}

/// `a / b`.
fn quotient(a: ValueSet, b: ValueSet) -> OperationResult {
    let nan = a.may_be_nan() || b.may_be_nan() || (a.may_be_infinite() && b.may_be_infinite());
    let has_divisor = !b.nonzero().is_empty();
    let bounds = if a.bounds().is_some() { quotient_bounds(a, b) } else { None };
    let values = bounds.map_or(ValueSet::EMPTY, |x| ValueSet::between(TypeSet::FLOAT, x.least, x.most));
    let may_be_zero = a.may_be_zero() || a.min_abs() / b.max_abs() == 0.0;
    let values = if may_be_zero { values } else { values.nonzero() };
    OperationResult::ok(values.or_nan(nan && has_divisor))
        .may_raise(ErrorKind::ZeroDivision, b.may_be_zero())
        .may_raise(ErrorKind::Overflow, a.may_exceed_doubles())
}

/// The bounds of `a / b` as doubles, over the divisors other than 0; `None` if there are none.
fn quotient_bounds(a: ValueSet, b: ValueSet) -> Option<Range> {
    let [positive, negative] = divisor_bounds(b);
    let by_positive = positive.map(|divisor| divided(a.least(), a.most(), divisor));
    let by_negative = negative.map(|divisor| divided(-a.most(), -a.least(), divisor));
    match (by_positive, by_negative) {
        (Some(x), Some(y)) => Some(Range { least: x.least.min(y.least), most: x.most.max(y.most) }),
        (x, y) => x.or(y),
    }
}

/// The bounds of the positive divisors, and those of the absolute values of the negative ones.
fn divisor_bounds(b: ValueSet) -> [Option<Range>; 2] {
    let nonzero = b.nonzero();
    [nonzero, negated(nonzero)].map(|divisors| {
        let positive = divisors.clipped(divisors.min_abs(), f64::INFINITY);
        positive.bounds().filter(|_| divisors.most() > 0.0)
    })
}

/// The bounds of the quotients of the numbers from `least` to `most` and a positive divisor.
fn divided(least: f64, most: f64, divisor: Range) -> Range {
    let of_least = if least >= 0.0 { divisor.most } else { divisor.least };
    let of_most = if most < 0.0 { divisor.most } else { divisor.least };
    // infinity divided by infinity can be anything
    Range {
        least: replace_nan(least / of_least, 0.0_f64.min(least)),
        most: replace_nan(most / of_most, 0.0_f64.max(most)),
    }
}

/// `a // b`.
fn floor_quotient(a: ValueSet, b: ValueSet) -> OperationResult {
    let nan = a.may_be_nan() || b.may_be_nan() || a.may_be_infinite();
    let has_divisor = !b.nonzero().is_empty();
    let bounds = if a.bounds().is_some() { quotient_bounds(a, b) } else { None };
    let types = arithmetic_types(a, b);
    let may_be_positive = (b.most() > 0.0 && a.most() > 0.0) || (b.least() < 0.0 && a.least() < 0.0);
    let may_be_negative = (b.most() > 0.0 && a.least() < 0.0) || (b.least() < 0.0 && a.most() > 0.0);
    // rounding can carry a quotient to the next integer, and `//` of floats can be off by 1
    let slack = if types.intersects(TypeSet::FLOAT) { 1.0 } else { 0.0 };
    let values = bounds.map_or(ValueSet::EMPTY, |bounds| {
        let down = bounds.least.next_down().floor() - slack;
        let up = bounds.most.next_up().floor() + slack;
        let least = if may_be_negative { down } else { down.max(0.0) };
        let most = if may_be_positive { up } else { up.min(0.0) };
        ValueSet::between(types, least, most).rounded_outward()
    });
    OperationResult::ok(values.or_nan(nan && has_divisor)).may_raise(ErrorKind::ZeroDivision, b.may_be_zero())
}

/// `a % b`; the result has the sign of `b`.
fn modulo(a: ValueSet, b: ValueSet) -> OperationResult {
    let nan = a.may_be_nan() || b.may_be_nan() || a.may_be_infinite();
    let [positive, negative] = divisor_bounds(b);
    let types = arithmetic_types(a, b);
    let step = if types.intersects(TypeSet::FLOAT) { 0.0 } else { 1.0 };
    let greatest = positive.map_or(0.0, |divisor| {
        let below = divisor.most - step;
        if a.least() >= 0.0 { below.min(a.most()) } else { below }
    });
    let negated_least = negative.map_or(0.0, |divisor| {
        let below = divisor.most - step;
        if a.most() <= 0.0 { below.min(-a.least()) } else { below }
    });
    let has_divisor = positive.is_some() || negative.is_some();
    let values = match a.bounds() {
        Some(_) if has_divisor => ValueSet::between(types, -negated_least, greatest).rounded_outward(),
        _ => ValueSet::EMPTY,
    };
    let has_divisor = has_divisor || b.may_be_nan();
    OperationResult::ok(values.or_nan(nan && has_divisor)).may_raise(ErrorKind::ZeroDivision, b.may_be_zero())
}

/// `a ** b`.
fn power(a: ValueSet, b: ValueSet) -> OperationResult {
    let mut outcome = OperationResult::EMPTY;
    if arithmetic_types(a, b).intersects(TypeSet::INT) {
        outcome = integer_power(a.integers(), b.integers());
    }
    if arithmetic_types(a, b).intersects(TypeSet::FLOAT) {
        let mut errors = ErrorSet::when(has_pole(a, b), ErrorKind::ZeroDivision);
        errors = errors.or(ErrorSet::when(is_complex(a, b), ErrorKind::Complex));
        outcome = outcome.or(float_power(a, b, errors));
    }
    outcome
}

/// `pow(a, b)`, which computes with doubles and raises other errors.
pub(super) fn math_pow(a: ValueSet, b: ValueSet) -> OperationResult {
    let errors = ErrorSet::when(has_pole(a, b) || is_complex(a, b), ErrorKind::Value);
    float_power(a, b, errors)
}

/// Whether 0 can be raised to a negative power.
fn has_pole(a: ValueSet, b: ValueSet) -> bool {
    a.may_be_zero() && b.least() < 0.0
}

/// Whether a negative number can be raised to a fractional power.
fn is_complex(a: ValueSet, b: ValueSet) -> bool {
    let fractional =
        b.types().intersects(TypeSet::FLOAT) && b.single().is_none_or(|exponent| exponent != exponent.floor());
    a.least() < 0.0 && fractional && b.bounds().is_some()
}

/// The power of integers: exact for an exponent of at least 0, a float for a negative one.
fn integer_power(a: ValueSet, b: ValueSet) -> OperationResult {
    let mut outcome = OperationResult::EMPTY;
    let exponent = b.clipped(0.0, f64::INFINITY);
    if !exponent.is_empty() {
        let bounds = power_bounds(a, exponent);
        let values = ValueSet::between(TypeSet::INT, bounds.least, bounds.most).rounded_outward();
        let values = if a.may_be_zero() { values } else { values.nonzero() };
        outcome = OperationResult::ok(values).may_raise(ErrorKind::Limit, values.may_exceed_doubles());
    }
    let negative = b.clipped(f64::NEG_INFINITY, -1.0);
    if !negative.is_empty() {
        outcome = outcome.or(float_power(a, negative, ErrorSet::when(a.may_be_zero(), ErrorKind::ZeroDivision)));
    }
    outcome
}

/// The power of floats, with the errors of its domain.
fn float_power(a: ValueSet, b: ValueSet, errors: ErrorSet) -> OperationResult {
    let infinite = a.may_be_infinite() || b.may_be_infinite();
    let is_only_nan = a.bounds().is_none() || b.bounds().is_none();
    let always_pole = a.single() == Some(0.0) && b.most() < 0.0 && !b.may_be_infinite();
    let always_complex = a.most() < 0.0 && b.single().is_some_and(|y| y.is_finite() && y != y.floor());
    let mut values = ValueSet::EMPTY;
    let mut overflows = false;
    if !is_only_nan && !always_pole && (!always_complex || infinite) {
        let Range { least, most } = power_bounds(a, b);
        overflows = least == f64::NEG_INFINITY || most == f64::INFINITY;
        // an infinite power of finite numbers is an error
        values = match infinite {
            true => ValueSet::between(TypeSet::FLOAT, least, most),
            false => bounded(TypeSet::FLOAT, least.max(f64::MIN), most.min(f64::MAX)),
        };
    }
    let nan = a.may_be_nan() || b.may_be_nan();
    let too_long = a.may_exceed_doubles() || b.may_exceed_doubles();
    // `nan ** 0` and `1 ** nan` are 1
    let values = if nan { values.or(ValueSet::between(TypeSet::FLOAT, 1.0, 1.0)).or_nan(true) } else { values };
    OperationResult { values, errors }.may_raise(ErrorKind::Overflow, overflows || too_long)
}

/// The bounds of the powers that are real numbers.
fn power_bounds(a: ValueSet, b: ValueSet) -> Range {
    let not_negative = a.clipped(0.0, f64::INFINITY);
    let mut result = Range { least: f64::INFINITY, most: f64::NEG_INFINITY };
    if not_negative.bounds().is_some() {
        result = corner_powers(not_negative.least(), not_negative.most(), b);
    }
    if a.least() < 0.0 {
        let sizes = corner_powers((-a.most()).max(0.0) + 0.0, -a.least(), b);
        let powers = match b.single() {
            Some(exponent) if exponent % 2.0 == 0.0 => sizes,
            Some(exponent) if (exponent % 2.0).abs() == 1.0 => Range { least: -sizes.most, most: -sizes.least },
            _ => Range { least: -sizes.most, most: sizes.most },
        };
        result = Range { least: result.least.min(powers.least), most: result.most.max(powers.most) };
    }
    result
}

/// The bounds of `x ** y` for a base from `low` to `high`, which is not negative.
///
/// Such a power is monotonic in the base and in the exponent, so that its bounds are at the corners. The C library's
/// `pow` is off by less than a unit in the last place; bounds that are not exact are moved by two.
fn corner_powers(low: f64, high: f64, b: ValueSet) -> Range {
    let corners = [low.powf(b.least()), low.powf(b.most()), high.powf(b.least()), high.powf(b.most())];
    // `1 ** inf` is 1
    let Range { least, most } = Range::hull(corners.map(|corner| replace_nan(corner, 1.0)));
    let down = if is_exact(least) { least } else { least.next_down().next_down().max(0.0) };
    let up = if is_exact(most) { most } else { most.next_up().next_up() };
    // `0 ** 0` is 1
    let zero_to_zero = low == 0.0 && b.may_be_zero();
    Range { least: down, most: if zero_to_zero { up.max(1.0) } else { up } }
}

/// Whether the C library's `pow` returns such a bound only where it is exact.
fn is_exact(bound: f64) -> bool {
    bound == bound.floor() && bound.abs() <= MAX_EXACT_FLOAT || bound.is_infinite()
}

/// `a op b` for `& | ^ << >>`, which do not support floats.
fn bitwise(op: BinaryOperator, a: ValueSet, b: ValueSet) -> OperationResult {
    let errors = ErrorSet::when(!a.is_integral() || !b.is_integral(), ErrorKind::Type);
    let a = a.integers();
    let b = b.integers();
    if a.is_empty() || b.is_empty() {
        return OperationResult { values: ValueSet::EMPTY, errors };
    }
    let outcome = match op {
        BinaryOperator::ShiftLeft => shift_left(a, b),
        BinaryOperator::ShiftRight => shift_right(a, b),
        _ => OperationResult::ok(logical(op, a, b)),
    };
    let long = a.may_exceed_doubles() || b.may_exceed_doubles();
    OperationResult { errors: outcome.errors.or(errors), ..outcome }.may_raise(ErrorKind::Limit, long)
}

fn logical(op: BinaryOperator, a: ValueSet, b: ValueSet) -> ValueSet {
    let bools = a.types().and(b.types()).and(TypeSet::BOOL);
    let integers = a.types().or(b.types()).intersects(TypeSet::INT);
    let types = if integers { bools.or(TypeSet::INT) } else { bools };
    // the result has no bit above the highest bit of the operands
    let magnitude = a.max_abs().max(b.max_abs());
    let limit = 2.0_f64.powf((magnitude + 1.0).log2().ceil() + 1.0);
    let negative = a.least() < 0.0 || b.least() < 0.0;
    let (least, most) = match op {
        BinaryOperator::BitAnd if a.least() >= 0.0 && b.least() >= 0.0 => (0.0, a.most().min(b.most())),
        BinaryOperator::BitAnd if a.least() >= 0.0 => (0.0, a.most()),
        BinaryOperator::BitAnd if b.least() >= 0.0 => (0.0, b.most()),
        _ if negative => (-limit, limit),
        _ => (0.0, limit),
    };
    let most = if integers { most } else { 1.0 };
    ValueSet::between(types, least, most)
}

fn shift_left(a: ValueSet, b: ValueSet) -> OperationResult {
    let count = b.clipped(0.0, f64::INFINITY);
    let values = if count.is_empty() {
        ValueSet::EMPTY
    } else {
        let least_factor = 2.0_f64.powf(count.least());
        let greatest_factor = 2.0_f64.powf(count.most());
        let least = times(a.least(), if a.least() < 0.0 { greatest_factor } else { least_factor });
        let most = times(a.most(), if a.most() > 0.0 { greatest_factor } else { least_factor });
        let values = ValueSet::between(TypeSet::INT, least, most).rounded_outward();
        if a.may_be_zero() { values } else { values.nonzero() }
    };
    OperationResult::ok(values)
        .may_raise(ErrorKind::Value, b.least() < 0.0)
        .may_raise(ErrorKind::Limit, values.may_exceed_doubles())
        .may_raise(ErrorKind::Overflow, b.most() >= 9e18)
}

fn shift_right(a: ValueSet, b: ValueSet) -> OperationResult {
    let values = if b.most() < 0.0 {
        ValueSet::EMPTY
    } else {
        let least = if a.least() < 0.0 { a.least() } else { 0.0 };
        let most = if a.most() < 0.0 { -1.0 } else { a.most() };
        ValueSet::between(TypeSet::INT, least, most)
    };
    OperationResult::ok(values).may_raise(ErrorKind::Value, b.least() < 0.0)
}

const EITHER: Truth = Truth { may_be_true: true, may_be_false: true };
const NEITHER: Truth = Truth { may_be_true: false, may_be_false: false };

/// The truth values of `a op b`, and the errors that it can raise.
pub(super) fn comparison(op: ComparisonOperator, a: ValueSet, b: ValueSet) -> (Truth, ErrorSet) {
    use ComparisonOperator as Op;
    if a.is_empty() || b.is_empty() {
        return (NEITHER, ErrorSet::EMPTY);
    }
    let errors = ErrorSet::from_kind(ErrorKind::Type).or(ErrorSet::from_kind(ErrorKind::Limit));
    match op {
        Op::In | Op::NotIn if !b.types().intersects(TypeSet::SEQUENCE) => {
            (NEITHER, ErrorSet::from_kind(ErrorKind::Type))
        }
        Op::In | Op::NotIn => (EITHER, errors),
        _ if !a.is_number() || !b.is_number() => (EITHER, errors),
        _ => {
            let long = a.may_exceed_doubles() || b.may_exceed_doubles();
            (numeric_comparison(op, a, b), ErrorSet::when(long, ErrorKind::Limit))
        }
    }
}

fn numeric_comparison(op: ComparisonOperator, a: ValueSet, b: ValueSet) -> Truth {
    use ComparisonOperator as Op;
    let nan = a.may_be_nan() || b.may_be_nan();
    if a.bounds().is_none() || b.bounds().is_none() {
        // a comparison with NaN
        let is_true = op == Op::NotEqual;
        return Truth { may_be_true: is_true, may_be_false: !is_true };
    }
    match op {
        Op::Less => Truth { may_be_true: a.least() < b.most(), may_be_false: nan || a.most() >= b.least() },
        Op::LessOrEqual => Truth { may_be_true: a.least() <= b.most(), may_be_false: nan || a.most() > b.least() },
        Op::Greater => numeric_comparison(Op::Less, b, a),
        Op::GreaterOrEqual => numeric_comparison(Op::LessOrEqual, b, a),
        Op::Equal => equality(a, b, nan),
        _ => equality(a, b, nan).negated(),
    }
}

fn equality(a: ValueSet, b: ValueSet, nan: bool) -> Truth {
    let least = a.least().max(b.least());
    let most = a.most().min(b.most());
    let only_zero = least == 0.0 && most == 0.0;
    let both_zero = a.may_be_zero() && b.may_be_zero();
    let always_equal = a.single().is_some() && a.single() == b.single() && a.max_abs() < MAX_EXACT_FLOAT;
    Truth { may_be_true: least <= most && (!only_zero || both_zero), may_be_false: nan || !always_equal }
}
