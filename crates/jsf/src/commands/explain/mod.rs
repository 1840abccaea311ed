//! `jsf explain`

pub mod answer;
#[cfg(feature = "command")]
pub mod request;
#[cfg(feature = "command")]
pub mod run;
pub mod sentence;
pub mod view;
