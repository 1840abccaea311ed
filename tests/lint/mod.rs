//! Findings, and the static analysis behind them.

mod codes;
mod harm;
mod limits;
#[cfg(feature = "cli")]
mod pages;
mod published;
mod record;
mod soundness;
