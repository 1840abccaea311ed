//! OpenPBS: its names, its files, and how its daemon hands numbers to the formula.

mod c_text;
pub mod resource_group;
pub mod sched_config;
pub mod scheduler_shares;
pub mod share_tree;
pub mod six_decimals;
pub mod usage;
pub mod usage_written;
