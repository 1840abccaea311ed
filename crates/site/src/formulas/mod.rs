//! The formulas of a site: where their text is, and what becomes of them.
//!
//! In: the text of a formula, and a site. Out: what the server answers, what another formula
//! changes, what the log of the scheduler says of it, and the formula for the other scheduler.

pub(crate) mod formula_check;
pub(crate) mod formula_text;
pub(crate) mod log_replay;
pub(crate) mod translation;
pub(crate) mod what_if;
