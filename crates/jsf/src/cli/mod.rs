//! What the commands have in common on the command line: arguments that several of them take, the
//! site and the formula that these give, answers on standard output, and messages on standard error.

pub(crate) mod formula;
pub(crate) mod help;
pub(crate) mod messages;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod page_file;
pub(crate) mod progress;
pub(crate) mod site;
