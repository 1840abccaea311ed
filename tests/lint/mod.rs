//! Findings, and the static analysis behind them.

mod codes;
#[cfg(feature = "cli")]
mod pages;
mod published;
mod recorded;
mod soundness;
mod work;
