//! The command `jsf` as a user runs it.

mod checks;
mod commands;
mod rankings;
mod replay;
mod shares;
