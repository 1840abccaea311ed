//! Follows a complex number from the power that makes it to the result, by its type alone.

use crate::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, ErrorKind, PythonVersion, Raised,
    UnaryOperator, Value, float, operators,
};

/// A value, or the type of one that is not computed: a complex number, a sequence that contains
/// one, or an unknown float.
#[derive(Debug, Clone)]
pub enum KnownOrType<V> {
    /// A value.
    Known(V),
    /// The name of the Python type.
    Type(&'static str),
}

use KnownOrType::{Known, Type};

impl<V: Clone> KnownOrType<V> {
    fn value(&self) -> Option<V> {
        match self {
            Known(value) => Some(value.clone()),
            Type(_) => None,
        }
    }
}

/// The type of a fractional power of a negative number.
const COMPLEX: &str = "complex";

/// The type of a real number, of which nothing else is known.
const FLOAT: &str = "float";

/// Another arithmetic in which a fractional power of a negative number is not an error. What
/// depends on more than the type of such a number is an [`ErrorKind::Complex`].
#[derive(Debug, Clone)]
pub struct WithComplex<A>(pub A);

impl<A: Arithmetic> WithComplex<A> {
    fn known(result: Result<A::Value, Raised>) -> Result<KnownOrType<A::Value>, Raised> {
        result.map(Known)
    }

    fn type_name(&self, x: &KnownOrType<A::Value>) -> &'static str {
        match x {
            Known(value) => self.0.to_python(value).type_name(),
            Type(name) => name,
        }
    }

    fn is_type(&self, value: &A::Value) -> bool {
        matches!(self.0.to_python(value), Value::Function(function) if function.is_type())
    }

    /// The double that CPython converts a real operand of a complex operation to.
    fn double(&self, value: &A::Value) -> Result<f64, Raised> {
        self.0
            .to_python(value)
            .to_f64()
            .ok_or_else(Raised::complex_power)
    }

    /// The fractional power of a negative number.
    fn power(&self, x: &A::Value, y: &A::Value) -> Result<KnownOrType<A::Value>, Raised> {
        // `_Py_c_pow` overflows where `pow(|x|, y)` does, and `x` is negative
        if float::library_power(-self.double(x)?, self.double(y)?).is_infinite() {
            return Err(Raised::overflow("complex exponentiation"));
        }
        Ok(Type(COMPLEX))
    }

    fn sequence(
        items: Vec<KnownOrType<A::Value>>,
        type_name: &'static str,
        make: impl FnOnce(Vec<A::Value>) -> A::Value,
    ) -> KnownOrType<A::Value> {
        let mut known = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Known(value) => known.push(value),
                Type(_) => return Type(type_name),
            }
        }
        Known(make(known))
    }
}

impl<A: Arithmetic> Arithmetic for WithComplex<A> {
    type Value = KnownOrType<A::Value>;

    fn set_version(&mut self, version: PythonVersion) {
        self.0.set_version(version);
    }

    fn begin(&self) {
        self.0.begin();
    }

    fn unary(&self, op: UnaryOperator, x: &Self::Value) -> Result<Self::Value, Raised> {
        match (op, x) {
            (_, Known(value)) => Self::known(self.0.unary(op, value)),
            (UnaryOperator::Plus | UnaryOperator::Minus, Type(COMPLEX)) => Ok(Type(COMPLEX)),
            _ => Err(Raised::complex_power()),
        }
    }

    fn binary(
        &self,
        op: BinaryOperator,
        x: &Self::Value,
        y: &Self::Value,
    ) -> Result<Self::Value, Raised> {
        use BinaryOperator as Op;
        match (op, x, y) {
            // since 3.10 a type, such as `int | float`
            (Op::BitOr, Known(x), Known(y)) if self.is_type(x) && self.is_type(y) => {
                Err(Raised::complex_power())
            }
            (_, Known(x), Known(y)) => match self.0.binary(op, x, y) {
                // no other operator than `**` gives this error
                Err(raised) if raised.kind == ErrorKind::Complex => self.power(x, y),
                result => Self::known(result),
            },
            (Op::Add | Op::Subtract | Op::Multiply, Type(COMPLEX), Type(COMPLEX | FLOAT))
            | (Op::Add | Op::Subtract | Op::Multiply, Type(FLOAT), Type(COMPLEX)) => {
                Ok(Type(COMPLEX))
            }
            (Op::Add | Op::Subtract | Op::Multiply, Type(COMPLEX), Known(real))
            | (Op::Add | Op::Subtract | Op::Multiply, Known(real), Type(COMPLEX)) => {
                self.double(real).map(|_| Type(COMPLEX))
            }
            // only a real divisor is known to be 0
            (Op::Divide, Type(COMPLEX), Known(real)) => match self.double(real)? {
                0.0 => Err(Raised::zero_division("complex division by zero")),
                _ => Ok(Type(COMPLEX)),
            },
            _ => Err(Raised::complex_power()),
        }
    }

    fn compare(
        &self,
        op: ComparisonOperator,
        x: &Self::Value,
        y: &Self::Value,
    ) -> Result<bool, Raised> {
        use ComparisonOperator as Op;
        match (op, x, y) {
            (_, Known(x), Known(y)) => self.0.compare(op, x, y),
            (Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual, Type(COMPLEX), _)
            | (Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual, _, Type(COMPLEX)) => {
                Err(operators::incomparable(
                    op,
                    self.type_name(x),
                    self.type_name(y),
                ))
            }
            _ => Err(Raised::complex_power()),
        }
    }

    fn truth(&self, x: &Self::Value) -> Result<bool, Raised> {
        match x {
            Known(value) => self.0.truth(value),
            Type(_) => Err(Raised::complex_power()),
        }
    }

    fn call(
        &self,
        callee: &Self::Value,
        positional: &[Self::Value],
        keywords: &[(&str, Self::Value)],
    ) -> Result<Self::Value, Raised> {
        let positional: Option<Vec<A::Value>> = positional.iter().map(KnownOrType::value).collect();
        let keywords: Option<Vec<(&str, A::Value)>> = keywords
            .iter()
            .map(|(name, value)| Some((*name, value.value()?)))
            .collect();
        match (callee, positional, keywords) {
            (Known(callee), Some(positional), Some(keywords)) => {
                Self::known(self.0.call(callee, &positional, &keywords))
            }
            _ => Err(Raised::complex_power()),
        }
    }

    fn tuple(&self, items: Vec<Self::Value>) -> Self::Value {
        Self::sequence(items, "tuple", |items| self.0.tuple(items))
    }

    fn list(&self, items: Vec<Self::Value>) -> Self::Value {
        Self::sequence(items, "list", |items| self.0.list(items))
    }

    fn number(&self, value: &Value) -> Result<Self::Value, Raised> {
        Self::known(self.0.number(value))
    }

    fn literal(&self, text: &str, value: &Value) -> Result<Self::Value, Raised> {
        Self::known(self.0.literal(text, value))
    }

    fn to_python(&self, value: &Self::Value) -> Value {
        match value {
            Known(value) => self.0.to_python(value),
            Type(_) => Value::None,
        }
    }
}
