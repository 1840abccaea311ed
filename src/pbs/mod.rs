//! OpenPBS: its files, its names, and how it hands numbers to a formula.

pub mod digits;
pub mod duration;
pub mod entity;
pub(crate) mod lax;
pub mod numbers;
pub mod qstat_json;
pub mod qstat_text;
pub mod queues;
pub mod reading;
pub mod resources;
pub(crate) mod rows;
pub mod size;
mod slots;
