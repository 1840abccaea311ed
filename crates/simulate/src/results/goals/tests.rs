use super::*;
use crate::{Backfill, LoggedJob, SimulationRules, WorkloadBuilder, simulate};

fn parse(text: &str) -> Result<Goals, String> {
    Goals::parse("goals.toml", text, &Schema::openpbs()).map_err(|error| error.to_string())
}

/// Four jobs of one processor that are submitted at once and run for 100 s each on one processor.
fn judged(goals: &str) -> Vec<(usize, Option<f64>, Option<bool>)> {
    let mut builder = WorkloadBuilder::new();
    for (id, queue, walltime) in [
        ("1", "a", 100),
        ("2", "a", 200),
        ("3", "b", 300),
        ("4", "b", 400),
    ] {
        let job = LoggedJob {
            id,
            queue,
            run: 100,
            walltime: Some(walltime),
            processors: 1,
            ..LoggedJob::default()
        };
        builder.push(&job).unwrap();
    }
    let workload = builder.finish();
    let program = Formula::parse("eligible_time")
        .unwrap()
        .compile(&Schema::openpbs())
        .unwrap();
    let schedule = simulate(
        &program,
        &workload,
        SimulationRules::new(1, Backfill::Easy),
        None,
        &mut (),
    )
    .unwrap();
    let results = Results::new(&workload, &schedule, 1, None, 0);
    let run = results.run(&workload, &schedule);
    let goals = parse(goals).unwrap();
    let judged = goals.judge(&run, None);
    // against the same run, every limit that refers to it is met or missed by its factor alone
    let again = goals.judge(&run, Some(&judged));
    assert_eq!(
        judged.iter().map(|goal| goal.value).collect::<Vec<_>>(),
        again.iter().map(|goal| goal.value).collect::<Vec<_>>()
    );
    again
        .into_iter()
        .map(|goal| (goal.jobs, goal.value, goal.state.met()))
        .collect()
}

#[test]
fn goals_are_judged_by_the_jobs_that_they_are_about() {
    let goals = "
        [[goal]]
        name = 'all'
        measure = 'wait'
        statistic = 'mean'
        at_most = '150s'
        [[goal]]
        name = 'short'
        jobs = 'walltime <= 200 and ncpus == 1'
        measure = 'wait'
        statistic = 'max'
        at_most = 99
        [[goal]]
        name = 'queue b'
        queue = 'b'
        measure = 'turnaround'
        statistic = 'p50'
        at_least = '00:05:00'
        [[goal]]
        name = 'soon'
        measure = 'wait'
        statistic = { within = '100s' }
        at_least = 0.5
        [[goal]]
        name = 'slowdown'
        measure = 'bounded_slowdown'
        statistic = 'median'
        at_most = { old = 0.9 }
        [[goal]]
        name = 'use'
        measure = 'utilisation'
        at_least = 1
        [[goal]]
        name = 'nobody'
        queue = 'c'
        measure = 'wait'
        statistic = 'max'
        at_most = 0
        [[goal]]
        name = 'no such job'
        jobs = 'walltime > 1e9'
        measure = 'wait'
        statistic = { within = '1h' }
        at_least = 1";
    let expected = [
        (4, Some(150.0), Some(true)),
        (2, Some(100.0), Some(false)),
        (2, Some(300.0), Some(true)),
        (4, Some(0.5), Some(true)),
        (4, Some(2.5), Some(false)),
        (4, Some(1.0), Some(true)),
        (0, None, None),
        (0, None, None),
    ];
    assert_eq!(judged(goals), expected);
}

#[test]
fn a_mistake_is_named_with_its_line() {
    let goal = |lines: &str| format!("[[goal]]\nname = 'x'\n{lines}\n");
    for (text, message) in [
        (
            String::new(),
            "`goals.toml` has no goal: expected at least one `[[goal]]`",
        ),
        (
            goal("measure = 'wait'\nstatistic = 'mean'"),
            "`goals.toml`, line 1: goal `x` needs one limit: `at_most` or `at_least`",
        ),
        (
            goal("measure = 'speed'\nat_most = 1"),
            "line 3: `speed` is not a measure, expected wait",
        ),
        (
            goal("measure = 'wait'\nat_most = 1"),
            "line 3: `wait` needs a `statistic`",
        ),
        (
            goal("measure = 'wait'\nstatistic = 'p0'\nat_most = 1"),
            "line 4: `p0` is not a statistic",
        ),
        (
            goal("measure = 'wait'\nstatistic = 'mean'\nat_most = 'soon'"),
            "line 5: `soon` is not a duration",
        ),
        (
            goal("measure = 'jain'\nstatistic = 'mean'\nat_most = 1"),
            "line 4: `jain` is one number, without a statistic",
        ),
        (
            goal("jobs = 'ncpus >'\nmeasure = 'wait'\nstatistic = 'mean'\nat_most = 1"),
            "line 3: the condition `ncpus >` is not valid",
        ),
        (
            goal("queue = 'a'\ngroup = 'b'\nmeasure = 'wait'\nstatistic = 'mean'\nat_most = 1"),
            "several of `queue`, `entity` and `group`",
        ),
        (
            goal("jobs = 'ncpus ? 2'\nmeasure = 'wait'\nstatistic = 'mean'\nat_most = 1"),
            "line 3: the condition `ncpus ? 2`",
        ),
        (
            goal("speed = 1\nmeasure = 'wait'\nstatistic = 'mean'\nat_most = 1"),
            "unknown field `speed`",
        ),
        (
            "[objective]\nminimise = 'wait'\n".to_owned(),
            "line 2: `wait` needs a `statistic`",
        ),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(error.contains(message), "{error}\n{message}");
    }
    let objective = parse("[objective]\nminimise = 'mean bounded_slowdown'\n")
        .unwrap()
        .objective
        .unwrap();
    assert_eq!(
        objective.measure,
        Measure::OfJobs(JobMeasure::BoundedSlowdown, Statistic::Mean)
    );
    assert!(objective.is_minimised);
}
