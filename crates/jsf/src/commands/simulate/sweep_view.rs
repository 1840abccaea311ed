//! Simulations under one formula with several values of its parameters: a row for each run.

use std::io::{self, Write};

use jsf_simulate::{GoalState, JudgedGoal, Summary};
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::answer::{Answer, Format};
use crate::commands::simulate::answer::{distribution_json, of_jobs};
use crate::view::csv_writer::{Cells, write_csv};
use crate::view::document::{Cell, Column, Document, Fact, Section, Table};
use crate::view::goals::{goals_json, not_judged};
use crate::view::words::{count, duration, grouped_count, percent, significant};

/// One run.
#[derive(Debug, Clone)]
pub struct SweptRun {
    /// The values of the parameters, in their order.
    pub values: Vec<String>,
    /// The formula with these values.
    pub formula: String,
    /// The numbers of the run.
    pub summary: Summary,
    /// The number of jobs for which the formula fails.
    pub failed: usize,
    /// The number of jobs that never start.
    pub never_start: usize,
    /// The goals, as it meets them.
    pub goals: Vec<JudgedGoal>,
    /// The warning that hardly any job waits.
    pub no_waits: Option<String>,
}

/// All runs.
#[derive(Debug, Clone, Copy)]
pub struct SweepReport<'a> {
    /// The formula, with a name in braces for each parameter.
    pub template: &'a str,
    /// The names of the parameters.
    pub names: &'a [&'a str],
    /// The runs.
    pub runs: &'a [SweptRun],
    /// The warning that hardly any job waits, of the first run with one.
    pub no_waits: Option<&'a str>,
}

impl Serialize for SweepReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let runs: Vec<Json> = self.runs.iter().map(|run| self.run_json(run)).collect();
        let warnings = self.no_waits.as_slice();
        json!({"formula": self.template, "params": self.names, "warnings": warnings, "runs": runs})
            .serialize(serializer)
    }
}

impl Answer for SweepReport<'_> {
    fn document(&self) -> Document<'_> {
        self.drawn()
    }

    fn write_as(&self, _format: Format, _cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        self.write_csv(out)
    }
}

impl<'a> SweepReport<'a> {
    fn run_json(&self, run: &SweptRun) -> Json {
        let params: serde_json::Map<String, Json> =
            self.names.iter().zip(&run.values).map(|(name, value)| ((*name).to_owned(), number(value))).collect();
        let summary = run.summary;
        json!({
            "params": params,
            "formula": run.formula,
            "jobs": summary.jobs,
            "wait": of_jobs(&summary, distribution_json(&summary.wait)),
            "bounded_slowdown": of_jobs(&summary, distribution_json(&summary.bounded_slowdown)),
            "utilisation": of_jobs(&summary, json!(summary.utilisation)),
            "makespan": of_jobs(&summary, json!(summary.makespan)),
            "mean_queue": of_jobs(&summary, json!(summary.mean_queue)),
            "failed": run.failed,
            "never_start": run.never_start,
            "goals": goals_json(&run.goals),
        })
    }

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
            let mut record = run.values.clone();
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
    fn drawn(&self) -> Document<'a> {
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
            let mut cells: Vec<Cell<'_>> = run.values.iter().map(|value| Cell::text(&**value)).collect();
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
        let values: Vec<String> =
            self.names.iter().zip(&best.values).map(|(name, value)| format!("{name} = {value}")).collect();
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
