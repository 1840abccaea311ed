//! Text in, tree out: the only room that knows the grammar.
//!
//! [`parse`] takes the text of a formula and gives an [`Expr`], a faithful tree that prints back what was
//! written, or a [`SyntaxError`] that says what was expected in the writer's words. No name is resolved here:
//! the tree says what the text says, `program` says what it means. What is valid Python but no arithmetic
//! stands in the tree as [`NodeKind::Foreign`].

mod ast;
mod bindings;
mod call;
mod error;
mod foreign;
mod grammar;
mod limits;
mod lines;
mod lookalike;
mod operators;
mod parameters;
mod precedence;
mod print;
mod scope;
mod strings;
mod tree;
mod units;

pub use ast::{Construct, Expr, Keyword, LiteralKind, Node, NodeId, NodeKind};
pub(crate) use error::BARE_UNPACKING;
pub use error::{SyntaxError, SyntaxErrorKind};
pub use limits::{MAX_LENGTH, MAX_NESTING};
pub use scope::{Clause, Makes, Parameter, Scope, Takes};
pub use units::Unit;

/// Parses the text of a formula.
///
/// # Errors
/// A [`SyntaxError`] when CPython's `eval` would not take the text, or when it is beyond [`MAX_LENGTH`] or
/// [`MAX_NESTING`].
pub fn parse(text: &str) -> Result<Expr, SyntaxError> {
    parse_up_to(text, MAX_LENGTH)
}

/// Parses with another limit on the length, to answer what other programs do with a text that is too long for this crate.
pub(crate) fn parse_up_to(text: &str, most: usize) -> Result<Expr, SyntaxError> {
    let nesting = limits::scan(text, most)?;
    if nesting <= limits::NESTING_ON_ANY_STACK
        && let Some(result) = grammar::parse(text, tree::build)
    {
        return result;
    }
    limits::on_a_deep_stack(|| grammar::parse(text, tree::build))
        .flatten()
        .unwrap_or_else(|| Err(SyntaxError::no_stack(text)))
}

#[cfg(test)]
mod tests;
