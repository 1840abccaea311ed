//! Random operations, formulas and texts that the `python3` on this machine evaluates as well.

mod differential;
mod operations;
#[path = "../support/mod.rs"]
mod support;
mod validation;
