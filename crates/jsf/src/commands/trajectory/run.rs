//! `jsf trajectory`

use std::io::Write;

use job_sort_formula::diagnostic::Severity;
use job_sort_formula::rank::SEARCH_WORK;
use jsf_openpbs::resource_amount::NumberMode;
use jsf_site::RankRequest;

use crate::answer::Format;
use crate::cli::failing_jobs::report_errors;
use crate::cli::output::Output;
use crate::cli::queue::OpenedQueue;
use crate::cli::{CliError, Outcome, Progress, report};
use crate::commands::trajectory::answer::TrajectoryReport;
use crate::commands::trajectory::request::TrajectoryArgs;

pub(crate) fn run(arguments: &TrajectoryArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    if arguments.queue.site.numbers == NumberMode::Decimal {
        return Err(CliError::usage(
            "a trajectory follows Python's arithmetic: do not choose decimal numbers (--numbers decimal)",
        ));
    }
    let is_document = arguments.format.is_document();
    let opened = OpenedQueue::open(&arguments.queue, is_document)?;
    let OpenedQueue { site, source, .. } = &opened;
    let request = RankRequest::from(&opened.formula);
    let read = opened.read_jobs(&request, Some(Severity::Note))?;
    let mut rows = read.find_or_warn(&arguments.jobs)?;
    rows.sort_unstable();
    let (ranked, warnings) = read.rank_and_warn()?;
    let progress = Progress::start("following the jobs");
    let seconds = i64::from(arguments.hours);
    let trajectory = site.trajectory(&ranked, &rows, seconds, SEARCH_WORK);
    drop(progress);
    if !trajectory.jobs.is_empty()
        && ranked
            .program
            .inputs()
            .iter()
            .all(|input| !matches!(&**input, "eligible_time" | "age_factor"))
    {
        report(
            "note",
            format_args!("the formula does not read `eligible_time`, so no wait changes the order"),
        );
    }
    for row in rows {
        if trajectory.jobs.iter().any(|job| job.row == row) {
            continue;
        }
        let id = ranked.table.id(row);
        report(
            "warning",
            format_args!("job `{id}` does not wait for the scheduler, so it is left out"),
        );
    }
    let report = TrajectoryReport {
        formula: &source.text,
        queue: &ranked,
        trajectory: &trajectory,
    };
    let has_picture = is_document || arguments.format == Format::Svg;
    let warnings = warnings.into_answer();
    // of no job there is nothing to see, and a message says why
    if !(has_picture && trajectory.jobs.is_empty()) {
        let output = Output::new(arguments.format, arguments.text, &warnings);
        output
            .with_cells(arguments.csv.cells())
            .write(&report, out)?;
    }
    report_errors(
        arguments.queue.site.on_error,
        "the formula",
        &ranked.table,
        &ranked.ranking,
    );
    Ok(Outcome::of_ranking(&ranked.findings, &ranked.ranking))
}
