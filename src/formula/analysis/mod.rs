//! What can be said of a formula without running it: passes over the tree, each giving findings.

mod names;
mod ranges;

pub use names::names;
pub use ranges::{Errors, Fact, Facts, Kinds, Ranges, Values, ranges};
