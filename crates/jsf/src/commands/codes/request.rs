//! The arguments of `jsf codes`.

use clap::Args;

use crate::answer::Format;
use crate::cli::args::TextArgs;
use crate::cli::output::format;

/// `jsf codes`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  jsf codes\n  jsf codes JSF301")]
pub struct CodesArgs {
    /// The finding whose page to print
    pub code: Option<String>,
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format of the list
    #[arg(long, value_parser = format(&[Format::Human, Format::Markdown, Format::Json]), default_value = "human", conflicts_with = "code")]
    pub format: Format,
}
