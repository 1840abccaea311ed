//! `jsf rank`: its arguments, and what it does.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::rank::{ComparedRanking, Comparison};
use jsf_openpbs::check::{FAILURE_CODES, error_findings_of};
use jsf_openpbs::resource_amount::NumberMode;
use jsf_site::{RankRequest, RankedQueue};

use crate::answer::Format;
use crate::cli::args::{CsvArgs, FilterArgs, QueueArgs, TextArgs, number_of_jobs, page_path};
use crate::cli::messages::report_errors;
use crate::cli::output::{Output, Shown, format};
use crate::cli::queue::{OpenedQueue, draw_submitted, select_rows_or_warn};
use crate::cli::{CliError, Outcome, page_file};
use crate::commands::rank::answer::{RankReport, TermColumns};
use crate::commands::rank::view::RankPageParts;
use crate::job_filter::all_rows;

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

pub(crate) fn run(arguments: &RankArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    if arguments.terms && arguments.queue.site.numbers == NumberMode::Decimal {
        return Err(CliError::usage(
            "terms follow Python's arithmetic: do not choose decimal numbers (--numbers decimal)",
        ));
    }
    let is_document = arguments.format.is_document();
    let opened = OpenedQueue::open(&arguments.queue, is_document)?;
    let OpenedQueue { site, source, .. } = &opened;
    let submitted = opened.submitted();
    let has_summary = is_document || arguments.format == Format::Json || arguments.report.is_some();
    let is_filtered = !arguments.filter.filter().is_empty();
    let request = RankRequest {
        // all ranks if jobs are searched for among them, or if a summary counts them
        limit: match arguments.top {
            Some(top) if !is_filtered && !has_summary => top,
            _ => usize::MAX,
        },
        sprio_columns: arguments.terms,
        ..RankRequest::from(&opened.formula)
    };
    // people see the findings in the answer
    let is_brief = is_document && !arguments.text.full;
    let read = opened.read_jobs(&request, (!is_brief).then_some(Severity::Note))?;
    let (ranked, warnings) = read.rank_and_warn()?;
    let mut rows = select_rows_or_warn(
        arguments.filter.filter(),
        all_rows(&ranked.ranking),
        site,
        &ranked.table,
    )?;
    rows.truncate(arguments.top.unwrap_or(usize::MAX));
    let mut checked = None;
    if is_document || arguments.report.is_some() {
        let mut found = site.check_ranked(&submitted, &ranked);
        // with a filter, what is found in jobs that are not shown is no finding
        if is_filtered {
            let findings = &mut found.findings;
            findings.retain(|found| !FAILURE_CODES.contains(&found.code));
            findings.extend(shown_errors(&ranked, &rows));
        }
        checked = Some(found);
    }
    let decides = if has_summary {
        ranked.decides()
    } else {
        Vec::new()
    };
    let page = match &arguments.report {
        Some(_) => Some(page_parts(&opened, &ranked, &rows)?),
        None => None,
    };
    let report = RankReport {
        has_inputs: arguments.inputs,
        terms: arguments.terms.then(|| TermColumns::of(&ranked)),
        checked: checked.as_ref(),
        page: page.as_ref(),
        ..RankReport::new(&source.text, &ranked, &rows, &decides)
    };
    let warnings = warnings.into_answer();
    let shown = Shown {
        has_asked_rows: arguments.top.is_some(),
        ..arguments.text.into()
    };
    let output = Output::new(arguments.format, shown, &warnings)
        .with_cells(arguments.csv.cells())
        .with_page(arguments.report.as_deref(), vec![site], Vec::new());
    output.write(&report, out)?;
    match arguments.format {
        Format::Csv | Format::Ndjson => {
            report_errors(
                arguments.queue.site.on_error,
                "the formula",
                &ranked.table,
                &ranked.ranking,
            );
        }
        _ if is_document && arguments.text.full => {
            draw_submitted(source, &submitted, shown_errors(&ranked, &rows));
        }
        _ => {}
    }
    Ok(Outcome::of_ranking(&ranked.findings, &ranked.ranking))
}

/// The findings about the jobs that are shown; the summary counts the errors of all jobs.
fn shown_errors(ranked: &RankedQueue, rows: &[usize]) -> Vec<Diagnostic> {
    let mut is_shown = vec![false; ranked.table.len()];
    for &row in rows {
        is_shown[row] = true;
    }
    error_findings_of(&ranked.table, &ranked.ranking, |row| is_shown[row])
}

/// What only a page shows.
fn page_parts(
    opened: &OpenedQueue,
    ranked: &RankedQueue,
    rows: &[usize],
) -> Result<RankPageParts, CliError> {
    let findings = [&*ranked.findings, &shown_errors(ranked, rows)].concat();
    let tree = page_file::tree(&opened.site)?;
    let RankedQueue { table, ranking, .. } = ranked;
    let side = ComparedRanking {
        table,
        ranking,
        under_threshold: Vec::new(),
        tree: tree.as_ref(),
    };
    let groups = Comparison::new(&side, &side);
    Ok(RankPageParts {
        findings: page_file::draw_on_page(&opened.source, &opened.submitted(), &findings),
        groups,
        tree,
    })
}
