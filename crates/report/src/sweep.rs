//! Simulations under one formula with several values of its parameters: a row for each run.

use std::io::{self, Write};

use jsf_simulate::{GoalState, JudgedGoal, Summary};
use serde_json::{Value as Json, json};

use crate::csv_writer::write_csv;
use crate::document::{Cell, Column, Document, Fact, Section, Table};
use crate::goals::goals_json;
use crate::simulation::distribution_json;
use crate::words::{count, duration, percent, significant};

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

impl<'a> SweepReport<'a> {
    /// Writes one JSON document.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let runs: Vec<Json> = self.runs.iter().map(|run| self.run_json(run)).collect();
        let document =
            json!({"formula": self.template, "params": self.names, "warnings": self.no_waits.as_slice(), "runs": runs});
        serde_json::to_writer_pretty(&mut *out, &document)?;
        out.write_all(b"\n")
    }

    fn run_json(&self, run: &SweptRun) -> Json {
        let params: serde_json::Map<String, Json> =
            self.names.iter().zip(&run.values).map(|(name, value)| ((*name).to_owned(), number(value))).collect();
        let summary = run.summary;
        json!({
            "params": params,
            "formula": run.formula,
            "jobs": summary.jobs,
            "wait": distribution_json(&summary.wait),
            "bounded_slowdown": distribution_json(&summary.bounded_slowdown),
            "utilisation": summary.utilisation,
            "makespan": summary.makespan,
            "mean_queue": summary.mean_queue,
            "failed": run.failed,
            "goals": goals_json(&run.goals),
        })
    }

    /// Writes comma-separated values, a line for each run.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
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
        ];
        let header: Vec<&str> = self.names.iter().copied().chain(numbers).collect();
        let records = self.runs.iter().map(|run| {
            let Summary { wait, bounded_slowdown, utilisation, makespan, mean_queue, .. } = run.summary;
            let numbers = [wait.mean, wait.median, wait.p95, bounded_slowdown.mean, utilisation];
            let mut record = run.values.clone();
            record.extend(numbers.map(|number| number.to_string()));
            record.extend([makespan.to_string(), mean_queue.to_string(), run.failed.to_string(), met(run).to_string()]);
            record
        });
        write_csv(&header, records, out)
    }

    /// The runs as a document.
    pub fn document(&self) -> Document<'a> {
        let Self { template, names, runs, no_waits } = *self;
        let best = runs.iter().min_by(|one, other| {
            let missed = |run: &SweptRun| run.goals.len() - met(run);
            let mean = |run: &SweptRun| run.summary.bounded_slowdown.mean;
            missed(one).cmp(&missed(other)).then(mean(one).total_cmp(&mean(other)))
        });
        let headline = match best {
            None => "No run has ended.".to_owned(),
            Some(best) => {
                let values: Vec<String> =
                    names.iter().zip(&best.values).map(|(name, value)| format!("{name} = {value}")).collect();
                let goals = match best.goals.len() {
                    0 => String::new(),
                    all => format!(" ({} of {} met)", met(best), count(all, "goal")),
                };
                let slowdown = significant(best.summary.bounded_slowdown.mean);
                format!(
                    "Of {}, {} has the lowest mean bounded slowdown, {slowdown}{goals}.",
                    count(runs.len(), "run"),
                    values.join(", ")
                )
            }
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
        let table = Table::new(columns, runs.len(), move |index| {
            let run = &runs[index];
            let mut cells: Vec<Cell<'_>> = run.values.iter().map(|value| Cell::text(&**value)).collect();
            let summary = run.summary;
            cells.extend([
                Cell::prose(duration(summary.wait.mean)),
                Cell::prose(duration(summary.wait.p95)),
                Cell::prose(significant(summary.bounded_slowdown.mean)),
                Cell::prose(percent(summary.utilisation)),
            ]);
            if has_goals {
                cells.push(Cell::prose(format!("{} of {}", met(run), run.goals.len())));
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

/// The number of goals that a run meets.
fn met(run: &SweptRun) -> usize {
    run.goals.iter().filter(|goal| goal.state == GoalState::Met).count()
}

/// A value as a number of JSON, as it is written.
fn number(value: &str) -> Json {
    serde_json::from_str(value).unwrap_or_else(|_| value.into())
}
