//! `jsf pbsfs`

pub mod request;
pub mod run;
