//! What pest's generator makes of `grammar/formula.pest`. The engine contains the generated parser, so that a program that builds the
//! engine builds neither the generator nor the C compiler's wrapper that the generator's own parser depends on. This crate is a
//! macro because the tests must not build the engine with the generator's features of pest.

use proc_macro::{Literal, TokenStream, TokenTree};

/// The Rust code of the parser, as a string.
#[proc_macro]
pub fn generated_parser(_: TokenStream) -> TokenStream {
    let grammar = concat!(env!("CARGO_MANIFEST_DIR"), "/../../grammar/formula.pest");
    let input = format!("#[grammar = {grammar:?}] struct FormulaParser;");
    let code = pest_generator::derive_parser(input.parse().expect("Rust"), false).to_string();
    TokenTree::Literal(Literal::string(&code)).into()
}
