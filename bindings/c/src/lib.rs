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

pub use abi_version::{JSF_ABI_VERSION, JSF_MAX_ROWS, jsf_abi_version, jsf_version};
pub use error_handles::{
    jsf_error, jsf_error_failure, jsf_error_free, jsf_error_message, jsf_error_span,
    jsf_error_status, jsf_failure, jsf_status,
};
pub use programs::{
    jsf_logged_score, jsf_program, jsf_program_compile, jsf_program_error_of_row,
    jsf_program_evaluate, jsf_program_free, jsf_program_input, jsf_program_input_count,
    jsf_program_score, jsf_program_undefined, jsf_round_to_float32, jsf_scratch, jsf_scratch_free,
    jsf_scratch_new, jsf_string_free, jsf_top,
};
pub use schemas_and_columns::{
    jsf_column, jsf_kind, jsf_round_amount, jsf_schema, jsf_schema_add_resource, jsf_schema_free,
    jsf_schema_new, jsf_schema_new_empty, jsf_schema_read_site, jsf_schema_set_python, jsf_value,
};
pub use share_trees::{
    jsf_round_share, jsf_run, jsf_shares, jsf_tree, jsf_tree_free, jsf_tree_read,
    jsf_tree_read_pbs, jsf_tree_shares, jsf_tree_warnings,
};
