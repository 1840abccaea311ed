//! `jsf simulate`

#[cfg(feature = "command")]
mod anonymity;
pub mod answer;
pub mod change_answer;
pub mod charts;
pub mod effect_in_words;
pub mod failures_in_words;
#[cfg(feature = "command")]
pub(crate) mod interruption;
#[cfg(feature = "command")]
mod judged_log;
pub mod log_facts;
#[cfg(feature = "command")]
pub mod request;
#[cfg(feature = "command")]
mod rules_in_words;
#[cfg(feature = "command")]
pub mod run;
#[cfg(feature = "command")]
pub mod shake;
#[cfg(feature = "command")]
mod simulation;
#[cfg(feature = "command")]
pub(crate) mod site_of_log;
#[cfg(feature = "command")]
pub mod sweep;
pub mod sweep_answer;
mod sweep_view;
pub mod tables;
pub mod view;
