//! What it takes for a job to reach a rank, against the ranking of changed queues.

use job_sort_formula::Formula;
use job_sort_formula::rank::SEARCH_WORK;
use jsf_site::{
    ExplainOptions, FileSource, Means, RankedQueue, Role, Site, SiteFiles, SiteOptions, Wait,
};
use jsf_testing::random::Xorshift;
use jsf_testing::setting;
use serde_json::{Value, json};

const FORMULAS: &[&str] = &[
    "eligible_time",
    "eligible_time / 3600 + ncpus",
    "ncpus * eligible_time / 600",
    "100 * (eligible_time / walltime) + job_priority",
    "(50 if eligible_time > 7200 else 0) + ncpus",
    "(100 if eligible_time > 3600 else ncpus) + eligible_time // 1800",
    "min(eligible_time / 3600, 24) * ncpus + 1000 * fairshare_factor",
    "pow(eligible_time / walltime, 2) * 50 + job_priority * 10",
    "eligible_time % 5000 + 30 * ncpus",
    "1000000 * fairshare_factor + eligible_time / 60",
    "10 / (eligible_time - 4000) + ncpus",
    "eligible_time / ncpus if ncpus > 4 else 20000 / (1 + eligible_time)",
];

fn queue(random: &mut Xorshift) -> Value {
    let job = |index: u64, random: &mut Xorshift| {
        let mut pick = |names: [&'static str; 3]| names[random.next() as usize % 3];
        let (entity, queue) = (
            pick(["Bob", "Ted", "Suzy"]),
            pick(["workq", "short", "fast"]),
        );
        json!({
            "id": format!("{index}.vm"),
            "entity": entity,
            "queue": queue,
            "state": "Q",
            "resources": {"ncpus": 1 << (random.next() % 7), "walltime": 600 * (1 + random.next() % 100)},
            "eligible_time": random.next() % 10_000,
            "job_priority": random.next() % 100,
            "fairshare_factor": (random.next() % 1_000_000) as f64 / 1e6,
        })
    };
    let count = 2 + random.next() % 20;
    json!({"jobs": (1..=count).map(|index| job(index, random)).collect::<Vec<_>>()})
}

const CONFIGS: &[&str] = &[
    "by_queue: False ALL\n",
    "by_queue: True ALL\n",
    "round_robin: True ALL\n",
    "by_queue: False ALL\njob_sort_key: \"ncpus HIGH\" ALL\n",
];

const QUEUES: &str = "Queue: workq\n    queue_type = Execution\n    Priority = 10\n\nQueue: short\n    queue_type = Execution\n    \
                      Priority = 200\n\nQueue: fast\n    queue_type = Execution\n    Priority = 10\n\n";

fn ranked(
    queue: &Value,
    config: &str,
    threshold: Option<f64>,
    formula: &Formula,
) -> (Site, RankedQueue) {
    let source = |name: &str, text: &str| FileSource::Bytes {
        name: name.into(),
        bytes: text.as_bytes().into(),
    };
    let files = SiteFiles::default()
        .with(Role::Queue, source("queue.json", &queue.to_string()))
        .with(Role::SchedConfig, source("sched_config", config))
        .with(Role::Queues, source("qstat_Qf.txt", QUEUES));
    let site = Site::from_files(
        files,
        SiteOptions {
            threshold,
            ..SiteOptions::default()
        },
    )
    .unwrap();
    let ranked = site.rank(formula).unwrap();
    (site, ranked)
}

fn rank_of(ranked: &RankedQueue, id: &str) -> Option<usize> {
    let row = ranked.table.row(id)?;
    ranked
        .ranking
        .order()
        .iter()
        .position(|&other| other == row)
        .map(|index| index + 1)
}

/// The queue in which the considered jobs, and the job itself, have waited so much longer.
fn aged(queue: &Value, ranked: &RankedQueue, id: &str, wait: i64) -> Value {
    let mut queue = queue.clone();
    for job in queue["jobs"].as_array_mut().unwrap() {
        let job_id = job["id"].as_str().unwrap().to_owned();
        if job_id == id || rank_of(ranked, &job_id).is_some() {
            job["eligible_time"] = (job["eligible_time"].as_i64().unwrap() + wait).into();
        }
    }
    queue
}

#[test]
fn the_wait_for_a_rank_is_minimal() {
    let mut random = Xorshift(setting("JSF_SEED", 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let within = 40_000;
    let (mut reached, mut never) = (0, 0);
    for case in 0..setting("JSF_CASES", 150) {
        let queue = queue(&mut random);
        let text = FORMULAS[case as usize % FORMULAS.len()];
        let formula = Formula::parse(text).unwrap();
        let config = CONFIGS[random.next() as usize % CONFIGS.len()];
        let threshold = random.next().is_multiple_of(5).then_some(20.0);
        let (site, now) = ranked(&queue, config, threshold, &formula);
        let row = random.next() as usize % now.table.len();
        let id = now.table.id(row).to_owned();
        let places = 1 + random.next() as usize % 3;
        let goal =
            rank_of(&now, &id).map_or(now.table.len(), |rank| rank.saturating_sub(places).max(1));
        let rank_after = |wait: i64| {
            rank_of(
                &ranked(&aged(&queue, &now, &id, wait), config, threshold, &formula).1,
                &id,
            )
        };
        let fits = |wait: i64| rank_after(wait).is_some_and(|rank| rank <= goal);
        let options = ExplainOptions {
            to: Some(goal),
            within,
            changes: false,
            work: 8 * SEARCH_WORK,
        };
        let found = site.explain(&now, &[row], &options).unwrap().jobs[0]
            .reached
            .unwrap();
        match found.wait {
            Wait::Until(result) => {
                assert!(
                    fits(result.wait),
                    "{text} {config} {id} to {goal} in {queue}: {result:?}"
                );
                let earlier = (0..60).map(|_| (random.next() % result.wait.max(1) as u64) as i64);
                for wait in earlier
                    .chain([0, result.wait - 1])
                    .filter(|wait| (0..result.wait).contains(wait))
                {
                    assert!(
                        !fits(wait),
                        "{text} {config} {id} to {goal} at {wait} in {queue}: {result:?}"
                    );
                }
                reached += usize::from(result.wait > 0);
            }
            Wait::Unknown => panic!("{text} is not known"),
            Wait::Never { .. } => {
                let waits = (0..60)
                    .map(|_| (random.next() % within as u64) as i64)
                    .chain([0, within]);
                for wait in waits {
                    assert!(
                        !fits(wait),
                        "{text} {config} {id} to {goal} at {wait} in {queue}"
                    );
                }
                never += 1;
            }
        }
    }
    println!("{reached} ranks reached later, {never} never");
    assert!(
        reached > 15 && never > 15,
        "{reached} reached, {never} never"
    );
}

#[test]
fn the_change_of_an_input_is_smallest() {
    let mut random = Xorshift(setting("JSF_SEED", 1).wrapping_mul(0x2545_F491_4F6C_DD1D) | 1);
    let (mut found, mut less) = (0, 0);
    for case in 0..setting("JSF_CASES", 60) {
        let queue = queue(&mut random);
        let text = FORMULAS[case as usize % FORMULAS.len()];
        let formula = Formula::parse(text).unwrap();
        let config = CONFIGS[random.next() as usize % CONFIGS.len()];
        let (site, now) = ranked(&queue, config, None, &formula);
        let row = random.next() as usize % now.table.len();
        let id = now.table.id(row).to_owned();
        let Some(rank) = rank_of(&now, &id).filter(|rank| *rank > 1) else {
            continue;
        };
        let goal = 1 + random.next() as usize % (rank - 1);
        let index = queue["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .position(|job| job["id"] == *id)
            .unwrap();
        let rank_with = |name: &str, value: Value| {
            let mut queue = queue.clone();
            let job = &mut queue["jobs"][index];
            if job.get(name).is_some() {
                job[name] = value
            } else {
                job["resources"][name] = value
            }
            rank_of(&ranked(&queue, config, None, &formula).1, &id).unwrap()
        };
        let options = ExplainOptions {
            to: Some(goal),
            work: 8 * SEARCH_WORK,
            ..ExplainOptions::default()
        };
        let changes = site
            .explain(&now, &[row], &options)
            .unwrap()
            .jobs
            .remove(0)
            .changes;
        assert!(changes.unknown.is_empty(), "{text}");
        assert!(
            changes.found.is_sorted_by_key(|change| change.means),
            "{text}: {changes:?}"
        );
        for change in changes.found {
            let number = |value: &job_sort_formula::Value| value.repr().parse::<f64>().unwrap();
            let (from, to) = (number(&change.from), number(&change.to));
            let is_request = matches!(&*change.name, "ncpus" | "walltime");
            assert_eq!(
                is_request,
                change.means == Means::AskForLess,
                "{text}: {change:?}"
            );
            assert!(
                !is_request || (1.0..from).contains(&to),
                "{text}: {change:?}"
            );
            less += usize::from(is_request);
            let step = if &*change.name == "fairshare_factor" {
                1e-6
            } else {
                1.0
            };
            let as_input = |value: f64| {
                if step == 1.0 {
                    json!(value as i64)
                } else {
                    json!((value * 1e6).round() / 1e6)
                }
            };
            assert!(
                rank_with(&change.name, as_input(to)) <= goal,
                "{text} {config} {change:?} to {goal} in {queue}"
            );
            let steps = ((to - from) / step).abs().round() as i64;
            for _ in 0..30 {
                let nearer = (random.next() % steps as u64) as i64;
                for value in [from + nearer as f64 * step, from - nearer as f64 * step] {
                    let least = if &*change.name == "job_priority" {
                        -1024.0
                    } else {
                        0.0
                    };
                    let is_asked = !is_request || (1.0..from).contains(&value);
                    if is_asked && value >= least && (step == 1.0 || value <= 1.0) {
                        let rank = rank_with(&change.name, as_input(value));
                        assert!(
                            rank > goal,
                            "{text} {config} {change:?}, {value} gives {rank} in {queue}"
                        );
                    }
                }
            }
            found += 1;
        }
    }
    println!("{found} changes");
    assert!(
        found > 20 && less > 5,
        "{found} changes, {less} requests of less"
    );
}
