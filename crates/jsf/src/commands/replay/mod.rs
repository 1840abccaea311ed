//! `jsf replay`: the values in a scheduler's log against those that are computed for a queue.

pub mod answer;
#[cfg(feature = "command")]
pub mod run;
