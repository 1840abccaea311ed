//! Parse, evaluate and explain `job_sort_formula` expressions exactly as OpenPBS does.
//!
//! PBS orders its queue by one admin-written expression and hands that text to Python. This crate parses such
//! a formula, lowers it to a [`formula::program`], evaluates it against per-job inputs and a fair-share tree, and
//! says what the real scheduler would do.

mod ahead;
pub mod diagnostic;
pub mod fairshare;
pub mod formula;
pub mod ingest;
pub mod jobs;
mod json_visitor;
pub mod pbs;
pub mod python;
pub mod rank;
#[cfg(feature = "cli")]
pub mod report;
pub mod schema;
mod simd;
pub mod slurm;

pub use crate::python::Value;
pub use formula::Formula;
pub use formula::program::Program;
pub use jobs::JobTable;
pub use rank::Ranking;
pub use schema::Schema;
