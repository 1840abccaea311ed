//! What OpenPBS does, against recordings of its daemons and tools.

mod orders;
mod qmgr_command;
mod qmgr_validation;
mod recorded_findings;
mod scheduler_results;
mod share_tree_properties;
mod share_trees;
#[path = "../../../tests/fairshare/trees.rs"]
mod trees;
mod values;
