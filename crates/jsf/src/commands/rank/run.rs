//! `jsf rank`: its arguments, and what it does.

use std::io::Write;

use clap::Args;
use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::rank::{ComparedRanking, Comparison};
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::check::{FAILURE_CODES, error_findings_of};
use jsf_site::{RankRequest, RankedQueue};

use crate::answer::Format;
use crate::cli::args::{
    AnswerArgs, CsvArgs, FilterArgs, QueueArgs, ReportArgs, format, number_of_jobs,
};
use crate::cli::filter::select_rows_or_warn;
use crate::cli::messages::report_errors;
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::queue::OpenedQueue;
use crate::commands::rank::{RankAnswer, RankPageParts, TermColumns, all_rows};

const FORMATS: [Format; 5] = [
    Format::Human,
    Format::Markdown,
    Format::Json,
    Format::Csv,
    Format::Ndjson,
];

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
      --sched-priv examples/site/sched_priv --entity lnovak --format csv",
mut_arg("format", |given| given.value_parser(format(&FORMATS))))]
pub struct RankArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// Show only the first N jobs
    #[arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)]
    top: Option<usize>,
    /// The jobs to show.
    #[command(flatten)]
    filter: FilterArgs,
    /// Show the inputs of the formula for each job
    #[arg(long)]
    inputs: bool,
    /// Show the summands of the formula for each job
    ///
    /// With their signs, as `sprio -l` does: added up they are the value
    #[arg(long)]
    terms: bool,
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

pub(crate) fn run(arguments: &RankArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    if arguments.terms && arguments.queue.site.numbers == NumberMode::Decimal {
        return Err(CliError::usage(
            "terms follow Python's arithmetic: do not choose decimal numbers (--numbers decimal)",
        ));
    }
    let AnswerArgs { text, format } = arguments.answer;
    let has_page = arguments.report.is_given();
    let is_document = format.is_document();
    let (opened, mut warnings) = OpenedQueue::open(&arguments.queue, is_document)?;
    let OpenedQueue { site, given, .. } = &opened;
    let is_filtered = !arguments.filter.filter().is_empty();
    let has_lines_only = matches!(format, Format::Csv | Format::Ndjson);
    let request = RankRequest {
        sprio_columns: arguments.terms,
        applies_tree: has_page,
        ..RankRequest::from(&opened.formula)
    };
    // people see the findings in the answer
    let is_brief = is_document && !text.full;
    let least_drawn = (!is_brief).then_some(Severity::Note);
    let read = opened.read_jobs(&request, least_drawn, &mut warnings)?;
    let ranked = opened.rank(read, &mut warnings)?;
    let (table, ranking) = (&ranked.table, &ranked.ranking);
    let filter = arguments.filter.filter();
    let mut rows = select_rows_or_warn(filter, all_rows(ranking), site, table)?;
    rows.truncate(arguments.top.unwrap_or(usize::MAX));
    let has_text = is_document || has_page;
    let mut errors = Vec::new();
    if has_text {
        errors = shown_errors(&ranked, &rows);
    }
    let mut answer = RankAnswer {
        has_inputs: arguments.inputs,
        terms: arguments.terms.then(|| TermColumns::of(&ranked)),
        ..RankAnswer::new(given.text(), &ranked, &rows)
    };
    if has_text {
        let mut checked = site.check_ranked(&given.submitted, &ranked);
        // with a filter, what is found in jobs that are not shown is no finding
        if is_filtered {
            let findings = &mut checked.findings;
            findings.retain(|found| !FAILURE_CODES.contains(&found.code));
            findings.extend(given.in_source(errors.iter().cloned()));
        }
        if has_page {
            let side = ComparedRanking {
                table,
                ranking,
                under_threshold: Vec::new(),
                tree: ranked.assessed_tree(),
            };
            answer.page = Some(RankPageParts {
                findings: given.drawn_on_page(&checked.findings),
                groups: Comparison::new(&side, &side),
            });
        }
        answer.checked = Some(checked);
    }
    Output {
        has_asked_rows: arguments.top.is_some(),
        cells: arguments.csv.cells(),
        page_file: arguments.report.page_file(vec![site], Vec::new()),
        ..Output::new(arguments.answer, &warnings.into_answer())
    }
    .write(&answer, out)?;
    if has_lines_only {
        report_errors(arguments.queue.site.on_error, "the formula", &ranked);
    } else if is_document && text.full {
        given.draw(errors);
    }
    Ok(Outcome::of_ranking(&ranked))
}

/// The findings about the jobs that are shown; the summary counts the errors of all jobs.
fn shown_errors(ranked: &RankedQueue, rows: &[usize]) -> Vec<Diagnostic> {
    let mut is_shown = vec![false; ranked.table.len()];
    for &row in rows {
        is_shown[row] = true;
    }
    error_findings_of(&ranked.table, &ranked.ranking, |row| is_shown[row])
}
