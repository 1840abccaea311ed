//! `jsf compare`

pub mod answer;
#[cfg(feature = "command")]
pub mod request;
#[cfg(feature = "command")]
pub mod run;
pub mod view;
