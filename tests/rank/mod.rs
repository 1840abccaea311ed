//! The scores and the order of jobs.

mod orders;
mod replay;
mod values;
