//! `jsf trajectory`: the ranks of jobs over the time that they wait, for people, as a picture, as
//! JSON and as CSV.

use std::io::{self, Write};

use clap::Args;
use job_sort_formula::Value;
use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::rank::SEARCH_WORK;
use jsf_openpbs::NumberMode;
use jsf_openpbs::times::parse_duration;
use jsf_site::{JobTrajectory, RankRequest, RankedQueue, Site, Trajectory};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::answers::{Answer, AnswerError, Each, Format, Warnings, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::QueueArgs,
    messages::{show_rankings, warn},
    outcome::{CliError, Outcome},
    output::{AnswerArgs, CsvArgs, Output, formats},
};
use crate::commands::rank::{rank_jobs, read_jobs};
use crate::csv::{CsvText, CsvWriter, guarded};
use crate::questions::named_jobs::{NamedJobs, named_rows};
use crate::view::charts::{Axis, Layout, Plot, StepLine};
use crate::view::document::{Cell, Column, Document, RowLimit, Section, Table, cells};
use crate::view::facts::rule_facts;
use crate::view::words::{count, grouped_number, ordinal, waiting_time};

/// Which jobs are followed, and for how long.
#[derive(Debug, Clone, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct TrajectoryQuestion {
    /// The jobs.
    #[serde(flatten)]
    #[command(flatten)]
    pub jobs: NamedJobs,
    /// How long to follow the jobs
    ///
    /// A number of hours, such as 72 or 0.5, or a duration, such as 15m, 7d or 1-12:00:00; from a
    /// minute to a year (8784 hours)
    // in seconds
    #[serde(deserialize_with = "seconds_of_hours")]
    #[arg(long, value_name = "H", default_value = "24", value_parser = followed_seconds, allow_negative_numbers = true)]
    pub hours: u32,
    /// The most work of following the jobs.
    #[serde(skip)]
    #[arg(skip)]
    pub work: Option<u64>,
}

fn seconds_of_hours<'de, D: Deserializer<'de>>(given: D) -> Result<u32, D::Error> {
    let hours = f64::deserialize(given)?;
    let seconds = hours * 3600.0;
    if (60.0..=f64::from(MAX_FOLLOWED)).contains(&seconds) {
        return Ok(seconds.round() as u32);
    }
    let why = format!("`hours` is {hours}, expected from a minute to 8784");
    Err(D::Error::custom(why))
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

/// The longest time to follow jobs, in seconds: a leap year.
const MAX_FOLLOWED: u32 = 8784 * 3600;

/// `jsf trajectory`
#[cfg(feature = "command")]
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

#[cfg(feature = "command")]
impl TrajectoryArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let format = self.answer.format;
        let (site, given) = self.queue.open(format)?;
        let output = self.answer.answered("following the jobs", |warnings, _| {
            TrajectoryAnswer::new(&site, given, &self.question, warnings)
        })?;
        let output = Output {
            csv_texts: self.csv.texts(),
            ..output
        };
        let answer = &output.answer;
        show_rankings(answer, format, self.queue.site.on_error);
        // of no job there is nothing to see, and a warning says why
        let is_seen = format.is_document() || format == Format::Svg;
        if !is_seen || !answer.trajectory.jobs.is_empty() {
            output.write(out)?;
        } else if format.is_document() {
            output.warnings.iter().for_each(warn);
        }
        Ok(Outcome::of_answer(answer))
    }
}

/// A trajectory, ready to be written.
#[derive(Debug)]
pub struct TrajectoryAnswer {
    /// The formula.
    pub given: AskedFormula,
    /// The ranked queue.
    pub queue: RankedQueue,
    /// What is written.
    trajectory: Trajectory,
}

impl TrajectoryAnswer {
    /// Follows jobs of the queue of a site.
    ///
    /// # Errors
    /// The jobs cannot be read, the formula is not arithmetic, or none of the jobs exists.
    pub fn new(
        site: &Site,
        given: AskedFormula,
        question: &TrajectoryQuestion,
        warnings: &mut Warnings,
    ) -> Result<Self, AnswerError> {
        if site.numbers() == NumberMode::Decimal {
            return Err(AnswerError::question(Message::asking(
                "a trajectory computes with doubles, not with decimals: ",
                [Need::PythonNumbers],
            )));
        }
        if question.jobs.job.is_empty() {
            return Err(AnswerError::question("no job is named: give `jobs`"));
        }
        let request = RankRequest::from(given.parsed()?);
        let read = read_jobs(site, &given, &request, warnings)?;
        let mut rows = named_rows(&question.jobs, site, &read.jobs.table, warnings)?;
        rows.sort_unstable();
        let queue = rank_jobs(site, &given, read, warnings)?;
        let seconds = i64::from(question.hours);
        let work = question.work.unwrap_or(SEARCH_WORK);
        let trajectory = site.trajectory(&queue, &rows, seconds, work);
        let mut inputs = queue.program.inputs().iter();
        if !trajectory.jobs.is_empty()
            && !inputs.any(|input| matches!(&**input, "eligible_time" | "age_factor"))
        {
            let why = "the formula does not read `eligible_time`, so no wait changes the order";
            warnings.add([why]);
        }
        for row in rows {
            if !trajectory.jobs.iter().any(|job| job.row == row) {
                let id = queue.table.id(row);
                let why = format!("job `{id}` does not wait for the scheduler, so it is left out");
                warnings.add([why]);
            }
        }
        Ok(Self {
            given,
            queue,
            trajectory,
        })
    }

    /// Whether a job is followed to the end.
    fn is_complete(&self, job: &JobTrajectory) -> bool {
        job.known_until >= self.trajectory.seconds
    }

    fn id(&self, row: usize) -> &str {
        self.queue.table.id(row)
    }

    /// The time that a job has waited now, in seconds.
    fn waited(&self, job: &JobTrajectory) -> i64 {
        match self.queue.table.column("eligible_time") {
            Some(column) => column.nearest_double(job.row) as i64,
            None => 0,
        }
    }

    fn followed_job(&self, job: &JobTrajectory) -> impl Serialize {
        let waited = self.waited(job);
        let mut points = Vec::new();
        for point in &job.points {
            let eligible_time = waited + point.wait;
            points.push(object! { #[serde(flatten)] point, eligible_time });
        }
        // the ranks that the job has from a time on
        let mut ranks = Vec::new();
        for &(wait, rank) in &job.ranks {
            ranks.push(object! { wait, rank });
        }
        object! {
            id: self.id(job.row),
            entity: self.queue.table.entity(job.row),
            queue: self.queue.table.queue(job.row),
            known_until: job.known_until,
            is_complete: self.is_complete(job),
            points,
            ranks,
        }
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job at each point of time.
    fn write_csv(&self, texts: CsvText, out: &mut dyn Write) -> io::Result<()> {
        let mut csv = CsvWriter::new("wait,id,eligible_time,score,rank,known", out)?;
        for job in &self.trajectory.jobs {
            let waited = self.waited(job);
            let id = guarded(self.id(job.row), texts);
            for point in &job.points {
                let mut score = String::new();
                if point.score.is_finite() {
                    score = Value::Float(point.score).repr();
                }
                let eligible_time = waited + point.wait;
                csv.write((
                    point.wait,
                    &id,
                    eligible_time,
                    score,
                    point.rank,
                    point.is_known,
                ))?;
            }
        }
        csv.finish()
    }
}

impl Serialize for TrajectoryAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut crossings = Vec::new();
        for overtaking in &self.trajectory.overtakings {
            crossings.push(object! {
                wait: overtaking.wait,
                job: self.id(overtaking.winner),
                overtakes: self.id(overtaking.loser),
            });
        }
        let answer = object! {
            formula: self.given.text(),
            considered: self.queue.ranking.order().len(),
            seconds: self.trajectory.seconds,
            jobs: Each(|| self.trajectory.jobs.iter().map(|job| self.followed_job(job))),
            crossings,
        };
        answer.serialize(serializer)
    }
}

impl Answer for TrajectoryAnswer {
    fn rankings(&self) -> Vec<(&AskedFormula, &RankedQueue)> {
        vec![(&self.given, &self.queue)]
    }

    fn document(&self) -> Document<'_> {
        let mut sections = Vec::new();
        sections.extend(self.ranks_section());
        sections.extend(self.overtakings_section());
        let over_time = Section::new("ranks over time").table(self.ranks_over_time());
        sections.push(over_time.in_full());
        Document {
            command: "jsf trajectory",
            title: "Ranks while jobs wait".to_owned(),
            headline: self.headline(),
            facts: rule_facts(self.given.text(), &self.queue.rules),
            sections,
            read_on: "",
        }
    }

    fn write_as(&self, format: Format, texts: CsvText, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Svg {
            self.write_svg(out)
        } else {
            self.write_csv(texts, out)
        }
    }
}

impl TrajectoryAnswer {
    /// Where the job is that moves farthest, now and later.
    fn headline(&self) -> String {
        let jobs = &self.trajectory.jobs;
        // of those that move as far, the first one
        let Some(job) = jobs.iter().rev().max_by_key(|job| places(job)) else {
            return String::new();
        };
        let mut of = String::new();
        if jobs.len() > 1 {
            of = format!("Of {} none moves farther than ", count(jobs.len(), "job"));
        }
        let [now, later] = ends(job).map(rank_in_words);
        format!(
            "{of}`{}`: {now} of {} now, {later} in {}, {ASSUMED}.",
            self.id(job.row),
            grouped_number(self.queue.ranking.order().len()),
            waiting_time(job.known_until)
        )
    }

    /// A row for each of several jobs: its rank now and at the end, as far as that is known.
    fn ranks_section(&self) -> Option<Section<'_>> {
        let jobs = &self.trajectory.jobs;
        let mut is_cut = false;
        let mut rows = Vec::new();
        for job in jobs {
            let is_complete = self.is_complete(job);
            let [now, later] = ends(job);
            is_cut |= !is_complete;
            let later = if is_complete { later } else { None };
            rows.push(cells![self.id(job.row), now, later]);
        }
        if jobs.len() < 2 && !is_cut {
            return None;
        }
        let end = waiting_time(self.trajectory.seconds);
        let columns = [
            Column::id("job", 9),
            Column::number("rank now", 8),
            Column::number(format!("in {end}"), 8),
        ];
        let mut section = Section::new("ranks");
        if is_cut {
            section = section.prose("What is missing takes more work than one trajectory may do.");
        }
        Some(section.table(Table::from_rows(columns, rows)))
    }

    fn overtakings_section(&self) -> Option<Section<'_>> {
        let overtakings = &self.trajectory.overtakings;
        if overtakings.is_empty() {
            return None;
        }
        let columns = [
            Column::number("in", 9),
            Column::id("job", 9),
            Column::id("overtakes", 9),
        ];
        let table = Table::new(columns, overtakings.clone(), move |overtaking| {
            let (winner, loser) = (self.id(overtaking.winner), self.id(overtaking.loser));
            cells![Cell::Duration(overtaking.wait as f64), winner, loser]
        });
        let table = table.limit(RowLimit::First(MAX_OVERTAKINGS));
        Some(Section::new("overtakings").table(table))
    }

    /// The ranks of all jobs at some times.
    fn ranks_over_time(&self) -> Table<'_> {
        let jobs = &self.trajectory.jobs;
        let mut columns = vec![Column::number("in", 9)];
        for job in jobs {
            columns.push(Column::number(self.id(job.row), 8));
        }
        let mut rows = Vec::new();
        if let Some(first) = jobs.first() {
            for index in (0..first.points.len()).step_by(POINTS_PER_ROW) {
                let mut cells = vec![Cell::Duration(first.points[index].wait as f64)];
                cells.extend(jobs.iter().map(|job| job.points[index].rank.into()));
                rows.push(cells);
            }
        }
        Table::from_rows(columns, rows)
    }

    /// Writes an SVG document: a line of steps for each job, the best rank at the top.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        let jobs = &self.trajectory.jobs;
        let [mut best, mut worst] = [usize::MAX, 1];
        let (x, second) = Axis::time(self.trajectory.seconds as f64, "of waiting from now on");
        let mut lines = Vec::new();
        for job in jobs {
            for (_, rank) in &job.ranks {
                if let Some(rank) = *rank {
                    [best, worst] = [best.min(rank), worst.max(rank)];
                }
            }
            lines.push(self.line(lines.len(), job, second));
        }
        let plot = Plot {
            x,
            // without any rank, `best` is still the largest number
            y: Axis::whole([worst as f64, best.min(worst) as f64], "rank"),
            lines,
        };
        let mut style =
            "line{stroke:#bbb}line.frame{stroke:#444}path{fill:none;stroke-width:2}".to_owned();
        for (index, colour) in COLOURS.iter().enumerate() {
            style += &format!("path.c{index}{{stroke:{colour}}}text.c{index}{{fill:{colour}}}");
        }
        let svg =
            plot.draw(Layout::Wide)
                .document(&style, "Rank over waiting time", self.given.text());
        writeln!(out, "{svg}")
    }

    fn line(&self, index: usize, job: &JobTrajectory, second: f64) -> StepLine {
        let mut steps = Vec::new();
        for (index, (wait, rank)) in job.ranks.iter().enumerate() {
            let end = match job.ranks.get(index + 1) {
                Some((next, _)) => *next,
                None => job.known_until,
            };
            if let Some(rank) = *rank {
                steps.push([*wait as f64 / second, end as f64 / second, rank as f64]);
            }
        }
        let id = self.id(job.row);
        let name = if self.is_complete(job) {
            id.to_owned()
        } else {
            format!("{id}, known for {}", waiting_time(job.known_until))
        };
        StepLine {
            class: format!("c{}", index % COLOURS.len()),
            name,
            is_named: true,
            steps,
        }
    }
}

/// The most overtakings that the text lists; the others are counted.
const MAX_OVERTAKINGS: usize = 20;
/// What every rank of later takes for granted.
const ASSUMED: &str = "if none starts and none arrives";
/// Of the 61 points in time, every fifth one is in the table, the first and the last among them.
const POINTS_PER_ROW: usize = 5;

/// How many places a job moves.
fn places(job: &JobTrajectory) -> usize {
    let [now, later] = ends(job).map(Option::unwrap_or_default);
    now.abs_diff(later)
}

fn rank_in_words(rank: Option<usize>) -> String {
    match rank {
        Some(rank) => ordinal(rank),
        None => "not considered".to_owned(),
    }
}

/// The rank of a job now, and the last one that is known.
fn ends(job: &JobTrajectory) -> [Option<usize>; 2] {
    let (Some((_, now)), Some((_, later))) = (job.ranks.first(), job.ranks.last()) else {
        return [None, None];
    };
    [*now, *later]
}

/// Colours that people with any colour vision can tell apart (Okabe and Ito); the yellow is darker
/// than theirs, which is hardly seen on white.
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a800",
];

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
