//! Operators of other languages and statements: parsed so as to be answered.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::grammar::Rule;
use crate::formula::syntax::tree::span_of;
use crate::formula::syntax::{SyntaxError, SyntaxErrorKind};

/// What `;` and `=` make of a formula.
pub(super) fn statement(pair: &Pair<'_, Rule>) -> SyntaxError {
    let mut parts = pair.clone().into_inner();
    let (what, span) = match parts.next() {
        Some(sign) if sign.as_rule() == Rule::semicolon => ("what `;` separates", span_of(&sign)),
        Some(sign) => ("an assignment", span_of(&sign)),
        None => ("this", span_of(pair)),
    };
    SyntaxError::new(SyntaxErrorKind::Statement(what), span)
}

/// The error that an operator of another language is, with what Python writes instead.
pub(super) fn lookalike(whole: &Pair<'_, Rule>, token: &Pair<'_, Rule>) -> SyntaxError {
    let (span, written) = (span_of(token), token.as_str());
    match written {
        "!" => foreign_operator("!", "not ", "for a negation write `not`", span),
        "&&" => foreign_operator("&&", &spaced("and", whole, span), "both must hold: write `and`", span),
        "||" => foreign_operator("||", &spaced("or", whole, span), "one must hold: write `or`", span),
        "<>" => foreign_operator("<>", "!=", "for different write `!=`", span),
        "===" => foreign_operator("===", "==", "Python compares values with two characters", span),
        "!==" => foreign_operator("!==", "!=", "Python compares values with two characters", span),
        _ => match written.strip_prefix('\\') {
            Some(instead) => {
                let help = "the backslash was for a shell or for Markdown; leave it out";
                foreign_operator(written, instead, help, span)
            }
            None => conditional(whole, token.clone(), span),
        },
    }
}

/// The word with a blank on each side where the text has none.
fn spaced(word: &str, whole: &Pair<'_, Rule>, at: Span) -> String {
    let text = whole.as_span().get_input();
    let (before, after) = (&text[..at.start as usize], &text[at.end as usize..]);
    let blank = |is_blank| if is_blank { "" } else { " " };
    format!("{}{word}{}", blank(before.ends_with(' ')), blank(after.starts_with(' ')))
}

/// `a ? b : c`, which Python writes `b if a else c`.
fn conditional(whole: &Pair<'_, Rule>, token: Pair<'_, Rule>, at: Span) -> SyntaxError {
    let span = span_of(whole);
    let start = whole.as_span().start();
    let text = whole.as_str();
    let then = token.into_inner().next().map_or("", |then| then.as_str()).trim();
    let condition = text[..at.start as usize - start].trim();
    let otherwise = text[at.end as usize - start..].trim();
    let instead = format!("{then} if {condition} else {otherwise}");
    foreign_operator("? :", &instead, "Python writes the condition in the middle", span)
}

fn foreign_operator(written: &str, instead: &str, help: &'static str, span: Span) -> SyntaxError {
    let (written, instead) = (written.to_owned(), instead.to_owned());
    SyntaxError::new(SyntaxErrorKind::Lookalike { written, instead, help }, span)
}
