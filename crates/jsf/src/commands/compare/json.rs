//! A comparison as one JSON document.

use std::collections::BTreeMap;

use job_sort_formula::rank::{Fairness, GroupChange, OldNew, Ranking, Transitions};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::commands::compare::answer::CompareReport;
use crate::view::decides::{DecidingSummand, decides_json};

#[derive(Serialize)]
struct CompareJsonDocument<'a> {
    old: Side<'a>,
    new: Side<'a>,
    jobs: Jobs<'a>,
    summary: Value,
    changes: Value,
    entities: Vec<Group<'a>>,
    groups: Vec<Group<'a>>,
    queues: Vec<Group<'a>>,
    sizes: Vec<Group<'a>>,
    fairness: Value,
    decides: OldNewSummands<'a>,
}

#[derive(Serialize)]
struct OldNewSummands<'a> {
    old: Vec<DecidingSummand<'a>>,
    new: Vec<DecidingSummand<'a>>,
}

#[derive(Serialize)]
struct Side<'a> {
    formula: &'a str,
    /// By heading.
    rules: BTreeMap<&'a str, &'a str>,
}

/// The jobs, which are serialised one by one: a list of them would take more memory than the comparison.
struct Jobs<'a>(&'a CompareReport<'a>);

#[derive(Serialize)]
struct Job<'a> {
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    /// From 1; null for a job that is not considered.
    old_rank: Option<usize>,
    new_rank: Option<usize>,
    /// Null if it is not finite.
    old_score: Option<f64>,
    new_score: Option<f64>,
    moved: Option<i64>,
}

#[derive(Serialize)]
struct Group<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    path: &'a [String],
    jobs: usize,
    old_mean_rank: Option<f64>,
    new_mean_rank: Option<f64>,
    won: i64,
    top: BTreeMap<usize, Counts>,
    perc: Option<f64>,
}

#[derive(Serialize)]
struct Counts {
    old: usize,
    new: usize,
}

impl Serialize for CompareReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self;
        let comparison = report.comparison;
        let document = CompareJsonDocument {
            old: side(report.formulas.old, report.rules.old),
            new: side(report.formulas.new, report.rules.new),
            jobs: Jobs(report),
            summary: summary(report),
            changes: json!({
                "failing": transitions(report, &comparison.failing),
                "passing": transitions(report, &comparison.passing),
                "considered": transitions(report, &comparison.being_considered),
            }),
            entities: comparison.entities.iter().map(Group::new).collect(),
            groups: comparison.groups.iter().map(Group::new).collect(),
            queues: comparison.queues.iter().map(Group::new).collect(),
            sizes: comparison.sizes.iter().map(Group::new).collect(),
            fairness: both_fairness(report),
            decides: OldNewSummands { old: decides_json(report.decides.old), new: decides_json(report.decides.new) },
        };
        document.serialize(serializer)
    }
}

fn side<'a>(formula: &'a str, rules: &'a [(&'static str, String)]) -> Side<'a> {
    let rules = rules.iter().map(|(heading, text)| (*heading, &**text));
    Side { formula, rules: rules.collect() }
}

impl Serialize for Jobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report) = self;
        serializer.collect_seq(report.rows.iter().map(|ranked| job(report, ranked.row())))
    }
}

fn job<'a>(report: &CompareReport<'a>, row: usize) -> Job<'a> {
    let table = report.table;
    let job = report.comparison.job(row);
    let scores = report.scores(row).map(|score| score.filter(|score| score.is_finite()));
    Job {
        id: table.id(row),
        entity: table.entity(row),
        queue: table.queue(row),
        old_rank: job.old,
        new_rank: job.new,
        old_score: scores.old,
        new_score: scores.new,
        moved: job.moved(),
    }
}

fn summary(report: &CompareReport<'_>) -> Value {
    let comparison = report.comparison;
    let overlap: BTreeMap<usize, usize> = comparison.overlap.iter().copied().collect();
    json!({
        "jobs": comparison.jobs,
        "moved": comparison.moved(),
        "up": comparison.up,
        "down": comparison.down,
        "tau_b": comparison.tau_b,
        "footrule": comparison.footrule,
        "largest": comparison.largest,
        "overlap": overlap,
        "errors": counts(comparison.errors),
        "evaluated": counts(report.rankings.map(|ranking| ranking.scores().count())),
        "ties": counts(report.rankings.map(Ranking::ties)),
        "considered": counts(comparison.considered),
        "size": comparison.size_input,
    })
}

fn both_fairness(report: &CompareReport<'_>) -> Value {
    let comparison = report.comparison;
    json!({
        "old": fairness(&comparison.fairness.old),
        "new": fairness(&comparison.fairness.new),
        "first": comparison.first,
    })
}

/// The numbers that concern the whole queue.
pub(crate) fn summary_and_fairness(report: &CompareReport<'_>) -> Value {
    json!({"summary": summary(report), "fairness": both_fairness(report)})
}

fn counts(change: OldNew<usize>) -> Value {
    json!({"old": change.old, "new": change.new})
}

fn fairness(fairness: &Fairness) -> Value {
    json!({
        "jain": fairness.jain, "gini": fairness.gini, "entities": fairness.entities,
        "without_shares": fairness.without_shares,
    })
}

/// The ids of the jobs that start and stop.
fn transitions(report: &CompareReport<'_>, transitions: &Transitions) -> Value {
    let [start, stop] = [&transitions.start, &transitions.stop]
        .map(|rows| rows.iter().map(|&row| report.table.id(row as usize)).collect::<Vec<_>>());
    json!({"start": start, "stop": stop})
}

impl<'a> Group<'a> {
    fn new(change: &'a GroupChange) -> Self {
        let (old_mean_rank, new_mean_rank) = change.mean_rank().map(|mean| (mean.old, mean.new)).unzip();
        let top = change.top.iter().map(|&(first, OldNew { old, new })| (first, Counts { old, new }));
        let won = change.won();
        let GroupChange { name, path, jobs, perc, .. } = change;
        Self { name, path, jobs: *jobs, old_mean_rank, new_mean_rank, won, top: top.collect(), perc: *perc }
    }
}
