//! The arguments of `jsf trajectory`.

use clap::{Args, ValueEnum};

use super::{FormulaArgs, SiteArgs};

/// `jsf trajectory`
#[derive(Debug, Args)]
#[command(after_help = "\
The eligible_time of all considered jobs grows alike, and nothing else changes: no job starts, ends or is submitted, and \
no usage grows or decays. Scores are given at 61 times that are equally far apart. The times at which a job overtakes \
another one are exact to the second; they include the jobs that are not listed.

In JSON, `points` has the score and the rank of each job over time, `ranks` the times at which its rank changes, and \
`crossings` who overtakes whom; `wait` is the time from now in seconds.

Examples:
  jsf trajectory 'eligible_time / 3600 + ncpus' \\
      --site examples/site --job 184598
  jsf trajectory 'ncpus * eligible_time' --site examples/site \\
      --job 184598,184127 --hours 72 --format csv")]
pub struct TrajectoryArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// The job to follow, with or without the server's name: 12 or 12.vm; an array is 12[]; separate several by commas, or
    /// repeat the option
    #[arg(long, value_name = "ID", value_delimiter = ',', required = true)]
    pub job: Vec<String>,
    /// The number of hours to follow the jobs, at most 8784 (a year)
    #[arg(long, value_name = "H", default_value_t = 24, value_parser = clap::value_parser!(u16).range(1..=8784))]
    pub hours: u16,
    /// The job_sort_formula_threshold: a job whose value is at most X does not run
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TrajectoryFormatName::Human)]
    pub format: TrajectoryFormatName,
}

/// The formats of a trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TrajectoryFormatName {
    /// Text with a plot, for people
    Human,
    /// One JSON document
    Json,
    /// One line per job and time
    Csv,
    /// A picture of the ranks
    Svg,
}
