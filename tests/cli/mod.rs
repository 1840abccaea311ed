//! The command `jsf` as a user runs it.

mod checks;
mod commands;
mod replay;
mod rankings;
mod shares;
