//! Comparisons with CPython: random operations, formulas and texts that the `python3` of this
//! machine evaluates too.
//!
//! `JSF_REFEREE_CASES` sets how many each test tries, `JSF_REFEREE_SEED` the seed. On a machine
//! without Python 3.11 the tests are skipped, which `cargo test` says at its end, or fail if the
//! environment variable `CI` is true.

mod formulas;
mod nodes;
mod operations;
mod printing;
mod python;
mod validation;
