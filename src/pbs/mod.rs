//! OpenPBS: its names, its files, and how its daemon hands numbers to the formula.

pub(crate) mod c_string;
pub mod check;
pub mod daemon_policy;
pub mod duration;
pub mod entity;
mod fairshare_comparison;
pub mod fairshare_format;
pub mod files;
pub mod number_format;
pub mod order;
pub mod pbsfs;
pub mod python_string_literal;
pub mod qmgr;
pub mod qmgr_validation;
pub mod resource_amount;
pub mod share_tree;
mod site_findings;
pub mod size;
pub(crate) mod strtod;
pub mod submission;
