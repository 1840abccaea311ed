//! `jsf check` and `jsf fmt`, which report the findings of one formula.

#[cfg(feature = "command")]
mod checked_formula;
#[cfg(feature = "command")]
mod qmgr;
#[cfg(feature = "command")]
pub mod run;
pub mod sarif;
pub mod view;
