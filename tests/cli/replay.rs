//! `jsf replay`, on the log of the example site.

use std::fs;

use serde_json::json;

use crate::support::command::{jsf, jsf_with_input, json, stderr, success};

const LOG: &str = "examples/site/sched.log";
const SITE: [&str; 8] = [
    "--sched-priv",
    "examples/site/sched_priv",
    "--queue",
    "examples/site/qstat.json",
    "--queues",
    "examples/site/queues.json",
    "--resources",
    "examples/site/resourcedef",
];

#[test]
fn the_example_log_is_equal() {
    let output = jsf(&[&["replay", LOG, "--format", "json"], &SITE[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let lines = document["lines"].as_u64().expect("a number");
    assert!(lines > 30, "{lines}");
    let expected =
        json!({"lines": lines, "equal": lines, "different": [], "not_listed": 0, "unexplained": 0, "unknown_jobs": 0});
    assert_eq!(document, expected);
    let text = success(&jsf(&[&["replay", LOG], &SITE[..]].concat()));
    assert_eq!(
        text,
        format!("{lines} logged values: {lines} equal, 0 different, 0 of jobs that are not in the queue\n")
    );
}

#[test]
fn a_difference_that_nothing_explains_has_exit_code_1() {
    let log = "x\n03/12/2026 10:00:00;0400;pbs_sched;Job;184103.kestrel;Formula Evaluation = 5\n\
        03/12/2026 10:00:00;0400;pbs_sched;Job;1.elsewhere;Formula Evaluation = 5\n";
    let formula = ["ncpus * 0 + 4"];
    let arguments = [&["replay", "-"], &formula[..], &SITE[..]].concat();
    let output = jsf_with_input(&[&arguments[..], &["--format", "json"]].concat(), log);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document = json(&output);
    assert_eq!((&document["lines"], &document["unknown_jobs"]), (&json!(2), &json!(1)));
    let different =
        json!({"line": 2, "job": "184103.kestrel", "logged": "5", "ours": "4", "why": null, "explanations": []});
    assert_eq!(document["different"], json!([different]));
    let output = jsf_with_input(&arguments, log);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("line 2: 184103.kestrel: logged 5, here 4: nothing explains it\n"), "{text}");
    assert!(text.ends_with(
        "2 logged values: 0 equal, 1 different (0 explained, 1 not), 1 of jobs that are not in the queue\n"
    ));
}

#[test]
fn an_explained_difference_has_exit_code_0() {
    let log = fs::read_to_string(LOG).expect("a log");
    let line = log.lines().find(|line| line.contains("Formula Evaluation")).expect("a value");
    let job = line.split(';').nth(4).expect("a job");
    let one = format!("s;Job;{job};Formula Evaluation = 7200\n");
    let arguments = [&["replay", "-", "0 * ncpus + eligible_time", "--format", "json"], &SITE[..]].concat();
    let output = jsf_with_input(&arguments, &one);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let why = json(&output)["different"][0]["why"].clone();
    assert!(why.as_str().is_some_and(|why| why.starts_with("eligible_time is ")), "{why}");
}

#[test]
fn a_file_that_is_not_a_log_is_refused() {
    let output = jsf(&[&["replay", "examples/site/qstat.json", "1"], &SITE[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is not a log with values"), "{}", stderr(&output));
    let output = jsf(&[&["replay", LOG, "1", "--numbers", "exact"], &SITE[..]].concat());
    assert_eq!(output.status.code(), Some(2));
}
