//! What can be said of a formula without running it: passes over the tree, each giving findings.

mod names;

pub use names::names;
