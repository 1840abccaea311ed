//! `jsf compare`

pub mod answer;
mod displacements;
#[cfg(feature = "command")]
pub mod request;
#[cfg(feature = "command")]
pub mod run;
pub mod view;
