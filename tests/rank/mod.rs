//! The scores and the order of jobs.

mod compare;
mod input_columns;
mod orders;
mod race;
mod replay;
mod values;
