//! How a server validates a formula, and the `qmgr` command that sets it.

mod command;
mod validation;
