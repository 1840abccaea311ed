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
    let [old, new] = [&formulas.old, &formulas.new].map(|formula| printable(formula));
    if old == new {
        let pieces = pieces(&[&new], |_| false);
        return vec![context! { side => "", tag => "span", pieces }];
    }
    let sides = marked_pieces(&old, &new);
    vec![
        context! { side => "old", tag => "del", pieces => sides.old },
        context! { side => "new", tag => "ins", pieces => sides.new },
    ]
}

/// The pieces of two texts, of which those are marked that the other one does not have.
fn marked_pieces(old: &str, new: &str) -> OldNew<Vec<Piece>> {
    let tokens = OldNew::new(tokens(old), tokens(new));
    if tokens.old.len().max(tokens.new.len()) > MAX_TOKENS {
        return unmarked(old, new);
    }
    let is_common = common_tokens(&tokens.old, &tokens.new);
    let marked = OldNew::new(
        without_islands(pieces(&tokens.old, |index| !is_common.old[index])),
        without_islands(pieces(&tokens.new, |index| !is_common.new[index])),
    );
    let shared = [&marked.old, &marked.new]
        .map(|pieces| length(pieces.iter().filter(|piece| !piece.is_marked)));
    let all = [&marked.old, &marked.new].map(length);
    if (shared[0] + shared[1]) as f64 >= LEAST_SHARED * (all[0] + all[1]) as f64 {
        marked
    } else {
        unmarked(old, new)
    }
}

/// Which tokens of either side are in their longest common subsequence.
fn common_tokens(old: &[&str], new: &[&str]) -> OldNew<Vec<bool>> {
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
    let mut is_common = OldNew::new(vec![false; old.len()], vec![false; new.len()]);
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            (is_common.old[i], is_common.new[j]) = (true, true);
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    is_common
}

/// Two texts without a mark.
fn unmarked(old: &str, new: &str) -> OldNew<Vec<Piece>> {
    OldNew::new(pieces(&[old], |_| false), pieces(&[new], |_| false))
}

/// The number of characters that are not blank.
fn length<'p>(pieces: impl IntoIterator<Item = &'p Piece>) -> usize {
    let characters = pieces.into_iter().flat_map(|piece| piece.text.chars());
    characters
        .filter(|character| !character.is_whitespace())
        .count()
}

/// Marks operators, brackets and spaces that are alone between marked pieces: an equal bracket says
/// little.
fn without_islands(all: Vec<Piece>) -> Vec<Piece> {
    let texts: Vec<&str> = all.iter().map(|piece| &*piece.text).collect();
    pieces(&texts, |index| {
        let is_between = index > 0 && index + 1 < all.len();
        all[index].is_marked || is_between && !all[index].text.contains(is_word)
    })
}

/// Texts, of which neighbours are joined that are both marked or both not.
fn pieces(texts: &[&str], is_marked: impl Fn(usize) -> bool) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        match pieces.last_mut() {
            Some(last) if last.is_marked == is_marked(index) => last.text.push_str(text),
            _ => pieces.push(Piece {
                text: (*text).to_owned(),
                is_marked: is_marked(index),
            }),
        }
    }
    pieces
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.')
}

/// The names and the numbers of a formula, and every other character alone.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut end = if is_word(first) {
            rest.find(|character| !is_word(character))
                .unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        // the exponent of a number has a sign
        if first.is_ascii_digit()
            && rest[..end].ends_with(['e', 'E'])
            && rest[end..].starts_with(['+', '-'])
        {
            let exponent = &rest[end + 1..];
            end += 1 + exponent
                .find(|character| !is_word(character))
                .unwrap_or(exponent.len());
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
