//! The scores and the order of jobs.

mod compare;
mod orders;
mod race;
mod replay;
mod values;
