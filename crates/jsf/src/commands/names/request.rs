//! The arguments of `jsf names`.

use clap::Args;

use crate::cli::args::AnswerArgs;
use crate::cli::args::site::SiteArgs;

/// `jsf names`
#[derive(Debug, Args)]
#[command(after_help = "\
Units: a size reaches the formula in kb (1024 bytes), a duration in seconds (s), a ratio lies between 0 and 1; a count \
and a float have no unit. Resources that no formula can use, such as strings, or `my-res`, which Python reads as a \
difference, are listed below the others with the reason (`unusable` in JSON). With --queue, resources that only jobs \
have are listed too; their kinds are inferred from their amounts. The functions are those of the server's Python (--python); \
`since` is the first version that has one, if that is later than 3.6.

Examples:
  jsf names
  jsf names --site examples/site --full
  jsf names --resources examples/site/resourcedef --format json")]
pub struct NamesArgs {
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
}
