//! The jobs of a site.
//!
//! In: a document of jobs, and the names that a formula, the order or the fair-share tree needs; or
//! the description of one job. Out: a table of jobs with these columns, and the warnings about them.

pub mod described_job;
pub mod job_warnings;
pub mod site_jobs;
