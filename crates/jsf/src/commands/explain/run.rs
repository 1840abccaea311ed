//! `jsf explain`: its arguments, and what it does.

use std::io::Write;
use std::str::FromStr;

use clap::{ArgGroup, Args};
use job_sort_formula::diagnostic::Severity;
use jsf_openpbs::amounts::parse_duration;
use jsf_site::{CycleRequest, DescribedJob, ExplainOptions, RankRequest};

use crate::cli::args::{AnswerArgs, EntityArgs, JobArgs, QueueArgs, ReportArgs, number_within};
use crate::cli::filter::{JobFilter, select_rows_or_warn};
use crate::cli::messages::{Progress, report_errors};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::queue::OpenedQueue;
use crate::commands::explain::ExplainAnswer;
use crate::commands::rank::all_rows;

/// The width of the tables, whose cells may be very long, where standard output is no terminal.
const PIPED_WIDTH: usize = 120;
/// The longest wait that can be asked for, in seconds: ten years.
const MAX_WAIT: u64 = 10 * 366 * 24 * 3600;

/// `jsf explain`
#[derive(Debug, Args)]
#[command(after_help = "\
For each job (--job, --user), or one that is only described (--as): why it has its place, in one sentence; the formula with the \
value of every part; its terms, the summands of the formula; the inputs, their units and origins; the path through the \
fair-share tree; five jobs ahead and five behind, with the terms that differ most, or the criterion that orders jobs of equal \
value; and which change of a single input would give a better rank, first what the user can do: ask for less, if the job needs \
no more, or another queue. Asking for more is never among them.

All searches for one job share a fixed amount of work; what it does not suffice for is said to be unknown.

The origin of an input is Resource_List, job (another attribute of the job), queue (its priority), fair-share tree, inputs \
(given in jsf's own JSON), or unset (the job lacks it, so it is 0).

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
    /// The jobs.
    #[command(flatten)]
    jobs: JobArgs,
    /// Explain a job that is only described
    ///
    /// A job as if it were submitted now, such as 'queue=gpu,ncpus=12,walltime=4h': its queue (else
    /// the default one), what it requests in all, and what else the formula reads, such as
    /// fairshare_factor=0.4 or eligible_time=2h; its entity is that of --entity; what it does not request it has by the defaults of
    /// its queue and the server. At a site of Slurm the queue is the partition, and qos=NAME the
    /// QOS
    #[arg(long = "as", value_name = "DESCRIPTION", value_parser = DescribedJob::from_str)]
    described: Option<DescribedJob>,
    /// Whose jobs to explain.
    #[command(flatten)]
    entities: EntityArgs,
    /// Also say when the job reaches rank N
    ///
    /// If all considered jobs keep waiting and nothing else changes
    #[arg(long, value_name = "N", value_parser = rank_to_reach, allow_negative_numbers = true)]
    to: Option<u32>,
    /// The longest wait for --to
    ///
    /// The longest wait that --to considers, such as 90s, 15m, 24h, 7d or 1-12:00:00
    #[arg(long, value_name = "DURATION", default_value = "30d", allow_hyphen_values = true, value_parser = within, requires = "to")]
    within: u64,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

/// Parses the rank that a job is to reach.
fn rank_to_reach(text: &str) -> Result<u32, String> {
    number_within(text, 1..=u32::MAX, "a rank of 1 or more, such as 5")
}

/// Parses the longest wait, at most ten years.
fn within(text: &str) -> Result<u64, String> {
    match parse_duration(text)? {
        seconds @ 0..=MAX_WAIT => Ok(seconds),
        _ => Err("expected at most ten years".to_owned()),
    }
}

pub(crate) fn run(arguments: &ExplainArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let is_document = arguments.answer.format.is_document();
    let mut described = arguments.described.clone();
    let mut entities = arguments.entities.entity.as_slice();
    if let Some(described) = &mut described {
        match entities {
            [] => {}
            [entity] => described.entity.clone_from(entity),
            _ => {
                let message = "a described job (--as) has one entity (--entity)";
                return Err(CliError::usage(message));
            }
        }
        // with --as it is the entity of the described job, and no filter
        entities = &[];
    }
    let (opened, mut warnings) = OpenedQueue::open(&arguments.queue, is_document)?;
    let site = &opened.site;
    let request = RankRequest {
        record_origins: true,
        ..RankRequest::from(&opened.formula)
    };
    let mut read = opened.read_jobs(&request, Some(Severity::Error), &mut warnings)?;
    let mut rows = Vec::new();
    if entities.is_empty() {
        rows = opened.find_or_warn(&arguments.jobs, &read.jobs.table)?;
    }
    if let Some(described) = &described {
        // last, where the answer looks for it
        rows.push(site.add_described(&mut read.jobs, read.program.as_ref(), described)?);
    }
    // with the described job, which moves those behind it
    let queue = opened.rank(read, &mut warnings)?;
    let (table, ranking) = (&queue.table, &queue.ranking);
    if !entities.is_empty() {
        let filter = JobFilter {
            jobs: &arguments.jobs.job,
            entities,
            ..JobFilter::default()
        };
        rows = select_rows_or_warn(filter, all_rows(ranking), site, table)?;
    }
    let considered = ranking.order().len();
    if let Some(rank) = arguments.to
        && rank as usize > considered
    {
        return Err(CliError::usage(format!(
            "there is no rank {rank}, the last is {considered}"
        )));
    }
    let options = ExplainOptions {
        to: arguments.to.map(|rank| rank as usize),
        within: arguments.within as i64,
        ..ExplainOptions::default()
    };
    let progress = Progress::start("explaining the jobs");
    let explanations = site.explain(&queue, &rows, &options)?;
    drop(progress);
    let mut checked = None;
    if is_document || arguments.report.is_given() {
        checked = Some(site.check_ranked(&opened.given.submitted, &queue));
    }
    let mut ids = Vec::new();
    let mut fails = false;
    for job in &explanations.jobs {
        ids.push(table.id(job.row));
        fails |= matches!(job.result, Some(Err(_)));
    }
    let request = CycleRequest {
        formula: Some(&opened.formula),
        at: arguments.queue.site.at,
        ..CycleRequest::default()
    };
    let answer = ExplainAnswer {
        formula: opened.given.text(),
        queue: &queue,
        explanations: &explanations,
        is_last_described: described.is_some(),
        checked: checked.as_ref(),
        preemption: &site.preemption_of(&request, &ids),
    };
    Output {
        piped_width: Some(PIPED_WIDTH),
        page_file: arguments.report.page_file(vec![site], Vec::new()),
        ..Output::new(arguments.answer, &warnings.into_answer())
    }
    .write(&answer, out)?;
    // of a job that fails itself the explanation says how many others do
    if !fails {
        report_errors(arguments.queue.site.on_error, "the formula", &queue);
    }
    Ok(Outcome::of_ranking(&queue))
}
