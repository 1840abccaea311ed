//! Small random workloads, simulated here and by `reference.py`.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use jsf_testing::random::Generator;
use jsf_testing::{python, setting};
use serde_json::{Value, json};

use super::{Case, read, starts};

const FORMULAS: [&str; 16] = [
    "eligible_time",
    "0",
    "-walltime",
    "ncpus",
    "-ncpus * 10 + eligible_time",
    "1 / eligible_time",
    "100 / (walltime - eligible_time)",
    "walltime ** 0.5 - ncpus",
    "log(eligible_time) * ncpus",
    "(-1) ** (eligible_time / walltime)",
    "eligible_time // 7 % 3",
    "fairshare_factor",
    "fairshare_factor * 100 + eligible_time / 60",
    "-fairshare_tree_usage",
    "fairshare_perc / fairshare_tree_usage + ncpus / 100",
    "pow(2, -(fairshare_tree_usage/fairshare_perc)) - walltime / 1000",
];

/// A log with ties, run times of 0, jobs that are larger than the machine, and fields that are not
/// known.
pub(super) fn random_log(generator: &mut Generator, processors: u32) -> String {
    let jobs = 1 + generator.below(40);
    let horizon = 1 + generator.below(400);
    let unit = generator.pick(&[1, 1, 10, 30]);
    let mut log = String::from("; a comment\n\n");
    for id in 1..=jobs {
        let submit = generator.below(horizon) / unit * unit;
        let run = if generator.below(8) == 0 {
            0
        } else {
            unit * generator.below(1 + 200 / unit)
        };
        let estimate = match generator.below(4) {
            0 => run as i64,
            1 => (run / 2) as i64,
            2 => -1,
            _ => (run + unit * generator.below(1 + 200 / unit)) as i64,
        };
        let most = u64::from(processors) + u64::from(generator.below(10) == 0) * 3;
        let size = 1 + generator.below(most) as i64;
        let requested = if generator.below(6) == 0 { -1 } else { size };
        let user = generator.below(6);
        log += &format!(
            "{id} {submit} -1 {run} {size} -1 -1 {requested} {estimate} -1 1 {user} -1 -1 1 -1 -1 -1\n"
        );
    }
    log
}

/// Users 0 to 4 in groups, some of them without shares; user 5 is not in the tree.
fn random_tree(generator: &mut Generator) -> Value {
    let mut shares = |least: u64| least + generator.below(20);
    let user = |name: u64, shares: u64| json!({"name": name.to_string(), "shares": shares});
    let deep = json!({"name": "deep", "shares": shares(1), "children": [user(3, shares(0)), user(4, shares(1))]});
    let first = json!({"name": "g1", "shares": shares(0), "children": [user(0, shares(0)), user(1, shares(0))]});
    let second = json!({"name": "g2", "shares": shares(1), "children": [user(2, shares(1)), deep]});
    json!({"unknown_shares": shares(0) / 4, "children": [first, second]})
}

pub(super) fn random_case(generator: &mut Generator) -> Case {
    let processors = 1 + generator.below(12) as u32;
    let formula = generator.pick(&FORMULAS);
    let has_tree = formula.contains("fairshare");
    let has_decay = has_tree && generator.below(3) > 0;
    Case {
        workload: random_log(generator, processors),
        processors,
        formula: formula.to_owned(),
        backfill: generator
            .pick(&["easy", "easy", "greedy", "none"])
            .to_owned(),
        tree: has_tree.then(|| random_tree(generator)),
        decay: has_decay.then(|| generator.pick(&[1, 7, 10, 30, 60, 1000])),
        decay_factor: has_decay.then(|| generator.pick(&[0.0, 0.5, 0.5, 0.9, 1.0])),
    }
}

#[test]
fn random_workloads_start_as_in_the_reference() {
    let mut generator = Generator(setting("JSF_SIMULATE_SEED", 1));
    let cases: Vec<Case> = (0..setting("JSF_SIMULATE_CASES", 600))
        .map(|_| random_case(&mut generator))
        .collect();
    compare_with_the_reference(&cases);
}

/// `JSF_SIMULATE_JOBS` is the number of jobs of each log.
#[test]
fn long_logs_start_as_in_the_reference() {
    let mut generator = Generator(setting("JSF_SIMULATE_SEED", 2));
    let jobs = setting("JSF_SIMULATE_JOBS", 1000);
    let cases = [
        ("eligible_time / walltime", "easy"),
        (FORMULAS[15], "easy"),
        ("ncpus + eligible_time / 3600", "greedy"),
    ];
    let cases = cases.map(|(formula, backfill)| {
        let tree = formula
            .contains("fairshare")
            .then(|| random_tree(&mut generator));
        Case {
            workload: long_log(&mut generator, jobs),
            processors: PROCESSORS,
            formula: formula.to_owned(),
            backfill: backfill.to_owned(),
            decay: tree.is_some().then_some(86_400),
            decay_factor: tree.is_some().then_some(0.5),
            tree,
        }
    });
    compare_with_the_reference(&cases);
}

const PROCESSORS: u32 = 256;

/// A log of jobs that need 93 % of the processors together: more than all by day, so that a queue
/// grows, and less by night.
fn long_log(generator: &mut Generator, jobs: u64) -> String {
    let mut log = String::new();
    let mut submit = 0;
    for id in 1..=jobs {
        let is_day = submit / 43_200 % 2 == 0;
        submit += generator.below(if is_day { 360 } else { 720 });
        let size = generator.pick(&[1, 1, 2, 4, 8, 16, 32, 64]);
        let run = generator.below(7200);
        let estimate = run + generator.below(7200);
        let user = generator.below(6);
        log += &format!(
            "{id} {submit} -1 {run} {size} -1 -1 {size} {estimate} -1 1 {user} -1 -1 1 -1 -1 -1\n"
        );
    }
    log
}

fn compare_with_the_reference(cases: &[Case]) {
    let input: String = cases
        .iter()
        .map(|case| serde_json::to_string(case).expect("a case") + "\n")
        .collect();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference.py");
    let Some(python) = python::any() else { return };
    let python = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut python = python.expect("python3 starts");
    let mut pipe = python.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = python.wait_with_output().expect("python3 ends");
    writer.join().expect("no panic").expect("python3 reads all");
    let output = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.lines().count(), cases.len());
    let mut jobs = 0;
    for (case, line) in cases.iter().zip(output.lines()) {
        let expected: BTreeMap<String, i64> = serde_json::from_str(line).expect("starts");
        if expected.is_empty() {
            continue;
        }
        let workload = read(&case.workload);
        let found: BTreeMap<String, i64> = starts(&workload, &case.run(&workload, &mut ()))
            .into_iter()
            .collect();
        let first = expected
            .iter()
            .find(|(id, start)| found.get(*id) != Some(start));
        assert!(
            found == expected,
            "{first:?} is expected, found {:?}\n{}",
            first.map(|(id, _)| found.get(id)),
            serde_json::to_string(case).expect("a case")
        );
        jobs += expected.len();
    }
    println!("{jobs} starts compared");
}
