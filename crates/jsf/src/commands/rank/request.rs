//! The arguments of `jsf rank`.

use std::path::PathBuf;

use clap::Args;

use crate::answer::Format;
use crate::cli::args::{CsvArgs, FilterArgs, QueueArgs, TextArgs, number_of_jobs, page_path};
use crate::cli::output::format;

/// `jsf rank`
#[derive(Debug, Args)]
#[command(after_help = "\
Columns of CSV, and keys of JSON and NDJSON:
  rank        the place in the queue, from 1; empty for a job that is not considered
  score       the value that is sorted on: with --numbers openpbs a C float; empty if it is not finite
  exact       the value of the formula before it becomes a C float, as Python's repr prints it
  logged      the digits that OpenPBS logs for the value; Slurm's priority as squeue prints it
  error       why the formula has no value; OpenPBS then uses 0
  considered  whether the scheduler tries to run the job now
  excluded    why not: state, threshold, no shares, partition, routing queue or
              invalid; reason says it in words
Jobs with equal scores are tied; later criteria (see `order:`), and finally the order of submission, decide their ranks. An
input is empty (null, or - in a table) where the scheduler ignores the job and so does not read it.

Examples:
  jsf rank 'fairshare_factor' --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv
  jsf rank 'eligible_time / 3600 + ncpus' --queue - --top 20 --inputs \\
      < examples/site/qstat.json
  jsf rank -f examples/formulas/pp718.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv --entity lnovak --format csv")]
pub struct RankArgs {
    /// The queue and the formula.
    #[command(flatten)]
    pub queue: QueueArgs,
    /// Show only the first N jobs
    #[arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)]
    pub top: Option<usize>,
    /// The jobs to show.
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Show the inputs of the formula for each job
    #[arg(long)]
    pub inputs: bool,
    /// Show the summands of the formula for each job
    ///
    /// With their signs, as `sprio -l` does: added up they are the value
    #[arg(long)]
    pub terms: bool,
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format
    #[arg(long, value_parser = format(&[Format::Human, Format::Markdown, Format::Json, Format::Csv, Format::Ndjson]), default_value = "human")]
    pub format: Format,
    /// How CSV is written.
    #[command(flatten)]
    pub csv: CsvArgs,
    /// Also write the result as a page
    ///
    /// The page is for a browser, with charts
    #[arg(long, value_name = "FILE", value_parser = page_path())]
    pub report: Option<PathBuf>,
}
