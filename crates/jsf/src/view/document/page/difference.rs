//! What differs between two formulas, token by token.

use job_sort_formula::rank::OldNew;
use minijinja::{Value, context};

use crate::view::document::page::Piece;
use crate::view::printable::printable;

/// The most tokens of a formula whose differences are searched for; in a longer one nothing is
/// marked.
const MAX_TOKENS: usize = 1500;
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

/// The pieces of two texts, of which those are marked that the other one does not have.
fn marked_pieces(old: &str, new: &str) -> OldNew<Vec<Piece>> {
    let old_tokens = tokens(old);
    let new_tokens = tokens(new);
    let unmarked = OldNew::new(unmarked(old), unmarked(new));
    if old_tokens.len().max(new_tokens.len()) > MAX_TOKENS {
        return unmarked;
    }
    let marked = differences(&old_tokens, &new_tokens);
    let marked = OldNew::new(without_islands(marked.old), without_islands(marked.new));
    let (mut shared, mut all) = (0, 0);
    for piece in marked.old.iter().chain(&marked.new) {
        let blanks = piece.text.matches(char::is_whitespace).count();
        let length = piece.text.chars().count() - blanks;
        all += length;
        if !piece.is_marked {
            shared += length;
        }
    }
    if shared as f64 >= LEAST_SHARED * all as f64 {
        marked
    } else {
        unmarked
    }
}

/// The tokens of either side, of which those are not marked that are in their longest common
/// subsequence.
fn differences(old: &[&str], new: &[&str]) -> OldNew<Vec<Piece>> {
    // the length for the tokens from each place on
    let mut lengths = vec![vec![0u16; new.len() + 1]; old.len() + 1];
    for (i, old_token) in old.iter().enumerate().rev() {
        for (j, new_token) in new.iter().enumerate().rev() {
            lengths[i][j] = if old_token == new_token {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let mut pieces = OldNew::new(Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            push_piece(&mut pieces.old, old[i], false);
            push_piece(&mut pieces.new, new[j], false);
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && lengths[i + 1][j] >= lengths[i][j + 1] {
            push_piece(&mut pieces.old, old[i], true);
            i += 1;
        } else {
            push_piece(&mut pieces.new, new[j], true);
            j += 1;
        }
    }
    pieces
}

fn unmarked(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    push_piece(&mut pieces, text, false);
    pieces
}

/// Marks operators, brackets and spaces that are alone between marked pieces: an equal bracket says
/// little.
fn without_islands(all: Vec<Piece>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, piece) in all.iter().enumerate() {
        let is_between = index > 0 && index + 1 < all.len();
        let is_island = is_between && !piece.text.contains(is_word);
        push_piece(&mut pieces, &piece.text, piece.is_marked || is_island);
    }
    pieces
}

/// Adds a text, which is joined to the last piece if both are marked or both not.
fn push_piece(pieces: &mut Vec<Piece>, text: &str, is_marked: bool) {
    match pieces.last_mut() {
        Some(last) if last.is_marked == is_marked => last.text.push_str(text),
        _ => pieces.push(Piece {
            text: text.to_owned(),
            is_marked,
        }),
    }
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
            ("pow(2, x)", "exp2(x)", "[pow(2, ]x)", "[exp2](x)"),
            (
                "pow(2, x / y)",
                "100 * z + w / 3600",
                "pow(2, x / y)",
                "100 * z + w / 3600",
            ),
            ("a * 1e-7", "a * 1e+7", "a * [1e-7]", "a * [1e+7]"),
            (
                "(beta) + (4 * alpha)",
                "100 * alpha + c",
                "[(beta) + (4] * alpha[)]",
                "[100] * alpha[ + c]",
            ),
        ] {
            assert_eq!(marked(old, new), (before.to_owned(), after.to_owned()));
        }
    }

    #[test]
    fn nothing_is_marked_in_long_formulas() {
        let long = "1+".repeat(MAX_TOKENS) + "1";
        let OldNew {
            old: before,
            new: after,
        } = marked_pieces(&long, "1");
        assert!(before.len() == 1 && !before[0].is_marked && !after[0].is_marked);
    }
}
