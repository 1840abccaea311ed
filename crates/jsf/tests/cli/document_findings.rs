//! What `jsf check` finds in the documents of a site together: jobs against defaults, counts and
//! limits.

use serde_json::{Value, json};

use super::small_site::{SmallSite, qstat};
use crate::command::{stderr, stdout};

const RESOURCES: (&str, &str) = ("resourcedef", "base type=long\njob_priority type=long\n");
const QUEUES: &str = r#"{"Queue":{"workq":{"queue_type":"Execution","resources_default":{"base":51}},
    "other":{"queue_type":"Execution"}}}"#;

fn site(server: &str, jobs: &[(&str, &str, &str, Value, Value)]) -> SmallSite {
    SmallSite::new(&[
        RESOURCES,
        ("queues.json", QUEUES),
        ("server.json", server),
        ("qstat.json", &qstat(jobs)),
    ])
}

fn server(attributes: Value) -> String {
    json!({"Server": {"vm": attributes}}).to_string()
}

fn waiting(
    id: &'static str,
    queue: &'static str,
    resources: Value,
) -> (&'static str, &'static str, &'static str, Value, Value) {
    (
        id,
        queue,
        "Q",
        resources,
        json!({"eligible_time": "00:00:10"}),
    )
}

#[test]
fn waiting_jobs_without_a_new_default_are_counted() {
    let jobs = [
        waiting("1", "workq", json!({"ncpus": 1})),
        waiting("2", "workq", json!({"ncpus": 1, "base": 51})),
        waiting("3", "other", json!({"ncpus": 1})),
        (
            "4",
            "workq",
            "R",
            json!({"ncpus": 1, "walltime": "01:00:00"}),
            json!({}),
        ),
    ];
    let without = site(&server(json!({})), &jobs);
    let found = without.findings("ncpus + base", "JSF619");
    assert_eq!(
        found,
        [
            "`base` is 0 for 1 waiting job that lacks it, although `resources_default` gives 51: first `1.vm`"
        ]
    );
    // that of the server counts for the queue without one
    let found = site(&server(json!({"resources_default": {"base": 7}})), &jobs)
        .findings("ncpus + base", "JSF619");
    assert_eq!(
        found,
        [
            "`base` is 0 for 2 waiting jobs that lack it, although `resources_default` gives 51: first `1.vm`"
        ]
    );
    assert!(without.findings("ncpus", "JSF619").is_empty());
}

#[test]
fn running_jobs_without_a_walltime_are_counted() {
    let jobs = [
        waiting("1", "workq", json!({"ncpus": 1})),
        ("2", "workq", "R", json!({"ncpus": 1}), json!({})),
        (
            "3",
            "workq",
            "R",
            json!({"ncpus": 1, "walltime": "01:00:00"}),
            json!({}),
        ),
        ("4", "workq", "R", json!({"ncpus": 2}), json!({})),
    ];
    for formula in ["ncpus", "ncpus + walltime"] {
        let site = site(&server(json!({})), &jobs);
        let message = "2 running jobs have no `walltime`: first `2.vm`";
        assert_eq!(site.findings(formula, "JSF620"), [message], "{formula}");
        let ranked = stdout(&site.run(&["rank", formula]));
        let line = format!("warning[JSF620] {message}");
        assert!(ranked.contains(&line), "{ranked}");
    }
    assert!(
        site(&server(json!({})), &jobs[..1])
            .findings("ncpus", "JSF620")
            .is_empty()
    );
}

#[test]
fn a_document_with_fewer_jobs_than_the_server_counts_is_told() {
    let jobs = [
        waiting("1", "workq", json!({"ncpus": 1})),
        ("2", "workq", "F", json!({"ncpus": 1}), json!({})),
    ];
    for (attributes, count) in [
        (json!({"total_jobs": 5}), Some(5)),
        (
            json!({"state_count": "Transit:0 Queued:2 Held:1 Waiting:0 Running:1 Exiting:0 Begun:0 "}),
            Some(4),
        ),
        (json!({"total_jobs": 1}), None),
        (
            json!({"state_count": "Transit:0 Queued:1 Held:0 Waiting:0 Running:0 Exiting:0 Begun:0 "}),
            None,
        ),
        (json!({}), None),
    ] {
        let found = site(&server(attributes), &jobs).findings("ncpus", "JSF621");
        let expected = count
            .map(|count| format!("the document of jobs has 1 job, and the server counts {count}"));
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn jobs_under_the_default_threshold_are_counted() {
    let jobs = [
        waiting("1", "workq", json!({"ncpus": 1})),
        waiting("2", "workq", json!({"ncpus": 3})),
    ];
    let found = site(&server(json!({})), &jobs).findings("-1e9 * ncpus", "JSF622");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("1 job does not run: the value -3000000000 of `2.vm`"),
        "{found:?}"
    );
    let set = site(&server(json!({"job_sort_formula_threshold": -1e10})), &jobs);
    assert!(set.findings("-1e9 * ncpus", "JSF622").is_empty());
    assert!(
        site(&server(json!({})), &jobs)
            .findings("ncpus", "JSF622")
            .is_empty()
    );
}

#[test]
fn a_resource_with_the_name_of_a_scheduler_input_is_told_where_the_formula_reads_the_name() {
    let site = site(
        &server(json!({})),
        &[waiting("1", "workq", json!({"ncpus": 1}))],
    );
    assert_eq!(site.findings("ncpus + job_priority", "JSF623").len(), 1);
    assert!(site.findings("ncpus + queue_priority", "JSF623").is_empty());
}

#[test]
fn limits_that_qstat_repeats_are_no_repetition() {
    let repeated = r#"{"Queue":{"workq":{"max_run":"[u:PBS_GENERIC=5]","max_run":"[o:PBS_ALL=10]",
        "max_run_res":{"ncpus":"[u:a=1]"},"max_run_res":{"ncpus":"[u:b=1]"},"Priority":1,"Priority":2}}}"#;
    let jobs = qstat(&[waiting("1", "workq", json!({"ncpus": 1}))]);
    let site = SmallSite::new(&[("queues.json", repeated), ("qstat.json", &jobs)]);
    let warnings = stderr(&site.run(&["check", "ncpus"]));
    assert!(
        warnings.contains("Priority") && !warnings.contains("max_run"),
        "{warnings}"
    );
}
