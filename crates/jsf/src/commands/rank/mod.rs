//! `jsf rank`: a ranking, for people as a table of the jobs, and for programs as JSON, as one JSON
//! object per line, or as CSV.

pub mod answer;
pub mod question;
#[cfg(feature = "command")]
pub mod run;
mod view;
