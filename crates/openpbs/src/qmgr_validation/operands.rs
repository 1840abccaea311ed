//! The values of a formula during validation: Python's numbers, and values of which only the kind is known.

use std::cell::Cell;

use job_sort_formula::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, ErrorKind, Python, PythonVersion, Raised, UnaryOperator, Value,
};

use crate::qmgr_validation::Uncertainty;

/// A value during validation.
#[derive(Debug, Clone)]
pub(crate) enum Operand {
    Known(Value),
    /// A float or a short integer.
    Number,
    /// A complex number.
    Complex,
    /// Anything else: a string, a lambda, a module.
    Opaque,
}

/// CPython's arithmetic on [`Operand`]s. It stops where the next step depends on an unknown value.
#[derive(Debug, Default)]
pub(crate) struct OperandArithmetic {
    python: Python,
    /// Why the evaluation does not show what Python does.
    uncertainty: Cell<Option<Uncertainty>>,
}

impl OperandArithmetic {
    /// Why the last evaluation does not show what Python does; `None` if it does.
    pub(crate) fn uncertainty(&self) -> Option<Uncertainty> {
        self.uncertainty.get()
    }

    /// Stops the evaluation and records why.
    fn stop<T>(&self, uncertainty: Uncertainty) -> Result<T, Raised> {
        self.uncertainty.set(Some(uncertainty));
        Err(Raised::new(ErrorKind::Limit, ""))
    }

    fn unknown<T>(&self) -> Result<T, Raised> {
        self.stop(Uncertainty::NonArithmetic)
    }

    /// Stops at an error of this crate's limits, which CPython may not raise.
    fn stop_at_limit<T>(&self, result: Result<T, Raised>) -> Result<T, Raised> {
        match result {
            Err(raised) if matches!(raised.kind, ErrorKind::Limit | ErrorKind::Memory) => self.stop(Uncertainty::Limit),
            result => result,
        }
    }

    fn operand(&self, result: Result<Value, Raised>) -> Result<Operand, Raised> {
        match self.stop_at_limit(result) {
            Err(raised) if raised.kind == ErrorKind::Complex => Ok(Operand::Complex),
            result => result.map(Operand::Known),
        }
    }
}

/// Whether an operation of a complex number with this operand converts it without an overflow.
fn converts_to_complex(operand: &Operand) -> bool {
    matches!(
        operand,
        Operand::Complex | Operand::Number | Operand::Known(Value::Bool(_) | Value::Int(_) | Value::Float(_))
    )
}

impl Arithmetic for OperandArithmetic {
    type Value = Operand;

    fn set_version(&mut self, version: PythonVersion) {
        self.python.set_version(version);
    }

    fn begin(&self) {
        self.python.begin();
        self.uncertainty.set(None);
    }

    fn unary(&self, op: UnaryOperator, x: &Operand) -> Result<Operand, Raised> {
        match (op, x) {
            (_, Operand::Known(value)) => self.operand(self.python.unary(op, value)),
            (UnaryOperator::Plus | UnaryOperator::Minus, Operand::Complex) => Ok(Operand::Complex),
            _ => self.unknown(),
        }
    }

    fn binary(&self, op: BinaryOperator, x: &Operand, y: &Operand) -> Result<Operand, Raised> {
        use BinaryOperator as Op;
        match (x, y) {
            // `int | float` is a type
            (Operand::Known(Value::Function(x)), Operand::Known(Value::Function(y)))
                if op == Op::BitOr && x.is_type() && y.is_type() =>
            {
                Ok(Operand::Opaque)
            }
            (Operand::Known(x), Operand::Known(y)) => self.operand(self.python.binary(op, x, y)),
            (Operand::Complex, other) | (other, Operand::Complex)
                if matches!(op, Op::Add | Op::Subtract | Op::Multiply) && converts_to_complex(other) =>
            {
                Ok(Operand::Complex)
            }
            _ => self.unknown(),
        }
    }

    fn compare(&self, op: ComparisonOperator, x: &Operand, y: &Operand) -> Result<bool, Raised> {
        match (x, y) {
            (Operand::Known(x), Operand::Known(y)) => self.stop_at_limit(self.python.compare(op, x, y)),
            _ => self.unknown(),
        }
    }

    fn truth(&self, x: &Operand) -> Result<bool, Raised> {
        match x {
            Operand::Known(value) => Ok(value.truth()),
            Operand::Number | Operand::Complex | Operand::Opaque => self.unknown(),
        }
    }

    fn call(&self, callee: &Operand, positional: &[Operand], keywords: &[(&str, Operand)]) -> Result<Operand, Raised> {
        let positional: Option<Vec<Value>> = positional.iter().map(Operand::known).collect();
        let keywords: Option<Vec<(&str, Value)>> =
            keywords.iter().map(|(name, value)| Some((*name, value.known()?))).collect();
        match (callee, positional, keywords) {
            (Operand::Known(callee), Some(positional), Some(keywords)) => {
                self.operand(self.python.call(callee, &positional, &keywords))
            }
            _ => self.unknown(),
        }
    }

    fn tuple(&self, items: Vec<Operand>) -> Operand {
        let items: Option<Vec<Value>> = items.iter().map(Operand::known).collect();
        items.map_or(Operand::Opaque, |items| Operand::Known(Value::tuple(items)))
    }

    fn list(&self, items: Vec<Operand>) -> Operand {
        let items: Option<Vec<Value>> = items.iter().map(Operand::known).collect();
        items.map_or(Operand::Opaque, |items| Operand::Known(Value::list(items)))
    }

    fn number(&self, value: &Value) -> Result<Operand, Raised> {
        Ok(Operand::Known(value.clone()))
    }

    fn to_python(&self, value: &Operand) -> Value {
        value.known().unwrap_or(Value::None)
    }
}

impl Operand {
    fn known(&self) -> Option<Value> {
        match self {
            Self::Known(value) => Some(value.clone()),
            Self::Number | Self::Complex | Self::Opaque => None,
        }
    }
}
