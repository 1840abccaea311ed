//! `jsf explain`: its arguments, and what it does.

use std::io::Write;

use clap::{ArgGroup, Args};

use crate::cli::args::{AnswerArgs, QueueArgs, ReportArgs};
use crate::cli::messages::answered;
use crate::cli::output::{CliError, Outcome, Output};
use crate::commands::explain::{ExplainAnswer, ExplainQuestion};

/// The width of the tables, whose cells may be very long, where standard output is no terminal.
const PIPED_WIDTH: usize = 120;

/// `jsf explain`
#[derive(Debug, Args)]
#[command(after_help = "\
For each job: why it has its place, in one sentence; the formula with the value of every part; the inputs, their units and \
origins; the path through the fair-share tree; five jobs ahead and five behind, with the terms (summands of the formula) that \
differ most, or the criterion that orders equal values; and which change of one input would give a better rank, first what \
the user can do: ask for less, if the job needs no more, or another queue; never for more.

All searches for one job share a fixed amount of work; what exceeds it is reported as unknown.

The origin of an input is Resource_List, job (another attribute), queue (its priority), fair-share tree, inputs (given in \
jsf's own JSON), or unset (the job lacks it, so it is 0).

Examples:
  jsf explain --site examples/site --job 184598
  jsf explain 'eligible_time / 3600 + ncpus * eligible_time / 1e5' \\
      --site examples/site --job 184598 --to 5 --within 7d
  jsf explain 'eligible_time / 3600 + 1000 * fairshare_factor' \\
      --site examples/site --job 184598,184127 --format json
  jsf explain 'eligible_time / 3600 + 1000 * fairshare_factor + ncpus' \\
      --site examples/site --as 'queue=workq,ncpus=12,walltime=4h' --entity mquispe",
mut_arg("entity", |entity| entity.help("The entity whose jobs to explain")),
group(ArgGroup::new("explained").args(["job", "described", "entity"]).required(true).multiple(true)))]
pub struct ExplainArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// The jobs to explain.
    #[command(flatten)]
    question: ExplainQuestion,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

impl ExplainArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let format = self.answer.format;
        let (site, given) = self.queue.open(format)?;
        let question = ExplainQuestion {
            at: self.queue.site.at,
            ..self.question.clone()
        };
        let (answer, warnings) = answered(
            "explaining the jobs",
            format.is_document(),
            |warnings, _| ExplainAnswer::new(&site, given, question, warnings),
        )?;
        Output {
            piped_width: Some(PIPED_WIDTH),
            page_file: self.report.page_file(vec![&site], Vec::new()),
            ..Output::new(self.answer, &warnings)
        }
        .write_ranking(&answer, self.queue.site.on_error, out)
    }
}
