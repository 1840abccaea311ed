//! Printing a formula with its comments, which are no part of the tree.

use super::ast::Expr;
use super::scanner::{comment_length, string_length};

/// A comment of the source.
struct Comment<'t> {
    /// How many characters that are not blank come before it, comments not counted.
    position: usize,
    /// Its text, from `#` on.
    text: &'t str,
    /// Whether nothing comes before it on its line.
    has_own_line: bool,
}

/// The formula with normalised spaces and with the comments of its text, each after the same token
/// as before. A text whose tokens are printed differently is returned as it is, rather than without
/// its comments.
pub(super) fn print(expr: &Expr) -> String {
    let printed = expr.to_string();
    let source = expr.text();
    let (comments, solid) = split(source);
    if comments.is_empty() {
        return printed;
    }
    if printed.replace(is_blank, "") != solid {
        return source.trim_end().to_owned();
    }
    let mut text = String::new();
    let mut position = 0;
    let mut comments = comments.into_iter().peekable();
    // a line feed of a string may be followed by blanks, one after a comment is not
    let mut follows_comment = false;
    for character in printed.chars() {
        while let Some(comment) =
            comments.next_if(|comment| comment.position == position && !is_blank(character))
        {
            push(&comment, &mut text);
            text.push('\n');
            follows_comment = true;
        }
        if !(is_blank(character) && follows_comment) {
            text.push(character);
            follows_comment = false;
        }
        position += usize::from(!is_blank(character));
    }
    for comment in comments {
        push(&comment, &mut text);
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

fn push(comment: &Comment<'_>, text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    let starts_line = text.is_empty() || text.ends_with('\n');
    match (starts_line, comment.has_own_line) {
        (true, _) => {}
        (false, true) => text.push('\n'),
        (false, false) => text.push_str("  "),
    }
    text.push_str(comment.text.trim_end());
}

/// The comments of a text, and its other characters that are not blank.
fn split(source: &str) -> (Vec<Comment<'_>>, String) {
    let mut comments = Vec::new();
    let mut solid = String::new();
    let mut position = 0;
    let mut has_own_line = true;
    for piece in pieces(source) {
        match piece {
            Piece::Comment(text) => comments.push(Comment {
                position,
                text,
                has_own_line,
            }),
            Piece::Blank(blank) => has_own_line |= matches!(blank, "\n" | "\r"),
            Piece::Code(text) | Piece::String(text) => {
                let text = text.replace(is_blank, "");
                position += text.chars().count();
                solid += &text;
                has_own_line = false;
            }
        }
    }
    (comments, solid)
}

/// A part of a text.
#[derive(Clone, Copy)]
pub(super) enum Piece<'t> {
    /// A blank character, or a backslash with the end of the line.
    Blank(&'t str),
    /// From `#` to the end of the line.
    Comment(&'t str),
    /// A string without its prefix.
    String(&'t str),
    /// Any other character.
    Code(&'t str),
}

/// The parts of a text, from left to right.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            '#' => comment_length(rest),
            '"' | '\'' => string_length(rest),
            '\\' if rest.starts_with("\\\n") || rest.starts_with("\\\r") => 2,
            _ => first.len_utf8(),
        };
        let (text, after) = rest.split_at(length);
        rest = after;
        Some(match first {
            '#' => Piece::Comment(text),
            '"' | '\'' => Piece::String(text),
            '\\' if length == 2 => Piece::Blank(text),
            _ if is_blank(first) => Piece::Blank(text),
            _ => Piece::Code(text),
        })
    })
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn comments_stay_after_their_tokens() {
        for (text, expected) in [
            ("a+b", "a + b"),
            ("a+b # the sum  ", "a + b  # the sum"),
            ("# first\n\n#second\na+b", "# first\n#second\na + b"),
            ("max(a, # one\n  b # two\n)", "max(a,  # one\nb  # two\n)"),
            ("max(a,\n  # own line\n  b)", "max(a,\n# own line\nb)"),
            ("(a+\\\n b) # x", "(a + b)  # x"),
            (
                "len('# no comment')+1 # one",
                "len('# no comment') + 1  # one",
            ),
            (
                "len(\"\"\"a\"#\"\"\")+1#one",
                "len(\"\"\"a\"#\"\"\") + 1  #one",
            ),
            ("x[1 # inside\n]+ 1", "x[1  # inside\n] + 1"),
            ("é+1 # grüße\n", "é + 1  # grüße"),
            (
                "# a\n'''a\n\n  b'''+1 # one",
                "# a\n'''a\n\n  b''' + 1  # one",
            ),
        ] {
            let Ok(expr) = parse(text) else {
                panic!("{text}")
            };
            let printed = print(&expr);
            assert_eq!(printed, expected, "{text}");
            let Ok(again) = parse(&printed) else {
                panic!("{printed}")
            };
            assert_eq!(print(&again), printed);
            assert_eq!(again.to_string(), expr.to_string());
        }
    }
}
