//! Random formulas over the whole numeric language, most of them sensible.
//!
//! A formula is a list of tokens. The module `text` puts spaces, line ends and comments between
//! them, and mistakes into some of them.

use job_sort_formula::schema::InputType;
use job_sort_formula::{Function, PythonVersion, Schema};

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

/// The grammar: the alternatives of each rule, divided by `;`, each after the number of times that
/// it counts. Words in upper case are rules, those of [`Writer::hook`] or of this table.
const RULES: [(&str, &str); 26] = [
    ("FORMULA", "48 EXPR; 1 EXPR , EXPR; 1 EXPR , EXPR , EXPR"),
    ("EXPR", "18 TEST; 1 TEST if ANY else EXPR"),
    (
        "TEST",
        "28 COMPARED; 1 not COMPARED; 1 not not COMPARED; 1 COMPARED and TEST; 1 COMPARED or TEST",
    ),
    (
        "COMPARED",
        "48 SUM; 4 SUM COMPARE SUM; 2 SUM COMPARE ANY_SUM; 1 SUM COMPARE SUM COMPARE SUM; 1 SUM in SEQUENCE; 1 SUM not in SEQUENCE",
    ),
    ("COMPARE", "1 ==; 1 !=; 1 <; 1 <=; 1 >; 1 >="),
    (
        "SUM",
        "24 OPERAND; 14 OPERAND ADD SUM; 6 OPERAND DIVIDE SUM; 2 OPERAND ** EXPONENT; 3 BITS",
    ),
    ("ADD", "2 +; 2 *; 1 -; 1 /"),
    ("DIVIDE", "2 %; 2 //; 1 /"),
    // most are small, because Python computes any power, however long it takes
    (
        "EXPONENT",
        "2 2; 2 3; 2 -1; 2 0; 2 0.5; 2 -2; 2 1.5; 2 7; 2 1e3; 2 0x10; 2 -0.25; 5 INTEGER_NAME; 5 NAME; 10 OPERAND",
    ),
    ("BITWISE", "2 OPERAND BIT SUM; 1 OPERAND SHIFT SHIFTED"),
    ("BIT", "3 &; 3 |; 3 ^; 1 @"),
    ("SHIFT", "1 <<; 1 >>"),
    (
        "SHIFTED",
        "2 0; 2 1; 2 3; 2 31; 2 63; 2 64; 2 100; 2 -1; 8 INTEGER_NAME; 8 OPERAND",
    ),
    ("OPERAND", "36 ATOM; 3 - OPERAND; 1 + OPERAND; 1 INVERTED"),
    ("ATOM", "6 LEAF; 4 CALL; 2 ( EXPR )"),
    ("LEAF", "3 LITERAL; 2 NAME; 1 WORD"),
    (
        "SEQUENCE",
        "1 ( ); 1 [ ]; 2 [ ITEMS ]; 1 [ ITEMS , ]; 2 ( ITEMS , EXPR ); 2 ( ITEMS , )",
    ),
    (
        "ITEMS",
        "4 EXPR; 4 EXPR , EXPR; 3 EXPR , EXPR , EXPR; 1 SEQUENCE , EXPR",
    ),
    (
        "INTEGER_NAME",
        "1 ncpus; 1 eligible_time; 1 job_priority; 1 größe",
    ),
    // the inputs `len` and `gamma` are rare
    (
        "NUMBER",
        "9 fairshare_factor; 9 walltime; 9 _x1; 9 mem; 1 len; 1 gamma",
    ),
    ("WORD", "4 True; 4 False; 1 SEQUENCE; 1 ODD; 30 CONSTANTS"),
    ("CONSTANT", "2 inf; 2 nan; 3 pi; 3 e; 2 tau"),
    (
        "ODD",
        "1 None; 1 sqrt; 1 unknown; 1 exit; 1 int; 1 max; 1 größe; 1 eⅷ; 1 True; 1 False",
    ),
    ("SMALL", "1 0; 1 1; 1 2; 1 5; 1 9; 1 ncpus%20; 1 33"),
    (
        "DIGITS",
        "2 0; 2 1; 1 2; 1 5; 1 -1; 1 -2; 1 -3; 1 10; 1 17; 1 400; 1 ncpus%9; 2 None; 1 3.0",
    ),
    (
        "KEY",
        "1 abs; 1 None; 1 floor; 1 sqrt; 1 int; 1 bool; 1 max; 1 ncpus",
    ),
];

/// What is written only where a formula may get deeper.
const DEEPER: [&str; 6] = ["CALL", "EXPR", "ITEMS", "SEQUENCE", "SUM", "TEST"];

/// The arguments of functions that need others than as many numbers as they take.
const ARGUMENTS: [(&str, &str); 12] = [
    ("all any len fsum sum prod", "1 SEQUENCE"),
    ("max min", "3 ITEMS; 1 SEQUENCE"),
    ("hypot", "1 ITEMS"),
    ("dist", "1 ( EXPR , EXPR ) , ( EXPR , EXPR )"),
    ("gcd lcm", "1 INTEGER; 2 INTEGER , INTEGER; 1"),
    ("isqrt", "1 INTEGER"),
    // Python computes the factorial of a number of seven digits for minutes
    (
        "factorial",
        "1 0; 1 5; 1 12; 1 13.0; 1 25; 1 170; 1 400; 1 ncpus%40; 1 -1",
    ),
    ("comb perm", "1 INTEGER , SMALL"),
    ("ldexp", "1 EXPR , INTEGER"),
    ("round", "1 EXPR; 1 EXPR , DIGITS"),
    ("log", "1 EXPR; 1 EXPR , EXPR"),
    ("gamma lgamma", "4 EXPR; 1 ncpus/3; 1 2.5; 1 ncpus; 1 171.5"),
];

/// The functions that give integers.
const INTEGER_FUNCTIONS: &str =
    "abs int round floor ceil trunc max min sum prod gcd lcm isqrt comb perm factorial";

/// Writes one formula, token by token.
pub struct Writer<'g> {
    pub random: &'g mut Generator,
    pub tokens: Vec<String>,
    /// Whether the numbers of which an expression consists are integers.
    is_integer: bool,
}

impl<'g> Writer<'g> {
    pub fn formula(random: &'g mut Generator) -> Self {
        let depth = random.below(5);
        let mut writer = Self {
            is_integer: random.below(3) == 0,
            random,
            tokens: Vec::new(),
        };
        writer.rule("FORMULA", depth);
        writer
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    fn push(&mut self, token: impl Into<String>) {
        self.tokens.push(token.into());
    }

    /// Writes a text that a rule produces.
    fn rule(&mut self, name: &str, depth: u64) {
        for (rule, alternatives) in RULES {
            if rule == name {
                return self.one_of(alternatives, depth);
            }
        }
        self.hook(name, depth);
    }

    /// Writes one of the alternatives; the first one is there in any depth.
    fn one_of(&mut self, alternatives: &str, depth: u64) {
        let mut weighted = Vec::new();
        for alternative in alternatives.split(';') {
            let mut words = alternative.split_whitespace();
            let count = words.next().and_then(|count| count.parse().ok());
            let words: Vec<&str> = words.collect();
            let is_deeper = words.iter().any(|word| DEEPER.contains(word));
            if depth > 0 || weighted.is_empty() || !is_deeper {
                weighted.extend(vec![words; count.expect("a weight")]);
            }
        }
        let at = self.random.below(weighted.len() as u64) as usize;
        let words = weighted.swap_remove(at);
        let inner = depth.saturating_sub(u64::from(words.len() > 1));
        for word in words {
            if word.len() > 1
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            {
                self.rule(word, inner);
            } else {
                self.push(word);
            }
        }
    }

    /// Writes a rule that depends on what was written before, or on numbers.
    fn hook(&mut self, name: &str, depth: u64) {
        let before = self.is_integer;
        match name {
            "INTEGER" => {
                self.is_integer = true;
                self.rule("EXPR", depth);
            }
            "ANY" | "ANY_SUM" => {
                self.is_integer = self.chance(3);
                self.rule(if name == "ANY" { "TEST" } else { "SUM" }, depth);
            }
            // floats have no bits: a few of these errors are enough
            "BITS" if depth > 0 && (before || self.chance(12)) => self.rule("BITWISE", depth - 1),
            "BITS" => self.rule("OPERAND", depth),
            "INVERTED" => {
                self.push(if before { "~" } else { "-" });
                self.rule("OPERAND", depth);
            }
            "NAME" if before || self.chance(3) => self.rule("INTEGER_NAME", depth),
            "NAME" => self.rule("NUMBER", depth),
            "CONSTANTS" if before => self.rule("NAME", depth),
            "CONSTANTS" => self.rule("CONSTANT", depth),
            "LITERAL" => {
                let text = if before || self.chance(3) {
                    self.integer()
                } else {
                    self.float()
                };
                self.push(text);
            }
            "CALL" => self.call(depth),
            other => panic!("`{other}` is no rule"),
        }
        self.is_integer = before;
    }

    fn call(&mut self, depth: u64) {
        let depth = depth.saturating_sub(1);
        let mut functions = Function::ALL.to_vec();
        if self.is_integer {
            functions.retain(|function| has(INTEGER_FUNCTIONS, function.name()));
        }
        let function = self.random.pick(&functions);
        if self.chance(60) {
            // `(1 + 2)(3)` is a call as well
            self.one_of("1 ( EXPR )", depth);
        } else {
            self.push(function.name());
        }
        self.push("(");
        let first = self.tokens.len();
        let arity = function.arity(PythonVersion::NEWEST).0;
        let mut arguments = format!("1 {}", vec!["EXPR"; arity].join(" , "));
        for (functions, special) in ARGUMENTS {
            if has(functions, function.name()) {
                arguments = special.to_owned();
            }
        }
        if self.chance(40) {
            arguments = "1; 1 EXPR; 1 EXPR , EXPR; 1 EXPR , EXPR , EXPR".to_owned();
        }
        self.one_of(&arguments, depth);
        let known = function.keywords(PythonVersion::NEWEST);
        while self.chance(if known.is_empty() { 100 } else { 5 }) {
            if self.tokens.len() > first {
                self.push(",");
            }
            let name = if self.chance(12) || known.is_empty() {
                self.random.pick(&[
                    "key", "start", "base", "ndigits", "default", "zzz", "x", "a",
                ])
            } else {
                self.random.pick(&known)
            };
            self.push(name);
            self.push("=");
            let value = match name {
                "key" => "KEY",
                "ndigits" | "base" => "DIGITS",
                _ => "EXPR",
            };
            self.rule(value, depth);
        }
        if self.tokens.len() > first && self.chance(30) {
            self.push(",");
        }
        self.push(")");
    }

    fn integer(&mut self) -> String {
        let value = self.random.next() >> self.random.below(64);
        match self.random.below(30) {
            0..=14 => self.random.below(20).to_string(),
            15 => (value % 100_000).to_string(),
            16 => self.underscored(&value.to_string()),
            17 => self.underscored(&format!("0x_{value:x}")),
            18 => format!("0X{value:X}"),
            19 => self.underscored(&format!("0o{value:o}")),
            20 => format!("0B{:b}", value & 0xfff),
            21 => format!("{value}{}", self.random.next()),
            22 if self.chance(5) => format!("1{}", "0".repeat(self.random.below(700) as usize)),
            23 => (1_u64 << 53).wrapping_add(self.random.below(3)).to_string(),
            24 => {
                let odd = ["0_0", "000", "1024", "9223372036854775807"];
                self.random.pick(&odd).to_owned()
            }
            _ => self.random.below(1000).to_string(),
        }
    }

    fn float(&mut self) -> String {
        const ODD: [&str; 11] = [
            "1e400",
            "1e-400",
            "5e-324",
            "2.4703282292062327e-324",
            "1.7976931348623157e308",
            "0.1",
            "0.0",
            "0.5",
            "1e-9",
            "1.0",
            "2.5",
        ];
        let whole = self.random.below(1000);
        let rest = self.random.next() >> self.random.below(64);
        let sign = self.random.pick(&["", "+", "-"]);
        match self.random.below(15) {
            0..=3 => format!("{whole}.{}", rest % 1000),
            4 => format!("{whole}."),
            5 => format!(".{rest}"),
            6 => format!("{whole}e{sign}{}", rest % 20),
            7 => format!("0{whole}.{rest}E{sign}0{}", rest % 330),
            8 => self.underscored(&format!("{whole}000.25")),
            9 => format!("{rest}.{}e{sign}1_0", self.random.next()),
            10 => format!("{:?}", f64::from_bits(self.random.next() >> 2)),
            11 | 12 => self.random.pick(&ODD).to_owned(),
            13 => format!("0.{rest}{}{}", self.random.next(), self.random.next()),
            _ => format!("0.{}", rest % 100),
        }
    }

    /// With `_` between some digits.
    fn underscored(&mut self, digits: &str) -> String {
        let mut text = String::new();
        for digit in digits.chars() {
            let is_between =
                text.ends_with(|last: char| last.is_ascii_hexdigit()) && digit.is_ascii_hexdigit();
            if is_between && !text.ends_with("0b") && self.chance(3) {
                text.push('_');
            }
            text.push(digit);
        }
        text
    }
}

/// Whether a word is one of these.
fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}
