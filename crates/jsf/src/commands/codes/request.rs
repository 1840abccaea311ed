//! The arguments of `jsf codes`.

use clap::Args;

use crate::cli::args::TextArgs;

/// `jsf codes`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  jsf codes\n  jsf codes JSF301")]
pub struct CodesArgs {
    /// The finding whose page to print
    pub code: Option<String>,
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
}
