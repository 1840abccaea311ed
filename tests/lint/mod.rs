//! Findings, and the static analysis behind them.

mod codes;
mod harm;
mod limits;
mod pages;
mod published;
mod record;
mod soundness;
