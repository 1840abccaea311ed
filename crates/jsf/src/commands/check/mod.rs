//! `jsf check`: the result of a check, for people, as JSON, and as SARIF.

pub mod answer;
#[cfg(feature = "command")]
pub mod run;
mod sarif;
