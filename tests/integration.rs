//! All tests of the crate from outside, in one binary; only the comparisons with CPython are another, `referee`.
//! One module for each subject.

mod architecture;
#[cfg(feature = "cli")]
mod cli;
mod columnar;
mod decimal;
mod example_site;
mod fairshare;
mod ingest;
mod lint;
mod pbsfs;
mod public_api;
mod published_formulas;
mod qmgr;
mod rank;
#[cfg(feature = "cli")]
mod report;
mod slurm;
mod support;
mod syntax;
