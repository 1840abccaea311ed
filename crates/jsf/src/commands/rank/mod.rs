//! `jsf rank`

pub mod answer;
#[cfg(feature = "command")]
pub mod run;
pub mod view;
