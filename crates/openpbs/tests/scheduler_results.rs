//! What the recorded scheduler computed for the recorded jobs, and how far this crate computes the
//! same.

use std::collections::BTreeMap;

use job_sort_formula::jobs::{Exclusion, Job, JobState, JobTable};
use job_sort_formula::rank::{OnError, ScorePrecision, Scores, score};
use job_sort_formula::{Program, Schema, Value};
use jsf_openpbs::Objects;
use jsf_openpbs::amounts::logged;
use jsf_openpbs::files::resources::add_resources;
use jsf_openpbs::order::{NotConsidered, Ordered};
use jsf_testing::golden;
use jsf_testing::recorded::{self, Record, RecordedJob};
use serde::Deserialize;

/// A resource of the site with a name that Python or the server's script uses, and the formulas
/// that were tried with it.
#[derive(Deserialize)]
pub struct NameClash {
    pub resource: String,
    #[serde(default)]
    pub formulas: Vec<ClashingFormula>,
}

#[derive(Deserialize)]
pub struct ClashingFormula {
    pub formula: String,
    pub set: ServerAnswer,
    /// `None` if the server refused the formula. A job without a value came after the scheduler's
    /// crash.
    pub values: Option<BTreeMap<String, Option<String>>>,
    pub errors: Option<BTreeMap<String, String>>,
    pub died: Option<bool>,
}

#[derive(Deserialize)]
pub struct ServerAnswer {
    #[serde(rename = "rc")]
    pub code: u32,
    #[serde(rename = "msg")]
    pub message: Option<String>,
}

/// The recorded formulas on resources whose names are taken.
pub fn name_clashes() -> Vec<NameClash> {
    let clashes: Vec<NameClash> = golden::lines("openpbs/evaluate/name_clash.jsonl");
    let formulas: usize = clashes.iter().map(|clash| clash.formulas.len()).sum();
    assert_eq!((clashes.len(), formulas), (25, 46));
    clashes
}

/// Adds a resource of integers as the server's file lists it, whatever its name.
pub fn declare(resource: &str, schema: &mut Schema) {
    let resourcedef = format!("{resource} type=long");
    let objects = Objects::read_resourcedef(&resourcedef);
    assert_eq!(add_resources("resourcedef", &objects, schema), [""; 0]);
}

/// A table of the recorded jobs with these inputs.
pub fn table<'a>(jobs: &[RecordedJob], names: impl IntoIterator<Item = &'a str>) -> JobTable {
    table_without(jobs, names, |_| false)
}

/// The same, but the inputs for which `is_unset` holds are not set.
pub fn table_without<'a>(
    jobs: &[RecordedJob],
    names: impl IntoIterator<Item = &'a str>,
    is_unset: impl Fn(&str) -> bool,
) -> JobTable {
    let mut table = JobTable::new(names);
    let names: Vec<String> = table.columns().map(|(name, _)| name.to_owned()).collect();
    for recorded in jobs {
        let mut job = Job {
            id: &recorded.job,
            entity: &recorded.entity,
            ..Job::default()
        };
        if let Some(qstat) = &recorded.qstat {
            job.queue = &qstat.queue;
            job.state = JobState::from_letter(&qstat.job_state).unwrap_or_default();
            job.queued_at = Some(qstat.queue_rank as i64);
        }
        let is_invalid = recorded.scheduler_inputs.is_none();
        assert_eq!(is_invalid, recorded.invalid.is_some(), "{}", recorded.job);
        if is_invalid {
            job.exclusion = Some(Exclusion::Invalid {
                resource: String::new(),
                found: String::new(),
            });
        }
        let mut row = Vec::new();
        for name in &names {
            row.push(match &recorded.scheduler_inputs {
                Some(inputs) if !is_unset(name) => Ok(recorded::number(&inputs[name])),
                _ => Err(Value::Int(0)),
            });
        }
        table.push(&job, &row).expect("one input for each column");
    }
    table
}

/// The scores as OpenPBS computes them.
pub fn scores(program: &Program, table: &JobTable) -> Scores {
    score(
        program,
        table,
        ScorePrecision::Float32,
        OnError::ZeroLikePbs,
    )
}

/// The prefix of an error in the log. Some records have it, some only the text after it.
const LOG_PREFIX: &str = "Formula evaluation for job had an error.  Zero value will be used: ";

/// The differences between scores and a record: which jobs have a value, exact values, logged
/// values and errors.
pub fn differences(record: &Record, table: &JobTable, scores: &Scores) -> Vec<String> {
    let mut wrong = Vec::new();
    for row in 0..scores.len() {
        let job = table.id(row);
        let score = scores.get(row);
        let value = score.as_ref().map(|score| logged(score.value));
        let (mut exact, mut raised) = (None, None);
        match score.map(|score| score.unrounded) {
            Some(Ok(result)) => exact = Some(result.to_string()),
            Some(Err(error)) if !error.crashes_the_scheduler() => raised = Some(error.to_string()),
            _ => {}
        }
        let recorded = record.exact.as_ref().and_then(|exact| exact.get(job));
        let error = record.errors.get(job);
        let error = error.map(|text| text.strip_prefix(LOG_PREFIX).unwrap_or(text));
        if value.as_ref() != record.values.get(job) || raised.as_deref() != error {
            wrong.push(format!(
                "{job}: logged value and error are {value:?} {raised:?}, recorded {:?} {error:?}",
                record.values.get(job)
            ));
        }
        if exact.is_some() && recorded.is_some() && exact.as_ref() != recorded {
            wrong.push(format!(
                "{job}: exact value is {exact:?}, recorded {recorded:?}"
            ));
        }
    }
    wrong
}

/// The differences between an order and a record.
pub fn order_differences(record: &Record, table: &JobTable, ordered: &Ordered) -> Vec<String> {
    let order = ordered.ranking.order().iter();
    let ours: Vec<&str> = order.map(|&row| table.id(row)).collect();
    let mut passed = BTreeMap::new();
    for (row, why) in &ordered.not_considered {
        if *why != NotConsidered::NoShares {
            passed.insert(table.id(*row).to_owned(), why.to_string());
        }
    }
    let mut wrong = Vec::new();
    if ours != record.order {
        wrong.push(format!(
            "order is\n  {ours:?}, recorded\n  {:?}",
            record.order
        ));
    }
    if passed != record.under_threshold {
        wrong.push(format!(
            "under the threshold are {passed:?}, recorded {:?}",
            record.under_threshold
        ));
    }
    wrong
}
