//! The jobs of a site.
//!
//! In: a document of jobs, and the names that a formula, the order or the fair-share tree needs; or
//! the description of one job. Out: a table of jobs with these columns, and the warnings about them.

pub(crate) mod described_job;
pub(crate) mod job_document;
pub(crate) mod job_warnings;
pub(crate) mod site_jobs;
