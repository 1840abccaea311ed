//! Random operations on numbers, and how they are written in Python.

use job_sort_formula::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, Function, Python, PythonVersion, Raised,
    UnaryOperator, Value,
};
use num_bigint::BigInt;

use super::Generator;

/// An operation that both sides compute.
#[derive(Debug, Clone)]
pub enum Operation {
    Unary(UnaryOperator, Value),
    Binary(BinaryOperator, Value, Value),
    Compare(ComparisonOperator, Value, Value),
    Call(Value, Vec<Value>, Vec<(&'static str, Value)>),
}

impl Operation {
    /// The result of this crate.
    pub fn result(&self, python: &Python) -> Result<Value, Raised> {
        python.begin();
        match self {
            Self::Unary(op, x) => python.unary(*op, x),
            Self::Binary(op, x, y) => python.binary(*op, x, y),
            Self::Compare(op, x, y) => python.compare(*op, x, y).map(Value::Bool),
            Self::Call(callee, positional, keywords) => python.call(callee, positional, keywords),
        }
    }

    /// As a Python expression.
    pub fn expression(&self) -> String {
        match self {
            Self::Unary(op, x) => format!("{} {}", op.symbol(), operand(x)),
            Self::Binary(op, x, y) => format!("{} {} {}", operand(x), op.symbol(), operand(y)),
            Self::Compare(op, x, y) => format!("{} {} {}", operand(x), op.symbol(), operand(y)),
            Self::Call(callee, positional, keywords) => {
                let named = keywords
                    .iter()
                    .map(|(name, value)| format!("{name}={}", operand(value)));
                let arguments: Vec<_> = positional.iter().map(operand).chain(named).collect();
                format!("{}({})", operand(callee), arguments.join(", "))
            }
        }
    }
}

fn operand(value: &Value) -> String {
    match value {
        Value::Float(value) => format!("D({:#x})", value.to_bits()),
        Value::Int(value) => format!("({value})"),
        Value::Big(value) => format!("({value:#x})"),
        Value::Tuple(items) => format!("({})", operands(items)),
        Value::List(items) => format!("[{}]", operands(items)),
        Value::Function(function) => function.name().to_owned(),
        other => other.repr(),
    }
}

/// With a comma after each, so that one of them alone is no expression in brackets.
fn operands(items: &[Value]) -> String {
    items.iter().map(|item| operand(item) + ",").collect()
}

/// A value as the Python scripts write it.
pub fn written(value: &Value) -> String {
    match value {
        Value::Float(value) if value.is_nan() => "nan".to_owned(),
        Value::Float(value) => format!("D{:016x}", value.to_bits()),
        Value::Int(value) => format!(
            "{}{:x}",
            if *value < 0 { "-" } else { "" },
            value.unsigned_abs()
        ),
        Value::Big(value) => format!("{value:x}"),
        Value::Tuple(items) => format!("({})", all_written(items)),
        Value::List(items) => format!("[{}]", all_written(items)),
        other => other.repr(),
    }
}

fn all_written(items: &[Value]) -> String {
    items.iter().map(written).collect::<Vec<_>>().join(",")
}

const KEYWORDS: [&str; 12] = [
    "steps", "key", "default", "start", "ndigits", "number", "rel_tol", "abs_tol", "base", "a",
    "b", "x",
];

/// Doubles at the edges of functions and formats.
const CORNERS: [f64; 24] = [
    0.0,
    1.0,
    0.5,
    1.5,
    2.5,
    0.1,
    2.0,
    3.0,
    10.0,
    1e-5,
    1e16,
    1e22,
    5e-324,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
    f64::EPSILON,
    9007199254740992.0,
    9223372036854775808.0,
    18446744073709551616.0,
    171.624,
    709.79,
    1.0 / 3.0,
];

impl Generator {
    pub fn operation(&mut self) -> Operation {
        match self.below(20) {
            0 => Operation::Unary(self.pick(UnaryOperator::ALL), self.any()),
            1..=7 => self.binary(),
            8..=10 => self.comparison(),
            11 => self.odd_call(),
            _ => self.call(),
        }
    }

    fn binary(&mut self) -> Operation {
        let op = self.pick(BinaryOperator::ALL);
        let (x, y) = if self.below(12) == 0 {
            (self.any(), self.any())
        } else {
            (self.number(), self.number())
        };
        let small = matches!(
            op,
            BinaryOperator::Power | BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight
        );
        if small && self.below(2) == 0 {
            return Operation::Binary(op, x, Value::Int(self.below(140) as i64 - 20));
        }
        Operation::Binary(op, x, y)
    }

    fn comparison(&mut self) -> Operation {
        let op = self.pick(ComparisonOperator::ALL);
        match self.below(6) {
            0 => Operation::Compare(op, self.any(), self.any()),
            1 => Operation::Compare(op, self.sequence(2), self.sequence(2)),
            2 => {
                // a double and an integer next to it
                let x = f64::from_bits(self.next());
                let near = if x.is_finite() {
                    integer_part(x)
                } else {
                    BigInt::ZERO
                };
                Operation::Compare(
                    op,
                    Value::Float(x),
                    Value::int(near + self.below(3) as i64 - 1),
                )
            }
            _ => Operation::Compare(op, self.number(), self.number()),
        }
    }

    /// A call with suitable arguments.
    fn call(&mut self) -> Operation {
        use Function as F;
        let function = self.pick(F::ALL);
        let mut keywords = Vec::new();
        let positional = match function {
            F::All | F::Any | F::Len | F::Fsum | F::Sum | F::Prod => {
                vec![self.numbers_in_sequence()]
            }
            F::Dist => {
                let count = self.below(5) as usize;
                vec![self.tuple_of(count), self.tuple_of(count)]
            }
            F::Max | F::Min | F::Hypot => self.numbers(1, 5),
            F::Gcd | F::Lcm => (0..self.below(4)).map(|_| self.integer()).collect(),
            F::Isqrt => vec![self.integer()],
            F::Factorial => vec![Value::Int(self.below(300) as i64 - 5)],
            F::Comb | F::Perm if self.below(3) > 0 => {
                vec![
                    Value::Int(self.below(200) as i64),
                    Value::Int(self.below(60) as i64 - 2),
                ]
            }
            F::Comb | F::Perm => vec![self.integer(), self.integer()],
            F::Ldexp => vec![self.number(), self.exponent()],
            F::Round if self.below(3) > 0 => {
                vec![self.number(), Value::Int(self.below(40) as i64 - 20)]
            }
            F::Round => vec![self.number()],
            F::Gamma | F::Lgamma if self.below(2) == 0 => {
                vec![Value::Float(self.moderate() * 200.0)]
            }
            F::Erf | F::Erfc if self.below(2) == 0 => vec![Value::Float(self.moderate() / 25.0)],
            F::Log if self.below(2) == 0 => vec![self.positive(), self.positive()],
            F::Log | F::Log2 | F::Log10 | F::Sqrt => vec![self.positive()],
            F::Sumprod => {
                let count = self.below(6) as usize;
                let other = if self.below(12) == 0 {
                    count + 1
                } else {
                    count
                };
                vec![self.tuple_of(count), self.tuple_of(other)]
            }
            F::Fma => self.numbers(3, 3),
            _ if function.arity(PythonVersion::NEWEST).0 == 2 => self.numbers(2, 2),
            _ => vec![if self.below(2) == 0 {
                Value::Float(self.moderate())
            } else {
                self.number()
            }],
        };
        match function {
            F::Isclose if self.below(2) == 0 => keywords.push(("rel_tol", self.number())),
            F::Isclose if self.below(2) == 0 => keywords.push(("abs_tol", self.number())),
            F::Sum | F::Prod if self.below(4) == 0 => keywords.push(("start", self.number())),
            F::Nextafter if self.below(3) == 0 => keywords.push(("steps", self.integer())),
            F::Max | F::Min if self.below(4) == 0 => keywords.push(("key", self.function())),
            _ => {}
        }
        Operation::Call(Value::Function(function), positional, keywords)
    }

    /// A call with any number of any values.
    fn odd_call(&mut self) -> Operation {
        let callee = if self.below(20) == 0 {
            self.any()
        } else {
            self.function()
        };
        let positional = (0..self.below(5)).map(|_| self.any()).collect();
        let mut keywords: Vec<(&str, Value)> = Vec::new();
        for _ in 0..self.below(6).saturating_sub(2) {
            let name = self.pick(&KEYWORDS);
            if keywords.iter().all(|(other, _)| *other != name) {
                keywords.push((name, self.any()));
            }
        }
        Operation::Call(callee, positional, keywords)
    }

    fn function(&mut self) -> Value {
        Value::Function(self.pick(Function::ALL))
    }

    fn any(&mut self) -> Value {
        match self.below(10) {
            0 => Value::None,
            1 => self.function(),
            2..=4 => self.sequence(2),
            _ => self.number(),
        }
    }

    fn sequence(&mut self, depth: u64) -> Value {
        let count = self.below(4);
        let items = (0..count)
            .map(|_| match self.below(12) {
                0 if depth > 0 => self.sequence(depth - 1),
                1 => Value::None,
                2 => self.function(),
                3..=8 => Value::Int(self.below(3) as i64),
                _ => self.number(),
            })
            .collect();
        if self.below(2) == 0 {
            Value::tuple(items)
        } else {
            Value::list(items)
        }
    }

    fn numbers(&mut self, least: u64, most: u64) -> Vec<Value> {
        let count = least + self.below(most - least + 1);
        let alike = self.below(2) == 0;
        (0..count)
            .map(|_| {
                if alike {
                    Value::Float(self.moderate())
                } else {
                    self.number()
                }
            })
            .collect()
    }

    fn numbers_in_sequence(&mut self) -> Value {
        Value::list(self.numbers(0, 8))
    }

    fn tuple_of(&mut self, count: usize) -> Value {
        let items = self.numbers(count as u64, count as u64);
        Value::tuple(items)
    }

    pub fn number(&mut self) -> Value {
        match self.below(20) {
            0 => Value::Bool(self.below(2) == 0),
            1..=8 => self.integer(),
            _ => Value::Float(self.float()),
        }
    }

    fn positive(&mut self) -> Value {
        match self.number() {
            Value::Float(value) => Value::Float(value.abs()),
            other => other,
        }
    }

    fn exponent(&mut self) -> Value {
        if self.below(8) == 0 {
            self.integer()
        } else {
            Value::Int(self.below(4400) as i64 - 2200)
        }
    }

    pub fn integer(&mut self) -> Value {
        let value = match self.below(10) {
            0..=4 => BigInt::from(self.below(30) as i64 - 8),
            5 => BigInt::from(self.next() as i64),
            6 => {
                (BigInt::from(1) << self.pick(&[31, 52, 53, 54, 62, 63, 64, 1023, 1024]))
                    + (self.below(7) as i64 - 3)
            }
            7 => BigInt::from(10).pow(self.pick(&[1, 5, 15, 16, 18, 19, 22, 30, 308, 309, 400])),
            8 => (BigInt::from(self.next()) * self.next()) >> self.below(128),
            _ => BigInt::from(self.next()).pow(1 + self.below(18) as u32) >> self.below(700),
        };
        Value::int(if self.below(4) == 0 { -value } else { value })
    }

    pub fn float(&mut self) -> f64 {
        let value = match self.below(8) {
            0 | 1 => self.pick(&CORNERS),
            2 => self.below(40) as f64 / 2.0,
            3 => self.below(1_000_000) as f64 / 1000.0,
            4 => self.below(1000) as f64,
            5 => self.moderate(),
            6 => f64::from_bits(self.next()),
            _ => f64::from_bits(
                self.next() & 0x803f_ffff_ffff_ffff
                    | (0x3fc0_0000_0000_0000 + (self.below(100) << 52)),
            ),
        };
        match self.below(8) {
            0 => -value,
            1 => value.next_up(),
            2 => value.next_down(),
            _ => value,
        }
    }

    /// A number of moderate size, up to 700 in magnitude.
    pub fn moderate(&mut self) -> f64 {
        let unit = self.next() as f64 / u64::MAX as f64;
        let signed = if self.below(3) == 0 { -unit } else { unit };
        match self.below(4) {
            0 => signed,
            1 => signed * 10.0,
            2 => signed / 1e6,
            _ => signed * 700.0,
        }
    }
}

/// The integer part of a finite double.
fn integer_part(value: f64) -> BigInt {
    let bits = value.abs().to_bits();
    let exponent = (bits >> 52) as i64 - 1075;
    let digits = BigInt::from(bits & ((1 << 52) - 1) | (1 << 52));
    let whole = if exponent >= 0 {
        digits << exponent
    } else {
        digits >> -exponent
    };
    if value < 0.0 { -whole } else { whole }
}
