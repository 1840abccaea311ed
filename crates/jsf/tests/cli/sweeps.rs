//! `jsf simulate --param` and `--shake`: many runs of one log.

use std::process::Output;

use serde_json::Value;

use crate::command::{jsf, json, stderr, stdout, success};

const LOG: [&str; 7] = [
    "--generate",
    "300",
    "--load",
    "1.1",
    "--processors",
    "16",
    "--format",
];

fn simulate(options: &[&str], format: &str) -> Output {
    jsf(&[&["simulate"], options, &LOG, &[format]].concat())
}

/// The runs of a sweep as JSON.
fn runs(options: &[&str]) -> Vec<Value> {
    let document = json(&simulate(options, "json"));
    document["runs"].as_array().expect("runs").clone()
}

#[test]
fn each_row_is_the_run_of_its_formula() {
    let swept = runs(&[
        "{a}*ncpus + {b}*walltime",
        "--param",
        "a=-1000,0,2.5",
        "--param",
        "b=0.5,1",
    ]);
    let values: Vec<String> = swept.iter().map(|run| run["params"].to_string()).collect();
    // the last parameter changes fastest
    let expected = [
        ("-1000", "0.5"),
        ("-1000", "1"),
        ("0", "0.5"),
        ("0", "1"),
        ("2.5", "0.5"),
        ("2.5", "1"),
    ];
    assert_eq!(
        values,
        expected.map(|(a, b)| format!(r#"{{"a":{a},"b":{b}}}"#))
    );
    for run in &swept {
        let alone = json(&simulate(
            &[run["formula"].as_str().expect("a formula")],
            "json",
        ));
        for measure in [
            "/jobs",
            "/wait/mean",
            "/wait/p95",
            "/bounded_slowdown/mean",
            "/utilisation",
            "/makespan",
        ] {
            assert_eq!(
                run.pointer(measure),
                alone["summary"].pointer(measure),
                "{measure} of {}",
                run["formula"]
            );
        }
    }
    assert_ne!(swept[0]["wait"]["mean"], swept[5]["wait"]["mean"]);
}

#[test]
fn a_range_has_both_ends_and_every_format_has_a_row_for_each_value() {
    let options = ["{a}*ncpus + eligible_time", "--param", "a=1:10:4"];
    let swept = runs(&options);
    let formulas: Vec<&str> = swept
        .iter()
        .filter_map(|run| run["formula"].as_str())
        .collect();
    assert_eq!(
        formulas,
        ["1", "4", "7", "10"].map(|a| format!("{a}*ncpus + eligible_time"))
    );
    let csv = success(&simulate(&options, "csv"));
    let mut lines = csv.lines();
    let header = "a,mean_wait,median_wait,p95_wait,bounded_slowdown,utilisation,makespan,mean_queue,failed,goals_met,\
                  goals_judged,never_start";
    assert_eq!(lines.next(), Some(header));
    for (line, run) in lines.zip(&swept) {
        let fields: Vec<f64> = line
            .split(',')
            .map(|field| field.parse().expect("a number"))
            .collect();
        let numbers = [
            "/params/a",
            "/wait/mean",
            "/wait/median",
            "/wait/p95",
            "/bounded_slowdown/mean",
        ];
        let numbers: Vec<f64> = numbers
            .iter()
            .filter_map(|number| run.pointer(number)?.as_f64())
            .collect();
        assert_eq!(fields[..5], numbers, "{line}");
    }
    assert_eq!(csv.lines().count(), 5);
    let table = success(&simulate(&options, "human"));
    assert!(
        table.starts_with("Best of 4 runs: a = ") && table.contains("(mean bounded slowdown "),
        "{table}"
    );
    assert_eq!(
        success(&simulate(&options, "markdown"))
            .matches("\n| ")
            .count(),
        4 + 2
    );
}

#[test]
fn the_headline_says_of_which_runs_the_best_is_and_which_goals_are_not_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("goals.toml");
    let goals = "[[goal]]\nname = \"longest\"\nmeasure = \"wait\"\nstatistic = \"max\"\nat_most = LIMIT\n\
        [[goal]]\nname = \"as before\"\nmeasure = \"wait\"\nstatistic = \"max\"\nat_most = { old = 1.1 }\n";
    let options = [
        "{a}*eligible_time - walltime",
        "--param",
        "a=0,1000",
        "--goals",
        path.to_str().expect("a path"),
    ];
    let longest = |run: &Value| run["wait"]["max"].as_i64().expect("a number");
    let plain = runs(&options[..3]);
    let (short_first, in_order) = (longest(&plain[0]), longest(&plain[1]));
    assert!(short_first > in_order);
    // the run with the lower mean misses the goal
    std::fs::write(&path, goals.replace("LIMIT", &in_order.to_string())).expect("written");
    let text = success(&simulate(&options, "human"));
    let headline = text.lines().next().unwrap_or_default();
    assert!(
        headline.starts_with("Best of 2 runs: a = 1000 (1 of 1 goal met, mean bounded slowdown "),
        "{headline}"
    );
    let not_judged =
        "). 1 of 2 goals not judged, which needs a comparison (--old F --new F): `as before`.";
    assert!(headline.ends_with(not_judged), "{headline}");
    let csv = success(&simulate(&options, "csv"));
    let counts: Vec<&str> = csv
        .lines()
        .filter_map(|line| line.splitn(9, ',').nth(8))
        .collect();
    assert_eq!(
        counts,
        [
            "failed,goals_met,goals_judged,never_start",
            "0,0,1,0",
            "0,1,1,0"
        ]
    );
}

#[test]
fn what_cannot_be_filled_in_is_refused() {
    let too_many = [
        "{a}*ncpus + {b}",
        "--param",
        "a=1:1000:1000",
        "--param",
        "b=1:1000:1000",
    ];
    for (options, expected) in [
        (
            &["ncpus", "--param", "a=1"][..],
            "jsf: the formula has no `{a}` to fill in",
        ),
        (
            &["{a}*ncpus", "--param", "a=1", "--param", "a=2"],
            "jsf: --param gives `a` more than once",
        ),
        (
            &["{a}*ncpus", "--param", "a=1,x"],
            "`x` is not a number; expected NAME=1,2,5 or NAME=LOW:HIGH:COUNT",
        ),
        (
            &["{a}*ncpus", "--param", "a=1:2:1"],
            "expected NAME=1,2,5 or NAME=LOW:HIGH:COUNT, such as a=1:10:4",
        ),
        (
            &["{a}*ncpus", "--param", "2=1"],
            "expected NAME=1,2,5 or NAME=LOW:HIGH:COUNT, such as a=1:10:4",
        ),
        (
            &too_many,
            "jsf: the values of --param have more than 100000 combinations",
        ),
    ] {
        let output = simulate(options, "json");
        assert_eq!(
            (output.status.code(), stdout(&output)),
            (Some(2), String::new()),
            "{options:?}"
        );
        assert!(
            stderr(&output).contains(expected),
            "{options:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn shaken_runs_give_the_spread_of_a_mean_and_are_the_same_again() {
    let document = |runs: &str| json(&simulate(&["-walltime", "--shake", runs], "json"));
    let (few, many) = (document("3"), document("8"));
    assert_eq!(few["shake"], document("3")["shake"]);
    assert_eq!(
        (&few["shake"]["runs"], &few["shake"]["seconds"]),
        (&3.into(), &30.into())
    );
    let ends = |document: &Value, end: &str| {
        document["shake"]["mean_wait"][end]
            .as_f64()
            .expect("a number")
    };
    assert!(ends(&few, "low") < ends(&few, "high"), "{few}");
    // the first runs of many are those of few
    assert!(ends(&many, "low") <= ends(&few, "low") && ends(&many, "high") >= ends(&few, "high"));
}

#[test]
fn both_formulas_are_shaken_alike() {
    let shake = |new: &str| {
        let document = json(&simulate(
            &["--old", "eligible_time", "--new", new, "--shake", "4"],
            "json",
        ));
        document["difference"]["shake"]["mean_wait"].clone()
    };
    // the same order on the same moves: no difference, though the moves change the waits
    assert_eq!(
        shake("2*eligible_time"),
        serde_json::json!({"low": 0.0, "high": 0.0})
    );
    assert_ne!(shake("-walltime"), shake("2*eligible_time"));
}

#[test]
fn the_headline_says_that_seconds_decide() {
    let headline = |new: &str| {
        let text = success(&simulate(
            &["--old", "-walltime", "--new", new, "--shake", "6"],
            "markdown",
        ));
        text.split("**").nth(1).expect("a headline").to_owned()
    };
    let sentence = ": seconds may decide this.";
    // nearly the same order, and quite another one
    let nearly = headline("-walltime + ncpus/7");
    assert!(
        nearly.contains(" With submissions moved by up to 30 s, the change is ")
            && nearly.contains(sentence),
        "{nearly}"
    );
    let other = headline("ncpus * walltime");
    assert!(!other.contains(sentence), "{other}");
}

#[test]
fn a_name_without_values_is_asked_for() {
    let output = simulate(&["{a}*ncpus + {b}*walltime", "--param", "a=1,2"], "json");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("`{b}` has no value: give --param b=VALUES"),
        "{}",
        stderr(&output)
    );
    let set = simulate(&["{a}*ncpus + {1}", "--param", "a=1,2"], "json");
    assert!(
        stderr(&set).contains("is valid Python but not arithmetic"),
        "{}",
        stderr(&set)
    );
}
