//! The values with which jobs start.

use jsf_simulate::StartValues;
use jsf_testing::random::Generator;

use super::random_workloads::random_case;
use super::{Case, read};

/// A value of a wait, a number of processors and a walltime.
type ValueOf = fn(f64, f64, f64) -> f64;

/// Of formulas whose values are computed in each cycle, once for all, and not at all while the
/// simulation runs.
#[test]
fn the_value_at_the_start_is_that_of_the_wait_until_then() {
    let formulas: [(&str, ValueOf); 4] = [
        ("eligible_time", |wait, _, _| wait),
        ("2 * eligible_time + 1", |wait, _, _| 2.0 * wait + 1.0),
        ("ncpus - walltime", |_, processors, walltime| {
            processors - walltime
        }),
        (
            "eligible_time * ncpus - walltime",
            |wait, processors, walltime| wait * processors - walltime,
        ),
    ];
    let mut generator = Generator(3);
    let mut compared = 0;
    for round in 0..200 {
        let (formula, value) = formulas[round % formulas.len()];
        let case = Case {
            formula: formula.into(),
            tree: None,
            ..random_case(&mut generator)
        };
        let workload = read(&case.workload);
        let schedule = case.run(&workload, &mut ());
        let mut of_jobs = 0;
        for (index, job) in workload.jobs().iter().enumerate() {
            let expected = schedule.start(index).map(|start| {
                value(
                    (start - job.submit) as f64,
                    f64::from(job.processors),
                    job.walltime as f64,
                )
            });
            assert_eq!(schedule.start_value(index), expected, "{formula}: {case:?}");
            of_jobs += usize::from(expected.is_some());
        }
        let classes = StartValues::of_classes(&workload, &schedule, 0);
        assert_eq!(
            classes.iter().map(|class| class.jobs).sum::<usize>(),
            of_jobs
        );
        assert!(classes.iter().all(|class| class.p10 <= class.median));
        compared += of_jobs;
    }
    assert!(compared > 2000, "{compared}");
}

#[test]
fn a_class_is_of_a_size_and_a_walltime() {
    let line = |id: u32, submit: u32, processors: u32| {
        format!(
            "{id} {submit} -1 100 {processors} -1 -1 {processors} 3000 -1 1 7 1 -1 1 -1 -1 -1\n"
        )
    };
    let log: String = (0..20)
        .map(|id| line(id + 1, 0, 2))
        .chain([line(21, 5000, 1)])
        .collect();
    let case = Case {
        workload: log,
        tree: None,
        processors: 2,
        formula: "eligible_time".into(),
        backfill: "easy".into(),
        ..random_case(&mut Generator(1))
    };
    let workload = read(&case.workload);
    let schedule = case.run(&workload, &mut ());
    // waits of 0, 100 … 1900 s
    let expected = [
        ("1", "up to 1 h", 1, 0.0, 0.0),
        ("2-4", "up to 1 h", 20, 100.0, 950.0),
    ];
    let found = StartValues::of_classes(&workload, &schedule, 0);
    let found: Vec<_> = found
        .iter()
        .map(|class| {
            (
                &*class.size,
                &*class.walltime,
                class.jobs,
                class.p10,
                class.median,
            )
        })
        .collect();
    assert_eq!(found, expected);
}

/// The values of all jobs together take longer than those of a queue may, but those of the jobs that
/// arrive between two cycles do not.
#[test]
fn an_order_that_takes_too_long_at_once_is_that_of_each_cycle() {
    let mut log = String::new();
    for job in 0..2500 {
        let run = 15 + job * 7919 % 5;
        let walltime = 1000 + job * 104_729 % 997;
        log += &format!(
            "{job} {} -1 {run} 1 -1 -1 1 {walltime} -1 1 1 1 -1 1 -1 -1 -1\n",
            10 * job
        );
    }
    let workload = read(&log);
    let case = Case {
        workload: log,
        processors: 1,
        formula: "walltime ** 9000 % 1000003".into(),
        backfill: "easy".into(),
        tree: None,
        decay: None,
        decay_factor: None,
    };
    let schedule = case.run(&workload, &mut ());
    assert_eq!(schedule.errors.jobs(), 0);
    let mut jobs: Vec<(i64, i64, f64)> = Vec::new();
    for (index, job) in workload.jobs().iter().enumerate() {
        let start = schedule.start(index).expect("a start");
        let value = schedule.start_value(index).expect("a value");
        jobs.push((start, job.submit, value));
    }
    for &(start, _, value) in &jobs {
        for &(later, submit, waiting) in &jobs {
            assert!(later <= start || submit > start || waiting <= value);
        }
    }
}
