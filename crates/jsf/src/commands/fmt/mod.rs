//! `jsf fmt`

pub mod request;
pub mod run;
