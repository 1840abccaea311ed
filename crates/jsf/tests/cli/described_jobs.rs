//! `jsf explain --as`: a job that is only described gets the place and the value that it has once
//! it is submitted.

use serde_json::json;

use super::small_site::{SmallSite, qstat};
use crate::command::{jsf, stderr, stdout, success};

const FORMULA: &str = "ncpus * 10 + walltime / 3600 + gpus * 100 + nodect + mem / 1048576 + queue_priority + eligible_time";
const SERVER: &str = r#"{"Server":{"vm":{"default_queue":"workq","resources_default":{"mem":"2gb","gpus":1},
    "resources_max":{"walltime":"48:00:00"}}}}"#;
const QUEUES: &str = r#"{"Queue":{
    "workq":{"queue_type":"Execution","Priority":3,"enabled":"True","resources_default":{"walltime":"01:00:00"},
        "resources_min":{"ncpus":1}},
    "gpu":{"queue_type":"Execution","Priority":70,"enabled":"True","resources_default":{"gpus":4},"resources_max":{"ncpus":16}},
    "routeq":{"queue_type":"Route","enabled":"True"},
    "closed":{"queue_type":"Execution","enabled":"False"}}}"#;

fn site() -> SmallSite {
    let jobs = qstat(&[
        (
            "1",
            "workq",
            "Q",
            json!({"ncpus": 8, "nodect": 1}),
            json!({"eligible_time": "00:01:00"}),
        ),
        (
            "2",
            "gpu",
            "Q",
            json!({"ncpus": 40, "nodect": 5}),
            json!({"eligible_time": "00:00:30"}),
        ),
    ]);
    let resources = "gpus type=long flag=nh\n";
    SmallSite::new(&[
        ("qstat.json", &jobs),
        ("server.json", SERVER),
        ("queues.json", QUEUES),
        ("resourcedef", resources),
    ])
}

#[test]
fn a_described_job_has_one_entity() {
    let output = jsf(&[
        "explain",
        "ncpus",
        "--site",
        "examples/site",
        "--as",
        "ncpus=3",
        "--user",
        "ida,lnovak",
    ]);
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""));
    assert!(
        stderr(&output).contains("a described job has one entity"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_is_not_requested_comes_from_the_queue_then_the_server_then_their_limits() {
    for (described, value) in [
        // the default queue
        ("ncpus=2,walltime=2h", 20.0 + 2.0 + 100.0 + 1.0 + 2.0 + 3.0),
        ("queue=workq", 10.0 + 1.0 + 100.0 + 1.0 + 2.0 + 3.0),
        (
            "queue=gpu, ncpus=12, gpus=2, walltime=1-06:00:00",
            120.0 + 30.0 + 200.0 + 1.0 + 2.0 + 70.0,
        ),
        (
            "queue=gpu,mem=4gb,nodect=3,eligible_time=15m",
            160.0 + 48.0 + 400.0 + 3.0 + 4.0 + 70.0 + 900.0,
        ),
    ] {
        let document = site().json(&["explain", FORMULA, "--as", described]);
        let job = &document["jobs"][0];
        assert_eq!(
            (&job["id"], &job["score"]),
            (&json!("described"), &json!(value)),
            "{described}"
        );
        // the values of the others
        let rank = 1 + [60.0 + 80.0 + 1.0 + 3.0, 30.0 + 400.0 + 5.0 + 70.0]
            .iter()
            .filter(|other| **other >= value)
            .count();
        assert_eq!(
            (&job["rank"], &job["considered"]),
            (&json!(rank), &json!(3)),
            "{described}"
        );
    }
}

#[test]
fn the_factor_is_that_of_the_entity_or_an_assumed_one() {
    let formula = "1000 * fairshare_factor + ncpus";
    let site = ["--site", "examples/site", "--format", "json"];
    let explain =
        |arguments: &[&str]| jsf(&[&["explain", formula, "--as"], arguments, &site].concat());
    let text = success(&jsf(&[
        "shares",
        "--site",
        "examples/site",
        "--entity",
        "mquispe",
        "--format",
        "json",
    ]));
    let shares: serde_json::Value = serde_json::from_str(&text).unwrap();
    let node = shares["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|node| node["name"] == "mquispe")
        .unwrap();
    let expected = (node["factor"].as_f64().unwrap() * 1e6).round() / 1e6 * 1000.0 + 12.0;
    for option in ["--entity", "--user"] {
        let document = crate::command::json(&explain(&["queue=workq,ncpus=12", option, "mquispe"]));
        let score = document["jobs"][0]["score"].as_f64().unwrap();
        assert!((score - expected).abs() < 1e-3, "{score} and {expected}");
    }
    let assumed = crate::command::json(&explain(&["queue=workq,ncpus=12,fairshare_factor=0.5"]));
    assert_eq!(assumed["jobs"][0]["score"], 512.0);
    let missing = explain(&["queue=workq,ncpus=12"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        stderr(&missing).contains("(--entity NAME)"),
        "{}",
        stderr(&missing)
    );
}

#[test]
fn what_the_server_refuses_or_nobody_knows_is_refused() {
    let site = site();
    for (described, message) in [
        (
            "queue=gpu,ncpus=17",
            "`ncpus` is 17, and a job of `gpu` has at most 16",
        ),
        ("walltime=49h", "a job of `workq` has at most 48:00:00"),
        ("ncpus=0", "a job of `workq` has at least 1"),
        ("queue=routeq", "the job is in a routing queue"),
        ("queue=closed", "the queue `closed` accepts no jobs"),
        (
            "queue=gpuu",
            "no queue is called `gpuu`; did you mean `gpu`?",
        ),
        (
            "walltme=2h",
            "no resource is called `walltme`; did you mean `walltime`?",
        ),
        ("ncpus=four", "ncpus"),
        ("mem=-1", "mem"),
        ("walltime=soon", "`walltime`: "),
        ("select=2:ncpus=4", "`select` is not a number"),
        ("ncpus", "`ncpus` is not NAME=VALUE"),
        ("ncpus=1,ncpus=2", "`ncpus` is given more than once"),
        (",", "the job is not described"),
    ] {
        let output = site.run(&["explain", FORMULA, "--as", described]);
        assert_eq!(
            (output.status.code(), &*stdout(&output)),
            (Some(2), ""),
            "{described}"
        );
        assert!(
            stderr(&output).contains(message),
            "{described}: {}",
            stderr(&output)
        );
    }
    let nothing = site.run(&["explain", FORMULA]);
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn people_see_the_value_and_the_queue() {
    let site = site();
    for format in ["human", "markdown"] {
        let output = site.run(&[
            "explain",
            "ncpus + walltime",
            "--as",
            "ncpus=3,walltime=1h",
            "--job",
            "1",
            "--format",
            format,
        ]);
        let text = success(&output);
        assert!(text.contains("`described` is 1st of 3"), "{text}");
        assert!(
            text.contains("as submitted now to `workq`") && text.contains("3603"),
            "{text}"
        );
    }
}
