//! `jsf trajectory`: its arguments, and what it does.

use std::io::Write;

use clap::Args;

use crate::answers::Format;
use crate::cli::args::{AnswerArgs, CsvArgs, QueueArgs, formats};
use crate::cli::messages::{answered, show_rankings, warn};
use crate::cli::output::{CliError, Outcome, Output};
use crate::commands::trajectory::{TrajectoryAnswer, TrajectoryQuestion};

/// `jsf trajectory`
#[derive(Debug, Args)]
#[command(after_help = "\
The eligible_time of all considered jobs grows alike, and nothing else changes: no job starts, ends or is submitted, and no \
usage grows or decays. The times at which a job overtakes another one, listed or not, are exact to the second. A job that does \
not wait for the scheduler is left out, with a warning.

In JSON, `points` has the score and the rank of each job at 61 evenly spaced times, `ranks` the times at which its rank \
changes, and `crossings` which job overtakes which; `wait` is the time from now in seconds. A job is followed until a fixed \
amount of work is used up (`known_until`); later points have no rank and say so (`known`). CSV contains only the points.

Examples:
  jsf trajectory 'eligible_time / 3600 + ncpus' \\
      --site examples/site --job 184598
  jsf trajectory 'ncpus * eligible_time' --site examples/site \\
      --job 184598,184127 --hours 3d --format csv
  jsf trajectory --site examples/site --job 184277 --format markdown",
mut_arg("job", |job| job.required(true)),
mut_arg("format", |given| given.value_parser(formats(&[Format::Csv, Format::Svg]))))]
pub struct TrajectoryArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// The jobs, and how long they are followed.
    #[command(flatten)]
    question: TrajectoryQuestion,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// How CSV is written.
    #[command(flatten)]
    csv: CsvArgs,
}

impl TrajectoryArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let format = self.answer.format;
        let (site, given) = self.queue.open(format)?;
        let (answer, warnings) =
            answered("following the jobs", format.is_document(), |warnings, _| {
                TrajectoryAnswer::new(&site, given, &self.question, warnings)
            })?;
        show_rankings(&answer, format, self.queue.site.on_error);
        // of no job there is nothing to see, and a warning says why
        let is_seen = format.is_document() || format == Format::Svg;
        if !is_seen || !answer.trajectory.jobs.is_empty() {
            Output {
                cells: self.csv.cells(),
                ..Output::new(self.answer, &warnings)
            }
            .write(&answer, out)?;
        } else if format.is_document() {
            warnings.iter().for_each(warn);
        }
        Ok(Outcome::of_answer(&answer))
    }
}
