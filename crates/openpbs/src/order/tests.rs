use job_sort_formula::formula::Formula;
use job_sort_formula::jobs::{Job, JobState};
use job_sort_formula::python::Value;
use job_sort_formula::rank::{OnError, ScorePrecision, score};
use job_sort_formula::schema::Schema;

use crate::files::objects::Objects;
use crate::order::*;

/// Jobs by id, queue and cpus; `h` holds one.
fn jobs(waiting: &[(&str, &str, i64)]) -> JobTable {
    let mut table = JobTable::new(["ncpus"]);
    for &(id, queue, ncpus) in waiting {
        let state = if id == "h" {
            JobState::Held
        } else {
            JobState::Queued
        };
        table
            .push(
                &Job {
                    id,
                    queue,
                    state,
                    ..Job::default()
                },
                &[Ok(Value::Int(ncpus))],
            )
            .unwrap();
    }
    table
}

fn ranked(order: Order<'_>, formula: &str, table: &JobTable, on_error: OnError) -> Ordered {
    let program = Formula::parse(formula)
        .unwrap()
        .compile(&Schema::openpbs())
        .unwrap();
    order.order(
        score(&program, table, ScorePrecision::Float32, on_error),
        table,
    )
}

fn ids(ordered: &Ordered, table: &JobTable) -> String {
    ordered
        .ranking
        .order()
        .iter()
        .map(|&row| table.id(row))
        .collect()
}

const QUEUES: &str =
    "Queue a\n    Priority = 5\nQueue b\n    Priority = 5\nQueue low\n    Priority = -1\n";

#[test]
fn queues_of_one_priority_take_turns() {
    let table = jobs(&[
        ("1", "low", 9),
        ("2", "b", 1),
        ("3", "b", 2),
        ("4", "b", 3),
        ("5", "a", 1),
        ("h", "a", 99),
    ]);
    let queues = Queues::read("queues", &Objects::read(QUEUES)).unwrap();
    for (config, order) in [
        ("round_robin: true all\n", "54321"),
        ("by_queue: true\n", "54321"),
        ("by_queue: false\n", "14325"),
    ] {
        let config = SchedConfig::parse(config.as_bytes());
        let ordered = ranked(
            Order::new(&config, &queues),
            "ncpus",
            &table,
            OnError::ZeroLikePbs,
        );
        assert_eq!(ids(&ordered, &table), order);
    }
    let turns = jobs(&[
        ("1", "a", 1),
        ("2", "a", 2),
        ("3", "b", 3),
        ("4", "b", 4),
        ("5", "low", 5),
    ]);
    let config = SchedConfig::parse(b"round_robin: true\n");
    let ordered = ranked(
        Order::new(&config, &queues),
        "ncpus",
        &turns,
        OnError::ZeroLikePbs,
    );
    assert_eq!(ids(&ordered, &turns), "24135");
}

#[test]
fn the_settings_of_prime_time_count() {
    let table = jobs(&[("1", "low", 9), ("2", "a", 1)]);
    let queues = Queues::read("queues", &Objects::read(QUEUES)).unwrap();
    let config = SchedConfig::parse(b"by_queue: false non_prime\nby_queue: true prime\n");
    let order = Order::new(&config, &queues);
    assert_eq!(
        ids(
            &ranked(order, "ncpus", &table, OnError::ZeroLikePbs),
            &table
        ),
        "21"
    );
}

#[test]
fn a_job_that_does_not_exceed_the_threshold_is_not_considered() {
    let config = SchedConfig::default();
    let queues = Queues::default();
    let table = jobs(&[("1", "", 1), ("2", "", 2), ("3", "", 3), ("h", "", 1)]);
    let ordered = ranked(
        Order::new(&config, &queues).threshold(2.0),
        "ncpus",
        &table,
        OnError::ZeroLikePbs,
    );
    assert_eq!(ids(&ordered, &table), "3");
    let texts: Vec<_> = ordered
        .not_considered
        .iter()
        .map(|(row, reason)| format!("{}: {reason}", table.id(*row)))
        .collect();
    assert_eq!(
        texts,
        [
            "1: Job's formula value 1 is under threshold 2",
            "2: Job's formula value 2 is under threshold 2"
        ]
    );
    let none = ranked(
        Order::new(&config, &queues),
        "-inf",
        &table,
        OnError::ZeroLikePbs,
    );
    assert_eq!(
        (none.ranking.order().len(), none.not_considered.len()),
        (0, 3)
    );
}

#[test]
fn a_null_error_sorts_last() {
    let config = SchedConfig::default();
    let queues = Queues::default();
    let table = jobs(&[("1", "", 1), ("2", "", 2), ("3", "", 3)]);
    let ordered = ranked(
        Order::new(&config, &queues),
        "-5/(ncpus-1)",
        &table,
        OnError::Null,
    );
    assert_eq!(ids(&ordered, &table), "321");
    let ordered = ranked(
        Order::new(&config, &queues),
        "-5/(ncpus-1)",
        &table,
        OnError::ZeroLikePbs,
    );
    assert_eq!(ids(&ordered, &table), "132");
}

/// A key with the same value for all jobs decides nothing, but disables the fast path.
#[test]
fn the_fast_path_gives_the_same_order() {
    let mut table = JobTable::new(["ncpus"]);
    for number in 0..20_000i64 {
        let id = format!("{number}.vm");
        let queue = ["a", "b", "low"][number as usize % 3];
        let state = if number % 11 == 0 {
            JobState::Held
        } else {
            JobState::Queued
        };
        let job = Job {
            id: &id,
            queue,
            state,
            ..Job::default()
        };
        table
            .push(&job, &[Ok(Value::Int(number * 7919 % 1009 - 500))])
            .unwrap();
    }
    let queues = Queues::read("queues", &Objects::read(QUEUES)).unwrap();
    let configs = ["", "job_sort_key: \"preempt_priority HIGH\"\n"].map(|key| {
        SchedConfig::parse(format!("by_queue: false\npreemptive_sched: false\n{key}").as_bytes())
    });
    for formula in ["ncpus/8", "1/ncpus", "ncpus*inf", "5"] {
        for (threshold, limit) in [
            (NO_THRESHOLD, usize::MAX),
            (NO_THRESHOLD, 10),
            (0.0, usize::MAX),
            (-3.5, 9000),
        ] {
            for on_error in [OnError::ZeroLikePbs, OnError::Null] {
                let [value_only, general] = configs.each_ref().map(|config| {
                    let order = Order::new(config, &queues)
                        .threshold(threshold)
                        .limit(limit);
                    ranked(order, formula, &table, on_error)
                });
                assert_eq!(
                    value_only.ranking.order(),
                    general.ranking.order(),
                    "{formula} {threshold}"
                );
                assert_eq!(
                    value_only.not_considered, general.not_considered,
                    "{formula} {threshold}"
                );
            }
        }
    }
}
