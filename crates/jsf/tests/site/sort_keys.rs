//! `job_sort_key` with names by which the scheduler sorts, and with names by which it sorts
//! nothing.

use std::fs;

use serde_json::json;

use crate::command::{jsf, stderr, success};

/// The ids in their order, the line `order:` and the messages, for a `sched_config` with these
/// keys.
fn ranked(keys: &[&str], more: &[&str]) -> (String, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let lines: Vec<String> = keys
        .iter()
        .map(|key| format!("job_sort_key: \"{key}\" ALL\n"))
        .collect();
    let config = format!(
        "by_queue: false all\npreemptive_sched: false all\n{}",
        lines.concat()
    );
    let jobs = json!({"jobs": [
        {"id": "1", "entity": "Bob", "eligible_time": 5, "job_priority": 1, "resources": {"ncpus": 1, "site_res": 1}},
        {"id": "2", "entity": "Bob", "eligible_time": 90, "job_priority": 2, "resources": {"ncpus": 2, "site_res": 5}},
        {"id": "3", "entity": "Suzy", "eligible_time": 7, "job_priority": 1, "resources": {"ncpus": 3}},
    ]});
    let path = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("a file");
        folder.path().join(name).display().to_string()
    };
    let (config, queue) = (
        path("sched_config", &config),
        path("jobs.json", &jobs.to_string()),
    );
    let groups = path("resource_group", "Suzy 10 root 60\nBob 11 root 40\n");
    let arguments = [
        "rank",
        "1",
        "--full",
        "--queue",
        &queue,
        "--sched-config",
        &config,
        "--resource-group",
        &groups,
    ];
    let output = jsf(&[&arguments[..], more].concat());
    let text = success(&output);
    let order = text
        .lines()
        .find(|line| line.starts_with("order:"))
        .expect("a line")
        .to_owned();
    let ids = success(&jsf(&[&arguments[..], more, &["--format", "csv"]].concat()));
    let ids = ids
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(1))
        .collect();
    (ids, order, stderr(&output))
}

#[test]
fn a_resource_and_a_special_name_decide() {
    for (key, ids) in [
        ("ncpus HIGH", "321"),
        ("ncpus High", "321"),
        ("ncpus Low", "123"),
        ("site_res HIGH", "213"),
        ("job_priority HIGH", "213"),
        ("sort_priority HIGH", "213"),
        ("fair_share_perc HIGH", "312"),
    ] {
        let (found, order, messages) = ranked(&[key], &[]);
        assert_eq!(found, ids, "{key}");
        assert!(order.contains("then job_sort_key "), "{key}: {order}");
        assert!(!messages.contains("job_sort_key"), "{key}: {messages}");
    }
}

/// OpenPBS 23.06.06 takes 0 for every job where the name is neither a resource nor special.
#[test]
fn a_name_that_is_not_a_resource_is_no_criterion() {
    for (name, reason) in [
        (
            "eligible_time",
            "`eligible_time` is for formulas and is not a resource",
        ),
        (
            "queue_priority",
            "`queue_priority` is for formulas and is not a resource",
        ),
        (
            "fairshare_factor",
            "`fairshare_factor` is for formulas and is not a resource",
        ),
        (
            "Ncpus",
            "no document declares a resource `Ncpus`, and no job has it",
        ),
        (
            "nosuch",
            "no document declares a resource `nosuch`, and no job has it",
        ),
    ] {
        let (ids, order, messages) = ranked(&[&format!("{name} HIGH"), "ncpus HIGH"], &[]);
        assert_eq!(ids, "321", "{name}: the next key decides");
        assert_eq!(
            order,
            "order:   value of the formula, then job_sort_key ncpus HIGH, then order of submission"
        );
        assert!(
            messages.contains(&format!(
                "`job_sort_key` `{name}` decides nothing: {reason}"
            )),
            "{messages}"
        );
    }
    let (_, order, messages) = ranked(&["nosuch HIGH"], &["--resource", "nosuch"]);
    assert!(
        order.contains("job_sort_key nosuch HIGH") && !messages.contains("decides nothing"),
        "{messages}"
    );
}

#[test]
fn check_warns_of_it_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("sched_config");
    fs::write(&config, "job_sort_key: \"nosuch HIGH\" ALL\n").expect("a file");
    let config = config.to_str().expect("UTF-8");
    let output = jsf(&[
        "check",
        "ncpus",
        "--queue",
        "examples/site/qstat.json",
        "--sched-config",
        config,
    ]);
    assert!(
        stderr(&output).contains("`job_sort_key` `nosuch` decides nothing"),
        "{}",
        stderr(&output)
    );
}
