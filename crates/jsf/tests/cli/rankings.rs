//! What `jsf rank` shows: filters, columns and the lines above the table.

use std::process::Output;

use serde_json::Value;

use crate::command::{jsf, jsf_with_input, json, stderr, stdout, success};

const TREE: &str = "tests/data/pp718.json";
const JOBS: &str = r#"{"jobs":[
{"id":"12.vm.example.org","entity":"Bob","queue":"workq","resources":{"ncpus":4,"mem":"2gb","walltime":"01:00:00"}},
{"id":"13.vm.example.org","entity":"Suzy","queue":"express","resources":{"ncpus":8}},
{"id":"14.vm.example.org","entity":"Bob","queue":"express","state":"H","resources":{"ncpus":2}},
{"id":"15.vm.example.org","entity":"Ted","queue":"workq","resources":{"ncpus":1}}]}"#;

/// A ranking of the jobs by `ncpus`.
fn ranked(more: &[&str]) -> Output {
    let arguments = [
        "rank", "ncpus", "--queue", "-", "--tree", TREE, "--format", "json",
    ];
    jsf_with_input(&[&arguments, more].concat(), JOBS)
}

/// The ids that a ranking by `ncpus` shows, and standard error.
fn shown(more: &[&str]) -> (Vec<String>, String) {
    let output = ranked(more);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let jobs = document["jobs"].as_array().expect("jobs").clone();
    let id = |job: &Value| {
        job["id"]
            .as_str()
            .expect("an id")
            .split('.')
            .next()
            .expect("a number")
            .to_owned()
    };
    (jobs.iter().map(id).collect(), stderr(&output))
}

#[test]
fn jobs_are_found_by_id_entity_group_and_queue() {
    for (filter, expected) in [
        (&["--job", "12"][..], &["12"][..]),
        (
            &["--job", "15.vm", "--job", "13.vm.example.org"],
            &["13", "15"],
        ),
        (&["--entity", "Bob"], &["12", "14"]),
        (&["--user", "Suzy"], &["13"]),
        (&["--entity", "group1"], &["12", "14"]),
        (&["--entity", "group1", "--queue-name", "express"], &["14"]),
        (&["--queue-name", "workq"], &["12", "15"]),
        (&["--queue-name", "workq", "--top", "1"], &["12"]),
        (
            &["--queue-name", "workq, express "],
            &["13", "12", "15", "14"],
        ),
        (
            &[
                "--queue-name",
                "express",
                "--queue-name",
                "workq",
                "--job",
                "13,15",
            ],
            &["13", "15"],
        ),
    ] {
        let (ids, warnings) = shown(filter);
        assert_eq!(ids, expected, "{filter:?}: {warnings}");
        assert!(!warnings.contains("no job"), "{warnings}");
    }
}

#[test]
fn a_threshold_holds_for_decimals_too() {
    let queue = [
        "rank",
        "ncpus",
        "--queue",
        "examples/site/qstat.json",
        "--threshold",
        "100",
        "--format",
        "json",
    ];
    let of = |numbers: &str| {
        let document = json(&jsf(&[&queue[..], &["--numbers", numbers]].concat()));
        let ids = document["jobs"]
            .as_array()
            .expect("jobs")
            .iter()
            .filter(|job| !job["rank"].is_null());
        let ids: Vec<String> = ids.map(|job| job["id"].to_string()).collect();
        (ids, document["summary"]["considered"].clone())
    };
    assert_eq!(of("decimal"), of("exact"));
    assert_eq!(of("decimal").1, 13);
}

#[test]
fn a_filter_that_matches_nothing_says_so_and_suggests() {
    for (filter, expected) in [
        (&["--job", "99"][..], "no job is called `99`"),
        (
            &["--job", "16.vm.example.org"],
            "no job is called `16.vm.example.org`; did you mean `12.vm.example.org`",
        ),
        (
            &["--entity", "bobb"],
            "no job belongs to an entity or a group `bobb`; did you mean `Bob`?",
        ),
        (&["--entity", "gruop1"], "did you mean `group1`"),
        (
            &["--queue-name", "worq"],
            "no job is in queue `worq`; did you mean `workq`?",
        ),
    ] {
        let output = ranked(filter);
        assert_eq!(
            (output.status.code(), output.stdout.is_empty()),
            (Some(2), true),
            "{filter:?}"
        );
        assert!(
            stderr(&output).contains(expected),
            "{filter:?}: {}",
            stderr(&output)
        );
    }
    // what is named exists, and no job matches
    for (filter, expected) in [
        (
            &["--entity", "Cathy"][..],
            "no job belongs to `Cathy`, which is in the fair-share tree",
        ),
        (
            &["--entity", "Suzy", "--queue-name", "workq"],
            "no job matches all of the filters",
        ),
    ] {
        let (ids, warnings) = shown(filter);
        assert!(
            ids.is_empty() && warnings.contains(expected),
            "{filter:?}: {ids:?} {warnings}"
        );
    }
}

#[test]
fn every_reason_for_not_being_considered_has_a_word() {
    let queue = r#"{"jobs":[{"id":"1","entity":"Bob","resources":{"ncpus":4}},
        {"id":"2","entity":"Bob","state":"R","resources":{"ncpus":4}},
        {"id":"3","entity":"Bob","resources":{"ncpus":1}},
        {"id":"4","entity":"Bob","resources":{"ncpus":"many"}}]}"#;
    let output = jsf_with_input(
        &[
            "rank",
            "ncpus",
            "--queue",
            "-",
            "--threshold",
            "2",
            "--format",
            "json",
        ],
        queue,
    );
    let document = json(&output);
    let jobs = document["jobs"].as_array().expect("jobs");
    let mut reasons: Vec<(&str, Option<&str>)> = jobs
        .iter()
        .map(|job| (job["id"].as_str().expect("an id"), job["excluded"].as_str()))
        .collect();
    reasons.sort_unstable();
    assert_eq!(
        &reasons[..3],
        [("1", None), ("2", Some("state")), ("3", Some("threshold"))],
        "{}",
        stderr(&output)
    );
    for job in jobs {
        assert_eq!(job["considered"], job["excluded"].is_null(), "{job}");
        assert_eq!(job["excluded"].is_null(), job["reason"].is_null(), "{job}");
    }
    let folder = "tests/golden/openpbs/qstat";
    let queue = format!("{folder}/qstat_f.json");
    let output = jsf(&["rank", "ncpus", "--queue", &queue, "--format", "json"]);
    let document = json(&output);
    let invalid = document["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .find(|job| job["id"] == "17.vm")
        .expect("17.vm");
    assert_eq!(invalid["excluded"], "invalid");
}

#[test]
fn csv_has_the_columns_of_ndjson() {
    let arguments = [
        "rank",
        "10 / (ncpus - 1)",
        "--queue",
        "-",
        "--threshold",
        "2",
        "--format",
    ];
    let csv = success(&jsf_with_input(&[&arguments[..], &["csv"]].concat(), JOBS));
    let ndjson = success(&jsf_with_input(
        &[&arguments[..], &["ndjson"]].concat(),
        JOBS,
    ));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let headings: Vec<String> = reader
        .headers()
        .expect("a header")
        .iter()
        .map(str::to_owned)
        .collect();
    let records: Vec<csv::StringRecord> = reader
        .records()
        .map(|record| record.expect("a record"))
        .collect();
    assert_eq!(records.len(), 4);
    for (record, line) in records.iter().zip(ndjson.lines()) {
        let job: serde_json::Map<String, Value> = serde_json::from_str(line).expect("JSON");
        let mut keys: Vec<&String> = job.keys().collect();
        keys.sort_unstable();
        let mut columns: Vec<&String> = headings.iter().collect();
        columns.sort_unstable();
        assert_eq!(keys, columns);
        for (heading, field) in headings.iter().zip(record) {
            let value = match &job[heading] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                Value::Object(error) => error["message"].as_str().expect("a message").to_owned(),
                Value::Number(number) => number.to_string(),
                other => other.to_string(),
            };
            assert_eq!(field, value, "{heading}: {line}");
        }
    }
}

#[test]
fn the_table_says_which_rules_were_used() {
    let site = [
        "--queue",
        "examples/site/qstat.json",
        "--sched-priv",
        "examples/site/sched_priv",
    ];
    let text = success(&jsf(&[
        &[
            "rank",
            "fairshare_factor * walltime",
            "--top",
            "3",
            "--inputs",
            "--full",
        ],
        &site[..],
    ]
    .concat()));
    let head: Vec<&str> = text
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .collect();
    assert_eq!(head[0], "formula: fairshare_factor * walltime");
    assert!(
        head[1].starts_with(
            "policy:  pbs (default), as OpenPBS's scheduler computes it, usage is multiplied by "
        ),
        "{}",
        head[1]
    );
    assert!(
        head[2].starts_with("order:   ") && head[2].contains("value of the formula, then"),
        "{text}"
    );
    assert!(
        text.contains("fairshare_factor  walltime (s)  note"),
        "{text}"
    );
    let text = success(&jsf_with_input(
        &[
            "rank",
            "mem",
            "--queue",
            "-",
            "--inputs",
            "--threshold",
            "-1",
            "--full",
        ],
        JOBS,
    ));
    assert!(
        text.contains("threshold: -1\n") && text.contains("mem (kb)") && !text.contains("policy:"),
        "{text}"
    );
}

#[test]
fn the_threshold_of_the_server_applies_to_a_ranking() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = folder.path().join("server.txt");
    std::fs::write(
        &server,
        "Server: vm\n    job_sort_formula = ncpus\n    job_sort_formula_threshold = 3\n",
    )
    .expect("written");
    let server = server.to_str().expect("UTF-8");
    let considered = |more: &[&str]| {
        let arguments = [
            "rank", "--queue", "-", "--server", server, "--format", "json",
        ];
        json(&jsf_with_input(&[&arguments[..], more].concat(), JOBS))["summary"]["considered"]
            .clone()
    };
    assert_eq!(considered(&[]), 2);
    assert_eq!(considered(&["--threshold", "5"]), 1);
}

#[test]
fn the_first_rows_decide_the_widths_of_a_long_table() {
    let job = |number: usize| {
        format!("{{\"id\":\"{number}\",\"queue\":\"workq\",\"resources\":{{\"ncpus\":1}}}}\n")
    };
    let long =
        "{\"id\":\"9999.a-much-longer-name\",\"queue\":\"workq\",\"resources\":{\"ncpus\":1}}\n";
    let queue = (0..3000)
        .map(job)
        .chain([long.to_owned()])
        .collect::<String>();
    let text = success(&jsf_with_input(
        &["rank", "ncpus", "--queue", "-", "--full"],
        &queue,
    ));
    let rows: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("rank"))
        .collect();
    assert_eq!(
        rows[..2],
        [
            "rank  job  entity  queue  value  note",
            "   1  0    -       workq      1"
        ]
    );
    assert_eq!(rows[3001], "3001  9999.a-much-longer-name  -  workq      1");
}

/// The summands of a formula are the same numbers in every format, and add up to the value.
#[test]
fn terms_are_columns_that_add_up_to_the_value() {
    let formula = "1000*fairshare_factor - (ncpus + eligible_time/3600) + log(mem)";
    let rank = ["rank", formula, "--site", "examples/site", "--terms"];
    let texts = [
        "1000*fairshare_factor",
        "-(ncpus + eligible_time/3600)",
        "log(mem)",
    ];
    let document = json(&jsf(&[&rank[..], &["--format", "json"]].concat()));
    let mut summed = 0;
    for job in document["jobs"].as_array().expect("jobs") {
        let terms = job["terms"].as_array().expect("terms");
        assert!(
            terms.iter().map(|term| &term["text"]).eq(texts),
            "{terms:?}"
        );
        let numbers: Vec<f64> = terms
            .iter()
            .filter_map(|term| term["value"].as_str())
            .map(|text| text.parse().expect("a float"))
            .collect();
        assert_eq!(numbers.is_empty(), !job["error"].is_null(), "{job}");
        if let Some(exact) = job["exact"].as_str().filter(|_| job["error"].is_null()) {
            assert_eq!(
                numbers
                    .iter()
                    .skip(1)
                    .fold(numbers[0], |sum, term| sum + term),
                exact.parse::<f64>().expect("a float")
            );
            summed += 1;
        }
    }
    assert!(summed >= 33, "{summed}");
    let lines = success(&jsf(&[&rank[..], &["--format", "ndjson"]].concat()));
    let csv = success(&jsf(&[&rank[..], &["--inputs", "--format", "csv"]].concat()));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let columns: Vec<usize> = {
        let header = reader.headers().expect("a header");
        texts
            .iter()
            .map(|text| {
                header
                    .iter()
                    .position(|name| name == *text)
                    .expect("a column")
            })
            .collect()
    };
    for ((job, line), record) in document["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .zip(lines.lines())
        .zip(reader.records())
    {
        let (line, record): (Value, _) = (
            serde_json::from_str(line).expect("JSON"),
            record.expect("a record"),
        );
        assert_eq!(job["terms"], line["terms"]);
        let terms = job["terms"]
            .as_array()
            .expect("terms")
            .iter()
            .map(|term| term["value"].as_str().unwrap_or(""));
        assert!(
            terms.eq(columns.iter().map(|&column| &record[column])),
            "{record:?}"
        );
    }
    let table = success(&jsf(&[&rank[..], &["--top", "1", "--wide"]].concat()));
    assert!(
        table.contains("1000*fairshare_factor  -(ncpus + eligible_time/3600)  log(mem)"),
        "{table}"
    );
    let decimal = jsf(&[&rank[..], &["--numbers", "decimal"]].concat());
    assert!(
        decimal.status.code() == Some(2) && stderr(&decimal).contains("Python's arithmetic"),
        "{}",
        stderr(&decimal)
    );
}

#[test]
fn the_terms_of_a_job_that_fails_are_empty() {
    let jobs = r#"{"id":"1","resources":{"ncpus":2}}
{"id":"2","resources":{}}"#;
    let output = jsf_with_input(
        &[
            "rank",
            "1/ncpus + 3",
            "--queue",
            "-",
            "--terms",
            "--format",
            "csv",
        ],
        jobs,
    );
    let text = success(&output);
    let fields: Vec<&str> = text
        .lines()
        .map(|line| line.rsplit_once(",,").map_or(line, |(_, end)| end))
        .collect();
    assert!(
        text.lines()
            .next()
            .is_some_and(|header| header.ends_with(",reason,1/ncpus,3")),
        "{text}"
    );
    assert_eq!(fields[1..], ["0.5,3", ""], "{text}");
}

/// The server takes a resource with the name of a function of `math`, which hides it: recorded in
/// `evaluate/name_clash.jsonl`.
#[test]
fn a_resource_of_the_site_that_no_formula_can_use_is_read_and_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let resources = folder.path().join("resourcedef");
    std::fs::write(
        &resources,
        "sin type=float\nex type=long\nrn-long type=long\ngpus type=long\n",
    )
    .expect("a file");
    let context = [
        "--site",
        "examples/site",
        "--resources",
        resources.to_str().expect("UTF-8"),
    ];
    success(&jsf(&[&["rank", "ncpus + gpus"], &context[..]].concat()));
    let codes = |formula: &str| -> Vec<String> {
        let document = json(&jsf(&[
            &["check", formula, "--format", "json"],
            &context[..],
        ]
        .concat()));
        let findings = document["findings"].as_array().expect("a list").iter();
        findings
            .map(|found| found["code"].as_str().expect("a code").to_owned())
            .collect()
    };
    assert!(codes("ncpus + 0 * (sin == 1)").contains(&"JSF204".to_owned()));
    assert!(codes("ncpus + ex").contains(&"JSF207".to_owned()));
    assert!(!codes("ncpus + sin(gpus)").contains(&"JSF204".to_owned()));
    let names = success(&jsf(&[&["names", "--full"], &context[..]].concat()));
    let unusable = names
        .split("resources that no formula can use\n")
        .nth(1)
        .expect("a list");
    for name in ["\nsin ", "\nex ", "\nrn-long "] {
        assert!(unusable.contains(name), "{unusable}");
    }
}

#[test]
fn the_errors_of_jobs_that_are_not_shown_are_counted_and_not_drawn() {
    let of = |more: &[&str]| {
        let arguments = ["rank", "1 / (ncpus - 1)", "--queue", "-", "--tree", TREE];
        let screen = success(&jsf_with_input(&[&arguments, more].concat(), JOBS));
        let output = jsf_with_input(&[&arguments, more, &["--full"]].concat(), JOBS);
        (screen, success(&output), stderr(&output))
    };
    for filter in [
        &["--job", "12"][..],
        &["--entity", "Bob"],
        &["--queue-name", "express"],
        &["--top", "1"],
    ] {
        let (screen, text, drawn) = of(filter);
        assert!(
            screen.starts_with("The formula fails for 1 of 4 jobs (division by zero)"),
            "{filter:?}: {screen}"
        );
        assert_eq!(
            screen.contains("JSF301"),
            filter[0] == "--top",
            "{filter:?}: {screen}"
        );
        assert!(
            text.contains(" division by zero: 1 job\n"),
            "{filter:?}: {text}"
        );
        // each finding of a screen is drawn in full, and one of another job nowhere
        let is_drawn = text.contains("error[JSF301]: ");
        assert_eq!(is_drawn, filter[0] == "--top", "{filter:?}: {text}");
        assert!(!drawn.contains("JSF301"), "{filter:?}: {drawn}");
    }
    for filter in [&[][..], &["--job", "15"], &["--entity", "Ted,Bob"]] {
        let (screen, text, _) = of(filter);
        assert!(
            screen.contains("\nerror[JSF301] division by zero for 1 job: `15.vm"),
            "{filter:?}: {screen}"
        );
        assert!(
            text.contains("error[JSF301]: division by zero for 1 job: `15.vm"),
            "{filter:?}: {text}"
        );
    }
}

#[test]
fn the_files_of_a_site_take_one_line_unless_all_are_asked_for() {
    let lines = |more: &[&str]| {
        let output = jsf(&[
            &["rank", "ncpus", "--site", "examples/site", "--top", "1"],
            more,
        ]
        .concat());
        stderr(&output)
            .lines()
            .filter(|line| line.starts_with("jsf: site: "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let short = "jsf: site: found in `examples/site`: jobs, server, queues, resources, nodes, scheduler (-v lists the files)";
    assert_eq!(lines(&[]), [short]);
    assert_eq!(lines(&["--format", "csv"]), [""; 0]);
    for all in ["-v", "--verbose"] {
        let listed = lines(&[all]);
        assert!(
            listed.len() == 8 && listed.iter().any(|line| line.ends_with("  qstat.json")),
            "{listed:?}"
        );
        assert!(
            listed[7].ends_with("  python     3.11 (assumed, as no file says it)"),
            "{listed:?}"
        );
    }
}

#[test]
fn exact_values_are_shown_with_the_digits_of_a_double() {
    let jobs = "{\"id\":\"1\",\"entity\":\"x\",\"ncpus\":16777217}\n{\"id\":\"2\",\"entity\":\"x\",\"ncpus\":16777216}\n";
    let ranked = |numbers: &str, formula: &str| {
        stdout(&jsf_with_input(
            &["rank", formula, "--queue", "-", "--numbers", numbers],
            jobs,
        ))
    };
    let exact = ranked("exact", "ncpus/7");
    assert!(
        exact.contains("2396745.285714286") && exact.contains("2396745.1428571427"),
        "{exact}"
    );
    assert!(
        ranked("exact", "ncpus").contains("      16777217\n"),
        "{}",
        ranked("exact", "ncpus")
    );
    let scheduler = ranked("openpbs", "ncpus/7");
    assert!(
        scheduler.matches(" 2396745.25\n").count() == 2,
        "{scheduler}"
    );
}
