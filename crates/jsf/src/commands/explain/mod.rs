//! `jsf explain`

pub mod answer;
pub mod fairshare_words;
#[cfg(feature = "command")]
pub mod request;
#[cfg(feature = "command")]
pub mod run;
pub mod sentence;
pub mod view;
