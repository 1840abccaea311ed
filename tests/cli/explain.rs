//! `jsf explain`, on the example site.

use serde_json::{Value, json};

use crate::support::command::{jsf, jsf_with_input, json, stderr, success};

const SITE: [&str; 2] = ["--site", "examples/site"];

fn explained(arguments: &[&str]) -> Value {
    let output = jsf(&[&["explain"], arguments, &SITE, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    json(&output)
}

#[test]
fn a_job_is_explained_as_json() {
    let document = explained(&["2*eligible_time/3600 - mem/1048576", "--job", "184598"]);
    let job = &document["jobs"][0];
    assert_eq!(document["formula"], "2*eligible_time/3600 - mem/1048576");
    assert_eq!(
        job["inputs"],
        json!([
            {"name": "eligible_time", "value": "93133", "unit": "s", "origin": "job"},
            {"name": "mem", "value": "251658240", "unit": "kb", "origin": "Resource_List"}
        ])
    );
    let texts: Vec<&str> = job["nodes"].as_array().unwrap().iter().map(|node| node["text"].as_str().unwrap()).collect();
    assert_eq!(
        texts,
        [
            "2",
            "2*eligible_time",
            "2*eligible_time/3600",
            "2*eligible_time/3600 - mem/1048576",
            "eligible_time",
            "3600",
            "mem",
            "mem/1048576",
            "1048576"
        ]
    );
    assert_eq!(
        job["terms"],
        json!([
            {"span": {"start": 0, "end": 20}, "text": "2*eligible_time/3600", "value": "51.74055555555555"},
            {"span": {"start": 23, "end": 34}, "text": "-(mem/1048576)", "value": "-240.0"}
        ])
    );
}

#[test]
fn an_unknown_job_is_a_usage_error() {
    let output = jsf(&[&["explain", "ncpus", "--job", "18459"], &SITE[..]].concat());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(stderr(&output).contains("no job is called `18459`"), "{}", stderr(&output));
}

#[test]
fn the_origins_are_true_for_each_job() {
    let jobs = r#"{"jobs":[
        {"id":"1","entity":"Bob","queue":"workq","resources":{"ncpus":4},"queue_priority":7,"fairshare_factor":0.5},
        {"id":"2","entity":"Bob","queue":"express","inputs":{"ncpus":8,"fairshare_factor":0.25},"eligible_time":9},
        {"id":"3","entity":"Bob","queue":"express","resources":{"ncpus":1}}]}"#;
    let tree = r#"{"children":[{"name":"Bob","shares":50,"usage":100}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree.json");
    std::fs::write(&path, tree).unwrap();
    let formula = "ncpus + queue_priority + fairshare_factor + eligible_time";
    let output = jsf_with_input(
        &[
            "explain",
            formula,
            "--queue",
            "-",
            "--job",
            "1,2",
            "--job",
            "3",
            "--format",
            "json",
            "--queues",
            "examples/site/queues.json",
            "--tree",
            path.to_str().unwrap(),
        ],
        jobs,
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let origins: Vec<Vec<&str>> = document["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["inputs"].as_array().unwrap().iter().map(|input| input["origin"].as_str().unwrap()).collect())
        .collect();
    assert_eq!(
        origins,
        [
            ["Resource_List", "job", "job", "unset"],
            ["inputs", "queue", "inputs", "job"],
            ["Resource_List", "queue", "fair-share tree", "unset"]
        ]
    );
}

#[test]
fn a_failing_job_shows_the_guilty_part_and_the_others() {
    let document = explained(&["1/(ncpus - 1)", "--job", "184598"]);
    let ranked = success(&jsf(&[&["rank", "1/(ncpus - 1)", "--format", "json"], &SITE[..]].concat()));
    let ranked: Value = serde_json::from_str(&ranked).unwrap();
    let failing: Vec<&str> = ranked["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|job| !job["error"].is_null())
        .map(|job| job["id"].as_str().unwrap())
        .collect();
    let is_failing = failing.contains(&"184598.kestrel");
    assert_eq!(document["jobs"][0]["error"].is_null(), !is_failing);
    let failed = explained(&["1/(ncpus - 1)", "--job", failing[0]]);
    let job = &failed["jobs"][0];
    assert_eq!((&job["error"]["kind"], &job["exact"]), (&json!("division by zero"), &Value::Null));
    assert_eq!(job["same_error"]["count"], json!(failing.len() - 1));
    let text = success(&jsf(&[&["explain", "1/(ncpus - 1)", "--job", failing[0]], &SITE[..]].concat()));
    assert!(text.contains("^") && text.contains("`1/(ncpus - 1)` fails with \"division by zero\""), "{text}");
}

/// The first line of an explanation.
fn answer(formula: &str, job: &str) -> String {
    let text = success(&jsf(&[&["explain", formula, "--job", job], &SITE[..]].concat()));
    text.lines().next().unwrap().to_owned()
}

#[test]
fn the_sentence_names_what_decides_against_the_jobs_just_ahead() {
    let priority = answer("queue_priority*10 - walltime/3600", "184434");
    assert!(priority.contains("21st of 33: its queue `workq` has priority 0, lower than 1 of the 5"), "{priority}");
    let shares = answer("fairshare_factor * 100 + eligible_time / 3600 + ncpus * 0.1", "184927");
    assert!(shares.contains("33rd of 33: `rvasquez` has used 1.9 times its share"), "{shares}");
    assert!(answer("5", "184434").ends_with("all jobs have the same value; the order of submission decides"));
    assert!(answer("5", "184769").contains("is not considered: its state is W (waiting for its start time)"));
}

#[test]
fn a_rank_that_does_not_exist_is_a_usage_error() {
    let output = jsf(&[&["explain", "ncpus", "--job", "184598", "--to", "34"], &SITE[..]].concat());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(stderr(&output).ends_with("there is no rank 34: 33 jobs are considered\n"), "{}", stderr(&output));
    for rank in ["0", "-1", "x", "4294967296"] {
        let output = jsf(&[&["explain", "ncpus", "--job", "184598", "--to", rank], &SITE[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{rank}");
        let expected = "expected a rank of 1 or more, such as 5";
        assert!(stderr(&output).contains(expected), "{rank}: {}", stderr(&output));
    }
    let never = success(&jsf(&[&["explain", "ncpus", "--job", "184598", "--to", "5"], &SITE[..]].concat()));
    assert!(never.contains("never reaches rank 5 by waiting: the formula does not read `eligible_time`"), "{never}");
}
