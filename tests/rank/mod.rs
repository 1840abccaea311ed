//! The scores and the order of jobs.

mod compare;
mod input_columns;
mod order;
mod summands;
