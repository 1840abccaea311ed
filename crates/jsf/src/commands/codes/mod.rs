//! `jsf codes`

pub mod answer;
pub mod request;
pub mod run;
mod view;
