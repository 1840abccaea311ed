//! The files and listings of OpenPBS: what each holds, and how it is written back.

pub mod formula_source;
pub mod queues;
pub mod resource_group;
pub mod resource_group_written;
pub mod resources;
pub mod sched_config;
pub mod server;
pub mod usage;
pub mod usage_written;
