//! The syntax of formulas: text enters, a tree with spans leaves. The only module that uses the grammar.
//!
//! [`parse`] turns the text of a formula into an [`Expr`], whose `Display` writes it back, or into a [`SyntaxError`] in
//! the words of the user. Names are not resolved here. Valid Python that is not arithmetic becomes
//! [`NodeKind::Unsupported`]; operators and units of other languages become errors with a fix.

mod ast;
mod ast_builder;
mod error;
mod foreign_notation;
mod grammar;
mod precedence;
mod print;
mod scanner;
mod symbol_table;
mod unsupported;

pub use ast::{Clause, Construct, Expr, Keyword, LiteralKind, Node, NodeId, NodeKind, Parameter, Scope};
pub(crate) use error::BARE_UNPACKING;
pub use error::{SyntaxError, SyntaxErrorKind, Unit};

/// The greatest length of a formula, in bytes.
pub const MAX_LENGTH: usize = 64 * 1024;

/// The greatest nesting of brackets (and of `lambda`, which nests without brackets), the same as CPython's.
pub const MAX_NESTING: usize = 200;

/// Parses the text of a formula.
///
/// # Errors
/// A [`SyntaxError`] if CPython's `eval` refuses the text, or if it exceeds [`MAX_LENGTH`] or [`MAX_NESTING`].
pub fn parse(text: &str) -> Result<Expr, SyntaxError> {
    parse_with_limit(text, MAX_LENGTH)
}

/// Parses with another limit on the length: OpenPBS accepts longer texts than this crate.
pub(crate) fn parse_with_limit(text: &str, max_length: usize) -> Result<Expr, SyntaxError> {
    let nesting = scanner::scan(text, max_length)?;
    if nesting <= scanner::NESTING_ON_ANY_STACK
        && let Some(result) = grammar::parse(text, ast_builder::build)
    {
        return result;
    }
    scanner::with_deep_stack(|| grammar::parse(text, ast_builder::build))
        .flatten()
        .unwrap_or_else(|| Err(SyntaxError::no_stack(text)))
}

#[cfg(test)]
mod tests;
