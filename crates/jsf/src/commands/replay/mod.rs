//! `jsf replay`

pub mod answer;
#[cfg(feature = "command")]
pub mod run;
