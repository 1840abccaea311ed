//! `jsf cycle`: who starts in a scheduling cycle, who is promised a start and when, and why each
//! other job waits.

pub mod answer;
pub mod question;
#[cfg(feature = "command")]
pub mod run;
