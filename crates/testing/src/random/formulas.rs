//! Random formulas over the whole numeric language, most of them sensible.
//!
//! A formula is a list of tokens. The module `text` puts spaces, line ends and comments between
//! them, and mistakes into some of them.

use job_sort_formula::Schema;
use job_sort_formula::python::{Function, PythonVersion};
use job_sort_formula::schema::InputType;

use super::Generator;

/// Names whose values are integers, most of them small.
pub const INTEGERS: [&str; 4] = ["ncpus", "eligible_time", "job_priority", "größe"];

/// Names whose values are any numbers. `len` and `gamma` are names of functions too: the input
/// hides `len`, but not `gamma`.
pub const NUMBERS: [&str; 6] = ["fairshare_factor", "walltime", "_x1", "mem", "len", "gamma"];

/// The names above, all numeric.
pub fn schema() -> Schema {
    let mut schema = Schema::empty();
    for name in INTEGERS.iter().chain(&NUMBERS) {
        // a name of a function is not added, and means the function
        let _ = schema.add(name, InputType::Float);
    }
    schema
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// The numbers of which an expression consists.
#[derive(Clone, Copy, PartialEq)]
enum Operands {
    Integer,
    Any,
}

/// Writes one formula, token by token.
pub struct Writer<'g> {
    pub random: &'g mut Generator,
    pub tokens: Vec<String>,
}

impl<'g> Writer<'g> {
    pub fn formula(random: &'g mut Generator) -> Self {
        let mut writer = Self {
            random,
            tokens: Vec::new(),
        };
        let depth = writer.random.below(5);
        let operands = writer.operands();
        if writer.chance(50) {
            writer.several(2, depth, operands)
        } else {
            writer.expression(depth, operands)
        }
        writer
    }

    pub fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    fn push(&mut self, token: impl Into<String>) {
        self.tokens.push(token.into());
    }

    fn pick(&mut self, tokens: &[&'static str]) {
        let token = self.random.pick(tokens);
        self.push(token);
    }

    fn operands(&mut self) -> Operands {
        if self.chance(3) {
            Operands::Integer
        } else {
            Operands::Any
        }
    }

    fn expression(&mut self, depth: u64, operands: Operands) {
        if !self.chance(9) || depth == 0 {
            return self.disjunction(depth, operands);
        }
        self.disjunction(depth - 1, operands);
        self.push("if");
        let asked = self.operands();
        self.disjunction(depth - 1, asked);
        self.push("else");
        self.expression(depth - 1, operands);
    }

    fn disjunction(&mut self, depth: u64, operands: Operands) {
        self.inversion(depth, operands);
        while self.chance(9) && depth > 0 {
            self.pick(&["and", "or"]);
            self.inversion(depth - 1, operands);
        }
    }

    fn inversion(&mut self, depth: u64, operands: Operands) {
        while self.chance(25) {
            self.push("not");
        }
        self.arithmetic(depth, operands);
        if self.chance(25) {
            self.membership(depth, operands);
        }
        while self.chance(8) && depth > 0 {
            self.pick(&COMPARISONS);
            let other = if self.chance(4) {
                Operands::Any
            } else {
                operands
            };
            self.arithmetic(depth - 1, other);
        }
    }

    fn membership(&mut self, depth: u64, operands: Operands) {
        if self.chance(2) {
            self.push("not");
        }
        self.push("in");
        self.sequence(depth.saturating_sub(1), operands);
    }

    fn arithmetic(&mut self, depth: u64, operands: Operands) {
        self.operand(depth, operands);
        let mut more = 2;
        while depth > 0 && self.chance(more) {
            more = 3;
            match self.random.below(24) {
                0..=12 => self.pick(&["+", "-", "*", "/", "+", "*"]),
                13..=17 => self.pick(&["%", "//"]),
                18 | 19 => return self.power(depth, operands),
                20..=22 if operands == Operands::Integer => match self.random.below(3) {
                    0 => return self.shift(depth, operands),
                    _ => self.pick(&["&", "|", "^"]),
                },
                23 if self.chance(12) => self.pick(&["@", "&", "|", "^", "<<", ">>"]),
                _ => self.pick(&["-", "/"]),
            }
            self.operand(depth - 1, operands);
        }
    }

    /// Most exponents are small, because Python computes any power, however long it takes.
    fn power(&mut self, depth: u64, operands: Operands) {
        self.push("**");
        match self.random.below(8) {
            0..=3 => self.pick(&[
                "2", "3", "-1", "0", "0.5", "-2", "1.5", "7", "1e3", "0x10", "-0.25",
            ]),
            4 => self.pick(&INTEGERS),
            5 => self.pick(&NUMBERS),
            _ => self.operand(depth - 1, operands),
        }
    }

    fn shift(&mut self, depth: u64, operands: Operands) {
        self.pick(&["<<", ">>"]);
        match self.random.below(4) {
            0 => self.operand(depth - 1, operands),
            1 => self.pick(&INTEGERS),
            _ => self.pick(&["0", "1", "3", "31", "63", "64", "100", "-1"]),
        }
    }

    fn operand(&mut self, depth: u64, operands: Operands) {
        while self.chance(8) {
            match self.random.below(5) {
                0 if operands == Operands::Integer => self.push("~"),
                1 => self.push("+"),
                _ => self.push("-"),
            }
        }
        match self.random.below(12) {
            0..=3 if depth > 0 => self.call(depth - 1, operands),
            4 | 5 if depth > 0 => self.bracketed(depth - 1, operands),
            6..=8 => self.literal(operands),
            9 => self.word(depth, operands),
            _ => self.name(operands),
        }
    }

    fn bracketed(&mut self, depth: u64, operands: Operands) {
        self.push("(");
        self.expression(depth, operands);
        self.push(")");
    }

    fn name(&mut self, operands: Operands) {
        match operands {
            Operands::Integer => self.pick(&INTEGERS),
            Operands::Any if self.chance(3) => self.pick(&INTEGERS),
            // the inputs `gamma` and `len` are rare
            Operands::Any if self.chance(12) => self.pick(&NUMBERS),
            Operands::Any => self.pick(&NUMBERS[..4]),
        }
    }

    fn word(&mut self, depth: u64, operands: Operands) {
        match self.random.below(40) {
            0 => self.pick(&[
                "None", "sqrt", "unknown", "exit", "int", "max", "größe", "eⅷ", "True", "False",
            ]),
            1 => self.sequence(depth.saturating_sub(1), operands),
            2..=9 => self.pick(&["True", "False"]),
            _ if operands == Operands::Integer => self.name(operands),
            10..=12 => self.pick(&["inf", "nan"]),
            _ => self.pick(&["pi", "e", "tau"]),
        }
    }

    fn sequence(&mut self, depth: u64, operands: Operands) {
        let (open, close) = if self.chance(2) {
            ("(", ")")
        } else {
            ("[", "]")
        };
        let count = self.random.below(5);
        self.push(open);
        self.items(count, depth, operands);
        if (count == 1 && open == "(") || (count > 0 && self.chance(5)) {
            self.push(",");
        }
        self.push(close);
    }

    fn items(&mut self, count: u64, depth: u64, operands: Operands) {
        for index in 0..count {
            if index > 0 {
                self.push(",");
            }
            if self.chance(20) && depth > 0 {
                self.sequence(depth - 1, operands)
            } else {
                self.expression(depth, operands)
            }
        }
    }

    fn several(&mut self, least: u64, depth: u64, operands: Operands) {
        let count = least + self.random.below(3);
        self.items(count, depth, operands);
    }

    // ---- calls
    // ------------------------------------------------------------------------------------------------

    fn call(&mut self, depth: u64, operands: Operands) {
        let function = self.function(operands);
        if self.chance(60) {
            self.bracketed(depth, operands); // `(1 + 2)(3)` is a call as well
        } else {
            self.push(function.name());
        }
        self.push("(");
        let first = self.tokens.len();
        if self.chance(40) {
            let count = self.random.below(4);
            self.items(count, depth, operands);
        } else {
            self.arguments(function, depth, operands);
        }
        self.keywords(function, first, depth, operands);
        if self.tokens.len() > first && self.chance(30) {
            self.push(",");
        }
        self.push(")");
    }

    fn function(&mut self, operands: Operands) -> Function {
        use Function as F;
        match operands {
            Operands::Integer => self.random.pick(&[
                F::Abs,
                F::Int,
                F::Round,
                F::Floor,
                F::Ceil,
                F::Trunc,
                F::Max,
                F::Min,
                F::Sum,
                F::Prod,
                F::Gcd,
                F::Lcm,
                F::Isqrt,
                F::Comb,
                F::Perm,
                F::Factorial,
            ]),
            Operands::Any => self.random.pick(F::ALL),
        }
    }

    fn arguments(&mut self, function: Function, depth: u64, operands: Operands) {
        use Function as F;
        match function {
            F::All | F::Any | F::Len | F::Fsum | F::Sum | F::Prod => self.sequence(depth, operands),
            F::Max | F::Min if self.chance(4) => self.sequence(depth, operands),
            F::Max | F::Min | F::Hypot => self.several(1, depth, operands),
            F::Dist => {
                self.point(depth);
                self.push(",");
                self.point(depth);
            }
            F::Gcd | F::Lcm => self.several(0, depth, Operands::Integer),
            F::Isqrt => self.items(1, depth, Operands::Integer),
            // Python computes the factorial of a number of seven digits for minutes
            F::Factorial => {
                self.pick(&["0", "5", "12", "13.0", "25", "170", "400", "ncpus%40", "-1"])
            }
            F::Comb | F::Perm => {
                self.expression(depth, Operands::Integer);
                self.push(",");
                self.pick(&["0", "1", "2", "5", "9", "ncpus%20", "33"]);
            }
            F::Ldexp => {
                self.expression(depth, operands);
                self.push(",");
                self.expression(depth, Operands::Integer);
            }
            F::Round if self.chance(2) => {
                self.expression(depth, operands);
                self.push(",");
                self.pick(&[
                    "0", "1", "2", "5", "-1", "-3", "17", "400", "ncpus%9", "None",
                ]);
            }
            F::Log if self.chance(2) => self.items(2, depth, operands),
            F::Gamma | F::Lgamma if self.chance(2) => {
                self.pick(&["ncpus/3", "2.5", "ncpus", "171.5"])
            }
            _ => self.items(
                function.arity(PythonVersion::NEWEST).0 as u64,
                depth,
                operands,
            ),
        }
    }

    fn point(&mut self, depth: u64) {
        self.push("(");
        self.items(2, depth, Operands::Any);
        self.push(")");
    }

    fn keywords(&mut self, function: Function, first: usize, depth: u64, operands: Operands) {
        let known = function.keywords(PythonVersion::NEWEST);
        let one_in = if known.is_empty() { 100 } else { 5 };
        while self.chance(one_in) {
            if self.tokens.len() > first {
                self.push(",");
            }
            if self.chance(12) || known.is_empty() {
                self.pick(&[
                    "key", "start", "base", "ndigits", "default", "zzz", "x", "a",
                ])
            } else {
                self.pick(&known)
            }
            let name = self.tokens.last().cloned().unwrap_or_default();
            self.push("=");
            match &*name {
                "key" => self.pick(&[
                    "abs", "None", "floor", "sqrt", "int", "bool", "max", "ncpus",
                ]),
                "ndigits" | "base" => self.pick(&["0", "1", "-2", "None", "10", "3.0"]),
                _ => self.expression(depth, operands),
            }
        }
    }

    // ---- numbers
    // ----------------------------------------------------------------------------------------------

    fn literal(&mut self, operands: Operands) {
        let text = if operands == Operands::Integer || self.chance(3) {
            self.integer()
        } else {
            self.float()
        };
        self.push(text);
    }

    fn integer(&mut self) -> String {
        let value = self.random.next() >> self.random.below(64);
        match self.random.below(30) {
            0..=14 => self.random.below(20).to_string(),
            15 => "1024".to_owned(),
            16 => (value % 100_000).to_string(),
            17 => self.underscored(&value.to_string()),
            18 => self.underscored(&format!("0x_{value:x}")),
            19 => format!("0X{value:X}"),
            20 => self.underscored(&format!("0o{value:o}")),
            21 => format!("0B{:b}", value & 0xfff),
            22 => "0_0".to_owned(),
            23 => "000".to_owned(),
            24 => format!("{value}{}", self.random.next()),
            25 if self.chance(5) => format!("1{}", "0".repeat(self.random.below(700) as usize)),
            26 => (1_u64 << 53).wrapping_add(self.random.below(3)).to_string(),
            27 => "9223372036854775807".to_owned(),
            _ => self.random.below(1000).to_string(),
        }
    }

    fn float(&mut self) -> String {
        let whole = self.random.below(1000);
        let rest = self.random.next() >> self.random.below(64);
        let sign = self.random.pick(&["", "+", "-"]);
        match self.random.below(16) {
            0..=3 => format!("{whole}.{}", rest % 1000),
            4 => format!("{whole}."),
            5 => format!(".{rest}"),
            6 => format!("{whole}e{sign}{}", rest % 20),
            7 => format!("0{whole}.{rest}E{sign}0{}", rest % 330),
            8 => format!(".5e{sign}{}", rest % 5),
            9 => self.underscored(&format!("{whole}000.25")),
            10 => format!("{rest}.{}e{sign}1_0", self.random.next()),
            11 => format!("{:?}", f64::from_bits(self.random.next() >> 2)),
            12 => self
                .random
                .pick(&[
                    "1e400",
                    "1e-400",
                    "5e-324",
                    "2.4703282292062327e-324",
                    "1.7976931348623157e308",
                ])
                .to_owned(),
            13 => self
                .random
                .pick(&["0.1", "0.0", "0.5", "1e-9", "1.0", "2.5"])
                .to_owned(),
            14 => format!("0.{}{}{}", rest, self.random.next(), self.random.next()),
            _ => format!("0.{}", rest % 100),
        }
    }

    /// With `_` between some digits.
    fn underscored(&mut self, digits: &str) -> String {
        let mut text = String::new();
        for digit in digits.chars() {
            let between = text
                .chars()
                .last()
                .is_some_and(|last| last.is_ascii_hexdigit())
                && digit.is_ascii_hexdigit();
            if between && !text.ends_with("0b") && self.chance(3) {
                text.push('_');
            }
            text.push(digit);
        }
        text
    }
}
