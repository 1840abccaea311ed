//! The speed of `jsf simulate`: a million generated jobs under a formula with fair share, the cost
//! against the length of the queue, long queues under formulas whose order changes or not, and the
//! reference simulator in Python on the same small workload.
//!
//! ```sh
//! cargo bench --bench simulation
//! ```
//!
//! `JSF_BENCH_JOBS` sets the number of jobs. Everything runs on one thread.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

use job_sort_formula::fairshare::DocumentedOpenPbs;
use job_sort_formula::{Formula, Program, Schema};
use jsf_ingest::native_tree::read_tree;
use jsf_simulate::{
    Backfill, Decay, Fairshare, FairsharePolicy, LoggedJob, OrderRules, Schedule, SimulationRules,
    Statistics, Workload, WorkloadBuilder, WorkloadModel, generate, simulate,
};
use serde_json::json;

#[path = "../crates/simulate/tests/identical_processors.rs"]
mod identical_processors;

use identical_processors::identical_processors;

const FORMULA: &str = "fairshare_factor * 1000 + eligible_time / 3600 + ncpus / 100";
const PROCESSORS: u32 = 1024;
/// The number of jobs that the reference simulates too.
const COMPARED: usize = 4000;
const DECAY: Decay = Decay {
    period: 86_400,
    factor: 0.5,
};

fn tree() -> String {
    let user = |user: usize| json!({"name": format!("u{user}"), "shares": user % 7 + 1});
    let group = |group: usize| {
        let users: Vec<_> = (group * 5 + 1..group * 5 + 6).map(user).collect();
        json!({"name": format!("g{group}"), "shares": 10 + group, "children": users})
    };
    json!({"children": (0..8).map(group).collect::<Vec<_>>()}).to_string()
}

fn run(program: &Program, workload: &Workload) -> (Schedule, f64) {
    let tree = read_tree("tree", tree().as_bytes())
        .expect("a tree")
        .share_tree()
        .expect("a tree");
    let fairshare = Fairshare::new(
        tree,
        FairsharePolicy::Other(Box::new(DocumentedOpenPbs)),
        Some(DECAY),
        workload.entities(),
        1.0,
        false,
    );
    let rules = identical_processors(workload, PROCESSORS, Backfill::Easy);
    let start = Instant::now();
    let schedule =
        simulate(program, workload, rules, Some(fairshare), &mut ()).expect("a schedule");
    (schedule, start.elapsed().as_secs_f64())
}

fn measure(program: &Program, jobs: usize, load: f64) {
    let workload = generate(&WorkloadModel {
        jobs,
        processors: PROCESSORS,
        load,
        ..WorkloadModel::default()
    });
    let (schedule, seconds) = run(program, &workload);
    let summary = Statistics::new(&workload, &schedule, PROCESSORS, 0).summary;
    println!(
        "{jobs:>9} jobs, load {load:.2}: {seconds:>7.2} s, {:>8.0} jobs/s; mean queue {:>7.1}; utilisation {:.3}",
        jobs as f64 / seconds,
        summary.mean_queue,
        summary.utilisation
    );
}

/// Formulas by which a long queue is simulated.
const LONG_QUEUE_FORMULAS: [&str; 5] = [
    "ncpus",
    "eligible_time",
    "eligible_time/3600 + ncpus/100",
    "(eligible_time/walltime)**3*ncpus",
    "eligible_time**3/walltime**3*ncpus",
];

/// The time for a workload under a formula, and a hash of the starts, by which two builds are
/// compared.
fn measure_starts(name: &str, formula: &str, workload: &Workload) {
    let program = Formula::parse(formula)
        .expect("a formula")
        .compile(&Schema::openpbs())
        .expect("a program");
    let rules = identical_processors(workload, PROCESSORS, Backfill::Easy);
    let start = Instant::now();
    let schedule = simulate(&program, workload, rules, None, &mut ()).expect("a schedule");
    let seconds = start.elapsed().as_secs_f64();
    let mean_queue = Statistics::new(workload, &schedule, PROCESSORS, 0)
        .summary
        .mean_queue;
    let starts = (0..workload.jobs().len()).map(|job| schedule.start(job).unwrap_or(-1));
    let hash = starts.fold(0_u64, |hash, start| {
        hash.wrapping_mul(0x0100_0000_01b3) ^ start as u64
    });
    println!(
        "{name}, {:>6} jobs, {formula:<36} {seconds:>7.2} s; mean queue {mean_queue:>7.0}; starts {hash:016x}",
        workload.jobs().len()
    );
}

/// A workload whose jobs are all submitted at once.
fn at_once(jobs: usize) -> Workload {
    let model = generate(&WorkloadModel {
        jobs,
        processors: PROCESSORS,
        ..WorkloadModel::default()
    });
    let mut builder = WorkloadBuilder::new();
    for (index, job) in model.jobs().iter().enumerate() {
        let logged = LoggedJob {
            id: model.id(index),
            run: job.run,
            walltime: Some(job.walltime),
            processors: job.processors.into(),
            ..LoggedJob::default()
        };
        builder.push(&logged).expect("a job");
    }
    builder.finish()
}

/// The largest memory of the process so far, in MB; `None` where the system does not say.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace()
        .next()?
        .parse::<u64>()
        .ok()
        .map(|kb| kb / 1024)
}

/// The seconds that the reference takes for a workload, and whether all starts are equal.
fn reference(workload: &Workload, schedule: &Schedule) -> Option<(f64, bool)> {
    // as in the Standard Workload Format, with the users numbered from 1
    let mut log = String::new();
    for (index, job) in workload.jobs().iter().enumerate() {
        let (id, user) = (workload.id(index), job.entity + 1);
        let (submit, run) = (job.submit, job.duration());
        let (processors, walltime) = (job.processors, job.walltime);
        log += &format!(
            "{id} {submit} 0 {run} {processors} -1 -1 {processors} {walltime} -1 1 {user} -1 -1 -1 -1 -1 -1\n"
        );
    }
    let numbered: serde_json::Value = serde_json::from_str(&numbered_tree(workload)).expect("JSON");
    let case = json!({
        "workload": log, "processors": PROCESSORS, "formula": FORMULA,
        "backfill": "easy", "tree": numbered, "decay": DECAY.period, "decay_factor": DECAY.factor,
    });
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/simulate/tests/reference.py"
    );
    let start = Instant::now();
    let mut python = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut pipe = python.stdin.take()?;
    writeln!(pipe, "{case}").ok()?;
    drop(pipe);
    let output = python.wait_with_output().ok()?;
    let seconds = start.elapsed().as_secs_f64();
    let starts: std::collections::BTreeMap<String, i64> =
        serde_json::from_slice(&output.stdout).ok()?;
    let is_equal = (0..workload.jobs().len())
        .all(|job| starts.get(workload.id(job)).copied() == schedule.start(job));
    Some((seconds, is_equal))
}

/// The tree with the numbers that the Standard Workload Format has for the users.
fn numbered_tree(workload: &Workload) -> String {
    let entities = workload.entities().iter().zip(1..);
    entities.fold(tree(), |tree, (name, number)| {
        tree.replace(&format!("\"{name}\""), &format!("\"{number}\""))
    })
}

fn main() {
    let program = Formula::parse(FORMULA)
        .expect("a formula")
        .compile(&Schema::openpbs())
        .expect("a program");
    let jobs = std::env::var("JSF_BENCH_JOBS")
        .ok()
        .and_then(|jobs| jobs.parse().ok())
        .unwrap_or(1_000_000);
    println!("{FORMULA}, {PROCESSORS} processors, easy");
    measure(&program, jobs, 0.9);
    if let Some(memory) = peak_memory() {
        println!("          peak memory {memory} MB");
    }
    for load in [0.6, 0.7, 0.8, 0.85, 0.95, 1.05] {
        measure(&program, jobs / 10, load);
    }
    for jobs in [25_000, 50_000, 100_000] {
        let workload = at_once(jobs);
        LONG_QUEUE_FORMULAS[..2]
            .iter()
            .for_each(|formula| measure_starts("at once", formula, &workload));
    }
    let workload = generate(&WorkloadModel {
        jobs: 450_000,
        processors: PROCESSORS,
        load: 0.97,
        ..WorkloadModel::default()
    });
    LONG_QUEUE_FORMULAS
        .iter()
        .for_each(|formula| measure_starts("long queue", formula, &workload));
    let workload = generate(&WorkloadModel {
        jobs: COMPARED,
        processors: PROCESSORS,
        load: 1.1,
        ..WorkloadModel::default()
    });
    let (schedule, first) = run(&program, &workload);
    let seconds = (0..4)
        .map(|_| run(&program, &workload).1)
        .fold(first, f64::min);
    match reference(&workload, &schedule) {
        Some((python, is_equal)) => println!(
            "{COMPARED} jobs: {seconds:.4} s here (the best of five), {python:.2} s in the reference in Python: {:.0} times; starts {}",
            python / seconds,
            if is_equal { "equal" } else { "differ" }
        ),
        None => println!("there is no Python to compare with"),
    }
}
