//! `jsf shares`

pub mod answer;
pub mod chart;
#[cfg(feature = "command")]
pub mod run;
pub mod view;
