//! `jsf explain`

pub mod answer;
pub mod place_in_words;
#[cfg(feature = "command")]
pub mod run;
pub mod view;
