//! `jsf rank`: its arguments, and what it does.

use std::io::Write;

use clap::Args;

use crate::answers::Format;
use crate::cli::args::{AnswerArgs, CsvArgs, QueueArgs, ReportArgs, formats};
use crate::cli::messages::answered;
use crate::cli::output::{CliError, Outcome, Output};
use crate::commands::rank::{RankAnswer, RankQuestion};

/// `jsf rank`
#[derive(Debug, Args)]
#[command(after_help = "\
Columns of CSV, and keys of JSON and NDJSON:
  rank        the place in the queue, from 1; empty for a job that is not considered
  score       the value that is sorted on: with --numbers openpbs a C float; empty if it is not finite
  exact       the value before it becomes a C float, as Python's repr prints it
  logged      the digits that OpenPBS logs; Slurm's priority as squeue prints it
  error       why the formula has no value; OpenPBS then uses 0
  considered  whether the scheduler tries to run the job now
  excluded    why not: state, threshold, no shares, partition, routing queue or
              invalid; reason says it in words
Later criteria (see `order:`), and finally the order of submission, decide between equal scores. An input is empty (null, or - \
in a table) where the scheduler ignores the job and so does not read it.

Examples:
  jsf rank 'fairshare_factor' --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv
  jsf rank 'eligible_time / 3600 + ncpus' --queue - --top 20 --inputs \\
      < examples/site/qstat.json
  jsf rank -f examples/formulas/pp718.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv --entity lnovak --format csv",
mut_arg("format", |given| given.value_parser(formats(&[Format::Csv, Format::Ndjson]))))]
pub struct RankArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// The jobs to show, and what of each.
    #[command(flatten)]
    question: RankQuestion,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// How CSV is written.
    #[command(flatten)]
    csv: CsvArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

impl RankArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let format = self.answer.format;
        let (site, given) = self.queue.open(format)?;
        let question = RankQuestion {
            is_for_page: self.report.is_given(),
            ..self.question.clone()
        };
        let (answer, warnings) =
            answered("ranking the jobs", format.is_document(), |warnings, _| {
                RankAnswer::new(&site, given, question, warnings)
            })?;
        Output {
            has_asked_rows: self.question.top.is_some(),
            cells: self.csv.cells(),
            page_file: self.report.page_file(vec![&site], Vec::new()),
            ..Output::new(self.answer, &warnings)
        }
        .write_ranking(&answer, self.queue.site.on_error, out)
    }
}
