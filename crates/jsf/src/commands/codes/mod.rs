//! `jsf codes`

pub mod request;
pub mod run;
