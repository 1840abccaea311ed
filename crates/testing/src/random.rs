//! Random input, the same for the same seed on every machine: columns of every type that a caller can
//! score, texts of lists of tokens with random spaces between them and random mistakes, and operations.

use formulas::Writer;
use job_sort_formula::python::{
    BinaryOperator, ComparisonOperator, Function, Python, PythonVersion, Raised, UnaryOperator,
    Value, float_to_int,
};
use num_bigint::BigInt;

pub mod formulas;

/// The generator splitmix64.
pub struct Generator(pub u64);

impl Generator {
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, and needs no option"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// The generator xorshift64*, whose state must not be 0.
pub struct Xorshift(pub u64);

impl Xorshift {
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, and needs no option"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// A column of the caller.
#[derive(Debug)]
pub enum OwnedColumn {
    I32(Vec<i32>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    /// Integers of any size in the rows that are set, else floats.
    Mixed(Vec<f64>, Vec<bool>),
    Same(Value),
    ByEntity(Vec<u32>, Vec<f64>),
}

impl OwnedColumn {
    /// A column of similar or of any numbers; only of integers if `is_integer`.
    pub fn random(random: &mut Generator, rows: usize, is_integer: bool) -> Self {
        match random.below(if is_integer { 5 } else { 9 }) {
            0 => Self::Same(if is_integer {
                random.integer()
            } else {
                random.number()
            }),
            1 => Self::I32((0..rows).map(|_| random.below(1 << 32) as i32).collect()),
            2 => Self::I64(
                (0..rows)
                    .map(|_| random.below(100_000) as i64 - 50)
                    .collect(),
            ),
            3 => {
                // integers on both sides of 2^51, where the conversion changes, and of 2^53
                let shift = random.below(16);
                Self::I64(
                    (0..rows)
                        .map(|_| (random.below(1 << 63) as i64 >> shift) - (1 << 52))
                        .collect(),
                )
            }
            4 => {
                // mostly small integers, and few next to a power of two, which alone decide the
                // bound of the column
                let edge = [31, 51, 52, 53, 54, 62][random.below(6) as usize];
                let values = (0..rows).map(|_| match random.below(4) {
                    0 => (1i64 << edge) + random.below(5) as i64 - 2,
                    1 => 2 - (1i64 << edge) - random.below(5) as i64,
                    _ => random.below(3) as i64 - 1,
                });
                Self::I64(values.collect())
            }
            5 => {
                let values: Vec<f64> = (0..1 + random.below(20)).map(|_| number(random)).collect();
                Self::ByEntity(
                    (0..rows)
                        .map(|_| random.below(values.len() as u64) as u32)
                        .collect(),
                    values,
                )
            }
            6 => {
                let is_int: Vec<bool> = (0..rows).map(|_| random.below(2) == 0).collect();
                let large = [1.0, 1e16, 1e19, 1e30][random.below(4) as usize];
                let mut value = |is_int: bool| match (is_int, random.below(8)) {
                    (true, 0) => (random.moderate() * large).trunc() + 0.0,
                    (true, _) => random.below(100_000) as f64 - 50.0,
                    (false, _) => number(random),
                };
                Self::Mixed(is_int.iter().map(|&is_int| value(is_int)).collect(), is_int)
            }
            _ => Self::F64((0..rows).map(|_| number(random)).collect()),
        }
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> Value {
        match self {
            Self::I32(values) => Value::Int(values[row].into()),
            Self::I64(values) => Value::Int(values[row]),
            Self::F64(values) => Value::Float(values[row]),
            Self::Mixed(values, is_int) if is_int[row] => {
                float_to_int(values[row]).unwrap_or(Value::None)
            }
            Self::Mixed(values, _) => Value::Float(values[row]),
            Self::Same(value) => value.clone(),
            Self::ByEntity(index, values) => Value::Float(values[index[row] as usize]),
        }
    }
}

fn number(random: &mut Generator) -> f64 {
    match random.below(4) {
        0 => random.below(50) as f64 / 4.0,
        1 => random.float(),
        _ => random.moderate(),
    }
}

/// What the grammar has beside arithmetic, and texts like it that are refused.
pub const CONSTRUCTS: &str = include_str!("random/constructs.txt");

/// Tokens that a mistake inserts into a formula, from Python, from other languages or from none.
const WRONG_TOKENS: &str = include_str!("random/wrong_tokens.txt");
/// More of them, which a file of lines does not show.
const UNSEEN_TOKENS: [&str; 4] = ["\u{a0}", "\u{feff}", "\0", "\n"];

/// What can be an argument of a call.
const ARGUMENTS: [&str; 12] = [
    "ncpus",
    "-1",
    "*mem",
    "*[1, 2]",
    "**x",
    "**0b101",
    "**{}",
    "start=1e5",
    "key=abs",
    "k=(1, 2)",
    "x := 3",
    "(*mem, 1)",
];

/// A formula, a construct that is not arithmetic, or a call with arguments of any kind; with any
/// spaces and with mistakes.
pub fn any_text(random: &mut Generator) -> String {
    let mut tokens = match random.below(4) {
        0 | 1 => Writer::formula(random).tokens,
        2 => {
            let constructs: Vec<&str> = CONSTRUCTS.lines().collect();
            tokens(random.pick(&constructs))
        }
        _ => call(random),
    };
    if random.below(4) == 0 {
        mutate_tokens(&mut tokens, random);
    }
    let mut text = text(&tokens, random);
    if random.below(8) == 0 {
        mutate_character(&mut text, random);
    }
    text
}

fn call(random: &mut Generator) -> Vec<String> {
    let arguments: Vec<&str> = (0..1 + random.below(4))
        .map(|_| random.pick(&ARGUMENTS))
        .collect();
    tokens(&format!(
        "{}({})",
        random.pick(&["any", "max", "x.y", "f(1)"]),
        arguments.join(",")
    ))
}

/// Splits a text into words and single characters.
pub fn tokens(text: &str) -> Vec<String> {
    let is_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.');
    let mut tokens: Vec<String> = Vec::new();
    let mut before = ' ';
    for character in text.chars() {
        match tokens.last_mut() {
            Some(last) if is_word(before) && is_word(character) => last.push(character),
            _ if character == ' ' => {}
            _ => tokens.push(character.into()),
        }
        before = character;
    }
    tokens
}

/// Joins tokens with the usual spaces, or with any that Python allows.
pub fn text(tokens: &[String], random: &mut Generator) -> String {
    let unusual = random.below(4) == 0;
    let mut text = String::new();
    let mut open = 0_i64;
    if unusual && random.below(4) == 0 {
        text.push_str(random.pick(&[
            " ",
            "\t",
            "  \t",
            "\u{c}",
            "\n",
            " \n",
            "# first\n",
            "\\\n",
            "\n ",
        ]));
    }
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 {
            text.push_str(between(
                &tokens[index - 1],
                token,
                unusual,
                open > 0,
                random,
            ));
        }
        open += match token.as_str() {
            "(" | "[" | "{" => 1,
            ")" | "]" | "}" => -1,
            _ => 0,
        };
        text.push_str(token);
    }
    if unusual && random.below(4) == 0 {
        text.push_str(random.pick(&[
            " ",
            "\n",
            "\r\n",
            " # last",
            "#(",
            "\n\n",
            "\n  # more\n",
            "\\\n",
            "\t",
            "\n ",
            "\r",
            "\n1",
        ]));
    }
    text
}

fn between(
    left: &str,
    right: &str,
    unusual: bool,
    bracketed: bool,
    random: &mut Generator,
) -> &'static str {
    let neighbours = [left.chars().last(), right.chars().next()];
    let glued = neighbours
        .into_iter()
        .all(|c| c.is_some_and(|c| c.is_alphanumeric() || c == '_'));
    // `1if x else 2` is Python, `1else` as well, `0or 1` is not.
    let after_number = left.starts_with(|first: char| first.is_ascii_digit());
    if glued && !(after_number && random.below(10) == 0) {
        return if unusual {
            random.pick(&[" ", "\t", "  ", "\u{c}"])
        } else {
            " "
        };
    }
    match random.below(if unusual { 12 } else { 3 }) {
        0 | 1 => "",
        3 if bracketed => random.pick(&["\n", " \n\t", "\r\n", "\r", "\n\n"]),
        4 if bracketed => random.pick(&[" # a note, ) \"\n", "#\n", "# größe '\n"]),
        5 => random.pick(&["\\\n", " \\\n ", "\\\r\n"]),
        6 => random.pick(&["\t", "   ", "\u{c}"]),
        _ => " ",
    }
}

/// Removes, swaps, replaces or inserts one to three tokens.
pub fn mutate_tokens(tokens: &mut Vec<String>, random: &mut Generator) {
    for _ in 0..=random.below(3) {
        let at = random.below(tokens.len() as u64 + 1) as usize;
        match random.below(6) {
            0 if at < tokens.len() && tokens.len() > 1 => {
                tokens.remove(at);
            }
            1 if at + 1 < tokens.len() => tokens.swap(at, at + 1),
            2 if at < tokens.len() => tokens[at] = wrong_token(random).to_owned(),
            3 if at < tokens.len() => {
                let other = tokens[at].clone();
                let to = random.below(tokens.len() as u64) as usize;
                tokens.insert(to, other);
            }
            _ => tokens.insert(at, wrong_token(random).to_owned()),
        }
    }
}

fn wrong_token(random: &mut Generator) -> &'static str {
    let tokens: Vec<&str> = WRONG_TOKENS.lines().chain(UNSEEN_TOKENS).collect();
    random.pick(&tokens)
}

/// Removes, doubles or replaces one character.
pub fn mutate_character(text: &mut String, random: &mut Generator) {
    let mut spelt: Vec<char> = text.chars().collect();
    if spelt.is_empty() {
        return;
    }
    let at = random.below(spelt.len() as u64) as usize;
    match random.below(3) {
        0 => {
            spelt.remove(at);
        }
        1 => spelt.insert(at, spelt[at]),
        _ => {
            spelt[at] = random.pick(&[
                '(', ')', '0', '1', '_', '.', 'e', ' ', '\n', '=', '*', '\'', 'j', ',', 'x',
            ])
        }
    }
    *text = spelt.into_iter().collect();
}

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
        // by its bits, as Python has no literal for a nan and for an infinity
        Value::Float(value) => format!("D({:#x})", value.to_bits()),
        Value::Int(value) => format!("({value})"),
        // CPython refuses a decimal literal of more than 4,300 digits
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
        // the sign of a nan is what the compiler of the interpreter has chosen
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
        // the referee computes any power and any shift, however long that takes
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
                let near = match float_to_int(x) {
                    Ok(Value::Int(near)) => near.into(),
                    Ok(Value::Big(near)) => near.digits().clone(),
                    _ => BigInt::ZERO,
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
