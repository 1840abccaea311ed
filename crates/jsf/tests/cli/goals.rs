//! `jsf simulate --goals`: what a site promises its users, judged on each side.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::command::{jsf, json, stderr, stdout};

/// Jobs that are submitted at once on one processor: half of them in each queue, those of `ada`
/// shorter.
fn log(folder: &Path) -> String {
    let job = |index: usize| {
        let (entity, queue, run) = if index.is_multiple_of(2) {
            ("ada", "short", 60)
        } else {
            ("bob", "long", 600)
        };
        format!(
            r#"{{"id":{index},"entity":"{entity}","queue":"{queue}","submit":{index},"run":{run},"resources":{{"ncpus":1,"walltime":{run}}}}}"#
        )
    };
    let jobs: Vec<String> = (0..40).map(job).collect();
    written(folder, "log.ndjson", &jobs.join("\n"))
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

/// What the command says of these goals.
fn judged(goals: &str, options: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, goals) = (
        log(folder.path()),
        written(folder.path(), "goals.toml", goals),
    );
    let simulate = [
        "simulate",
        "--workload",
        &log,
        "--processors",
        "1",
        "--goals",
        &goals,
    ];
    jsf(&[&simulate[..], options].concat())
}

/// A goal of the waits of some jobs.
fn goal(jobs: &str, statistic: &str, limit: &str) -> String {
    format!(
        "[[goal]]\nname = \"soon\"\n{jobs}\nmeasure = \"wait\"\nstatistic = {statistic}\n{limit}\n"
    )
}

fn goals_of(document: &Value, pointer: &str) -> Vec<Value> {
    document
        .pointer(pointer)
        .and_then(Value::as_array)
        .expect("goals")
        .clone()
}

#[test]
fn a_goal_that_is_missed_is_in_the_headline_and_ends_with_1() {
    let promised = goal("jobs = \"walltime <= 60\"", "\"p95\"", "at_most = \"1h\"");
    let missed = judged(&promised, &["eligible_time"]);
    assert_eq!(missed.status.code(), Some(1), "{}", stderr(&missed));
    assert!(
        stdout(&missed).starts_with("1 of 1 goal missed: `soon`. "),
        "{}",
        stdout(&missed)
    );
    let met = judged(&promised, &["-walltime"]);
    assert_eq!(met.status.code(), Some(0), "{}", stderr(&met));
    let row = "soon    20  p95 wait  17 min 24 s  at most 1 h  yes";
    assert!(stdout(&met).contains(row), "{}", stdout(&met));
    let markdown = judged(&promised, &["-walltime", "--format", "markdown"]);
    assert!(
        stdout(&markdown).contains("| soon | 20 | p95 wait | 17 min 24 s | at most 1 h | yes |")
    );
}

#[test]
fn json_has_the_value_and_the_limit_of_each_goal() {
    let two = goal(
        "queue = \"short\"",
        "{ within = \"30m\" }",
        "at_least = 0.9",
    ) + "[[goal]]\nname = \"used\"\nmeasure = \"utilisation\"\nat_least = 0.5\n";
    let document = json(&judged(&two, &["-walltime", "--format", "json"]));
    let [soon, used] = &goals_of(&document, "/goals")[..] else {
        panic!("{document}")
    };
    let keys: Vec<&str> = soon
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "jobs",
            "limit",
            "measure",
            "met",
            "name",
            "never_start",
            "value"
        ]
    );
    assert_eq!(
        (&soon["jobs"], &soon["value"], &soon["limit"]),
        (&20.into(), &1.0.into(), &0.9.into()),
        "{soon}"
    );
    assert_eq!(
        (&used["jobs"], &used["value"]),
        (&40.into(), &document["summary"]["utilisation"]),
        "{used}"
    );
    assert_eq!((&soon["met"], &used["met"]), (&true.into(), &true.into()));
}

#[test]
fn a_limit_is_a_multiple_of_what_the_old_formula_does() {
    let promised = goal("entity = \"bob\"", "\"mean\"", "at_most = { old = 1.1 }");
    for (old, new, code) in [
        ("-walltime", "eligible_time", 0),
        ("walltime", "-walltime", 1),
    ] {
        let output = judged(&promised, &["--old", old, "--new", new, "--format", "json"]);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{old} to {new}: {}",
            stderr(&output)
        );
        let document = json(&output);
        let [before] = &goals_of(&document, "/old/goals")[..] else {
            panic!("{document}")
        };
        let [after] = &goals_of(&document, "/new/goals")[..] else {
            panic!("{document}")
        };
        let [value, limit] =
            [&before["value"], &after["limit"]].map(|number| number.as_f64().expect("a number"));
        assert!((limit - 1.1 * value).abs() < 1e-9 * limit, "{document}");
        // the old side has no limit of its own
        assert_eq!(
            (&before["limit"], &before["met"]),
            (&Value::Null, &Value::Null)
        );
    }
    let text = stdout(&judged(
        &promised,
        &["--old", "walltime", "--new", "-walltime"],
    ));
    assert!(
        text.contains("soon    20  mean wait  1 h 36 min  1 h 55 min  at most 1 h 45 min  no"),
        "{text}"
    );
    let alone = judged(&promised, &["walltime"]);
    let text = stdout(&alone);
    assert!(
        text.contains("1 of 1 goal not judged, which needs a comparison (--old F --new F): `soon`"),
        "{text}"
    );
    assert!(
        alone.status.success() && text.contains("at most –  –"),
        "{text}"
    );
}

#[test]
fn a_file_that_is_wrong_is_refused_with_its_line_and_what_is_expected() {
    let wait = |statistic: &str, limit: &str| goal("", statistic, limit);
    for (text, expected) in [
        (
            wait("\"p95\"", "at_most = \"soon\""),
            "line 6: `soon` is not a duration, expected",
        ),
        (
            wait("\"p101\"", "at_most = 3"),
            "line 5: `p101` is not a statistic, expected mean, median, p1 to p100",
        ),
        (
            wait("7", "at_most = 3"),
            "line 5: expected mean, median, p1 to p100, max or",
        ),
        (
            wait("\"p95\"", "at_most = true"),
            "line 6: expected a number, a duration or { old = 1.1 }",
        ),
        (
            wait("\"p95\"", "at_most = { old = nan }"),
            "line 6: a table is not a limit of",
        ),
        (
            wait("\"p95\"", "at_mst = 3"),
            "line 6: unknown field `at_mst`, expected one of `name`",
        ),
        (
            wait("\"p95\"", ""),
            "line 1: goal `soon` needs one limit: `at_most` or `at_least`",
        ),
        (
            goal("jobs = \"walltime <\"", "\"p95\"", "at_most = 3"),
            "line 3: the condition `walltime <` is not valid",
        ),
        (
            goal("queue = \"a\"\nentity = \"b\"", "\"p95\"", "at_most = 3"),
            "line 1: goal `soon` has several of",
        ),
        (
            wait("{ within = \"1h\" }", "at_least = \"60%\""),
            "line 6: `60%` is not a limit of wait within 1 h, expected a number from 0 to 1",
        ),
        (
            goal("", "\"mean\"", "at_most = \"4h\"").replace("\"wait\"", "\"bounded_slowdown\""),
            "line 6: `4h` is not a limit of mean bounded slowdown, expected a number",
        ),
        (
            "[[goal]]\nname = \"queue\"\nmeasure = \"mean_queue\"\nat_most = \"3h\"\n".to_owned(),
            "line 4: `3h` is not a limit of mean queue, expected a number",
        ),
        (
            wait("\"p95\"", "at_most = 3") + &wait("\"p50\"", "at_most = 3"),
            "line 7: there are several goals `soon`",
        ),
        ("[[goal]\n".to_owned(), "line 1: unclosed array table"),
        (
            String::new(),
            "has no goal: expected at least one `[[goal]]`",
        ),
    ] {
        let output = judged(&text, &["eligible_time"]);
        assert_eq!(
            (output.status.code(), stdout(&output)),
            (Some(2), String::new()),
            "{text}"
        );
        let message = stderr(&output);
        assert!(
            message.contains("goals.toml`") && message.contains(expected),
            "{text}: {message}"
        );
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn goals_about_what_the_log_does_not_have_are_refused_or_named() {
    let of = |jobs: &str| goal(jobs, "\"mean\"", "at_most = \"1h\"");
    for (text, expected) in [
        (
            of("queue = \"shrt\""),
            "jsf: the goal `soon` is about no job of the log: none has the queue `shrt`; did you mean `short`?\n",
        ),
        (
            of("entity = \"eve\""),
            "jsf: the goal `soon` is about no job of the log: none has the entity `eve`\n",
        ),
        (
            of("group = \"ida\""),
            "jsf: the goal `soon` is about no job of the log: none has the group `ida`\n",
        ),
        (
            of("jobs = \"ncpus > 5000\""),
            "jsf: the goal `soon` is about no job of the log: `ncpus > 5000` holds for no job\n",
        ),
        (
            of("queue = \"short\"\njobs = \"ncpus > 5000\""),
            "jsf: the goal `soon` is about no job of the log: `ncpus > 5000` holds for no job of the queue `short`\n",
        ),
        (
            of("jobs = \"walltme > 2\""),
            "jsf: the condition `walltme > 2` of a goal: `walltme` is not a known resource, function or constant; did you mean \
             `walltime`?\n",
        ),
        (
            of("jobs = \"ngpux > 2\""),
            "jsf: the condition `ngpux > 2` of a goal: `ngpux` is not a known resource, function or constant\n",
        ),
    ] {
        let output = judged(&text, &["eligible_time"]);
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(2), expected.to_owned()),
            "{text}"
        );
    }
    // where others are there, one that is about no job is neither met nor missed
    let two = of("queue = \"shrt\"") + &of("queue = \"short\"").replace("soon", "short");
    let output = judged(&two, &["-walltime"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let warning = "jsf: warning: the goal `soon` is about no job of the log: none has the queue `shrt`; did you mean `short`?\n";
    assert_eq!(stderr(&output), warning);
    let text = stdout(&output);
    assert!(
        text.starts_with("1 of 2 goals about no job: `soon`. "),
        "{text}"
    );
    assert!(
        text.contains("soon      0  mean wait           –  at most 1 h  –"),
        "{text}"
    );
    let goals = goals_of(
        &json(&judged(&two, &["-walltime", "--format", "json"])),
        "/goals",
    );
    assert_eq!(
        (&goals[0]["met"], &goals[0]["jobs"]),
        (&Value::Null, &0.into())
    );
    // and does not hide that another one is missed
    let missed =
        goal("queue = \"short\"", "\"mean\"", "at_least = \"100d\"").replace("soon", "short");
    let missed = of("queue = \"shrt\"") + &missed;
    assert_eq!(judged(&missed, &["-walltime"]).status.code(), Some(1));
    // what the log does not say counts 0, which a condition may hold for
    let output = judged(&of("jobs = \"fairshare_factor <= 0.5\""), &["-walltime"]);
    let warning = "jsf: warning: the condition of the goal `soon` is about `fairshare_factor`, which no job of the log has: it counts 0\n";
    assert_eq!(stderr(&output), warning);
    let output = judged(&of("jobs = \"mem > 1\""), &["-walltime"]);
    assert!(
        stderr(&output).contains("the goal `soon` is about `mem`, which no job of the log has"),
        "{}",
        stderr(&output)
    );
}

/// A site whose scheduler lets no job with a value of less than 100 start.
/// The words of the row of a table that begins with a name.
#[track_caller]
fn row<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let mut lines = text.lines();
    let cells = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix("  "));
    cells.expect("a row").split_whitespace().collect()
}

fn site_with_threshold(folder: &Path) -> String {
    let site = folder.join("site");
    std::fs::create_dir(&site).expect("created");
    let settings = "create sched default\nset sched default job_sort_formula_threshold = 100\n";
    written(&site, "qmgr_print_sched.txt", settings);
    site.display().to_string()
}

#[test]
fn jobs_that_never_start_meet_no_goal_about_waits_and_are_no_gain() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, site) = (log(folder.path()), site_with_threshold(folder.path()));
    let soon = goal("", "\"p95\"", "at_most = \"100d\"");
    let of_long = goal("queue = \"long\"", "\"max\"", "at_most = \"100d\"").replace("soon", "long");
    let of_run = |measure: &str| {
        format!("[[goal]]\nname = \"{measure}\"\nmeasure = \"{measure}\"\nat_most = 1e9\n")
    };
    let goals = [soon, of_long, of_run("makespan"), of_run("mean_queue")].concat();
    let goals = written(folder.path(), "goals.toml", &goals);
    let simulate = [
        "simulate",
        "--workload",
        &log,
        "--site",
        &site,
        "--processors",
        "1",
    ];
    let of_goals = [&simulate[..], &["--goals", &goals]].concat();
    // the jobs of a minute are below the threshold
    let output = jsf(&[&of_goals[..], &["--old", "1000", "--new", "walltime"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    let headline = "20 of 40 jobs never start under the new formula. The old formula orders nothing: this is the order of submission. 3 of 4 goals missed: `soon` and 2 others. ";
    assert!(text.starts_with(headline), "{text}");
    for expected in [
        "The waits cannot be compared, as they are those of different jobs: 20 start under the old formula alone, 0 under the new one alone, and 20 jobs under both.",
        "under the new formula: jobs that never start",
        "∞          at most 100 d  no (20 jobs never start)",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_eq!(row(&text, "jobs that start"), ["40", "20", "-", "-"]);
    assert!(
        !text.contains(" less") && !text.contains("too short"),
        "{text}"
    );
    let options = ["--old", "1000", "--new", "walltime", "--format", "json"];
    let document = json(&jsf(&[&of_goals[..], &options].concat()));
    let met: Vec<Value> = goals_of(&document, "/new/goals")
        .iter()
        .map(|goal| goal["met"].clone())
        .collect();
    assert_eq!(met, [false, true, false, false].map(Value::from));
    let counts = [
        "/old/never_start",
        "/new/never_start",
        "/difference/only_old",
        "/difference/only_new",
    ];
    assert_eq!(
        counts.map(|count| document.pointer(count).and_then(Value::as_i64)),
        [0, 20, 20, 0].map(Some)
    );
    // no job at all: no number about waits, and no goal is met
    let options = ["--old", "walltime", "--new", "walltime/100"];
    let output = jsf(&[&of_goals[..], &options].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.starts_with("40 of 40 jobs never start under the new formula. 20 of 40 jobs never start under the old formula. 4 of 4 goals missed"),
        "{text}"
    );
    let waits = ["1", "h", "35", "min", "-", "-", "-"];
    assert_eq!(row(&text, "mean wait"), waits);
    let document = json(&jsf(&[
        &simulate[..],
        &["walltime/100", "--format", "json"],
    ]
    .concat()));
    for number in [
        "wait/mean",
        "bounded_slowdown/mean",
        "utilisation",
        "mean_queue",
        "makespan",
    ] {
        assert_eq!(
            document.pointer(&format!("/summary/{number}")),
            Some(&Value::Null),
            "{number}"
        );
    }
    // the best run is not the one under which nothing starts
    let swept = jsf(&[&of_goals[..], &["{a}*walltime", "--param", "a=0.01,1,100"]].concat());
    let expected = "Best of 3 runs: a = 100 (4 of 4 goals met, mean bounded slowdown ";
    assert!(
        swept.status.success() && stdout(&swept).starts_with(expected),
        "{}",
        stdout(&swept)
    );
    assert!(stdout(&swept).contains("0.01  - "), "{}", stdout(&swept));
}

#[test]
fn a_new_formula_that_crashes_the_scheduler_ends_with_1_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let goals = written(
        folder.path(),
        "goals.toml",
        &goal("", "\"p95\"", "at_most = \"900d\""),
    );
    let site = [
        "simulate",
        "--site",
        "examples/site",
        "--workload",
        "examples/site/accounting.gz",
        "--processors",
        "256",
    ];
    let code = |options: &[&str]| jsf(&[&site[..], options].concat()).status.code();
    for format in ["human", "json"] {
        assert_eq!(
            code(&[
                "--new",
                "10 ** ncpus",
                "--goals",
                &goals,
                "--format",
                format
            ]),
            Some(1),
            "{format}"
        );
    }
    // the old one may be what is mended
    assert_eq!(
        code(&["--old", "10 ** ncpus", "--new", "ncpus", "--goals", &goals]),
        Some(0)
    );
}

#[test]
fn a_machine_on_which_hardly_any_job_waits_is_told_with_where_its_size_is_from() {
    let folder = tempfile::tempdir().expect("a folder");
    // the seventh job asks for another number of processors
    let job = |job: i64, processors: u32| {
        format!(
            "{job} {0} 0 60 {processors} -1 -1 {processors} 60 -1 1 1 1 -1 1 -1 -1 -1",
            job * 30
        )
    };
    let jobs: Vec<String> = (1..=40)
        .map(|number| job(number, if number == 7 { 3 } else { 4 }))
        .collect();
    let log = written(
        folder.path(),
        "log.swf",
        &format!("; MaxProcs: 1000\n{}\n", jobs.join("\n")),
    );
    let idle = "hardly any job waits, so that no formula makes a difference: the machine has 1000 processors by the log; the jobs of \
                the log never used more than 8 at once; give the number that the machine of the log had, or a busier log";
    let simulate = ["simulate", "eligible_time", "--workload", &log];
    let text = stdout(&jsf(&simulate));
    assert!(
        text.contains("machine: 1000 processors by the log (--processors), backfill easy\n"),
        "{text}"
    );
    assert!(text.contains(&format!("warnings\n{idle}")), "{text}");
    for format in ["markdown", "json"] {
        let output = jsf(&[&simulate[..], &["--format", format]].concat());
        assert!(stdout(&output).contains(idle), "{}", stdout(&output));
    }
    let document = json(&jsf(&[&simulate[..], &["--format", "json"]].concat()));
    assert_eq!(
        document["processors"],
        serde_json::json!({"total": 1000, "from": "log"})
    );
    let swept = [
        "simulate",
        "{a}*eligible_time",
        "--param",
        "a=1,2",
        "--workload",
        &log,
    ];
    assert!(stdout(&jsf(&swept)).contains(idle));
    let template = "{a=1:0..9}*eligible_time + walltime";
    let goals = written(
        folder.path(),
        "goals.toml",
        &goal("", "\"p95\"", "at_most = \"1h\""),
    );
    let fitted = [
        "fit",
        template,
        "--workload",
        &log,
        "--goals",
        &goals,
        "--force",
        "--evaluations",
        "5",
    ];
    assert!(
        stdout(&jsf(&fitted)).contains(idle),
        "{}",
        stdout(&jsf(&fitted))
    );
    let document = json(&jsf(&[&fitted[..], &["--format", "json"]].concat()));
    assert_eq!(document["warnings"], serde_json::json!([idle]));
    assert_eq!(
        document["log"]["processors"],
        serde_json::json!({"total": 1000, "from": "log"})
    );
    // it is about the machine and the log: both formulas have it, it comes first, and goals prove
    // nothing
    let change = [
        "simulate",
        "--old",
        "1/(ncpus-3)",
        "--new",
        "walltime",
        "--workload",
        &log,
        "--goals",
        &goals,
    ];
    let text = stdout(&jsf(&change));
    assert!(
        text.starts_with("The goals prove nothing here: hardly any job waits. "),
        "{text}"
    );
    assert!(
        text.find(idle) < text.find("the old formula fails") && text.contains(idle),
        "{text}"
    );
    let output = jsf(&[&change[..], &["--format", "json"]].concat());
    let document = json(&output);
    for warnings in [
        &document["warnings"],
        &document["old"]["warnings"],
        &document["new"]["warnings"],
    ] {
        assert_eq!(*warnings, serde_json::json!([idle]));
    }
    assert_eq!(
        stderr(&output).matches(idle).count(),
        1,
        "{}",
        stderr(&output)
    );
    // on a machine that is full, jobs wait
    let full = json(&jsf(&[
        &simulate[..],
        &["--processors", "4", "--format", "json"],
    ]
    .concat()));
    assert_eq!(
        (&full["warnings"], &full["processors"]["from"]),
        (&serde_json::json!([]), &"given".into())
    );
}

#[test]
fn goals_say_nothing_of_a_formula_that_is_refused_and_little_on_a_short_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let goals = written(
        folder.path(),
        "goals.toml",
        &goal("", "\"mean\"", "at_most = \"1s\""),
    );
    let of_log = [
        "--workload",
        "tests/golden/simulate/w1.swf",
        "--processors",
        "64",
        "--goals",
        &goals,
    ];
    let headline = |arguments: &[&str]| {
        let output = jsf(&[&["simulate"], arguments, &of_log[..]].concat());
        (
            output.status.code(),
            stdout(&output)
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        )
    };
    let (code, refused) = headline(&["--old", "ncpus", "--new", "elgible_time + 3"]);
    assert_eq!(code, Some(1));
    assert!(
        refused.starts_with("qmgr refuses the new formula: ") && !refused.contains("goal"),
        "{refused}"
    );
    let (code, short) = headline(&["--old", "ncpus", "--new", "eligible_time"]);
    assert_eq!(code, Some(1));
    let expected =
        "The goals prove nothing here: the log is too short. 1 of 1 goal missed: `soon`. ";
    assert!(short.starts_with(expected), "{short}");
}
