//! `jsf names`

pub mod request;
pub mod run;
