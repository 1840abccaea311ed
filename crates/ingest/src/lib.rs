//! Job documents: from any of their formats to a table of jobs.
//!
//! Enters: `qstat -f -F json`, `qstat -f` as text, native JSON (`{"jobs":[…]}`), or native JSON
//! with a job per line (NDJSON); and the names that a formula needs. Leaves: a
//! [`JobTable`](job_sort_formula::jobs::JobTable) with a column for each of these names, and what
//! is wrong with single jobs.
//!
//! The format is detected from the content. NDJSON is cut into chunks, which are parsed in parallel.
//! Whatever its format, a job becomes a `ParsedJob`, and the `JobConverter` makes a row of the table
//! of it.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

mod attributes;
mod cycle_jobs;
mod file_kind;
mod job_converter;
mod json_reader;
mod native_job;
pub mod native_tree;
mod options;
mod qstat;
mod reader;
mod scanner;
mod table_builder;

pub use crate::cycle_jobs::{Clock, CycleJobs, QueuedJob};
pub use crate::file_kind::FileKind;
pub use crate::native_job::NativeJob;
pub use crate::options::{ReadError, ReadErrorKind, ReadOptions};
pub use crate::reader::read_jobs;
pub use crate::table_builder::ParsedJobs;
