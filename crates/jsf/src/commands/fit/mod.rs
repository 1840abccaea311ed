//! `jsf fit`

pub mod answer;
pub mod chart;
pub mod formula_to_set;
pub mod goals_view;
#[cfg(feature = "command")]
pub mod request;
#[cfg(feature = "command")]
pub mod run;
pub mod search_options;
pub mod wishes_view;
