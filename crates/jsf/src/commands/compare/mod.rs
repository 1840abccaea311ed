//! `jsf compare`

pub mod answer;
pub mod csv;
mod displacements;
#[cfg(feature = "command")]
pub mod request;
#[cfg(feature = "command")]
pub mod run;
pub mod view;
