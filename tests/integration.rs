//! The tests of the public API and of the command, with one module for each subject. The
//! comparisons with CPython are in the binary `referee`.

mod architecture;
mod columnar;
mod decimal;
mod fairshare;
mod links;
mod live_table;
mod public_api;
mod published_formulas;
mod python_versions;
mod rank;
mod slurm;
mod syntax;
mod template;
