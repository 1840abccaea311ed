//! The files and listings of OpenPBS: readers, and writers for the files that OpenPBS reads.

pub mod formula_source;
pub mod queues;
pub(crate) mod repeated;
pub mod resource_group;
pub mod resources;
pub mod sched_config;
pub(crate) mod schedulers;
pub mod server;
pub mod usage;
