//! The tests of the crate.

mod wishes;
