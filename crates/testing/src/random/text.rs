//! The text of a list of tokens, with random spaces between them, and random mistakes.

use super::Generator;
use super::formulas::Writer;

/// What the grammar has beside arithmetic, and texts like it that are refused.
pub const CONSTRUCTS: &str = include_str!("constructs.txt");

/// Tokens that a mistake inserts into a formula, from Python, from other languages or from none.
const WRONG_TOKENS: &str = include_str!("wrong_tokens.txt");
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
pub fn any(random: &mut Generator) -> String {
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
