//! Random formulas, and random values for their inputs.

use job_sort_formula::schema::InputType;
use job_sort_formula::{Function, PythonVersion, Schema, Value};
use jsf_lint::{Interval, NumberType, Ranges};
use jsf_testing::random::Generator;

/// The random choices.
pub struct Dice(Generator);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Generator(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.0.next() % count as u64) as usize
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn unit(&mut self) -> f64 {
        (self.0.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

pub const NAMES: &[&str] = &[
    "ncpus",
    "walltime",
    "mem",
    "eligible_time",
    "job_priority",
    "queue_priority",
    "fairshare_perc",
    "fairshare_factor",
    "fairshare_tree_usage",
    "r_float",
    "r_long",
    "accrue_type",
];

const LITERALS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "60",
    "3600",
    "0.0",
    "1.0",
    "0.5",
    "2.0",
    "1e-7",
    "1e9",
    "1e300",
    "0.1",
    "3.0",
    "9007199254740993",
    "18446744073709551617",
    "1024",
    "1e-320",
    "100",
    "10",
    "0.25",
    "1e16",
];

const CONSTANTS: &[&str] = &["pi", "e", "inf", "nan", "True", "False", "tau"];

const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "@",
];

pub fn schema() -> Schema {
    let mut schema = Schema::openpbs();
    schema.add("r_float", InputType::Float).expect("a name");
    schema.add("r_long", InputType::Count).expect("a name");
    schema
}

/// A formula of about `size` parts. With `plain`, it has none of the constructs that formulas
/// rarely need.
pub fn formula(dice: &mut Dice, size: usize, plain: bool) -> String {
    if size <= 1 {
        return leaf(dice, plain);
    }
    let left = 1 + dice.below(size - 1);
    let right = (size - left).max(1);
    match dice.below(20) {
        0..=7 => {
            let op = if dice.one_in(4) && !plain {
                *dice.pick(OPERATORS)
            } else {
                *dice.pick(&OPERATORS[..7])
            };
            format!(
                "({}) {op} ({})",
                formula(dice, left, plain),
                formula(dice, right, plain)
            )
        }
        8 => format!(
            "{}({})",
            dice.pick(&["-", "-", "+", "not ", "~"]),
            formula(dice, size - 1, plain)
        ),
        9 | 10 => comparison(dice, size, plain),
        11 => {
            let op = *dice.pick(&["and", "or"]);
            let parts: Vec<String> = (0..2 + dice.below(2))
                .map(|_| formula(dice, size / 3, plain))
                .collect();
            format!(
                "({})",
                parts
                    .iter()
                    .map(|part| format!("({part})"))
                    .collect::<Vec<_>>()
                    .join(&format!(" {op} "))
            )
        }
        12 | 13 => {
            let condition = if dice.one_in(3) {
                formula(dice, size / 3, plain)
            } else {
                comparison(dice, size / 3, plain)
            };
            let (then, other) = (
                formula(dice, size / 3, plain),
                formula(dice, size / 3, plain),
            );
            format!("(({then}) if {condition} else ({other}))")
        }
        14 => guarded(dice, size, plain),
        15 if !plain => format!(
            "({}, {})",
            formula(dice, left, plain),
            formula(dice, right, plain)
        ),
        _ => call(dice, size, plain),
    }
}

/// A formula with many zeros (integers, floats of either sign, booleans) in operations that
/// distinguish them.
pub fn zeros(dice: &mut Dice, size: usize) -> String {
    const ZEROS: &[&str] = &[
        "0", "0.0", "(-0.0)", "False", "True", "1", "1.0", "-1", "0.5", "2", "-1.0", "1e-320",
        "1e300",
    ];
    const CALLS: &[&str] = &[
        "copysign",
        "copysign",
        "atan2",
        "max",
        "min",
        "max",
        "min",
        "pow",
        "fmod",
        "remainder",
        "hypot",
        "ldexp",
    ];
    const OF_ONE: &[&str] = &[
        "abs", "fabs", "float", "int", "bool", "round", "floor", "ceil", "trunc", "sqrt", "exp",
        "sin", "atan", "sum",
    ];
    if size <= 1 {
        let name = |dice: &mut Dice| {
            (*dice.pick(&[
                "r_float",
                "r_float",
                "r_long",
                "fairshare_perc",
                "job_priority",
            ]))
            .to_owned()
        };
        return match dice.below(8) {
            0..=2 => name(dice),
            3 => format!(
                "({} * {})",
                name(dice),
                dice.pick(&["0", "0.0", "-0.0", "False"])
            ),
            4 => format!("({} {} 0)", name(dice), dice.pick(&["<", ">", "<=", ">="])),
            _ => (*dice.pick(ZEROS)).to_owned(),
        };
    }
    let left = zeros(dice, size / 2);
    let right = zeros(dice, size / 2);
    match dice.below(16) {
        0 | 1 => format!("({left} {} {right})", dice.pick(&["+", "-", "*", "*"])),
        12 => {
            let whole = dice.pick(&["1152921504606846976", "9007199254740993", "1e17", "3"]);
            format!("(({left} + {whole}) - {whole})")
        }
        13 => format!(
            "{}([{left}, {right}])",
            dice.pick(&["max", "min", "fsum", "sum", "prod"])
        ),
        14 => {
            let (chosen, outer) = (
                dice.pick(&["max", "min"]),
                dice.pick(&["max", "min", "sum"]),
            );
            format!(
                "{outer}({chosen}(({left}, {right}), ({}, {right})))",
                zeros(dice, size / 3)
            )
        }
        2 => format!("({left} {} {right})", dice.pick(&["/", "//", "%", "**"])),
        3 => format!("(1 / {left})"),
        4 => format!("({left} {} {right})", dice.pick(&["and", "or"])),
        5 => format!("(-{left})"),
        6 => format!(
            "({left} {} {right})",
            dice.pick(&["<", "<=", ">", ">=", "==", "!="])
        ),
        7 => format!("({left} if {} else {right})", zeros(dice, size / 3)),
        8 => match dice.pick(OF_ONE) {
            &"sum" => format!("sum([{left}, {right}])"),
            one => format!("{one}({left})"),
        },
        9 => format!("(not {left})"),
        10 => format!("copysign({left}, {right})"),
        11 => guarded(dice, size, true),
        _ => format!("{}({left}, {right})", dice.pick(CALLS)),
    }
}

/// A comparison of a part, and the part again in the branches of the comparison.
fn guarded(dice: &mut Dice, size: usize, plain: bool) -> String {
    let part = formula(dice, size / 4, plain);
    let (rest, literal) = (formula(dice, size / 4, plain), *dice.pick(LITERALS));
    let op = *dice.pick(&["<", "<=", ">", ">=", "==", "!="]);
    match dice.below(6) {
        0 => format!("(({rest}) / ({part}) if ({part}) {op} {literal} else log({part}))"),
        1 => format!("(({rest}) / ({part}) if {part} else ({part}))"),
        2 => format!("(({part}) and ({rest}) / ({part}))"),
        3 => format!("(sqrt({part}) if not ({part}) {op} {literal} else ({rest}) % ({part}))"),
        4 => {
            format!("(({part}) {op} {literal} and ({part}) {op} ({rest}) and ({rest}) - ({part}))")
        }
        _ => format!(
            "(1 / ({part}) if {literal} {op} ({part}) {op} ({rest}) or ({part}) == 2 else ({part}))"
        ),
    }
}

fn comparison(dice: &mut Dice, size: usize, plain: bool) -> String {
    let operators = ["<", "<=", ">", ">=", "==", "!=", "in", "not in"];
    let allowed = if plain || !dice.one_in(8) {
        &operators[..6]
    } else {
        &operators[..]
    };
    let mut text = format!("(({})", formula(dice, size / 2, plain));
    for _ in 0..1 + usize::from(dice.one_in(4)) {
        text += &format!(
            " {} ({})",
            dice.pick(allowed),
            formula(dice, size / 2, plain)
        );
    }
    text + ")"
}

fn call(dice: &mut Dice, size: usize, plain: bool) -> String {
    let common = [
        "max", "min", "log", "sqrt", "exp", "pow", "abs", "floor", "ceil", "round", "int", "float",
        "log2",
    ];
    let name = if dice.one_in(2) {
        *dice.pick(&common)
    } else {
        dice.pick(Function::ALL).name()
    };
    let Some(function) = Function::from_name(name) else {
        return leaf(dice, plain);
    };
    let (least, most) = function.arity(PythonVersion::default());
    let mut count = least + dice.below(most.unwrap_or(3).max(least) - least + 1);
    if matches!(name, "max" | "min" | "gcd" | "lcm" | "hypot") && count < 2 {
        count = 2;
    }
    if !plain && dice.one_in(20) {
        count += 1;
    }
    let wants_items = matches!(
        name,
        "sum" | "fsum" | "prod" | "all" | "any" | "len" | "dist"
    );
    let arguments: Vec<String> = (0..count)
        .map(|place| {
            let part = size / (count + 1);
            if wants_items && (place == 0 || name == "dist") && !dice.one_in(10) {
                let items: Vec<String> = (0..1 + dice.below(3))
                    .map(|_| formula(dice, part / 2, plain))
                    .collect();
                return format!("[{}]", items.join(", "));
            }
            formula(dice, part, plain)
        })
        .collect();
    format!("{name}({})", arguments.join(", "))
}

fn leaf(dice: &mut Dice, plain: bool) -> String {
    match dice.below(20) {
        0..=10 => (*dice.pick(NAMES)).to_owned(),
        18 => (*dice.pick(CONSTANTS)).to_owned(),
        19 if !plain => {
            (*dice.pick(&["None", "sqrt", "nothing_of_the_kind", "()", "[1, 2]"])).to_owned()
        }
        _ => (*dice.pick(LITERALS)).to_owned(),
    }
}

/// Ranges as a queue may have them; some names keep those of the schema.
pub fn ranges(dice: &mut Dice, schema: &Schema) -> Ranges {
    let mut ranges = Ranges::default();
    for &name in NAMES {
        let whole = ranges.interval(name, schema);
        match dice.below(4) {
            0 => ranges.observe(name, [draw(dice, whole), draw(dice, whole)]),
            1 => ranges.observe(name, [draw(dice, whole), Value::Int(0), Value::Int(1)]),
            _ => {}
        }
    }
    ranges
}

/// A value within a range, often a bound or a round number.
pub fn draw(dice: &mut Dice, within: Interval) -> Value {
    for _ in 0..40 {
        let value = candidate(dice, within);
        if within.contains(&value) {
            return value;
        }
    }
    let edge = within.low;
    let value = Value::Float(edge);
    if within.contains(&value) {
        value
    } else {
        Value::int(format!("{edge:.0}").parse().unwrap())
    }
}

fn candidate(dice: &mut Dice, within: Interval) -> Value {
    let span = if dice.one_in(3) { 1e18 } else { 1e5 };
    let (least, most) = (within.low.max(-span), within.high.min(span));
    let near = |dice: &mut Dice| least + (most - least) * dice.unit();
    let x = match dice.below(8) {
        0 => within.low,
        1 => within.high,
        2 => *dice.pick(&[0.0, -0.0]),
        3 => *dice.pick(&[
            1.0, -1.0, 2.0, 0.5, -0.5, 3.0, 1e-6, 60.0, 3600.0, 1e9, -7.0, 1e-300, 1e300,
        ]),
        4 => (near(dice) * 1e-3).round(),
        _ => near(dice),
    };
    let is_int = match within.kind() {
        NumberType::Int => true,
        NumberType::Float => false,
        NumberType::Either => dice.one_in(2),
    };
    match is_int {
        true if x.abs() < 9e18 => Value::Int(x.round() as i64),
        true => Value::int(format!("{x:.0}").parse().unwrap()),
        false => Value::Float(x),
    }
}
