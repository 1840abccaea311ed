//! `jsf simulate` on the cases in `tests/golden/simulate`, whose rules are in `SPEC.md` there.

use std::collections::{BTreeMap, BTreeSet};

use jsf_testing::golden;
use serde::Deserialize;
use serde_json::Value;

use crate::command::{jsf, stderr, success};

/// The options for the rules of the cases, which are not those of OpenPBS's scheduler.
const TEXTBOOK: [&str; 4] = ["--rules", "documented", "--numbers", "exact"];

#[derive(Deserialize)]
struct RecordedCase {
    workload: String,
    processors: u32,
    formula: String,
    backfill: String,
    tree: Option<Value>,
    decay: Option<u64>,
    decay_factor: Option<f64>,
    start: BTreeMap<String, i64>,
}

/// One case of each way of backfilling, with and without a tree, through the command.
#[test]
fn the_command_starts_every_recorded_job_at_its_second_with_the_options_of_the_textbook() {
    let cases: Vec<RecordedCase> = golden::lines("simulate/cases.jsonl");
    let mut compared = BTreeSet::new();
    for case in cases {
        let RecordedCase { workload, processors, formula, backfill, tree, decay, decay_factor, start } = case;
        if !compared.insert((backfill.clone(), tree.is_some())) {
            continue;
        }
        let file = |name: &str| golden::path(&format!("simulate/{name}")).display().to_string();
        let (workload, processors) = (file(&workload), processors.to_string());
        let mut arguments = vec!["simulate", &formula, "--format", "json", "--backfill", &backfill];
        arguments.extend(["--workload", &workload, "--processors", &processors]);
        arguments.extend(TEXTBOOK);
        let tree = tree.map(|tree| file(tree.as_str().expect("a name")));
        let decays = [decay.map(|decay| decay.to_string()), decay_factor.map(|factor| factor.to_string())];
        for (option, value) in ["--tree", "--decay", "--decay-factor"].into_iter().zip([&tree, &decays[0], &decays[1]])
        {
            arguments.extend(value.iter().flat_map(|value| [option, value]));
        }
        let document: Value = serde_json::from_str(&success(&jsf(&arguments))).expect("JSON");
        let jobs = document["jobs"].as_array().expect("jobs").iter();
        let found: BTreeMap<String, i64> = jobs
            .map(|job| (job["id"].as_str().expect("an id").to_owned(), job["start"].as_i64().expect("a start")))
            .collect();
        assert!(found == start, "{formula} with {backfill}");
    }
    assert_eq!(compared.len(), 4, "{compared:?}");
}

#[test]
fn a_file_that_gives_something_twice_is_refused_with_strict_and_a_queue_always() {
    let folder = tempfile::tempdir().expect("a folder");
    let twice = folder.path().join("tree.json").display().to_string();
    std::fs::write(&twice, r#"{"children":[{"name":"u1","shares":1,"shares":2}]}"#).expect("written");
    let simulate = |options: &[&str]| {
        let jobs = ["simulate", "fairshare_factor + 0.5", "--generate", "20", "--processors", "8", "--format", "json"];
        jsf(&[&jobs[..], options].concat())
    };
    let strict = simulate(&["--tree", &twice, "--strict"]);
    assert_eq!((strict.status.code(), simulate(&["--tree", &twice]).status.code()), (Some(2), Some(0)));
    assert!(stderr(&strict).contains("has `shares` more than once"), "{}", stderr(&strict));
    let queue = simulate(&["--queue", "examples/site/qstat.json"]);
    assert_eq!(stderr(&queue), "jsf: --queue has no effect in a simulation, whose jobs are those of --workload\n");
}

/// The jobs of an association that has used more of its shares come later under the policy of `slurm.conf`.
#[test]
fn the_policy_is_that_of_slurm_conf() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("slurm.conf").display().to_string();
    std::fs::write(&conf, "PriorityType=priority/multifactor\nPriorityFlags=NO_FAIR_TREE\n").expect("written");
    let job = |(index, user): (usize, &str)| {
        format!(r#"{{"id":{index},"entity":"{user}","submit":{index},"run":100,"resources":{{"ncpus":1}}}}"#)
    };
    let users = ["mara", "ines", "lise", "otto"];
    let log: Vec<String> = users.iter().cycle().take(40).copied().enumerate().map(job).collect();
    let log_file = folder.path().join("log.ndjson").display().to_string();
    std::fs::write(&log_file, log.join("\n")).expect("written");
    let simulate = |options: &[&str]| {
        let jobs = ["simulate", "fairshare_factor", "--workload", &log_file, "--processors", "1", "--format", "json"];
        success(&jsf(&[&jobs[..], &["--tree", "examples/slurm/sshare.txt"], options].concat()))
    };
    let by_conf = simulate(&["--slurm-conf", &conf]);
    assert_eq!(by_conf, simulate(&["--policy", "classic"]));
    assert_ne!(by_conf, simulate(&[]));
}

#[test]
fn a_number_that_is_out_of_range_is_refused_in_plain_words() {
    for (option, value, expected) in [
        ("--processors", "0", "`--processors` must be at least 1"),
        ("--processors", "-3", "`--processors` must be at least 1"),
        ("--processors", "4294967296", "`--processors` must be at most 4294967295"),
        ("--processors", "many", "expected a number of processors, such as 128"),
        ("--seed", "x", "expected a whole number from 0 to 18446744073709551615, such as 1"),
    ] {
        let output = jsf(&["simulate", "ncpus", "--generate", "10", option, value]);
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
        assert!(stderr(&output).contains(expected), "{option} {value}: {}", stderr(&output));
    }
}
