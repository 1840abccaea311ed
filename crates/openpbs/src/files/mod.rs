//! The files and listings of OpenPBS: readers, and writers for the files that OpenPBS reads.

pub mod fairshare;
pub mod formula_source;
pub mod holidays;
pub mod nodes;
pub mod objects;
pub mod queues;
pub mod sched_config;
pub mod server;
