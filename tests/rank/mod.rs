//! The scores and the order of jobs.

mod orders;
mod race;
mod replay;
mod values;
