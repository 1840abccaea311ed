//! `jsf cycle`: its arguments, and what it does.

use std::io::Write;

use clap::Args;

use crate::answers::GivenFormula;
use crate::cli::args::{AnswerArgs, QueueArgs, read_formula};
use crate::cli::messages::answered;
use crate::cli::output::{CliError, Outcome, Output};
use crate::commands::cycle::{CycleAnswer, CycleQuestion};

/// `jsf cycle`
#[derive(Debug, Args)]
#[command(after_help = "\
The cycle is that of OpenPBS 23.06, by the site's sched_config, the attributes of the server, of queues, arrays and the \
scheduler, its holidays and dedicated_time. Chunks are placed on hosts that have the host, vnode, booleans and strings that \
they ask for. Running jobs end at their stime plus their walltime. Reservations hold their nodes (--reservations). With \
preemptive_sched, running jobs of a lower level of preempt_prio give way by preempt_order, the latest start first. What the \
cycle does without, such as checkpoints, is named. A running subjob that `qstat -f` does not list without `-t` holds what its \
array asks for.

With strict_ordering, the first backfill_depth jobs that do not start are promised a start, at which they start at the \
latest if walltimes hold. With one --job that neither starts nor is promised a start, jsf runs the cycles at the ends of the running \
jobs until it starts, without further submissions.

accrue_type in JSON: 0 not yet known, 1 not eligible (eligible_time stands still), 2 eligible, 3 running.

Examples:
  jsf cycle --site examples/site
  jsf cycle --site examples/site --job 184208
  jsf cycle eligible_time --site examples/site --format json",
mut_arg("job", |job| job.help("Show this job only: when will it start?")))]
pub struct CycleArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// The jobs that are shown, and the machine.
    #[command(flatten)]
    question: CycleQuestion,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
}

pub(crate) fn run(arguments: &CycleArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let format = arguments.answer.format;
    let QueueArgs {
        formula,
        site: given_site,
        ..
    } = &arguments.queue;
    let site = arguments.queue.open_site()?;
    given_site.show(&site, format.is_document());
    let mut given = None;
    // a scheduler without a formula has cycles too
    if formula.is_given() || site.formula_text().is_ok() {
        let source = read_formula(formula, Some(&site))?;
        given = Some(GivenFormula::new(source, site.numbers()));
    }
    let question = CycleQuestion {
        at: given_site.at,
        ..arguments.question.clone()
    };
    let (answer, warnings) = answered("running the cycle", format.is_document(), |warnings, _| {
        CycleAnswer::new(&site, given, &question, warnings)
    })?;
    Output::new(arguments.answer, &warnings).write_ranking(&answer, given_site.on_error, out)
}
