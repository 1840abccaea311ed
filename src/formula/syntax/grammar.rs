//! The only use of pest's parser: from text to pairs, and from pest's errors to [`SyntaxError`].

use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};
use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::error::Result;
use crate::formula::syntax::foreign_notation::number_with_unit;
use crate::formula::syntax::{Expr, SyntaxError, SyntaxErrorKind};

#[derive(pest_derive::Parser)]
#[grammar = "../grammar/formula.pest"]
struct FormulaParser;

/// Parses `text` and passes the pairs to `build`; `None` if the stack of this thread is too small.
pub(super) fn parse(text: &str, build: impl FnOnce(&str, Pair<'_, Rule>) -> Result<Expr>) -> Option<Result<Expr>> {
    match FormulaParser::parse(Rule::formula, text) {
        Ok(mut pairs) => pairs.next().map(|pair| build(text, pair)),
        Err(error) => explain(text, &error).map(Err),
    }
}

/// The error at the place where pest fails.
fn explain(text: &str, error: &Error<Rule>) -> Option<SyntaxError> {
    let ErrorVariant::ParsingError { positives, .. } = &error.variant else { return None };
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let at = skip_blanks(text, at);
    if let Some(error) = number_with_unit(text, at) {
        return Some(error);
    }
    let rest = &text[at..];
    let (kind, length) = match rest.chars().next() {
        None if text.trim().is_empty() => (SyntaxErrorKind::Empty, 0),
        None => (unexpected(positives, "the end of the formula".into()), 0),
        Some(first) => at_token(text, at, first, positives),
    };
    Some(SyntaxError::new(kind, Span::new(at, at + length)))
}

/// The error for an unexpected token, and the length of the token.
fn at_token(text: &str, at: usize, first: char, positives: &[Rule]) -> (SyntaxErrorKind, usize) {
    let rest = &text[at..];
    let word = word_length(rest);
    if is_number_start(rest) {
        let length = number_length(rest);
        return match number_problem(&rest[..length]) {
            Some(problem) => (SyntaxErrorKind::Number(problem), length),
            None => (unexpected(positives, format!("`{}`", &rest[..length])), length),
        };
    }
    if word > 0 {
        let name = &rest[..word];
        let is_string = rest[word..].starts_with(['"', '\'']) && word <= 2;
        let kind = match name {
            _ if is_string => SyntaxErrorKind::UnclosedString,
            _ if is_reserved(name) => SyntaxErrorKind::ReservedWord(name.into()),
            _ => unexpected(positives, format!("`{name}`")),
        };
        return (kind, word);
    }
    match first {
        '"' | '\'' if wants_operand(positives) => (SyntaxErrorKind::UnclosedString, rest.trim_end().len()),
        '"' | '\'' => (unexpected(positives, "a string".into()), 1),
        _ if first.is_ascii_graphic() && !matches!(first, '$' | '`' | '\\' | '?') => {
            (unexpected(positives, format!("`{first}`")), 1)
        }
        _ => (SyntaxErrorKind::Character(first), first.len_utf8()),
    }
}

fn unexpected(positives: &[Rule], found: String) -> SyntaxErrorKind {
    let expected = match (wants_operand(positives), positives.contains(&Rule::EOI)) {
        (true, _) => "a number, a name or `(`",
        (false, true) => "an operator or the end of the formula",
        (false, false) => "an operator, `,` or a closing bracket",
    };
    SyntaxErrorKind::Unexpected { expected, found }
}

/// Whether an operand is expected. Of the rules that pest names, only these begin one in the words of the user.
fn wants_operand(positives: &[Rule]) -> bool {
    positives.is_empty()
        || positives.iter().any(|rule| {
            matches!(rule, Rule::number | Rule::name | Rule::primary | Rule::expression | Rule::element | Rule::formula)
        })
}

fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    at + (rest.len() - rest.trim_start_matches([' ', '\t', '\u{c}', '\n', '\r']).len())
}

fn word_length(rest: &str) -> usize {
    let mut length = 0;
    for (offset, character) in rest.char_indices() {
        let fits = character == '_' || character.is_alphabetic() || (offset > 0 && character.is_numeric());
        if !fits {
            break;
        }
        length = offset + character.len_utf8();
    }
    length
}

fn is_number_start(rest: &str) -> bool {
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    digits.starts_with(|first: char| first.is_ascii_digit())
}

fn number_length(rest: &str) -> usize {
    let mut previous = ' ';
    let end = rest.find(|character: char| {
        let exponent_sign = matches!(character, '+' | '-') && matches!(previous, 'e' | 'E') && !rest.starts_with("0x");
        let inside = character.is_alphanumeric() || matches!(character, '_' | '.') || exponent_sign;
        previous = character;
        !inside
    });
    end.unwrap_or(rest.len())
}

/// How to correct an invalid number.
fn number_problem(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let digits =
        lower.trim_start_matches(|character: char| character.is_ascii_digit() || matches!(character, '.' | '_'));
    Some(match &lower {
        _ if lower.starts_with("0x") => "only the digits 0-9 and a-f can follow `0x`",
        _ if lower.starts_with("0o") => "only the digits 0-7 can follow `0o`",
        _ if lower.starts_with("0b") => "only the digits 0 and 1 can follow `0b`",
        _ if lower.contains("__") || lower.ends_with('_') => "`_` can only separate two digits",
        _ if digits.starts_with('e') => "digits must follow the `e` of a number: `1e-7`",
        _ if !digits.is_empty() && digits.starts_with(char::is_alphabetic) => {
            "a name cannot begin with a digit; for a product write `*`"
        }
        _ if lower.starts_with('0') && digits.is_empty() && !lower.contains('.') => {
            "an integer has no leading zeros; for octal write `0o`"
        }
        _ => return None,
    })
}

/// Whether the word is a keyword of Python.
fn is_reserved(word: &str) -> bool {
    const RESERVED: [&str; 32] = [
        "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
        "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass",
        "raise", "return", "try", "while", "with", "yield",
    ];
    const LONGEST: usize = 8;
    word.len() <= LONGEST && RESERVED.contains(&word)
}

/// The span of a pair without the blanks and comments at its end, which pest skips before it looks for a repetition.
pub(super) fn span_of(pair: &Pair<'_, Rule>) -> Span {
    let start = pair.as_span().start();
    let mut last = pair.clone();
    while ends_with_its_last_part(last.as_rule())
        && let Some(inner) = last.clone().into_inner().next_back()
    {
        last = inner;
    }
    let span = last.as_span();
    Span::new(start, span.start() + span.as_str().trim_end().len())
}

fn ends_with_its_last_part(rule: Rule) -> bool {
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
            | Rule::walrus_value
    )
}
