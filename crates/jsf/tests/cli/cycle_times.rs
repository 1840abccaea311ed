//! `jsf cycle` in prime time, outside it, and around dedicated time.

use std::fs;

use serde_json::{Value, json};

use crate::command::{jsf, jsf_with_input, json, stderr, success};

const HOLIDAYS: &str =
    "* invented\nYEAR 1970\nweekday 0600 1800\nsaturday none all\nsunday none all\n";
const DEDICATED: &str = "01/01/1970 14:00 01/01/1970 16:00\n";
const CONFIG: &str = "by_queue: False ALL\npreemptive_sched: False ALL\n";

/// A job of one processor, with its queue and its walltime.
fn jobs(jobs: &[(&str, &str)]) -> String {
    let line = |(id, (queue, walltime)): (u32, &(&str, &str))| {
        format!(
            "{{\"id\":\"{id}\",\"entity\":\"ada\",\"queue\":\"{queue}\",\"accrue_type\":2,\"ncpus\":1,\"walltime\":\"{walltime}\"}}\n"
        )
    };
    (1..).zip(jobs).map(line).collect()
}

/// What `jsf cycle` says at an hour of Thursday, 1970-01-01, and what it writes to standard error.
fn cycle(files: &[(&str, &str)], hour: i64, options: &[&str]) -> (Value, String) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("a file");
    }
    let site = folder.path().display().to_string();
    let at = (hour * 3600).to_string();
    let command = [
        "cycle",
        "--site",
        &site,
        "--at",
        &at,
        "--processors",
        "8",
        "--format",
        "json",
    ];
    let output = jsf(&[&command, options].concat());
    success(&output);
    (json(&output), stderr(&output))
}

fn reasons(document: &Value) -> Vec<&str> {
    let waiting = document["waiting"].as_array().expect("jobs").iter();
    waiting
        .map(|job| job["reason"].as_str().expect("a reason"))
        .collect()
}

#[test]
fn under_backfill_prime_jobs_end_before_the_border_and_the_spill() {
    let jobs = jobs(&[
        ("workq", "06:09:59"),
        ("workq", "06:10:00"),
        ("p_day", "01:00:00"),
        ("p_day", "07:00:00"),
        ("np_night", "00:10:00"),
    ]);
    let config = format!("{CONFIG}backfill_prime: True ALL\nprime_spill: 00:10:00 prime\n");
    let files = [
        ("jobs.ndjson", &*jobs),
        ("holidays", HOLIDAYS),
        ("sched_config", &config),
    ];
    let (document, _) = cycle(&files, 12, &[]);
    assert_eq!(document["started"], json!(["1", "3"]));
    assert_eq!(
        reasons(&document),
        [
            "would run into non-prime time (backfill_prime)",
            "would run into non-prime time (backfill_prime)",
            "will run in non-prime time only",
        ]
    );
    assert_eq!(document["without"], json!([]));
    assert_eq!(
        document["accrue_types"],
        json!({"1": 3, "2": 2, "3": 3, "4": 2, "5": 2})
    );
    // outside prime time there is no spill, and 12 hours are left
    let (document, _) = cycle(&files, 18, &[]);
    assert_eq!(document["started"], json!(["1", "2", "5"]));

    let exempt = format!("{config}prime_exempt_anytime_queues: True\n");
    let files = [
        ("jobs.ndjson", &*jobs),
        ("holidays", HOLIDAYS),
        ("sched_config", &exempt),
    ];
    assert_eq!(cycle(&files, 12, &[]).0["started"], json!(["1", "2", "3"]));
    let config = format!("{CONFIG}backfill_prime: True non_prime\n");
    let files = [
        ("jobs.ndjson", &*jobs),
        ("holidays", HOLIDAYS),
        ("sched_config", &config),
    ];
    assert_eq!(
        cycle(&files, 12, &[]).0["started"],
        json!(["1", "2", "3", "4"])
    );
}

#[test]
fn the_settings_are_those_of_the_time() {
    let jobs = jobs(&[("workq", "02:00:00"), ("workq", "01:00:00")]);
    let config = format!(
        "{CONFIG}strict_ordering: True prime\nstrict_ordering: False non_prime\njob_sort_key: \"walltime LOW\" non_prime\n"
    );
    let files = [
        ("jobs.ndjson", &*jobs),
        ("holidays", HOLIDAYS),
        ("sched_config", &config),
    ];
    for (hour, started, starts) in [
        (12, ["1", "2"], "strict_ordering True, backfill_depth 1"),
        (
            20,
            ["2", "1"],
            "strict_ordering False: whatever fits starts",
        ),
        // Saturday
        (
            60,
            ["2", "1"],
            "strict_ordering False: whatever fits starts",
        ),
    ] {
        let (document, _) = cycle(&files, hour, &[]);
        assert_eq!(document["started"], json!(started), "{hour}");
        assert_eq!(document["rules"]["starts"], starts);
    }
    let without_file = [files[0], files[2]];
    assert_eq!(
        cycle(&without_file, 20, &[]).0["started"],
        json!(["1", "2"])
    );
}

/// Standard input can be read once only.
#[test]
fn the_settings_are_those_of_the_time_for_jobs_from_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = format!("{CONFIG}job_sort_key: \"walltime LOW\" non_prime\n");
    for (name, content) in [("holidays", HOLIDAYS), ("sched_config", &*config)] {
        fs::write(folder.path().join(name), content).expect("a file");
    }
    let site = folder.path().display().to_string();
    let jobs = jobs(&[("workq", "02:00:00"), ("workq", "01:00:00")]);
    for (at, started) in [("43200", ["1", "2"]), ("72000", ["2", "1"])] {
        let output = jsf_with_input(
            &[
                "cycle",
                "--site",
                &site,
                "--queue",
                "-",
                "--at",
                at,
                "--processors",
                "8",
                "--format",
                "json",
            ],
            &jobs,
        );
        success(&output);
        assert_eq!(json(&output)["started"], json!(started), "{at}");
    }
}

#[test]
fn jobs_end_before_dedicated_time_or_wait_for_its_end() {
    let jobs = jobs(&[
        ("workq", "02:00:01"),
        ("workq", "02:00:00"),
        ("ded1", "01:00:00"),
        ("ded1", "03:00:00"),
    ]);
    let config = format!("{CONFIG}strict_ordering: True ALL\n");
    let files = [
        ("jobs.ndjson", &*jobs),
        ("dedicated_time", DEDICATED),
        ("sched_config", &config),
    ];
    let (document, _) = cycle(&files, 12, &["--job", "3"]);
    assert_eq!(document["started"], json!(["2"]));
    assert_eq!(
        document["reserved"],
        json!([{"id": "1", "start": 16 * 3600}])
    );
    assert_eq!(
        reasons(&document),
        [
            "would run into dedicated time",
            "will run in dedicated time only",
            "will run in dedicated time only",
        ]
    );
    assert_eq!(
        document["estimates"],
        json!([{"id": "3", "start": 14 * 3600}])
    );
    let (document, _) = cycle(&files, 15, &[]);
    assert_eq!(document["started"], json!(["3"]));
    assert_eq!(
        reasons(&document),
        [
            "will run outside dedicated time only",
            "will run outside dedicated time only",
            "would run beyond the end of dedicated time",
        ]
    );
    assert_eq!(cycle(&files, 16, &[]).0["started"], json!(["1", "2"]));
}

#[test]
fn what_is_missing_or_cannot_be_read_is_named() {
    let jobs = jobs(&[("p_day", "01:00:00"), ("ded1", "01:00:00")]);
    let files = [("jobs.ndjson", &*jobs), ("sched_config", CONFIG)];
    assert_eq!(
        cycle(&files, 12, &[]).0["without"],
        json!([
            {"what": "queues of prime time (`p_`)", "jobs": 1},
            {"what": "queues of dedicated time (`ded`)", "jobs": 1},
        ])
    );
    let holidays = format!("{HOLIDAYS}friday noon 1800\n");
    let files = [
        files[0],
        files[1],
        ("holidays", &*holidays),
        ("dedicated_time", "soon\n"),
    ];
    let (document, warnings) = cycle(&files, 12, &[]);
    assert_eq!(document["without"], json!([]));
    for expected in [
        "holidays`: line 6 has no effect",
        "dedicated_time`: line 1 has no effect",
        "the time zone is not known and taken to be UTC",
    ] {
        assert!(warnings.contains(expected), "{expected}\n{warnings}");
    }
}
