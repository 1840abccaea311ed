//! Candidates that are found without looking at every waiting job give the same schedule as those
//! that are sorted.

use std::collections::HashMap;
use std::sync::Arc;

use job_sort_formula::{Formula, Schema};
use jsf_openpbs::cycle::{
    CycleJob, CycleRules, CycleState, Limit, Limits, Machine, QueueOrder, Request,
};
use jsf_openpbs::files::run_limits::LimitKind;
use jsf_simulate::{
    Backfill, LoggedJob, OrderRules, SimulationRules, Workload, WorkloadBuilder, simulate,
};
use jsf_testing::random::Generator;

use crate::identical_processors::identical_processors;

const QUEUES: [&str; 3] = ["short", "long", "gpu"];
const USERS: [&str; 4] = ["ada", "bob", "cy", "dot"];

/// Formulas in pairs of equal values: those of the first never change while a job waits, so that
/// all jobs are ordered once. Those of the second may change as far as the program tells.
const CONSTANT: [[&str; 2]; 4] = [
    ["ncpus", "ncpus + 0 * eligible_time"],
    ["0", "0 * eligible_time"],
    ["-walltime", "0 * eligible_time - walltime"],
    [
        "10 * ncpus // 3 - walltime",
        "10 * ncpus // 3 - walltime + 0 * eligible_time",
    ],
];
/// Formulas by which jobs stay in the order of their submission; the program recognises only the
/// first.
const GROWING: [&str; 2] = ["eligible_time", "eligible_time + 0 * ncpus"];
/// Formulas whose order changes while jobs wait.
const CHANGING: [&str; 3] = [
    "-eligible_time",
    "eligible_time * ncpus",
    "eligible_time // 20 % 3 * 100 - walltime",
];

fn random_workload(generator: &mut Generator, processors: u64) -> Workload {
    let mut builder = WorkloadBuilder::new();
    let unit = generator.pick(&[1, 1, 10, 30]);
    let horizon = 1 + generator.below(300) as i64;
    for id in 1..=1 + generator.below(50) {
        let id = id.to_string();
        let run = generator.below(60) as i64 * unit;
        let job = LoggedJob {
            id: &id,
            user: generator.pick(&USERS),
            queue: generator.pick(&QUEUES),
            submit: generator.below(horizon as u64) as i64 / unit * unit,
            run,
            walltime: Some(run.max(1) + generator.below(20) as i64 * unit),
            processors: 1 + generator.below(processors + 2) as i64,
            ..LoggedJob::default()
        };
        builder.push(&job).expect("a job");
    }
    builder.finish()
}

/// A machine of one count, or with GPUs, or with nodes that the last queue has for itself.
fn random_machine(
    generator: &mut Generator,
    workload: &Workload,
    processors: i64,
) -> (Machine, Option<Vec<CycleJob>>) {
    match generator.below(3) {
        0 => (Machine::new(&[vec![processors]]), None),
        1 => {
            let jobs = workload.cycle_jobs(|job| {
                let job = workload.jobs()[job];
                let amounts = vec![job.processors.into(), generator.below(3) as i64];
                Arc::new(Request::of_one_chunk(amounts, job.queue))
            });
            (Machine::new(&[vec![processors, 2]]), Some(jobs))
        }
        _ => {
            let pools: Vec<Vec<u32>> = (0..workload.queues().len())
                .map(|queue| vec![u32::from(queue == 1)])
                .collect();
            let mut machine = Machine::new(&[vec![processors], vec![processors]]);
            machine.pool_lists = pools;
            (machine, None)
        }
    }
}

fn random_limit(generator: &mut Generator, queues: u64) -> Limit {
    Limit {
        queue: (generator.below(2) == 0).then(|| generator.below(queues) as u32),
        kind: generator.pick(&[
            LimitKind::User,
            LimitKind::User,
            LimitKind::All,
            LimitKind::Project,
        ]),
        amount: (generator.below(3) == 0).then_some(0),
        generic: Some(1 + generator.below(6) as i64),
        named: HashMap::from_iter(
            (generator.below(3) == 0).then(|| (0, 1 + generator.below(6) as i64)),
        ),
        is_soft: false,
    }
}

fn random_rules(generator: &mut Generator, workload: &Workload) -> SimulationRules {
    let processors = 1 + generator.below(10);
    let (machine, jobs) = random_machine(generator, workload, processors as i64);
    let queues = workload.queues().len() as u64;
    let queue_depths = match generator.below(4) {
        0 => (0..queues)
            .map(|_| (generator.below(2) == 0).then(|| generator.below(3) as u32))
            .collect(),
        _ => Vec::new(),
    };
    let cycle = CycleRules {
        strict_ordering: generator.below(3) > 0,
        backfill_depth: generator.below(4) as u32,
        queue_depths,
        window: generator.pick(&[0, 1, 60]),
        ..CycleRules::default()
    };
    let by_queue = generator.below(3) == 0;
    let mut places = Vec::new();
    if by_queue {
        for _ in 0..queues {
            let place = generator.below(2) as u32;
            places.push((place, place));
        }
    }
    let order = OrderRules {
        queues: QueueOrder {
            places,
            chooses_queue_first: by_queue,
            ..QueueOrder::default()
        },
        ..OrderRules::default()
    };
    let limits = match generator.below(2) {
        0 => (0..1 + generator.below(2))
            .map(|_| random_limit(generator, queues))
            .collect(),
        _ => Vec::new(),
    };
    let base = identical_processors(workload, 1, Backfill::Easy);
    SimulationRules {
        state: CycleState {
            machine,
            limits: Limits::new(limits),
            ..CycleState::default()
        },
        jobs: jobs.unwrap_or_else(|| base.jobs.clone()),
        cycle,
        order,
        threshold: (generator.below(4) == 0).then(|| generator.below(5) as f64 - 1.0),
        has_accrual: generator.below(2) == 0,
        ..base
    }
}

/// The start of each job.
fn run(formula: &str, workload: &Workload, rules: &SimulationRules) -> Vec<Option<i64>> {
    let program = Formula::parse(formula)
        .expect("a formula")
        .compile(&Schema::openpbs())
        .expect("a program");
    let schedule = simulate(&program, workload, rules.clone(), None, &mut ()).expect("a schedule");
    (0..workload.jobs().len())
        .map(|job| schedule.start(job))
        .collect()
}

/// The rules with turns of the queues of which each place has one: the same order, by comparing the
/// jobs.
fn sorted(rules: &SimulationRules) -> SimulationRules {
    let mut order = rules.order.clone();
    order.queues.takes_turns = true;
    SimulationRules {
        order,
        ..rules.clone()
    }
}

#[test]
fn all_candidates_give_one_schedule() {
    let mut generator = Generator(11);
    let mut waits = 0;
    for case in 0..1500 {
        let processors = 1 + generator.below(10);
        let workload = random_workload(&mut generator, processors);
        let rules = random_rules(&mut generator, &workload);
        let formulas = match generator.below(8) {
            0..4 => generator.pick(&CONSTANT).to_vec(),
            4 => GROWING.to_vec(),
            _ => vec![generator.pick(&CHANGING)],
        };
        let expected = run(formulas[0], &workload, &sorted(&rules));
        for formula in &formulas {
            assert_eq!(
                run(formula, &workload, &rules),
                expected,
                "case {case}: {formula}, {rules:?}"
            );
        }
        let jobs = workload.jobs().iter().zip(&expected);
        waits += jobs
            .filter(|(job, start)| start.is_some_and(|start| start > job.submit))
            .count();
    }
    assert!(waits > 10_000, "{waits}");
}
