//! `jsf replay`, on the log of the example site.

use std::fs;

use serde_json::json;

use crate::command::{command, jsf, jsf_with_input, json, stderr, stdout, success};
use crate::site::support::{gzip, zstd};

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
    let formula = document["formula"].as_str().expect("a formula").to_owned();
    assert!(formula.contains("fairshare"), "{formula}");
    let expected = json!({
        "formula": formula, "lines": lines, "equal": lines, "different": [], "not_listed": 0, "unexplained": 0, "unknown_jobs": 0,
        "damaged": 0, "causes": [], "python": "3.11",
        "summary": format!("equal: {lines} of {lines} logged values"),
    });
    assert_eq!(document, expected);
    let text = success(&jsf(&[&["replay", LOG, "--full"], &SITE[..]].concat()));
    let answer = "Equal: 33 of 33 logged values.\n";
    assert!(text.starts_with(answer), "{text}");
    assert!(text.contains(&format!("\nformula: {formula}\n")), "{text}");
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
    assert_eq!(
        (&document["lines"], &document["unknown_jobs"]),
        (&json!(2), &json!(1))
    );
    let different = json!({"line": 2, "job": "184103.kestrel", "logged": "5", "ours": "4", "why": null, "explanations": []});
    assert_eq!(document["different"], json!([different]));
    let output = jsf_with_input(&arguments, log);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        text.starts_with(
            "Equal: 0 of 1 logged value; different: 1; unexplained: 1; of jobs that are not in the queue: 1.\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("   2  184103.kestrel       5     4  nothing explains it\n"),
        "{text}"
    );
}

#[test]
fn an_explained_difference_has_exit_code_0() {
    let log = fs::read_to_string(jsf_testing::path(LOG)).expect("a log");
    let line = log
        .lines()
        .find(|line| line.contains("Formula Evaluation"))
        .expect("a value");
    let job = line.split(';').nth(4).expect("a job");
    let one = format!("s;Job;{job};Formula Evaluation = 7200\n");
    let arguments = [
        &[
            "replay",
            "-",
            "0 * ncpus + eligible_time",
            "--format",
            "json",
        ],
        &SITE[..],
    ]
    .concat();
    let output = jsf_with_input(&arguments, &one);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let why = json(&output)["different"][0]["why"].clone();
    assert!(
        why.as_str()
            .is_some_and(|why| why.starts_with("eligible_time is ")),
        "{why}"
    );
}

#[test]
fn a_file_that_is_not_a_log_is_refused() {
    let output = jsf(&[&["replay", "examples/site/qstat.json", "1"], &SITE[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("is not a log with values"),
        "{}",
        stderr(&output)
    );
    let output = jsf(&[&["replay", LOG, "1", "--numbers", "exact"], &SITE[..]].concat());
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_compressed_log_is_read() {
    let log = fs::read(jsf_testing::path(LOG)).expect("a log");
    let folder = tempfile::tempdir().expect("a folder");
    let compressed = [("sched.log.gz", gzip(&log)), ("sched.log.zst", zstd(&log))];
    let plain = success(&jsf(&[&["replay", LOG], &SITE[..]].concat()));
    for (name, bytes) in compressed {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        assert_eq!(
            success(&jsf(&[
                &["replay", path.to_str().expect("UTF-8")],
                &SITE[..]
            ]
            .concat())),
            plain,
            "{name}"
        );
    }
}

#[test]
fn a_log_of_other_jobs_proves_nothing() {
    let log = "s;Job;1.elsewhere;Formula Evaluation = 5\n";
    let output = jsf_with_input(
        &[&["replay", "-", "ncpus", "--format", "json"], &SITE[..]].concat(),
        log,
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        (&json(&output)["equal"], &json(&output)["unknown_jobs"]),
        (&json!(0), &json!(1))
    );
    assert!(
        stderr(&output).contains("warning: nothing was compared, so nothing is proved"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_capture_without_usage_verifies_nothing() {
    let output = jsf(&["replay", LOG, "--site", "examples/captured"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    let first = text.lines().next().expect("a line");
    let expected = "Equal: 1 of 33 logged values; different: 32; unexplained: 32 (the site has no file `usage`, so nothing was verified).";
    assert_eq!(first, expected);
    assert!(
        text.contains(
            "32 lines: nothing was verified, because the site has no file `usage`\n  help: copy"
        ),
        "{text}"
    );
    let document = json(&jsf(&[
        "replay",
        LOG,
        "--site",
        "examples/captured",
        "--format",
        "json",
    ]));
    assert_eq!(document["unexplained"], 32);
    let causes = &document["causes"];
    assert_eq!(
        (
            &causes[0]["kind"],
            &causes[0]["lines"],
            &causes[0]["explains"]
        ),
        (&json!("not captured"), &json!(32), &json!(false))
    );
}

#[test]
fn the_formula_in_force_explains_the_log_of_another_one() {
    let output = jsf(&["replay", LOG, "ncpus * 10", "--site", "examples/site"]);
    let text = success(&output);
    let cause = "33 lines: the formula in the log is not the one compared here, but that of `examples/site/server.json`: \
        `pow(2, -(fairshare_tree_usage/fairshare_perc))`\n";
    assert!(
        text.starts_with("Equal: 0 of 33 logged values; different: 33; unexplained: 0.\n"),
        "{text}"
    );
    assert!(text.contains(cause), "{text}");
}

#[test]
fn a_log_of_an_unknown_formula_gets_advice() {
    let jobs = fs::read_to_string(jsf_testing::path(LOG)).expect("a log");
    let mut log = String::new();
    for (index, line) in jobs.lines().enumerate() {
        let Some((before, _)) = line.split_once("Formula Evaluation = ") else {
            continue;
        };
        log += &format!(
            "{before}Formula Evaluation = {}\n",
            index * index * 37 % 1001
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sched.log");
    fs::write(&path, log).expect("a file");
    let mut on_a_screen = command();
    on_a_screen
        .args([
            "replay",
            &path.display().to_string(),
            "ncpus + mem/1024/1024",
        ])
        .args(SITE)
        .env("JSF_LINES", "24");
    let output = on_a_screen.output().expect("jsf starts");
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("help: probably the log has another formula"),
        "{text}"
    );
    assert!(text.lines().count() <= 24, "{text}");
}

#[test]
fn the_time_between_the_log_and_the_capture_is_said_once() {
    let ranked = json(&jsf(&[
        &["rank", "eligible_time + 7440", "--format", "json"],
        &SITE[..],
    ]
    .concat()));
    let jobs = ranked["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .filter(|job| job["score"].as_f64() >= Some(14_880.0));
    let lines = jobs.map(|job| {
        let (id, value) = (
            job["id"].as_str().expect("an id"),
            job["score"].as_f64().expect("a score"),
        );
        format!(
            "03/12/2026 07:37:07;0400;pbs_sched;Job;{id};Formula Evaluation = {}\n",
            value - 7440.0
        )
    });
    let log: String = lines.collect();
    let count = log.lines().count();
    assert!(count > 5, "{ranked}");
    let text = success(&jsf_with_input(
        &[&["replay", "-", "eligible_time + 7440"], &SITE[..]].concat(),
        &log,
    ));
    assert!(
        text.contains(&format!(
            "\n{count} lines: captured 2 h 4 min after the log\n"
        )),
        "{text}"
    );
}
