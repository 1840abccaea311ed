//! `jsf rank`

pub mod answer;
pub mod csv;
#[cfg(feature = "command")]
pub mod request;
#[cfg(feature = "command")]
pub mod run;
pub mod view;
