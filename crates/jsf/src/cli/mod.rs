//! What the commands have in common on the command line: arguments that several of them take, the
//! site and the formula that these give, answers on standard output, and messages on standard error.

mod args;
mod interrupt;
mod messages;
mod outcome;
mod output;
mod page_file;
mod queue;
mod screen;
mod site;

pub(crate) use crate::cli::args::*;
pub(crate) use crate::cli::interrupt::*;
pub(crate) use crate::cli::messages::*;
pub use crate::cli::outcome::*;
pub(crate) use crate::cli::output::*;
pub(crate) use crate::cli::page_file::*;
pub(crate) use crate::cli::queue::*;
pub(crate) use crate::cli::site::*;
