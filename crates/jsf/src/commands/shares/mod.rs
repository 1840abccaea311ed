//! `jsf shares`: a fair-share tree with the numbers that policies compute for its nodes; with
//! assumed usage, the numbers before and after, and the places that jobs gain.

pub mod answer;
pub mod question;
#[cfg(feature = "command")]
pub mod run;
pub mod view;
