//! Finds the constants of a formula: those that meet wishes about the order of a queue, or goals
//! about the waits of a log.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

mod constant;
pub mod goals;
mod scale;
pub mod search;
pub mod wishes;

pub use constant::FittedConstant;
pub use scale::is_scale_free;

/// The constants of a template with which a search begins.
pub fn starts(template: &job_sort_formula::formula::Template) -> Vec<f64> {
    let constants = template.constants().iter();
    constants.map(|constant| constant.start).collect()
}
