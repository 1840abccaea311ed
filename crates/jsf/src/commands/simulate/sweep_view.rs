//! Simulations under one formula with several values of its parameters: a row for each run.

use std::io::{self, Write};

use jsf_simulate::{GoalState, JudgedGoal, Summary};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::answer::{Answer, Format};
use crate::view::csv_writer::{Cells, write_csv};
use crate::view::document::{Cell, Column, Document, Fact, Section, Table};
use crate::view::goals::not_judged;
use crate::view::words::{count, duration, grouped_count, percent, significant};

/// One run.
#[derive(Debug, Clone, Serialize)]
pub struct SweptRun {
    /// The parameters with their values, in their order.
    #[serde(serialize_with = "serialize_params")]
    pub params: Vec<(String, String)>,
    /// The formula with these values.
    pub formula: String,
    /// The numbers of the run.
    #[serde(flatten, serialize_with = "serialize_numbers")]
    pub summary: Summary,
    /// The number of jobs for which the formula fails.
    pub failed: usize,
    /// The number of jobs that never start.
    pub never_start: usize,
    /// The goals, as it meets them.
    pub goals: Vec<JudgedGoal>,
    /// The warning that hardly any job waits.
    #[serde(skip)]
    pub no_waits: Option<String>,
}

/// Serialises values as numbers where they are.
fn serialize_params<S: Serializer>(params: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(params.iter().map(|(name, value)| (name, number(value))))
}

/// Serialises a text as a list of at most one.
fn as_list<S: Serializer>(text: &Option<&str>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_slice().serialize(serializer)
}

/// The numbers of a simulation by which runs are compared.
fn serialize_numbers<S: Serializer>(summary: &Summary, serializer: S) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_map(None)?;
    members.serialize_entry("jobs", &summary.jobs)?;
    members.serialize_entry("wait", &summary.distribution_if_any(summary.wait))?;
    members.serialize_entry("bounded_slowdown", &summary.distribution_if_any(summary.bounded_slowdown))?;
    members.serialize_entry("utilisation", &summary.if_any(summary.utilisation))?;
    members.serialize_entry("makespan", &summary.if_any(summary.makespan))?;
    members.serialize_entry("mean_queue", &summary.if_any(summary.mean_queue))?;
    members.end()
}

/// All runs.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SweepReport<'a> {
    /// The formula, with a name in braces for each parameter.
    #[serde(rename = "formula")]
    pub template: &'a str,
    /// The names of the parameters.
    #[serde(rename = "params")]
    pub names: &'a [&'a str],
    /// The warning that hardly any job waits, of the first run with one.
    #[serde(rename = "warnings", serialize_with = "as_list")]
    pub no_waits: Option<&'a str>,
    /// The runs.
    pub runs: &'a [SweptRun],
}

impl Answer for SweepReport<'_> {
    fn document(&self) -> Document<'_> {
        self.sweep_document()
    }

    fn write_as(&self, _format: Format, _cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        self.write_csv(out)
    }
}

impl<'a> SweepReport<'a> {
    /// Writes comma-separated values, a line for each run.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let numbers = [
            "mean_wait",
            "median_wait",
            "p95_wait",
            "bounded_slowdown",
            "utilisation",
            "makespan",
            "mean_queue",
            "failed",
            "goals_met",
            "goals_judged",
            "never_start",
        ];
        let header: Vec<&str> = self.names.iter().copied().chain(numbers).collect();
        let records = self.runs.iter().map(|run| {
            let Summary { wait, bounded_slowdown, utilisation, makespan, mean_queue, .. } = run.summary;
            let numbers = [wait.mean, wait.median, wait.p95, bounded_slowdown.mean, utilisation];
            let mut record: Vec<String> = run.params.iter().map(|(_, value)| value.clone()).collect();
            // without a job there is no mean, and its field is empty
            let of_jobs = |number: String| if run.summary.jobs > 0 { number } else { String::new() };
            record.extend(numbers.map(|number| of_jobs(number.to_string())));
            record.extend([makespan.to_string(), mean_queue.to_string()].map(of_jobs));
            record.extend([run.failed, met(run), judged(run), run.never_start].map(|count| count.to_string()));
            record
        });
        write_csv(&header, records, out)
    }

    /// The runs as a document.
    fn sweep_document(&self) -> Document<'a> {
        let Self { template, names, runs, no_waits } = *self;
        let headline = match best(runs) {
            None => "No run has ended.".to_owned(),
            Some(best) => self.headline(best),
        };
        let mut columns: Vec<Column> = names.iter().map(|name| Column::number(*name, 6)).collect();
        columns.extend([
            Column::text("mean wait", 9),
            Column::text("p95 wait", 9),
            Column::number("slowdown", 8),
            Column::number("utilisation", 11),
        ]);
        let has_goals = runs.iter().any(|run| !run.goals.is_empty());
        if has_goals {
            columns.push(Column::number("goals met", 9));
        }
        let has_never = runs.iter().any(|run| run.never_start > 0);
        if has_never {
            columns.push(Column::number("never start", 9));
        }
        let table = Table::new(columns, runs.len(), move |index| {
            let run = &runs[index];
            let mut cells: Vec<Cell<'_>> = run.params.iter().map(|(_, value)| Cell::text(&**value)).collect();
            let summary = run.summary;
            let numbers = [
                duration(summary.wait.mean),
                duration(summary.wait.p95),
                significant(summary.bounded_slowdown.mean),
                percent(summary.utilisation),
            ];
            let of_jobs = |text: String| if summary.jobs > 0 { Cell::prose(text) } else { Cell::Missing };
            cells.extend(numbers.map(of_jobs));
            if has_goals {
                cells.push(Cell::prose(format!("{} of {}", met(run), judged(run))));
            }
            if has_never {
                cells.push(Cell::Count(run.never_start));
            }
            cells
        });
        let warning = no_waits.map(|warning| Section::new("").list(vec![format!("warning {warning}")]));
        Document {
            command: "jsf simulate",
            title: "A formula with several values".to_owned(),
            headline,
            facts: vec![Fact::new("formula", template.trim_end())],
            sections: warning.into_iter().chain([Section::new("runs").table(table)]).collect(),
            read_on: "jsf simulate --old F --new F",
        }
    }
}

impl SweepReport<'_> {
    /// Which run has the lowest mean, and of which runs.
    fn headline(&self, best: &SweptRun) -> String {
        let all = count(self.runs.len(), "run");
        if best.summary.jobs == 0 {
            return format!("No job starts in any of {all}.");
        }
        let values: Vec<String> = best.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let values = values.join(", ");
        let starting: Vec<&SweptRun> = self.runs.iter().filter(|run| run.never_start == best.never_start).collect();
        let alike = starting.iter().filter(|run| met(run) == met(best)).count();
        let of_starts = (starting.len() < self.runs.len()).then_some("the fewest jobs that never start");
        let of_goals = (alike < starting.len()).then_some("the most goals met");
        let merits: Vec<&str> = of_starts.into_iter().chain(of_goals).collect();
        let merits = merits.join(" and of these ");
        let slowdown = significant(best.summary.bounded_slowdown.mean);
        let goals = match judged(best) {
            0 => String::new(),
            judged => format!(" ({} of {} met)", met(best), count(judged, "goal")),
        };
        let lowest = format!("has the lowest mean bounded slowdown, {slowdown}{goals}.");
        let first = match alike {
            _ if merits.is_empty() => format!("Of {all}, {values} {lowest}"),
            1 => {
                format!("Of {all}, {values} is the one with {merits}; its mean bounded slowdown is {slowdown}{goals}.")
            }
            alike => format!("Of the {alike} of {all} with {merits}, {values} {lowest}"),
        };
        let never = match best.never_start {
            0 => None,
            1 => Some("1 job never starts there.".to_owned()),
            never => Some(format!("{} never start there.", grouped_count(never, "job"))),
        };
        let not_judged = not_judged(&best.goals).map(|not_judged| format!("{not_judged}."));
        [Some(first), never, not_judged].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The run under which the fewest jobs never start; of those the one that meets most goals, and of these the one with the lowest mean
/// bounded slowdown.
fn best(runs: &[SweptRun]) -> Option<&SweptRun> {
    runs.iter().min_by(|one, other| {
        let mean = |run: &SweptRun| run.summary.bounded_slowdown.mean;
        let by_starts = one.never_start.cmp(&other.never_start);
        by_starts.then(met(other).cmp(&met(one))).then_with(|| mean(one).total_cmp(&mean(other)))
    })
}

/// The number of goals that are judged: not those about no job, nor those that refer to an old formula.
fn judged(run: &SweptRun) -> usize {
    run.goals.iter().filter(|goal| goal.state.met().is_some()).count()
}

/// The number of goals that a run meets.
fn met(run: &SweptRun) -> usize {
    run.goals.iter().filter(|goal| goal.state == GoalState::Met).count()
}

/// A value as a number of JSON, as it is written.
fn number(value: &str) -> Json {
    serde_json::from_str(value).unwrap_or_else(|_| value.into())
}
