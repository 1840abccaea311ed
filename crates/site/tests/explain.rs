//! Explanations of whole queues, compared with brute force: neighbours, terms and the criterion
//! that decides.

use std::cmp::Ordering;
use std::sync::Arc;

use job_sort_formula::Formula;
use job_sort_formula::python::{BinaryOperator, Python, Value};
use job_sort_formula::rank::explain::nearest_double;
use jsf_openpbs::order::Criterion;
use jsf_openpbs::{Objects, Queues, SchedConfig};
use jsf_site::{
    ExplainOptions, Explanation, Explanations, FileSource, Neighbour, RankRequest, RankedQueue,
    Role, Site, SiteFiles, SiteOptions,
};
use jsf_testing::golden;
use jsf_testing::recorded::{Record, RecordedJob};

/// Settings that order jobs by other criteria too, and which of them decide somewhere in the
/// example site.
const SETTINGS: [(&str, &[Criterion]); 6] = [
    (
        "by_queue: False all\nround_robin: False all\npreemptive_sched: False all\n",
        &[Criterion::Value, Criterion::Submission],
    ),
    (
        "by_queue: False all\npreemptive_sched: False all\njob_sort_key: \"ncpus HIGH\" all\njob_sort_key: \"walltime LOW\" all\n",
        &[
            Criterion::Value,
            Criterion::SortKey(1),
            Criterion::SortKey(2),
            Criterion::Submission,
        ],
    ),
    (
        "by_queue: False all\npreemptive_sched: False all\nfair_share: True all\n",
        &[
            Criterion::Value,
            Criterion::FairShare,
            Criterion::Submission,
        ],
    ),
    (
        "by_queue: True all\npreemptive_sched: False all\n",
        &[Criterion::Queue, Criterion::Value],
    ),
    (
        "by_queue: False all\npreemptive_sched: True all\npreempt_queue_prio: 50\n",
        &[Criterion::ExpressQueue, Criterion::Value],
    ),
    (
        "round_robin: True all\nby_queue: False all\npreemptive_sched: False all\n",
        &[Criterion::Queue, Criterion::Value],
    ),
];

/// Formulas of one and of several terms, with many equal values, with errors, and with all values
/// equal.
const FORMULAS: [&str; 7] = [
    "pow(2, -(fairshare_tree_usage/fairshare_perc))",
    "eligible_time / 3600 + 1000 * fairshare_factor - ncpus / 10",
    "queue_priority - (mem / 1048576 if ncpus > 8 else 3)",
    "ncpus",
    "1e9 + ncpus",
    "10 // (ncpus - 1) + walltime * 0",
    "7",
];

fn bytes(name: &str, text: &str) -> FileSource {
    FileSource::Bytes {
        name: name.to_owned(),
        bytes: Arc::from(text.as_bytes()),
    }
}

/// Explains every job of a site.
fn explain_all(site: &Site, formula: &str) -> (RankedQueue, Explanations) {
    let formula = Formula::parse(formula).unwrap();
    let queue = site
        .rank(RankRequest {
            record_origins: true,
            ..RankRequest::from(&formula)
        })
        .unwrap();
    let rows: Vec<usize> = (0..queue.table.len()).collect();
    let explanations = site
        .explain(
            &queue,
            &rows,
            &ExplainOptions {
                changes: false,
                ..ExplainOptions::default()
            },
        )
        .unwrap();
    (queue, explanations)
}

/// The first criterion by which two jobs differ, and which of them is first, from the settings
/// alone.
fn decided(
    queue: &RankedQueue,
    config: &SchedConfig,
    queues: &Queues,
    left: usize,
    right: usize,
) -> (Criterion, Ordering) {
    let table = &queue.table;
    let priority = |row: usize| queues.priority(table.queue(row)).unwrap_or(0);
    let value = |row: usize| queue.ranking.score(row).unwrap().value;
    let high_first = |left: f64, right: f64| right.partial_cmp(&left).unwrap();
    let input = |name: &str, row: usize| table.column(name).unwrap().nearest_double(row);
    if config.by_queue.prime || config.round_robin.prime {
        let place = |row: usize| queues.position(table.queue(row));
        let order = priority(right)
            .cmp(&priority(left))
            .then(place(left).cmp(&place(right)));
        if table.queue(left) != table.queue(right) {
            return (Criterion::Queue, order);
        }
    }
    let mut criteria = Vec::new();
    if config.preemptive_sched.prime {
        let is_express = |row: usize| priority(row) >= i64::from(config.preempt_queue_prio);
        criteria.push((
            Criterion::ExpressQueue,
            is_express(right).cmp(&is_express(left)),
        ));
    }
    criteria.push((Criterion::Value, high_first(value(left), value(right))));
    if config.fair_share.prime {
        let tree = queue.pbs_tree().unwrap();
        let node = |row: usize| tree.tree().find(table.entity(row)).unwrap();
        criteria.push((Criterion::FairShare, tree.compare(node(left), node(right))));
    }
    if let [_, _] = config.job_sort_key.prime.as_slice() {
        criteria.push((
            Criterion::SortKey(1),
            high_first(input("ncpus", left), input("ncpus", right)),
        ));
        criteria.push((
            Criterion::SortKey(2),
            high_first(input("walltime", right), input("walltime", left)),
        ));
    }
    criteria.push((
        Criterion::Submission,
        table.submit_order(left).cmp(&table.submit_order(right)),
    ));
    criteria
        .into_iter()
        .find(|(_, order)| order.is_ne())
        .unwrap()
}

fn binary(op: BinaryOperator, left: &Value, right: &Value) -> Value {
    Python::new().binary(op, left, right).unwrap()
}

/// The terms add up to the value, in Python's order.
fn check_terms(queue: &RankedQueue, job: &Explanation) {
    let exact = queue
        .ranking
        .score(job.row)
        .map(|score| score.unrounded.map(|result| result.to_string()));
    match (exact, &job.result) {
        (Some(Ok(exact)), Some(Ok(result))) => {
            let (first, others) = job.terms.split_first().unwrap();
            let add = |sum: Value, term: &job_sort_formula::formula::program::Term| {
                binary(BinaryOperator::Add, &sum, &term.value)
            };
            assert_eq!(others.iter().fold(first.value.clone(), add).repr(), exact);
            assert_eq!(result.to_string(), exact);
        }
        (Some(Err(_)), Some(Err(_))) => assert!(job.terms.is_empty()),
        (None, None) => {}
        (exact, result) => panic!("{exact:?} {result:?}"),
    }
}

fn check_neighbour(
    queue: &RankedQueue,
    job: &Explanation,
    other: &Explanation,
    neighbour: &Neighbour,
) {
    let is_tie = |row: usize| queue.ranking.score(row).unwrap().value;
    if job.terms.len() == other.terms.len() {
        let mut expected: Vec<(String, Value)> = job
            .terms
            .iter()
            .zip(&other.terms)
            .map(|(own, others)| {
                (
                    own.text.clone(),
                    binary(BinaryOperator::Subtract, &own.value, &others.value),
                )
            })
            .collect();
        expected.sort_by(|left, right| {
            let magnitude = |value: &Value| nearest_double(value).unwrap().abs();
            magnitude(&right.1)
                .partial_cmp(&magnitude(&left.1))
                .unwrap()
        });
        let found: Vec<(String, String)> = neighbour
            .differences
            .iter()
            .map(|term| (term.text.clone(), term.difference.as_ref().unwrap().repr()))
            .collect();
        let expected: Vec<(String, String)> = expected
            .into_iter()
            .map(|(text, value)| (text, value.repr()))
            .collect();
        assert_eq!(found, expected);
    }
    let exact = |job: &Explanation| match job.result.as_ref() {
        Some(Ok(value)) => Some(nearest_double(value).unwrap()),
        _ => None,
    };
    if neighbour.rounding == Some("equal only after rounding to float32") {
        assert!(is_tie(job.row) == is_tie(other.row) && exact(job) != exact(other));
    } else if let (Some(own), Some(others)) = (exact(job), exact(other))
        && !matches!(
            neighbour.decided_by,
            Some(Criterion::Queue | Criterion::RoundRobin | Criterion::ExpressQueue)
        )
    {
        assert!(own == others || is_tie(job.row) != is_tie(other.row));
    }
}

/// Compares the explanations of all jobs with brute force, and returns the criteria that decide.
fn check(
    queue: &RankedQueue,
    explained: &Explanations,
    config: &SchedConfig,
    queues: &Queues,
) -> Vec<Criterion> {
    let order = queue.ranking.order();
    let mut found = Vec::new();
    assert_eq!(explained.jobs.len(), queue.table.len());
    for (row, job) in explained.jobs.iter().enumerate() {
        let place = order.iter().position(|&other| other == row);
        assert_eq!((job.row, job.rank), (row, place.map(|place| place + 1)));
        check_terms(queue, job);
        let Some(place) = place else {
            assert!(job.above.is_empty() && job.below.is_empty());
            continue;
        };
        let above: Vec<usize> = (place.saturating_sub(5)..place).rev().collect();
        let below: Vec<usize> = (place + 1..order.len().min(place + 6)).collect();
        for (neighbours, places) in [(&job.above, above), (&job.below, below)] {
            let listed: Vec<(usize, usize)> =
                neighbours.iter().map(|one| (one.row, one.rank)).collect();
            assert_eq!(
                listed,
                places
                    .iter()
                    .map(|&place| (order[place], place + 1))
                    .collect::<Vec<_>>()
            );
            for neighbour in neighbours {
                let (criterion, expected) = decided(queue, config, queues, row, neighbour.row);
                if neighbour.decided_by == Some(Criterion::RoundRobin) {
                    assert_eq!(criterion, Criterion::Queue);
                    assert_ne!(queue.table.queue(row), queue.table.queue(neighbour.row));
                } else {
                    assert_eq!(neighbour.decided_by, Some(criterion));
                    assert_eq!(
                        expected,
                        row_order(order, row, neighbour.row),
                        "{criterion}"
                    );
                }
                check_neighbour(queue, job, &explained.jobs[neighbour.row], neighbour);
                found.extend(neighbour.decided_by);
            }
        }
    }
    found
}

fn row_order(order: &[usize], left: usize, right: usize) -> Ordering {
    let place = |row: usize| order.iter().position(|&other| other == row);
    place(left).cmp(&place(right))
}

/// The ranks with the values of other jobs are those that evaluating the formula and counting give.
/// Returns their number.
fn check_causes(queue: &RankedQueue, explained: &Explanations) -> usize {
    let RankedQueue {
        table,
        ranking,
        program,
        ..
    } = queue;
    let mut count = 0;
    for job in &explained.jobs {
        for cause in &job.causes {
            for other in &cause.others {
                let input =
                    |name: &str| match cause.inputs.iter().position(|changed| changed == name) {
                        Some(index) => other.values[index].clone(),
                        None => table.column(name).unwrap().value(job.row),
                    };
                let inputs: Vec<Value> = program.inputs().iter().map(|name| input(name)).collect();
                let value =
                    f64::from(nearest_double(&program.evaluate(&inputs).unwrap()).unwrap() as f32);
                let is_ahead = |&&row: &&usize| {
                    let others = ranking.score(row).unwrap().value;
                    let is_earlier = table.submit_order(row) < table.submit_order(job.row);
                    row != job.row && (others > value || (others == value && is_earlier))
                };
                assert_eq!(
                    other.rank,
                    ranking.order().iter().filter(is_ahead).count() + 1
                );
                count += 1;
            }
            let gained = |rank: usize| job.rank.unwrap() as i64 - rank as i64;
            assert_eq!(
                cause.gained,
                cause
                    .others
                    .iter()
                    .map(|other| gained(other.rank))
                    .sum::<i64>()
            );
        }
    }
    count
}

#[test]
fn causes_move_jobs_as_far_as_brute_force() {
    let given = SiteFiles::default().with(Role::SchedConfig, bytes("sched_config", SETTINGS[0].0));
    let files = SiteFiles::open(&jsf_testing::path("examples/site"))
        .unwrap()
        .replaced_by(given);
    let site = Site::from_files(files, SiteOptions::default()).unwrap();
    for formula in &FORMULAS[..6] {
        let (queue, explained) = explain_all(&site, formula);
        assert!(check_causes(&queue, &explained) > 20, "{formula}");
    }
}

#[test]
fn neighbours_and_criteria_are_those_of_brute_force() {
    let queues = std::fs::read_to_string(jsf_testing::path("examples/site/queues.json")).unwrap();
    let queues = Queues::read("queues", &Objects::read(&queues)).unwrap();
    for (settings, expected) in SETTINGS {
        let config = SchedConfig::parse(settings.as_bytes());
        let mut found = Vec::new();
        for formula in FORMULAS {
            let given =
                SiteFiles::default().with(Role::SchedConfig, bytes("sched_config", settings));
            let files = SiteFiles::open(&jsf_testing::path("examples/site"))
                .unwrap()
                .replaced_by(given);
            let site = Site::from_files(files, SiteOptions::default()).unwrap();
            let (queue, explained) = explain_all(&site, formula);
            found.extend(check(&queue, &explained, &config, &queues));
        }
        for criterion in expected {
            assert!(
                found.contains(criterion),
                "{criterion} decides nothing under {settings}"
            );
        }
    }
}

/// A queue of many jobs, for all formulas that were recorded with it.
#[test]
fn explanations_of_the_recorded_queue_are_those_of_brute_force() {
    let jobs: Vec<RecordedJob> = golden::lines("openpbs/bulk/jobs.jsonl.gz");
    let line = |(index, job): (usize, &RecordedJob)| {
        let inputs = job.scheduler_inputs.as_ref()?;
        let inputs: Vec<String> = inputs
            .iter()
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect();
        let (id, inputs) = (&job.job, inputs.join(","));
        Some(format!(
            "{{\"id\":\"{id}\",\"entity\":\"{}\",\"queued_at\":{index},\"inputs\":{{{inputs}}}}}\n",
            job.entity
        ))
    };
    let document: String = jobs.iter().enumerate().filter_map(line).collect();
    let records: Vec<Record> = golden::lines("openpbs/bulk/evaluate.jsonl.gz");
    for record in records {
        let files = SiteFiles::default().with(Role::Queue, bytes("jobs.ndjson", &document));
        let site = Site::from_files(files, SiteOptions::default()).unwrap();
        let (queue, explained) = explain_all(&site, &record.formula);
        let config = SchedConfig::parse(SETTINGS[0].0.as_bytes());
        let found = check(&queue, &explained, &config, &Queues::default());
        assert!(found.len() > 10 * 2000 && found.contains(&Criterion::Submission));
    }
}
