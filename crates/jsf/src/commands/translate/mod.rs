//! `jsf translate`

pub mod request;
pub mod run;
mod view;
