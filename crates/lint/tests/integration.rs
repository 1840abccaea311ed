//! Findings, and the static analysis behind them.

mod codes;
mod published;
mod soundness;
