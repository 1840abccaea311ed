//! Python's numbers: the results of operators and functions, and the exceptions that they raise.
//!
//! Values and an operation enter; a [`Value`] or a [`Raised`] exception leaves. This module knows
//! no formulas, names or source positions; callers add them. [`Python`] is the reference: CPython
//! 3.11, to the last bit; or the same [with decimals](Python::with_decimals), or
//! [following complex numbers](Python::following_complex) by their type alone. [`vector_math`]
//! computes some functions of `math` on whole columns, with the same bits.

mod complex;
mod decimal;
mod float;
mod functions;
mod integer;
pub mod limits;
mod operators;
mod signatures;
mod value;
pub mod vector_math;
mod version;

use std::borrow::Cow;

use limits::WorkLimit;

pub use crate::python::functions::real_function;
pub use crate::python::integer::{MAX_EXACT_FLOAT, MAX_EXACT_INT, float_to_int};
pub use crate::python::operators::{
    BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator,
};
pub use crate::python::signatures::{Function, constant};
pub use crate::python::value::{BigInteger, Value};
pub(crate) use crate::python::version::ContinuedIndentation;
pub use crate::python::version::PythonVersion;

/// CPython 3.11's numbers on the GNU C library 2.36.
///
/// Every value, type and error is CPython's, to the last bit, with three exceptions: the [`limits`]
/// are this crate's, `hypot` and `dist` may differ by a unit in the last place, and a union of
/// types, `int | float`, raises `TypeError`.
///
/// ```
/// use job_sort_formula::python::{BinaryOperator, Python, Value};
///
/// let python = Python::new();
/// let quotient = python.binary(BinaryOperator::Divide, &Value::Int(7), &Value::Int(2));
/// assert_eq!(quotient.map(|value| value.repr()).as_deref(), Ok("3.5"));
/// ```
#[derive(Debug, Clone)]
pub struct Python {
    work: WorkLimit,
    version: PythonVersion,
    has_decimals: bool,
    follows_complex: bool,
}

impl Python {
    /// Grants each evaluation all of [`limits::EVALUATION_WORK`].
    pub fn new() -> Self {
        Self::with_work_limit(limits::EVALUATION_WORK)
    }

    /// Grants each evaluation this much work, in operations on 64-bit words; at most
    /// [`limits::EVALUATION_WORK`].
    pub fn with_work_limit(words: u64) -> Self {
        Self {
            work: WorkLimit::new(words),
            version: PythonVersion::default(),
            has_decimals: false,
            follows_complex: false,
        }
    }

    /// The numbers of this version of Python.
    pub fn of_version(self, version: PythonVersion) -> Self {
        Self { version, ..self }
    }

    /// The same with decimals of 28 significant digits instead of Python's numbers. What an
    /// operation takes is made by [`number`](Self::number) or [`literal`](Self::literal).
    ///
    /// ```
    /// use job_sort_formula::python::{BinaryOperator, Python, Value};
    ///
    /// let decimal = Python::new().with_decimals();
    /// let x = decimal.number(&Value::Float(0.1))?;
    /// let y = decimal.number(&Value::Float(0.2))?;
    /// let sum = decimal.binary(BinaryOperator::Add, &x, &y)?;
    /// assert_eq!(decimal.to_python(&sum).repr(), "0.3");
    /// # Ok::<(), job_sort_formula::python::Raised>(())
    /// ```
    pub fn with_decimals(self) -> Self {
        Self {
            has_decimals: true,
            ..self
        }
    }

    /// The same, where a fractional power of a negative number is not an error but a
    /// [`Value::OfType`]. What depends on more than the type of such a number is an
    /// [`ErrorKind::Complex`].
    pub fn following_complex(self) -> Self {
        Self {
            follows_complex: true,
            ..self
        }
    }

    /// Starts another evaluation, whose work is counted from 0.
    #[inline]
    pub fn begin(&self) {
        self.work.restart();
    }

    /// Grants the next evaluations this much work, in operations on 64-bit words.
    pub(crate) fn grant(&mut self, words: u64) {
        self.work.set_limit(words);
    }

    /// The work of the evaluation so far, in operations on 64-bit words.
    pub fn work(&self) -> u64 {
        self.work.done()
    }

    /// Whether the evaluation so far needed more work than it was granted.
    pub(crate) fn needed_more_work(&self) -> bool {
        self.work.is_spent()
    }

    /// `op x`.
    #[inline]
    pub fn unary(&self, op: UnaryOperator, x: &Value) -> Result<Value, Raised> {
        // before the operators, to which such a value is of a wrong type
        if x.is_unknown() {
            complex::unary(op, x)
        } else if self.has_decimals {
            decimal::unary(op, x)
        } else {
            operators::unary(op, x)
        }
    }

    /// `x op y`.
    #[inline]
    pub fn binary(&self, op: BinaryOperator, x: &Value, y: &Value) -> Result<Value, Raised> {
        if x.is_unknown() || y.is_unknown() {
            return complex::binary(op, x, y);
        }
        let result = if self.has_decimals {
            decimal::binary(op, x, y, self)
        } else {
            self.binary_of_python(op, x, y)
        };
        match result {
            // only where it fails: what does not is the same with complex numbers
            Err(raised) if self.follows_complex => complex::instead_of_error(op, x, y, raised),
            result => result,
        }
    }

    /// `x op y` of Python's own numbers.
    #[inline]
    fn binary_of_python(&self, op: BinaryOperator, x: &Value, y: &Value) -> Result<Value, Raised> {
        let is_shift = matches!(op, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight);
        // before the operator: CPython 3.6 converts the count first, so even `0 << 2**70` fails
        if is_shift && self.version.limits_shift_counts() {
            operators::check_shift_count(x, y)?;
        }
        operators::binary(op, x, y, &self.work).map_err(|raised| raised.worded_for(self.version))
    }

    /// `x op y`, one link of a comparison chain.
    #[inline]
    pub fn compare(&self, op: ComparisonOperator, x: &Value, y: &Value) -> Result<bool, Raised> {
        if x.is_unknown() || y.is_unknown() {
            complex::compare(op, x, y)
        } else {
            operators::compare(op, x, y, &self.work)
        }
    }

    /// `callee(positional…, keyword=…)`. A callee that is not a function raises `TypeError`, as in
    /// Python.
    #[inline]
    pub fn call(
        &self,
        callee: &Value,
        positional: &[Value],
        keywords: &[(&str, Value)],
    ) -> Result<Value, Raised> {
        let mut named = keywords.iter().map(|(_, value)| value);
        if callee.is_unknown()
            || positional.iter().any(Value::is_unknown)
            || named.any(Value::is_unknown)
        {
            Err(Raised::complex_power())
        } else if self.has_decimals {
            decimal::call(callee, positional, keywords, self)
        } else {
            self.call_of_python(callee, positional, keywords)
        }
    }

    /// A call with Python's own numbers.
    #[inline]
    fn call_of_python(
        &self,
        callee: &Value,
        positional: &[Value],
        keywords: &[(&str, Value)],
    ) -> Result<Value, Raised> {
        functions::call(callee, positional, keywords, self)
            .map_err(|raised| raised.worded_for(self.version))
    }

    /// An input or a constant as a number of this arithmetic.
    ///
    /// # Errors
    /// No decimal holds it.
    pub fn number(&self, value: &Value) -> Result<Value, Raised> {
        if self.has_decimals {
            decimal::from_python(value)
        } else {
            Ok(value.clone())
        }
    }

    /// A literal as a number of this arithmetic, given its text and Python's value of it. Decimals
    /// keep the digits of the text, some of which the nearest double has lost.
    ///
    /// # Errors
    /// No decimal holds it.
    pub fn literal(&self, text: &str, value: &Value) -> Result<Value, Raised> {
        match value {
            // an integer is exact
            Value::Float(_) if self.has_decimals => decimal::parse(text).map(Value::Decimal),
            _ => self.number(value),
        }
    }

    /// A value of this arithmetic as Python's, for reports and ordering.
    pub fn to_python(&self, value: &Value) -> Value {
        if self.has_decimals {
            decimal::to_python(value)
        } else {
            value.clone()
        }
    }
}

impl Default for Python {
    fn default() -> Self {
        Self::new()
    }
}

/// Why there is no number: one of Python's exceptions, a result that the scheduler of OpenPBS
/// cannot use, or what this crate does not compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `ZeroDivisionError`
    ZeroDivision,
    /// `ValueError`
    Value,
    /// `OverflowError`
    Overflow,
    /// `TypeError`
    Type,
    /// `NameError`
    Name,
    /// `SyntaxError`, where CPython's parser accepts the text and only its compiler rejects it
    Syntax,
    /// Python raises nothing, and the result is a complex number
    ComplexResult,
    /// Python raises nothing, and the result is no number, such as `None` or a function
    NotANumber,
    /// Python raises nothing, and the result is an integer too large for a double
    TooLarge,
    /// a complex number on the way to the result, which is not computed: Python may have a value
    Complex,
    /// an integer or a computation beyond the documented limits: Python may have a value
    Limit,
    /// a value or a function that decimal arithmetic does not have
    Decimal,
}

/// The exception that one operation raises, with Python's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {text}", .kind.exception())]
pub struct Raised {
    /// The exception's type.
    pub kind: ErrorKind,
    /// The text: `str(exception)` in Python.
    pub text: Cow<'static, str>,
}

impl Raised {
    /// An exception of this kind with this text.
    pub fn new(kind: ErrorKind, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }

    /// A `TypeError`.
    fn type_error(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Type, text)
    }

    /// A `ValueError`.
    fn value(text: &'static str) -> Self {
        Self::new(ErrorKind::Value, text)
    }

    /// An `OverflowError`.
    fn overflow(text: &'static str) -> Self {
        Self::new(ErrorKind::Overflow, text)
    }

    /// A `ZeroDivisionError`.
    fn zero_division(text: &'static str) -> Self {
        Self::new(ErrorKind::ZeroDivision, text)
    }

    /// The `ZeroDivisionError` of zero to a negative power.
    fn zero_to_negative_power() -> Self {
        Self::zero_division("0.0 cannot be raised to a negative power")
    }

    /// The error of a fractional power of a negative number, and of what is computed from one.
    fn complex_power() -> Self {
        let text =
            "a fractional power of a negative number is complex; jsf computes real numbers only";
        Self::new(ErrorKind::Complex, text)
    }

    /// The `ValueError` of a `math` function whose argument is outside its domain.
    fn domain() -> Self {
        Self::value("math domain error")
    }

    /// The `OverflowError` of a `math` function whose result exceeds the largest double.
    fn range() -> Self {
        Self::overflow("math range error")
    }
}

impl ErrorKind {
    /// Python's name of the exception; a short name for the crate's own kinds.
    pub fn exception(self) -> &'static str {
        match self {
            Self::ZeroDivision => "ZeroDivisionError",
            Self::Value => "ValueError",
            Self::Overflow => "OverflowError",
            Self::Type => "TypeError",
            Self::Name => "NameError",
            Self::Syntax => "SyntaxError",
            Self::ComplexResult | Self::Complex => "complex number",
            Self::NotANumber => "not a number",
            Self::TooLarge => "too large",
            Self::Limit => "limit",
            Self::Decimal => "decimal",
        }
    }

    /// Whether CPython raises this exception, and the scheduler notices it. It does not notice a
    /// `MemoryError`.
    pub fn is_raised_by_python(self) -> bool {
        use ErrorKind::{Name, Overflow, Syntax, Type, Value, ZeroDivision};
        matches!(self, ZeroDivision | Value | Overflow | Type | Name | Syntax)
    }

    /// The name of the kind in reports and summaries.
    pub fn description(self) -> &'static str {
        match self {
            Self::ZeroDivision => "division by zero",
            Self::Value => "domain error",
            Self::Overflow => "overflow",
            Self::Type => "type error",
            Self::Name => "unknown name",
            Self::Syntax => "syntax error",
            Self::ComplexResult => "complex number",
            Self::NotANumber => "not a number",
            Self::TooLarge => "too large",
            Self::Complex => "complex intermediate value",
            Self::Limit => "beyond the limits",
            Self::Decimal => "not decimal",
        }
    }
}

/// One input of every job, borrowed from the caller. The rows of all columns are the same jobs in
/// the same order. Infinities and NaN are taken as Python floats; a score that is NaN is no error,
/// and equals every other in an order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum InputColumn<'a> {
    /// Python integers.
    I32(&'a [i32]),
    /// Python integers.
    I64(&'a [i64]),
    /// Python floats.
    F64(&'a [f64]),
    /// Python integers of less than 2^53, each as a double.
    Whole(&'a [f64]),
    /// Python integers in the rows that are set in `is_int`, else floats.
    Mixed {
        /// The number of each row; that of an integer is whole.
        values: &'a [f64],
        /// Whether the number of each row is an integer.
        is_int: &'a [bool],
    },
    /// Amounts of a resource as OpenPBS's scheduler holds them. The input is the number of
    /// [`resource`](crate::printing::resource): an integer for one job, a float for the next.
    PbsAmount(&'a [f64]),
    /// The same value for every job.
    Same(Value),
    /// A Python float for each entity: `values[index[row]]` is the input of a row.
    ByEntity {
        /// The entity of each row.
        index: &'a [u32],
        /// The number of each entity.
        values: &'a [f64],
    },
}

/// The limits, the tables of names, and the text of values: what is not compared with CPython in
/// `tests/`.
#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::{BinaryOperator as Op, *};

    fn big(exponent: u32) -> Value {
        Value::int(BigInt::from(10).pow(exponent))
    }

    fn call(function: Function, arguments: &[Value]) -> Result<Value, Raised> {
        Python::new().call(&Value::Function(function), arguments, &[])
    }

    fn kind(result: Result<Value, Raised>) -> Option<ErrorKind> {
        result.err().map(|raised| raised.kind)
    }

    #[test]
    fn huge_integers_are_refused_before_they_are_computed() {
        let int = Value::Int;
        let operators = [
            (Op::Power, int(9), int(387_420_489)),
            (Op::Power, int(2), int(131_072)),
            (Op::Power, int(-3), big(30)),
            (Op::ShiftLeft, int(1), big(10)),
            (Op::ShiftLeft, int(1), int(131_072)),
            (Op::ShiftLeft, int(-5), big(19)),
        ];
        for (op, x, y) in operators {
            assert_refused(&format!("{x} {} {y}", op.symbol()), |python| {
                python.binary(op, &x, &y)
            });
        }
        let calls = [
            (Function::Factorial, vec![big(9)]),
            (Function::Factorial, vec![int(20_000)]),
            (Function::Comb, vec![big(9), int(500_000_000)]),
            (Function::Comb, vec![big(400), big(6)]),
            (Function::Perm, vec![big(30), big(12)]),
            (Function::Perm, vec![big(6)]),
            (Function::Prod, vec![Value::list(vec![big(10_000); 20])]),
            (
                Function::Lcm,
                vec![big(20_000), Value::int(BigInt::from(10).pow(20_000) + 1)],
            ),
        ];
        for (function, arguments) in calls {
            let callee = Value::Function(function);
            assert_refused(function.name(), |python| {
                python.call(&callee, &arguments, &[])
            });
        }
    }

    /// Asserts that an operation raises the limit error and takes at most a quarter of the work
    /// before.
    fn assert_refused(name: &str, operation: impl FnOnce(&Python) -> Result<Value, Raised>) {
        let python = Python::new();
        assert_eq!(kind(operation(&python)), Some(ErrorKind::Limit), "{name}");
        assert!(
            python.work.left() >= limits::EVALUATION_WORK / 4 * 3,
            "{name} leaves {}",
            python.work.left()
        );
    }

    #[test]
    fn the_largest_integer_is_just_allowed() {
        let python = Python::new();
        let largest = python
            .binary(Op::ShiftLeft, &Value::Int(1), &Value::Int(131_071))
            .unwrap();
        assert_eq!(
            kind(python.binary(Op::Add, &largest, &largest)),
            Some(ErrorKind::Limit)
        );
        assert!(
            python
                .binary(Op::Subtract, &largest, &Value::Int(1))
                .is_ok()
        );
        assert!(
            python
                .binary(Op::Power, &Value::Int(2), &Value::Int(131_071))
                .unwrap()
                .is_identical(&largest)
        );
    }

    #[test]
    fn work_runs_out_and_is_counted_anew() {
        // 1001 digits are 52 words, with one pass over all of them for each.
        let x = big(1000);
        let python = Python::with_work_limit(3 * 52 * 52);
        for left in [2, 1, 0] {
            assert!(python.binary(Op::Multiply, &x, &x).is_ok());
            assert_eq!(python.work.left(), left * 52 * 52);
        }
        assert_eq!(
            kind(python.binary(Op::Multiply, &x, &x)),
            Some(ErrorKind::Limit)
        );
        python.begin();
        assert!(python.binary(Op::Multiply, &x, &x).is_ok());
        assert_eq!(
            Python::with_work_limit(u64::MAX).work.left(),
            limits::EVALUATION_WORK
        );
    }

    #[test]
    fn sequences_are_limited_by_their_total_size() {
        let python = Python::new();
        let one = Value::list(vec![Value::Int(1)]);
        assert_eq!(
            kind(python.binary(Op::Multiply, &one, &Value::Int(100_001))),
            Some(ErrorKind::Limit)
        );
        let rows = python
            .binary(Op::Multiply, &one, &Value::Int(50_000))
            .unwrap();
        let nested = Value::list(vec![rows.clone()]);
        assert_eq!(
            kind(python.binary(Op::Multiply, &nested, &Value::Int(2))),
            Some(ErrorKind::Limit)
        );
        assert_eq!(
            kind(python.binary(
                Op::Multiply,
                &Value::list(vec![big(30_000)]),
                &Value::Int(100)
            )),
            Some(ErrorKind::Limit)
        );
        let mut concatenated = rows.clone();
        let raised = loop {
            match python.binary(Op::Add, &concatenated, &rows) {
                Ok(longer) => concatenated = longer,
                Err(raised) => break raised,
            }
        };
        assert_eq!(raised.kind, ErrorKind::Limit);
    }

    #[test]
    fn rounding_to_huge_places_is_zero() {
        let places = [
            Value::Int(-1_000_000_000),
            Value::int(-BigInt::from(10).pow(30)),
            Value::Int(i64::MIN),
        ];
        for places in places {
            assert!(
                call(Function::Round, &[Value::Int(5), places.clone()])
                    .unwrap()
                    .is_identical(&Value::Int(0))
            );
            assert!(
                call(Function::Round, &[big(300), places.clone()])
                    .unwrap()
                    .is_identical(&Value::Int(0))
            );
            assert!(
                call(Function::Round, &[Value::Float(2.5), places])
                    .unwrap()
                    .is_identical(&Value::Float(0.0))
            );
        }
    }

    #[test]
    fn repr_is_pythons() {
        let cases = [
            (Value::Float(1e22), "1e+22"),
            (Value::Float(1e16), "1e+16"),
            (Value::Float(1e15), "1000000000000000.0"),
            (
                Value::Float(123_456_789_012_345_680.0),
                "1.2345678901234568e+17",
            ),
            (Value::Float(1e-5), "1e-05"),
            (Value::Float(0.0001), "0.0001"),
            (Value::Float(0.1), "0.1"),
            (Value::Float(-0.0), "-0.0"),
            (Value::Float(5e-324), "5e-324"),
            (Value::Float(0.5_f64.powi(25)), "2.9802322387695312e-08"),
            (
                Value::Float(0.000_099_999_999_999_999_99),
                "9.999999999999999e-05",
            ),
            (Value::Float(1.5e300), "1.5e+300"),
            (Value::Float(f64::INFINITY), "inf"),
            (Value::Float(f64::NEG_INFINITY), "-inf"),
            (Value::Float(-f64::NAN), "nan"),
            (Value::Bool(true), "True"),
            (Value::None, "None"),
            (
                Value::int(-BigInt::from(1u64 << 63) * 2),
                "-18446744073709551616",
            ),
            (Value::tuple(vec![]), "()"),
            (Value::tuple(vec![Value::Int(1)]), "(1,)"),
            (
                Value::tuple(vec![Value::Int(1), Value::Float(0.0)]),
                "(1, 0.0)",
            ),
            (
                Value::list(vec![Value::list(vec![]), Value::None]),
                "[[], None]",
            ),
            (Value::Function(Function::Sqrt), "<built-in function sqrt>"),
            (Value::Function(Function::Int), "<class 'int'>"),
        ];
        for (value, text) in cases {
            assert_eq!(value.repr(), text);
        }
    }

    /// Doubles `m / 2^k` whose exact decimal expansion has 18 digits. The last is a 5, so two
    /// decimals of 17 digits are equally near. CPython takes the one with the even last digit.
    #[test]
    fn repr_breaks_ties_towards_the_even_digit() {
        let mut ties = 0;
        for k in 1..=25 {
            let unit = 5_u64.pow(k as u32);
            let first = (10_u64.pow(17) / unit + 1) | 1;
            let last = (10_u64.pow(18) / unit).min(MAX_EXACT_INT as u64);
            let step = 2 * (last.saturating_sub(first) / 1000 + 1);
            for m in (first..last).step_by(step as usize) {
                let x = m as f64 / 2.0_f64.powi(k);
                let exact = m * unit;
                let has_shorter =
                    reads_as(exact / 100, 2 - k, x) || reads_as(exact / 100 + 1, 2 - k, x);
                if has_shorter
                    || !reads_as(exact / 10, 1 - k, x)
                    || !reads_as(exact / 10 + 1, 1 - k, x)
                {
                    continue;
                }
                let even = exact / 10 + exact / 10 % 2;
                assert_eq!(
                    significant_digits(&Value::Float(x).repr()),
                    even.to_string().trim_end_matches('0')
                );
                assert_eq!(Value::Float(-x).repr(), format!("-{}", Value::Float(x)));
                ties += 1;
            }
        }
        assert!(ties > 2000, "only {ties}");
    }

    fn significant_digits(repr: &str) -> String {
        let (mantissa, _) = repr.split_once('e').unwrap_or((repr, ""));
        mantissa.replace('.', "").trim_matches('0').to_owned()
    }

    #[test]
    fn functions_are_found_by_their_names() {
        for function in Function::ALL {
            assert_eq!(Function::from_name(function.name()), Some(*function));
        }
        assert_eq!(Function::from_name("print"), None);
        assert!(Function::Pow.is_math() && !Function::Abs.is_math() && Function::Bool.is_type());
        assert_eq!(
            (
                Function::Log.arity(PythonVersion::default()),
                Function::Max.arity(PythonVersion::default())
            ),
            ((1, Some(2)), (1, None))
        );
        assert_eq!(
            Function::Round.keywords(PythonVersion::default()),
            ["number", "ndigits"]
        );
        assert_eq!(Function::Sum.keywords(PythonVersion::default()), ["start"]);
    }

    #[test]
    fn constants_are_those_of_math() {
        for (name, text) in [
            ("e", "2.718281828459045"),
            ("pi", "3.141592653589793"),
            ("tau", "6.283185307179586"),
        ] {
            assert_eq!(
                constant(name).map(|value| value.repr()).as_deref(),
                Some(text)
            );
        }
        assert!(
            constant("inf").is_some() && constant("nan").is_some() && constant("phi").is_none()
        );
    }

    fn reads_as(digits: u64, exponent: i32, value: f64) -> bool {
        format!("{digits}e{exponent}").parse() == Ok(value)
    }

    #[test]
    fn inverse_hyperbolic_functions_have_the_bits_of_the_c_library() {
        for (x, expected) in [
            (1.0, 0.881_373_587_019_543),
            (8.0, 2.776_472_280_723_717_7),
            (128.0, 5.545_192_702_919_391),
        ] {
            assert_eq!(real_function(Function::Asinh, x), Ok(expected));
        }
    }

    #[test]
    fn a_value_has_at_most_24_bytes() {
        assert!(size_of::<Value>() <= 24, "{}", size_of::<Value>());
    }

    #[test]
    fn a_long_value_is_rounded_or_cut() {
        assert_eq!(big(99).repr_within(100), big(99).repr());
        for (value, text) in [
            (big(120), "about 1.000e+120"),
            (Value::int(BigInt::from(7).pow(300)), "about 3.384e+253"),
            (
                Value::int(BigInt::from(10).pow(120) - 1),
                "about 1.000e+120",
            ),
            (Value::int(-BigInt::from(2).pow(1000)), "about -1.072e+301"),
        ] {
            assert_eq!(value.repr_within(100), text);
        }
        let items = vec![big(120); 1000];
        let shown = Value::Tuple(items.into()).repr_within(100);
        assert!(
            shown.starts_with("(about 1.000e+120, about")
                && shown.ends_with(", …)")
                && shown.len() < 150,
            "{shown}"
        );
        assert_eq!(
            Value::Tuple(vec![Value::Int(1)].into()).repr_within(100),
            "(1,)"
        );
    }
}
