//! `jsf trajectory`: its arguments, and what it does.

use std::io::Write;

use clap::Args;
use job_sort_formula::diagnostic::Severity;
use job_sort_formula::rank::SEARCH_WORK;
use jsf_openpbs::amounts::{NumberMode, parse_duration};
use jsf_site::RankRequest;

use crate::answer::Format;
use crate::cli::args::{AnswerArgs, CsvArgs, JobArgs, QueueArgs, format};
use crate::cli::messages::{Progress, print_message, report_errors, warn};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::queue::OpenedQueue;
use crate::commands::trajectory::{MAX_FOLLOWED, TrajectoryAnswer};

const FORMATS: [Format; 5] = [
    Format::Human,
    Format::Markdown,
    Format::Json,
    Format::Csv,
    Format::Svg,
];

/// `jsf trajectory`
#[derive(Debug, Args)]
#[command(after_help = "\
The eligible_time of all considered jobs grows alike, and nothing else changes: no job starts, ends or is submitted, and no \
usage grows or decays. Scores are given at 61 evenly spaced times. The times at which a job overtakes another one are exact to \
the second; they include the jobs that are not listed. A job that does not wait for the scheduler is left out, with a warning.

In JSON, `points` has the score and the rank of each job over time, `ranks` the times at which its rank changes, and \
`crossings` which job overtakes which; `wait` is the time from now in seconds. A job is followed as far as a fixed amount of \
work goes (`known_until`); later points have no rank and say so (`known`). CSV contains only the points.

Examples:
  jsf trajectory 'eligible_time / 3600 + ncpus' \\
      --site examples/site --job 184598
  jsf trajectory 'ncpus * eligible_time' --site examples/site \\
      --job 184598,184127 --hours 3d --format csv
  jsf trajectory --site examples/site --job 184277 --format markdown",
mut_arg("job", |job| job.required(true)),
mut_arg("format", |given| given.value_parser(format(&FORMATS))))]
pub struct TrajectoryArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// The jobs.
    #[command(flatten)]
    jobs: JobArgs,
    /// How long to follow the jobs
    ///
    /// A number of hours, such as 72 or 0.5, or a duration, such as 15m, 7d or 1-12:00:00; from a
    /// minute to a year (8784 hours)
    #[arg(long, value_name = "H", default_value = "24", value_parser = followed_seconds, allow_negative_numbers = true)]
    hours: u32,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// How CSV is written.
    #[command(flatten)]
    csv: CsvArgs,
}

/// Parses how long jobs are followed, into seconds. A number is one of hours, unlike in other
/// durations.
fn followed_seconds(text: &str) -> Result<u32, String> {
    let is_decimal = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = match text.parse::<f64>() {
        // `1e3` and `inf` are numbers for Rust, and no hours
        Ok(hours) if is_decimal => (hours * 3600.0).round() as u64,
        _ => parse_duration(text).map_err(|_| {
            "expected a number of hours, such as 24 or 0.5, or a duration, such as 90m, 7d or 1-12:00:00".to_owned()
        })?,
    };
    match u32::try_from(seconds) {
        Ok(seconds @ 60..=MAX_FOLLOWED) => Ok(seconds),
        _ => Err("expected at least a minute and at most a year (8784 hours)".to_owned()),
    }
}

pub(crate) fn run(arguments: &TrajectoryArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    if arguments.queue.site.numbers == NumberMode::Decimal {
        return Err(CliError::usage(
            "a trajectory follows Python's arithmetic: do not choose decimal numbers (--numbers decimal)",
        ));
    }
    let format = arguments.answer.format;
    let is_document = format.is_document();
    let (opened, mut warnings) = OpenedQueue::open(&arguments.queue, is_document)?;
    let request = RankRequest::from(&opened.formula);
    let read = opened.read_jobs(&request, Some(Severity::Note), &mut warnings)?;
    let mut rows = opened.find_or_warn(&arguments.jobs, &read.jobs.table)?;
    rows.sort_unstable();
    let ranked = opened.rank(read, &mut warnings)?;
    let progress = Progress::start("following the jobs");
    let seconds = i64::from(arguments.hours);
    let trajectory = (opened.site).trajectory(&ranked, &rows, seconds, SEARCH_WORK);
    drop(progress);
    let mut inputs = ranked.program.inputs().iter();
    if !trajectory.jobs.is_empty()
        && !inputs.any(|input| matches!(&**input, "eligible_time" | "age_factor"))
    {
        print_message(
            "note",
            "the formula does not read `eligible_time`, so no wait changes the order",
        );
    }
    for row in rows {
        if !trajectory.jobs.iter().any(|job| job.row == row) {
            let id = ranked.table.id(row);
            warn(format_args!(
                "job `{id}` does not wait for the scheduler, so it is left out"
            ));
        }
    }
    let answer = TrajectoryAnswer {
        formula: opened.given.text(),
        queue: &ranked,
        trajectory: &trajectory,
    };
    let warnings = warnings.into_answer();
    // of no job there is nothing to see, and a message says why
    if !trajectory.jobs.is_empty() || !is_document && format != Format::Svg {
        Output {
            cells: arguments.csv.cells(),
            ..Output::new(arguments.answer, &warnings)
        }
        .write(&answer, out)?;
    }
    report_errors(arguments.queue.site.on_error, "the formula", &ranked);
    Ok(Outcome::of_ranking(&ranked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_of_hours_and_a_duration_has_its_unit() {
        for (text, seconds) in [
            ("24", 86_400),
            ("0.5", 1800),
            (".5", 1800),
            ("8784", MAX_FOLLOWED),
            ("7d", 604_800),
            ("366d", MAX_FOLLOWED),
            ("90m", 5400),
            ("60s", 60),
            ("1-12:00:00", 129_600),
            ("72:00:00", 259_200),
        ] {
            assert_eq!(followed_seconds(text), Ok(seconds), "{text}");
        }
        for text in [
            "0",
            "0.01",
            "59s",
            "8785",
            "367d",
            "99999999999999999999999",
            "53w",
        ] {
            assert_eq!(
                followed_seconds(text),
                Err("expected at least a minute and at most a year (8784 hours)".to_owned()),
                "{text}"
            );
        }
        for text in ["", ".", "-1", "1e3", "inf", "NaN", "soon", "1.5d", "1.2.3"] {
            let error = followed_seconds(text).expect_err(text);
            assert!(
                error.starts_with("expected a number of hours"),
                "{text}: {error}"
            );
        }
    }
}
