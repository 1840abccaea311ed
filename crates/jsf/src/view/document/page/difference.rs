//! What differs between two formulas: all that is between their common start and end.

use std::iter;

use job_sort_formula::rank::OldNew;
use minijinja::{Value, context};

use crate::view::document::page::Piece;
use crate::view::printable::printable;

/// Formulas that share less are two formulas: marks would be on nearly everything, and say nothing.
const LEAST_SHARED: f64 = 0.3;

/// Both formulas with the parts marked that differ, or the only one; `tag` is the element that
/// marks a piece.
pub(crate) fn marked_formulas(formulas: &OldNew<String>) -> Vec<Value> {
    let (old, new) = (printable(&formulas.old), printable(&formulas.new));
    if old == new {
        return vec![context! { side => "", tag => "span", pieces => unmarked(&new) }];
    }
    let sides = marked_pieces(&old, &new);
    vec![
        context! { side => "old", tag => "del", pieces => sides.old },
        context! { side => "new", tag => "ins", pieces => sides.new },
    ]
}

/// The pieces of two texts, of which what is between their common start and their common end is
/// marked.
fn marked_pieces(old: &str, new: &str) -> OldNew<Vec<Piece>> {
    let (old_tokens, new_tokens) = (tokens(old), tokens(new));
    let is_equal = |(old, new): &(&&str, &&str)| old == new;
    let pairs = iter::zip(&old_tokens, &new_tokens);
    let start = pairs.take_while(is_equal).count();
    let pairs = iter::zip(
        old_tokens[start..].iter().rev(),
        new_tokens[start..].iter().rev(),
    );
    let end = pairs.take_while(is_equal).count();
    let start: usize = old_tokens[..start].iter().map(|token| token.len()).sum();
    let ends = &old_tokens[old_tokens.len() - end..];
    let end: usize = ends.iter().map(|token| token.len()).sum();
    let shared = 2 * (start + end);
    if (shared as f64) < LEAST_SHARED * (old.len() + new.len()) as f64 {
        return OldNew::new(unmarked(old), unmarked(new));
    }
    OldNew { old, new }.map(|text| {
        let end = text.len() - end;
        let mut pieces = Vec::new();
        for (text, is_marked) in [
            (&text[..start], false),
            (&text[start..end], true),
            (&text[end..], false),
        ] {
            if !text.is_empty() {
                let text = text.to_owned();
                pieces.push(Piece { text, is_marked });
            }
        }
        pieces
    })
}

fn unmarked(text: &str) -> Vec<Piece> {
    vec![Piece {
        text: text.to_owned(),
        is_marked: false,
    }]
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.')
}

/// The length of the name or the number with which a text begins, in bytes.
fn word_length(text: &str) -> usize {
    text.len() - text.trim_start_matches(is_word).len()
}

/// The names and the numbers of a formula, and every other character alone.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut end = word_length(rest).max(first.len_utf8());
        // the exponent of a number has a sign
        if first.is_ascii_digit()
            && rest[..end].ends_with(['e', 'E'])
            && rest[end..].starts_with(['+', '-'])
        {
            end += 1 + word_length(&rest[end + 1..]);
        }
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(old: &str, new: &str) -> (String, String) {
        let OldNew {
            old: before,
            new: after,
        } = marked_pieces(old, new);
        (bracketed(before), bracketed(after))
    }

    fn bracketed(pieces: Vec<Piece>) -> String {
        pieces
            .into_iter()
            .map(|one| {
                if one.is_marked {
                    format!("[{}]", one.text)
                } else {
                    one.text
                }
            })
            .collect()
    }

    #[test]
    fn what_differs_is_marked() {
        for (old, new, before, after) in [
            ("a + b", "a + b", "a + b", "a + b"),
            ("a + 10*b", "a + 12*b", "a + [10]*b", "a + [12]*b"),
            ("a + b", "a + b - c", "a + b", "a + b[ - c]"),
            ("", "x", "", "x"),
            ("pow(2, x)", "exp2(x)", "pow(2, x)", "exp2(x)"),
            (
                "pow(2, x / y)",
                "100 * z + w / 3600",
                "pow(2, x / y)",
                "100 * z + w / 3600",
            ),
            ("a * 1e-7", "a * 1e+7", "a * [1e-7]", "a * [1e+7]"),
            ("aa + aa", "aa", "aa[ + aa]", "aa"),
        ] {
            assert_eq!(marked(old, new), (before.to_owned(), after.to_owned()));
        }
    }
}
