//! `jsf trajectory`: the ranks of jobs over the time that they wait, for people, as a picture, as
//! JSON and as CSV.

pub mod answer;
pub mod question;
#[cfg(feature = "command")]
pub mod run;
