//! What the commands have in common on the command line: arguments that several of them take, the
//! site and the formula that these give, answers on standard output, and messages on standard error.

pub(crate) mod args;
pub(crate) mod messages;
pub(crate) mod output;
pub(crate) mod site;
