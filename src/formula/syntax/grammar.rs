//! Calls the parser that pest generates from `grammar/formula.pest`. Text enters; pest's pairs
//! leave, each a grammar rule and the text that it matched, or a [`SyntaxError`] at the place where
//! pest stopped.

use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};
use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::error::Result;
use crate::formula::syntax::foreign_notation::{number_with_unit, word_operator};
use crate::formula::syntax::{SyntaxError, SyntaxErrorKind};

#[derive(pest_derive::Parser)]
#[grammar = "../grammar/formula.pest"]
struct FormulaParser;

/// Parses `text` and passes the pairs to `build`; `None` if a limit of pest is reached, such as
/// that of its calls, which any program may set for all.
pub(super) fn parse<T>(
    text: &str,
    build: impl FnOnce(&str, Pair<'_, Rule>) -> Result<T>,
) -> Option<Result<T>> {
    match FormulaParser::parse(Rule::formula, text) {
        Ok(mut pairs) => Some(build(text, pairs.next()?)),
        Err(error) => Some(Err(to_syntax_error(text, &error)?)),
    }
}

/// Converts pest's error, which pest reports where no rule matches.
fn to_syntax_error(text: &str, error: &Error<Rule>) -> Option<SyntaxError> {
    let ErrorVariant::ParsingError {
        positives: expected_rules,
        ..
    } = &error.variant
    else {
        return None;
    };
    let position = match error.location {
        InputLocation::Pos(position) | InputLocation::Span((position, _)) => position,
    };
    let position = skip_whitespace(text, position);
    // first, because to the parser a unit is a name
    if let Some(error) = number_with_unit(text, position) {
        return Some(error);
    }
    let unparsed = &text[position..];
    let (kind, length) = match unparsed.chars().next() {
        None if text.trim().is_empty() => (SyntaxErrorKind::Empty, 0),
        None => (
            unexpected("the end of the formula".into(), expected_rules),
            0,
        ),
        Some(first) => error_at_token(unparsed, first, expected_rules),
    };
    Some(SyntaxError::new(
        kind,
        Span::new(position, position + length),
    ))
}

/// The error for the token at the start of `unparsed`, and the length of the token. `first` is its
/// first character.
fn error_at_token(
    unparsed: &str,
    first: char,
    expected_rules: &[Rule],
) -> (SyntaxErrorKind, usize) {
    if starts_with_number(unparsed) {
        let number = &unparsed[..number_length(unparsed)];
        return match number_problem(number) {
            Some(problem) => (SyntaxErrorKind::Number(problem), number.len()),
            None => (
                unexpected(format!("`{number}`"), expected_rules),
                number.len(),
            ),
        };
    }
    let word = &unparsed[..word_length(unparsed)];
    if !word.is_empty() {
        // a prefix, such as `rb`, has at most two letters
        let is_string_prefix = unparsed[word.len()..].starts_with(['"', '\'']) && word.len() <= 2;
        let kind = match word {
            _ if is_string_prefix => SyntaxErrorKind::UnclosedString,
            _ if is_reserved(word) => SyntaxErrorKind::ReservedWord(word.into()),
            _ => match word_operator(word) {
                Some(kind) if !expects_operand(expected_rules) => kind,
                _ => unexpected(format!("`{word}`"), expected_rules),
            },
        };
        return (kind, word.len());
    }
    match first {
        '"' | '\'' if expects_operand(expected_rules) => {
            (SyntaxErrorKind::UnclosedString, unparsed.trim_end().len())
        }
        '"' | '\'' => (unexpected("a string".into(), expected_rules), 1),
        // the excluded ones are characters that Python does not use
        _ if first.is_ascii_graphic() && !matches!(first, '$' | '`' | '\\' | '?') => {
            (unexpected(format!("`{first}`"), expected_rules), 1)
        }
        _ => (SyntaxErrorKind::Character(first), first.len_utf8()),
    }
}

fn unexpected(found: String, expected_rules: &[Rule]) -> SyntaxErrorKind {
    let expected = match (
        expects_operand(expected_rules),
        expected_rules.contains(&Rule::EOI),
    ) {
        (true, _) => "a number, a name or `(`",
        (false, true) => "an operator or the end of the formula",
        (false, false) => "an operator, `,` or a closing bracket",
    };
    SyntaxErrorKind::Unexpected { expected, found }
}

/// Whether one of the rules that pest expects begins an operand.
fn expects_operand(expected_rules: &[Rule]) -> bool {
    expected_rules.is_empty()
        || expected_rules.iter().any(|rule| {
            matches!(
                rule,
                Rule::number
                    | Rule::name
                    | Rule::primary
                    | Rule::expression
                    | Rule::element
                    | Rule::formula
            )
        })
}

/// The position of the first character at `position` or later that is not whitespace.
fn skip_whitespace(text: &str, position: usize) -> usize {
    let unparsed = text.get(position..).unwrap_or("");
    position
        + (unparsed.len()
            - unparsed
                .trim_start_matches([' ', '\t', '\u{c}', '\n', '\r'])
                .len())
}

/// The length of the name or keyword at the start of `unparsed`, 0 if it starts with another token.
fn word_length(unparsed: &str) -> usize {
    for (offset, character) in unparsed.char_indices() {
        let is_digit = offset > 0 && character.is_numeric();
        if character != '_' && !character.is_alphabetic() && !is_digit {
            return offset;
        }
    }
    unparsed.len()
}

fn starts_with_number(unparsed: &str) -> bool {
    let digits = unparsed.strip_prefix('.').unwrap_or(unparsed);
    digits.starts_with(|first: char| first.is_ascii_digit())
}

/// The length of the number at the start of `unparsed`, with all letters and digits that follow it.
fn number_length(unparsed: &str) -> usize {
    // in `0x1e+1` the `e` is a digit, not an exponent
    let is_hexadecimal = unparsed.starts_with("0x");
    let mut previous = ' ';
    for (offset, character) in unparsed.char_indices() {
        let is_exponent_sign =
            matches!(character, '+' | '-') && matches!(previous, 'e' | 'E') && !is_hexadecimal;
        if !character.is_alphanumeric() && !matches!(character, '_' | '.') && !is_exponent_sign {
            return offset;
        }
        previous = character;
    }
    unparsed.len()
}

/// Says how to correct an invalid number; `None` if the number is valid.
fn number_problem(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let after_digits = lower.trim_start_matches(|character: char| {
        character.is_ascii_digit() || matches!(character, '.' | '_')
    });
    Some(match &lower {
        _ if lower.starts_with("0x") => "only the digits 0-9 and a-f can follow `0x`",
        _ if lower.starts_with("0o") => "only the digits 0-7 can follow `0o`",
        _ if lower.starts_with("0b") => "only the digits 0 and 1 can follow `0b`",
        _ if lower.contains("__") || lower.ends_with('_') => "`_` can only separate two digits",
        _ if after_digits.starts_with('e') => "digits must follow the `e` of a number: `1e-7`",
        _ if after_digits.starts_with(char::is_alphabetic) => {
            "a name cannot begin with a digit; for a product write `*`"
        }
        _ if lower.starts_with('0') && after_digits.is_empty() && !lower.contains('.') => {
            "an integer has no leading zeros; for octal write `0o`"
        }
        _ => return None,
    })
}

/// Whether the word is a keyword of Python.
pub(super) fn is_reserved(word: &str) -> bool {
    const RESERVED: [&str; 32] = [
        "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
        "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with",
        "yield",
    ];
    // the length of `continue` and `nonlocal`: most names need no search
    const LONGEST: usize = 8;
    word.len() <= LONGEST && RESERVED.contains(&word)
}

/// The span of a pair without the whitespace and comments at its end. Pest includes them because it
/// skips them before it looks for a further repetition.
pub(super) fn span_of(pair: &Pair<'_, Rule>) -> Span {
    let start = pair.as_span().start();
    let mut final_pair = pair.clone();
    while ends_with_child(final_pair.as_rule())
        && let Some(child) = final_pair.clone().into_inner().next_back()
    {
        final_pair = child;
    }
    let span = final_pair.as_span();
    Span::new(start, span.start() + span.as_str().trim_end().len())
}

/// Whether text that matches the rule ends with its last child, and not with a token such as `)`.
fn ends_with_child(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::argument
            | Rule::comprehension
            | Rule::disjunction
            | Rule::element
            | Rule::entry
            | Rule::expression
            | Rule::keyword_value
            | Rule::lambda
            | Rule::parameter
            | Rule::primary
            | Rule::slice
            | Rule::strings
            | Rule::target
    )
}
