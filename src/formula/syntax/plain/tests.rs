//! Whatever is read here, the grammar reads alike.
//!
//! `PLAIN_TEXTS` says how many texts to draw, `PLAIN_SEED` where the dice start, `PLAIN_LENGTH` up to how
//! many pieces every text there is of them is tried.

use crate::formula::syntax::plain::*;
use crate::formula::syntax::{MAX_LENGTH, by_grammar};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Whether the text is read here; the grammar must then read the same in it.
fn is_read(text: &str) -> bool {
    let Some(own) = read(text) else { return false };
    match by_grammar(text, MAX_LENGTH) {
        Ok(expr) => {
            assert_eq!(own.nodes(), expr.nodes(), "{text:?}");
            assert_eq!((own.text(), own.scopes().count()), (text, 0), "{text:?}");
            assert_eq!((expr.text(), expr.scopes().count()), (text, 0), "{text:?}");
        }
        Err(error) => panic!("{text:?} is read, but the grammar says: {error}"),
    }
    true
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides as u64) as usize
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.below(sides) == 0
    }

    fn pick(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }
}

const NAMES: [&str; 14] =
    ["x", "ncpus", "eligible_time", "_", "_a1", "None", "True", "e", "E1", "note", "order", "iff", "elseif", "lambda_"];
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "42",
    "0.5",
    "5.",
    ".5",
    "1e3",
    "1E-7",
    "1.e+4",
    ".5e2",
    "0.",
    "0.0",
    "0e0",
    "100.00",
    "9007199254740993",
    "1000000",
];
const SYMBOLS: [&str; 13] = ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">="];

/// Adds the tokens of a plain expression.
fn write(tokens: &mut Vec<&'static str>, depth: usize, dice: &mut Dice) {
    while dice.one_in(6) {
        tokens.push(dice.pick(&["-", "+"]));
    }
    match dice.below(if depth == 0 { 2 } else { 7 }) {
        0 => tokens.push(dice.pick(&NAMES)),
        1 => tokens.push(dice.pick(&NUMBERS)),
        2 => around(tokens, "(", depth, dice),
        3 => {
            write(tokens, depth - 1, dice);
            tokens.push(dice.pick(&["if", "and", "or", "and not", "or not"]));
            let is_condition = tokens.ends_with(&["if"]);
            write(tokens, depth - 1, dice);
            if is_condition {
                tokens.push("else");
                write(tokens, depth - 1, dice);
            }
        }
        4 => {
            tokens.extend([dice.pick(&NAMES), "("]);
            for argument in 0..dice.below(4) {
                if argument > 0 {
                    tokens.push(",");
                }
                write(tokens, depth - 1, dice);
            }
            tokens.push(")");
        }
        5 => {
            around(tokens, "(", depth, dice);
            around(tokens, "(", depth, dice);
        }
        _ => {
            write(tokens, depth - 1, dice);
            for _ in 0..=dice.below(3) {
                tokens.push(dice.pick(&SYMBOLS));
                write(tokens, depth - 1, dice);
            }
        }
    }
}

fn around(tokens: &mut Vec<&'static str>, open: &'static str, depth: usize, dice: &mut Dice) {
    tokens.push(open);
    if dice.one_in(8) {
        tokens.push("not");
    }
    write(tokens, depth - 1, dice);
    tokens.push(")");
}

/// The tokens with blanks between them, those at least that keep two words apart.
fn spaced(tokens: &[&str], dice: &mut Dice) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let width = dice.below(3);
    let mut text = String::new();
    for token in tokens {
        let touches = text.ends_with(is_word) && token.starts_with(is_word);
        text.push_str(match width {
            0 if touches => " ",
            0 => "",
            1 => " ",
            _ if touches => dice.pick(&[" ", "\t", "  "]),
            _ => dice.pick(&["", " ", "\t", "   "]),
        });
        text.push_str(token);
    }
    text
}

const PIECES: [&str; 96] = [
    "(", ")", "()", "[", "]", "{", "}", ",", ",)", ":", ";", ".", "..", "...", "=", ":=", "==", "===", "!=", "!==",
    "!", "<>", "<=>", "->", "**", "***", "*", "//", "///", "/", "%", "%=", "@", "+", "+=", "-", "-=", "~", "?", "&",
    "&&", "|", "^", "<<", ">>", "<", ">", " ", "  ", "\t", "\n", "\r", "\r\n", "\u{c}", "\u{b}", "\\", "\\\n", "\\*",
    "#", "'", "\"", "''", "r'", "\0", "é", "\u{b7}", "\u{301}", "\u{a0}", "\u{200b}", "\u{feff}", "ﬁ", "−", "²", "0",
    "00", "07", "0x1f", "0b1", "1_0", "_", "1j", "e", "e5", "if", "else", "not", "and", "or", "in", "is", "for",
    "lambda", "async", "None", "x", "$",
];

/// Breaks the text in some places, or mends it.
fn slip(text: &mut String, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let (at, end) = (places[dice.below(places.len())], places[dice.below(places.len())]);
        let behind = places.iter().copied().find(|&place| place > at).unwrap_or(at);
        match dice.below(6) {
            0 => text.replace_range(at..behind, ""),
            1 => text.replace_range(at..behind, dice.pick(&PIECES)),
            2 if at < end && end - at < 12 => text.replace_range(at..end, ""),
            3 if at < end && end - at < 12 => {
                let again = text[at..end].to_owned();
                text.insert_str(at, &again);
            }
            _ => text.insert_str(at, dice.pick(&PIECES)),
        }
    }
}

#[test]
fn what_is_plain_is_read_as_the_grammar_reads_it() {
    let mut dice = Dice(setting("PLAIN_SEED", 1));
    for _ in 0..setting("PLAIN_TEXTS", 20_000) / 4 {
        let mut tokens = Vec::new();
        let depth = dice.below(5);
        write(&mut tokens, depth, &mut dice);
        let text = spaced(&tokens, &mut dice);
        assert_eq!(is_read(&text), by_grammar(&text, MAX_LENGTH).is_ok(), "{text:?}");
    }
}

#[test]
fn what_is_nearly_plain_is_read_as_the_grammar_reads_it() {
    let mut dice = Dice(setting("PLAIN_SEED", 1) + 1);
    let mut read = 0;
    for _ in 0..setting("PLAIN_TEXTS", 20_000) {
        let mut tokens = Vec::new();
        let depth = dice.below(4);
        write(&mut tokens, depth, &mut dice);
        let mut text = spaced(&tokens, &mut dice);
        slip(&mut text, &mut dice);
        read += usize::from(is_read(&text));
    }
    assert!(read > 0);
}

#[test]
fn every_short_text_is_read_as_the_grammar_reads_it() {
    const SHORT: [&str; 30] = [
        "x", "e", "not", "if", "else", "and", "or", "in", "0", "1", ".", "_", "(", ")", ",", " ", "\t", "+", "-", "*",
        "/", "%", "<", ">", "=", "!", "é", "'", "\n", "f(",
    ];
    for length in 0..=setting("PLAIN_LENGTH", 3) as u32 {
        for number in 0..SHORT.len().pow(length) {
            let places = (0..length).scan(number, |rest, _| {
                let place = *rest % SHORT.len();
                *rest /= SHORT.len();
                Some(SHORT[place])
            });
            is_read(&places.collect::<String>());
        }
    }
}

#[test]
fn the_formulas_of_real_sites_are_plain() {
    for text in [
        include_str!("../../../../examples/formulas/alcf.txt"),
        include_str!("../../../../examples/formulas/nas.txt"),
        include_str!("../../../../examples/formulas/pp718.txt"),
        include_str!("../../../../examples/formulas/qut.txt"),
    ] {
        assert!(is_read(text.trim()), "{text}");
    }
}

#[test]
fn the_limits_are_those_of_the_grammar() {
    let deep = |open: &str, levels: usize| format!("{}1{}", open.repeat(levels), ")".repeat(levels));
    for open in ["(", "f(", "-(", "f(1,", "not ("] {
        assert!(is_read(&deep(open, MAX_NESTING)), "{open}");
        assert!(!is_read(&deep(open, MAX_NESTING + 1)), "{open}");
    }
    assert!(!is_read(&(deep("f(", MAX_NESTING).replace('1', "f()"))));
    for long in ["1+".repeat(MAX_LENGTH / 2 - 1) + "1", "-".repeat(5000) + "x", "x**".repeat(5000) + "x"] {
        assert!(is_read(&long));
    }
}
