//! Simulations under one formula with several values of its parameters, as JSON and as CSV.

use std::fmt::Display;
use std::io::{self, Write};

use jsf_simulate::{GoalState, JudgedGoal, Summary};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::answer::{Answer, Format};
use crate::view::csv_writer::{Cells, CsvWriter};
use crate::view::document::Document;

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
fn serialize_params<S: Serializer>(
    params: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
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
    members.serialize_entry(
        "bounded_slowdown",
        &summary.distribution_if_any(summary.bounded_slowdown),
    )?;
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

    /// Writes comma-separated values, a line for each run.
    fn write_as(&self, _format: Format, _cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        let mut header = self.names.to_vec();
        header.push(NUMBERS);
        let mut csv = CsvWriter::new(&header.join(","), out)?;
        for run in self.runs {
            let summary = &run.summary;
            let numbers: [&dyn Display; 7] = [
                &summary.wait.mean,
                &summary.wait.median,
                &summary.wait.p95,
                &summary.bounded_slowdown.mean,
                &summary.utilisation,
                &summary.makespan,
                &summary.mean_queue,
            ];
            let mut record = Vec::new();
            for (_, value) in &run.params {
                record.push(value.clone());
            }
            for number in numbers {
                // without a job there is no mean, and its field is empty
                record.push(summary.if_any(number.to_string()).unwrap_or_default());
            }
            for count in [run.failed, met(run), judged(run), run.never_start] {
                record.push(count.to_string());
            }
            csv.write(record)?;
        }
        csv.finish()
    }
}

/// The fields of every run; the values of the parameters precede them.
const NUMBERS: &str = "mean_wait,median_wait,p95_wait,bounded_slowdown,utilisation,makespan,mean_queue,\
                       failed,goals_met,goals_judged,never_start";

/// The number of goals that are judged: not those about no job, nor those that refer to an old
/// formula.
pub(super) fn judged(run: &SweptRun) -> usize {
    let goals = run.goals.iter();
    goals.filter(|goal| goal.state.met().is_some()).count()
}

/// The number of goals that a run meets.
pub(super) fn met(run: &SweptRun) -> usize {
    let goals = run.goals.iter();
    goals.filter(|goal| goal.state == GoalState::Met).count()
}

/// A value as a number of JSON, as it is written.
fn number(value: &str) -> Json {
    serde_json::from_str(value).unwrap_or_else(|_| value.into())
}
