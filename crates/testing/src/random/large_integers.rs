//! Random formulas of integers, and integers near the powers of two where their representations
//! change.

use super::Generator;

/// The names of the formulas.
pub const NAMES: [&str; 3] = ["ncpus", "eligible_time", "job_priority"];

/// Where the integers of doubles, of 64 bits, of two doubles and of 128 bits end.
const EDGES: [u32; 9] = [26, 31, 35, 42, 52, 53, 54, 62, 63];

const OPERATORS: [&str; 14] = [
    "+", "-", "*", "*", "*", "/", "/", "//", "%", "+", "-", "*", "<", "==",
];

const LITERALS: [&str; 20] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "-5",
    "10",
    "3600",
    "1024",
    "4503599627370497",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "-9223372036854775808",
    "18446744073709551615",
    "81129638414606681695789005144064",
    "-20282409603651670423947251286015",
    "85070591730234615865843651857942052863",
    "-170141183460469231731687303715884105728",
    "0.5",
];

impl Generator {
    /// An integer of 64 bits, most often next to one of the edges.
    pub fn integer_at_an_edge(&mut self) -> i64 {
        let bits = self.pick(&EDGES);
        let size = (1_i128 << bits) + i128::from(self.below(7)) - 3;
        let any = self.next() >> (64 - bits);
        let magnitude = match self.below(4) {
            0 => i128::from(self.below(10)),
            1 => size,
            _ => i128::from(any),
        };
        let signed = if self.below(3) == 0 {
            -magnitude
        } else {
            magnitude
        };
        signed.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The integers of a column: all near one size, or near any.
    pub fn integers_at_edges(&mut self, rows: usize) -> Vec<i64> {
        let bits = self.pick(&EDGES);
        match self.below(4) {
            0 => (0..rows).map(|_| self.integer_at_an_edge()).collect(),
            1 => (0..rows)
                .map(|_| (self.next() >> (64 - bits)) as i64 - (1_i64 << (bits - 1)))
                .collect(),
            2 => (0..rows)
                .map(|_| ((1_i128 << bits) - i128::from(self.below(4)) - 1) as i64)
                .collect(),
            _ => (0..rows).map(|_| self.below(5_000_000) as i64).collect(),
        }
    }

    /// A formula of integers, some of whose results are beyond 2^53.
    pub fn formula_of_integers(&mut self, depth: u64) -> String {
        if depth == 0 {
            return if self.below(4) == 0 {
                self.pick(&LITERALS)
            } else {
                self.pick(&NAMES)
            }
            .to_owned();
        }
        let left = self.formula_of_integers(depth - 1);
        match self.below(16) {
            0..=2 => format!("({left})**{}", 2 + self.below(4)),
            3 => format!(
                "({left})**{}",
                self.pick(&["6", "9", "16", "17", "-1", "0", "0.5"])
            ),
            4 => format!("-({left})"),
            5 => format!(
                "{}({left})",
                self.pick(&["abs", "~", "+", "not ", "float", "int", "sqrt", "floor"])
            ),
            6 => format!(
                "{}({left}, {})",
                self.pick(&["max", "min", "pow"]),
                self.formula_of_integers(depth - 1)
            ),
            7 => {
                let condition = self.formula_of_integers(depth - 1);
                format!(
                    "(({left}) if ({condition}) else {})",
                    self.formula_of_integers(depth - 1)
                )
            }
            _ => {
                let depth = self.below(depth);
                format!(
                    "({left}) {} ({})",
                    self.pick(&OPERATORS),
                    self.formula_of_integers(depth)
                )
            }
        }
    }
}
