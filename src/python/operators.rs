//! Python's operators: their names, and what each does, selected by the types of its operands.
//!
//! Numbers are compared exactly, whatever their types; tuples and lists item by item.

use std::cmp::Ordering;

use num_bigint::Sign;

use crate::python::limits::WorkLimit;
use crate::python::value::{Integer, Number};
use crate::python::{MAX_EXACT_INT, Raised, Value, float, integer, limits};

/// Defines an enumeration of operators and their spellings from one list.
macro_rules! operators {
    ($(#[$about:meta])* $name:ident { $($(#[$note:meta])* $variant:ident $symbol:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $symbol, "`")] $(#[$note])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The operator's spelling in Python.
            pub fn symbol(self) -> &'static str {
                match self {
                    $(Self::$variant => $symbol,)*
                }
            }

            /// The operator with this spelling.
            pub fn from_symbol(symbol: &str) -> Option<Self> {
                match symbol {
                    $($symbol => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

operators! {
    /// A unary operator.
    UnaryOperator {
        Plus "+", Minus "-", Invert "~", Not "not",
    }
}

operators! {
    /// An arithmetic or bitwise operator.
    BinaryOperator {
        Add "+", Subtract "-", Multiply "*",
        /// True division.
        Divide "/",
        FloorDivide "//", Modulo "%", Power "**",
        /// Python accepts it, and no number implements it.
        MatrixMultiply "@",
        BitAnd "&", BitOr "|", BitXor "^", ShiftLeft "<<", ShiftRight ">>",
    }
}

operators! {
    /// An operator of a comparison chain.
    ComparisonOperator {
        Equal "==", NotEqual "!=", Less "<", LessOrEqual "<=", Greater ">", GreaterOrEqual ">=",
        In "in", NotIn "not in",
    }
}

operators! {
    /// `and` or `or`.
    BooleanOperator {
        And "and", Or "or",
    }
}

impl ComparisonOperator {
    /// The operator of the comparison with its operands exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            other => other,
        }
    }
}

/// `op x`.
#[inline]
pub(super) fn unary(op: UnaryOperator, x: &Value) -> Result<Value, Raised> {
    // first: `not` takes any value, not only numbers
    if op == UnaryOperator::Not {
        return Ok(Value::Bool(!x.truth()));
    }
    match (op, x.number()) {
        // not the operand itself: `+True` is 1
        (UnaryOperator::Plus, Some(Number::Integer(a))) => Ok(a.to_value()),
        (UnaryOperator::Minus, Some(Number::Integer(a))) => Ok(integer::negate(a)),
        (UnaryOperator::Invert, Some(Number::Integer(a))) => Ok(integer::invert(a)),
        (UnaryOperator::Plus, Some(Number::Float(a))) => Ok(Value::Float(a)),
        (UnaryOperator::Minus, Some(Number::Float(a))) => Ok(Value::Float(-a)),
        _ => Err(Raised::type_error(format!(
            "bad operand type for unary {}: '{}'",
            op.symbol(),
            x.type_name()
        ))),
    }
}

/// The error of a shift of an integer by one of more than 64 bits, where all such counts are
/// refused.
pub(super) fn check_shift_count(x: &Value, y: &Value) -> Result<(), Raised> {
    match (x.integer(), y.integer()) {
        (Some(_), Some(Integer::Big(_))) => Err(Raised::overflow(
            "Python int too large to convert to C ssize_t",
        )),
        _ => Ok(()),
    }
}

/// `x op y`.
#[inline]
pub(super) fn binary(
    op: BinaryOperator,
    x: &Value,
    y: &Value,
    work: &WorkLimit,
) -> Result<Value, Raised> {
    let result = match (x, y) {
        // shortcuts: `binary_on_any_types` gives the same for these two pairs
        (Value::Int(a), Value::Int(b)) => {
            integer::binary(op, Integer::Small(*a), Integer::Small(*b), work)?
        }
        (Value::Float(a), Value::Float(b)) => float::binary(op, *a, *b)?.map(Value::Float),
        (Value::Bool(a), Value::Bool(b)) if is_logical(op) => {
            return Ok(Value::Bool(combine_bools(op, *a, *b)));
        }
        _ => binary_on_any_types(op, x, y, work)?,
    };
    result.ok_or_else(|| unsupported(spelling(op), x, y))
}

/// Whether the operator returns a bool for two bools.
fn is_logical(op: BinaryOperator) -> bool {
    matches!(
        op,
        BinaryOperator::BitAnd | BinaryOperator::BitOr | BinaryOperator::BitXor
    )
}

fn combine_bools(op: BinaryOperator, a: bool, b: bool) -> bool {
    match op {
        BinaryOperator::BitAnd => a & b,
        BinaryOperator::BitOr => a | b,
        _ => a ^ b,
    }
}

/// `x op y` for operands of any types; `None` if they do not support the operator.
fn binary_on_any_types(
    op: BinaryOperator,
    x: &Value,
    y: &Value,
    work: &WorkLimit,
) -> Result<Option<Value>, Raised> {
    match (x.number(), y.number()) {
        (Some(Number::Integer(a)), Some(Number::Integer(b))) => integer::binary(op, a, b, work),
        // Python refuses the operator before it converts the integer, which could overflow.
        (Some(_), Some(_)) if is_logical(op) || is_shift_or_matrix(op) => Ok(None),
        (Some(a), Some(b)) => {
            Ok(float::binary(op, a.to_float()?, b.to_float()?)?.map(Value::Float))
        }
        _ => binary_on_sequences(op, x, y, work),
    }
}

fn is_shift_or_matrix(op: BinaryOperator) -> bool {
    matches!(
        op,
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight | BinaryOperator::MatrixMultiply
    )
}

fn binary_on_sequences(
    op: BinaryOperator,
    x: &Value,
    y: &Value,
    work: &WorkLimit,
) -> Result<Option<Value>, Raised> {
    match (op, x.items(), y.items()) {
        // a sequence on the right alone is the `TypeError` of numbers, as in CPython
        (BinaryOperator::Add, Some(_), _) => concatenate(x, y, work).map(Some),
        (BinaryOperator::Multiply, Some(items), _) => repeat(x, items, y, work).map(Some),
        (BinaryOperator::Multiply, None, Some(items)) => repeat(y, items, x, work).map(Some),
        _ => Ok(None),
    }
}

/// The operator's name in Python's error messages.
pub(super) fn spelling(op: BinaryOperator) -> &'static str {
    if op == BinaryOperator::Power {
        "** or pow()"
    } else {
        op.symbol()
    }
}

/// The `TypeError` for operands that do not support the operator.
pub(super) fn unsupported(spelling: &str, x: &Value, y: &Value) -> Raised {
    let (x, y) = (x.type_name(), y.type_name());
    Raised::type_error(format!(
        "unsupported operand type(s) for {spelling}: '{x}' and '{y}'"
    ))
}

/// `x + y` where `x` is a tuple or a list.
fn concatenate(x: &Value, y: &Value, work: &WorkLimit) -> Result<Value, Raised> {
    let (a, b) = match (x, y) {
        (Value::Tuple(a), Value::Tuple(b)) | (Value::List(a), Value::List(b)) => (a, b),
        _ => {
            let own = x.type_name();
            let other = y.type_name();
            return Err(Raised::type_error(format!(
                "can only concatenate {own} (not \"{other}\") to {own}"
            )));
        }
    };
    reserve(
        total_size(a, work)?.saturating_add(total_size(b, work)?),
        work,
    )?;
    Ok(sequence_like(
        x,
        a.iter().chain(b.iter()).cloned().collect(),
    ))
}

/// `sequence * count`, with the operands in either order.
fn repeat(
    sequence: &Value,
    items: &[Value],
    count: &Value,
    work: &WorkLimit,
) -> Result<Value, Raised> {
    let count = match count.integer() {
        // a negative count gives an empty sequence
        Some(Integer::Small(count)) => usize::try_from(count).unwrap_or(0),
        // of either sign: CPython converts the count to a C `ssize_t` before it looks at the sign
        Some(Integer::Big(_)) => {
            return Err(Raised::overflow(
                "cannot fit 'int' into an index-sized integer",
            ));
        }
        None => {
            let other = count.type_name();
            return Err(Raised::type_error(format!(
                "can't multiply sequence by non-int of type '{other}'"
            )));
        }
    };
    // before the limit: CPython repeats an empty sequence any number of times
    if items.is_empty() || count == 0 {
        return Ok(sequence_like(sequence, Vec::new()));
    }
    reserve(total_size(items, work)?.saturating_mul(count), work)?;
    Ok(sequence_like(
        sequence,
        std::iter::repeat_n(items, count)
            .flatten()
            .cloned()
            .collect(),
    ))
}

/// Makes a tuple if `sequence` is one, otherwise a list.
fn sequence_like(sequence: &Value, items: Vec<Value>) -> Value {
    if matches!(sequence, Value::Tuple(_)) {
        Value::tuple(items)
    } else {
        Value::list(items)
    }
}

/// Consumes the work for a new sequence of this [`total_size`]; fails if the sequence is too long.
fn reserve(size: usize, work: &WorkLimit) -> Result<(), Raised> {
    if size > limits::SEQUENCE_ITEMS {
        return Err(limits::sequence_too_long());
    }
    work.take(size as u64 * limits::ITEM)
}

/// The number of items, those of nested sequences included; a long integer counts once per 64-bit
/// word.
///
/// Repetition shares nested items. A shared item counts each time that it occurs, because later
/// operations visit it each time.
fn total_size(items: &[Value], work: &WorkLimit) -> Result<usize, Raised> {
    work.take(items.len() as u64)?;
    let mut sum = 0_usize;
    for item in items {
        sum = sum.saturating_add(match item {
            // recurses no deeper than the brackets of the formula are nested
            Value::Tuple(nested) | Value::List(nested) => 1 + total_size(nested, work)?,
            Value::Big(value) => 1 + (value.digits().bits() / 64) as usize,
            _ => 1,
        });
    }
    Ok(sum)
}

/// `x op y`.
#[inline]
pub(super) fn compare(
    op: ComparisonOperator,
    x: &Value,
    y: &Value,
    work: &WorkLimit,
) -> Result<bool, Raised> {
    match (x, y) {
        // `in` a number is a `TypeError`, which `compare_mixed` raises
        (Value::Int(a), Value::Int(b)) if !is_membership(op) => Ok(holds(op, Some(a.cmp(b)))),
        (Value::Float(a), Value::Float(b)) if !is_membership(op) => Ok(holds(op, a.partial_cmp(b))),
        _ => compare_mixed(op, x, y, work),
    }
}

fn is_membership(op: ComparisonOperator) -> bool {
    matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn)
}

/// Whether values with this ordering satisfy the operator. A nan has no ordering.
#[inline]
pub(super) fn holds(op: ComparisonOperator, ordering: Option<Ordering>) -> bool {
    use ComparisonOperator as Op;
    match op {
        Op::Equal => ordering == Some(Ordering::Equal),
        Op::NotEqual => ordering != Some(Ordering::Equal),
        Op::Less => ordering == Some(Ordering::Less),
        Op::LessOrEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        Op::Greater => ordering == Some(Ordering::Greater),
        Op::GreaterOrEqual => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        // never asked: `compare_mixed` answers membership before it compares anything
        Op::In | Op::NotIn => false,
    }
}

fn compare_mixed(
    op: ComparisonOperator,
    x: &Value,
    y: &Value,
    work: &WorkLimit,
) -> Result<bool, Raised> {
    match (op, x, y) {
        // before the pairs of sequences: `(1,) in ((1,),)` is membership, not an order
        (ComparisonOperator::In, ..) => contains(y, x, work),
        (ComparisonOperator::NotIn, ..) => Ok(!contains(y, x, work)?),
        (_, Value::Tuple(a), Value::Tuple(b)) | (_, Value::List(a), Value::List(b)) => {
            compare_sequences(op, a, b, work)
        }
        _ => compare_scalars(op, x, y, work),
    }
}

/// `item in sequence`.
fn contains(sequence: &Value, item: &Value, work: &WorkLimit) -> Result<bool, Raised> {
    let Some(items) = sequence.items() else {
        return Err(Raised::type_error(format!(
            "argument of type '{}' is not iterable",
            sequence.type_name()
        )));
    };
    for candidate in items {
        if is_same_or_equal(candidate, item, work)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `x op y` of two tuples or two lists: the first pair of unequal items decides; without one, the
/// lengths do.
fn compare_sequences(
    op: ComparisonOperator,
    x: &[Value],
    y: &[Value],
    work: &WorkLimit,
) -> Result<bool, Raised> {
    let only_equality = matches!(op, ComparisonOperator::Equal | ComparisonOperator::NotEqual);
    // sequences of different lengths are never equal, whatever their items are
    if only_equality && x.len() != y.len() {
        return Ok(op == ComparisonOperator::NotEqual);
    }
    for (a, b) in x.iter().zip(y) {
        // the operator itself is tried on this pair alone, as in CPython's `list_richcompare`, so
        // that only a pair that differs can raise
        if !is_same_or_equal(a, b, work)? {
            return if only_equality {
                Ok(op == ComparisonOperator::NotEqual)
            } else {
                compare(op, a, b, work)
            };
        }
    }
    Ok(holds(op, Some(x.len().cmp(&y.len()))))
}

/// Compares any values but two tuples or two lists: numbers by their value, all others by their
/// identity.
fn compare_scalars(
    op: ComparisonOperator,
    x: &Value,
    y: &Value,
    work: &WorkLimit,
) -> Result<bool, Raised> {
    if let (Some(a), Some(b)) = (x.number(), y.number()) {
        // a long integer takes time in proportion to its length
        if let (Number::Integer(Integer::Big(big)), _) | (_, Number::Integer(Integer::Big(big))) =
            (a, b)
        {
            work.take(big.bits() / 64)?;
        }
        return Ok(holds(op, ordering(a, b)));
    }
    if let (Some(a), Some(b)) = (x.decimal(), y.decimal()) {
        return Ok(holds(op, Some(a.cmp(&b))));
    }
    match op {
        ComparisonOperator::Equal => Ok(x.is_identical(y)),
        ComparisonOperator::NotEqual => Ok(!x.is_identical(y)),
        _ => Err(incomparable(op, x, y)),
    }
}

/// The `TypeError` for types that have no order.
pub(super) fn incomparable(op: ComparisonOperator, x: &Value, y: &Value) -> Raised {
    let (symbol, x, y) = (op.symbol(), x.type_name(), y.type_name());
    Raised::type_error(format!(
        "'{symbol}' not supported between instances of '{x}' and '{y}'"
    ))
}

/// The exact order of two numbers.
fn ordering(x: Number, y: Number) -> Option<Ordering> {
    match (x, y) {
        (Number::Integer(a), Number::Integer(b)) => Some(order_integers(a, b)),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        (Number::Integer(a), Number::Float(b)) => order_integer_and_float(a, b),
        (Number::Float(a), Number::Integer(b)) => {
            order_integer_and_float(b, a).map(Ordering::reverse)
        }
    }
}

fn order_integers(x: Integer, y: Integer) -> Ordering {
    match (x, y) {
        (Integer::Small(a), Integer::Small(b)) => a.cmp(&b),
        (Integer::Big(a), Integer::Big(b)) => a.cmp(b),
        // any integer of 64 bits is nearer to 0
        (Integer::Big(a), Integer::Small(_)) => a.sign().cmp(&Sign::NoSign),
        (Integer::Small(_), Integer::Big(b)) => Sign::NoSign.cmp(&b.sign()),
    }
}

fn order_integer_and_float(x: Integer, y: f64) -> Option<Ordering> {
    match x {
        _ if y.is_nan() => None,
        // 0 is used for any finite number
        _ if y.is_infinite() => 0.0.partial_cmp(&y),
        // up to 2^53 the double is exact, and no `BigInt` is needed
        Integer::Small(value) if value.unsigned_abs() <= MAX_EXACT_INT.unsigned_abs() => {
            (value as f64).partial_cmp(&y)
        }
        // The integer exceeds 2^53 and a double with a fraction does not, so truncation keeps the
        // order.
        _ => Some(x.to_big().cmp(&integer::truncated(y))),
    }
}

/// Whether `in` and sequence comparison take two items as equal: the same object, or `==`.
///
/// Values have no identity here. `math.nan` is one object in Python and other nans are rare, so
/// nans with the same bits count as the same object.
fn is_same_or_equal(x: &Value, y: &Value, work: &WorkLimit) -> Result<bool, Raised> {
    work.take(1)?;
    if let (Value::Float(a), Value::Float(b)) = (x, y)
        && a.to_bits() == b.to_bits()
    {
        return Ok(true);
    }
    compare(ComparisonOperator::Equal, x, y, work)
}
