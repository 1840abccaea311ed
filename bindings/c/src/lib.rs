//! The C interface of `job-sort-formula`. Pointers, lengths and texts of a C caller enter and are
//! checked; the library is called; statuses, numbers and handles leave. The documentation is
//! written for the C header, which is generated from it.
//!
//! Unsafe code lives here and in the crate for Python only. What a pointer may be is checked where
//! it can be: that it is not null, its alignment, and that its length fits. No panic leaves a
//! function.

mod abi_version;
mod argument;
mod error_handles;
mod programs;
mod schemas_and_columns;
mod share_trees;
mod site_questions;

pub use abi_version::*;
pub use error_handles::*;
pub use programs::*;
pub use schemas_and_columns::*;
pub use share_trees::*;
pub use site_questions::*;
