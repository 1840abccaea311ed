//! The tests of the public API and of the command, with one module for each subject. The comparisons with CPython are
//! in the binary `referee`.

mod architecture;
#[cfg(all(unix, feature = "cli"))]
mod ci_recipes;
#[cfg(feature = "cli")]
mod cli;
mod columnar;
mod decimal;
mod dependencies;
mod example_site;
mod fairshare;
#[cfg(feature = "cli")]
mod fuzzing;
mod ingest;
mod links;
mod lint;
mod live_table;
mod pbsfs;
mod public_api;
mod published_formulas;
mod qmgr;
mod rank;
#[cfg(feature = "cli")]
mod report;
mod simulate;
#[cfg(feature = "cli")]
mod site;
mod slurm;
mod support;
mod syntax;
