//! The command `jsf`.
fn main() {}
