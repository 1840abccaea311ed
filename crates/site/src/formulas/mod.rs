//! The formulas of a site: where their text is, and what becomes of them.
//!
//! In: the text of a formula, and a site. Out: what the server answers, what the log of the
//! scheduler says of it, and the formula for the other scheduler.

pub mod formula_check;
pub mod formula_text;
pub mod log_replay;
pub mod translation;
