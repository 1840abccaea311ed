//! The order of a site's jobs under a formula, and the reasons for it.
//!
//! In: the jobs of a site, and a formula or two of them. Out: their ranking, the comparison of two
//! rankings, why a job has its place, and how it gets another one.

pub(crate) mod compared_queue;
pub(crate) mod explanation;
pub(crate) mod jobs_to_rank;
pub(crate) mod ranked_queue;
pub(crate) mod reach_rank;
pub(crate) mod rule;
pub(crate) mod waiting_trajectory;
