//! The order of a site's jobs under a formula, and the reasons for it.
//!
//! In: the jobs of a site, and formulas. Out: their ranking, the comparison of two rankings, why a
//! job has its place, and how it gets another one.

pub mod compared_queue;
pub mod explanation;
pub mod ranked_queue;
pub mod reach_rank;
pub mod waiting_trajectory;
