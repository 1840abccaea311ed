//! What can be said of a formula without running it: passes over the tree, each giving findings.
//!
//! [`names`] looks at the names alone. [`ranges`] finds what each part of the formula can be, [`direction`] which
//! way it moves with an input, and [`findings`] what follows for the jobs.

mod direction;
mod findings;
mod names;
mod ranges;

pub use direction::{Direction, direction};
pub use findings::findings;
pub use names::names;
pub use ranges::{Errors, Fact, Facts, Kinds, Ranges, Values, ranges};
