//! The arguments of `jsf page`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::QueueArgs;

/// `jsf page`
#[derive(Debug, Args)]
#[command(after_help = "\
The page is one file, which works without a network and sends nothing. It holds what the given files say about the server,
the queues, the scheduler and the fair-share tree, and of each job its id, entity, queue, state, place in the order of
submission and the numbers that a formula can use. Other files can be dropped onto it.

Examples:
  jsf page --site examples/site --out page.html
  jsf page 'eligible_time / 3600 + ncpus' --site examples/site \\
      --out page.html
  jsf page -f examples/formulas/alcf.txt --site examples/site --out page.html")]
pub struct PageArgs {
    /// The formula that the page begins with, and the queue that it ranks.
    #[command(flatten)]
    pub queue: QueueArgs,
    /// The file to write; - is standard output
    #[arg(long, short_alias = 'o', value_name = "FILE.html")]
    pub out: PathBuf,
}
