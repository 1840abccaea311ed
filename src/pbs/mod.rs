//! OpenPBS: its names, its files, and how its daemon hands numbers to the formula.

mod c_text;
mod deserving;
pub mod digits;
pub mod duration;
pub mod entity;
pub mod formula_source;
pub(crate) mod lax;
pub mod numbers;
pub mod order;
pub mod qstat_json;
pub mod qstat_text;
pub mod queues;
pub mod reading;
pub mod resource_group;
pub mod resources;
pub(crate) mod rows;
pub mod sched_config;
pub mod scheduler_shares;
pub mod script_text;
pub mod share_tree;
pub mod six_decimals;
pub mod size;
mod slots;
pub mod usage;
pub mod usage_written;
pub mod verdict;
