//! The files and listings of OpenPBS: readers, and writers for the files that OpenPBS reads.

pub mod formula_source;
pub mod holidays;
pub mod limits;
pub mod nodes;
pub mod objects;
pub mod python_version;
pub mod queues;
pub mod reservations;
pub mod resource_group;
pub mod resources;
pub mod sched_config;
pub mod server;
pub mod usage;
