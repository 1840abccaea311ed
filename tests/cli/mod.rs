//! The command `jsf` as a user runs it.

mod commands;
mod shares;
