//! `jsf simulate --goals`: what a site promises its users, judged on each side.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::command::{jsf, json, stderr, stdout};

/// Jobs that are submitted at once on one processor: half of them in each queue, those of `ada` shorter.
fn log(folder: &Path) -> String {
    let job = |index: usize| {
        let (entity, queue, run) = if index.is_multiple_of(2) { ("ada", "short", 60) } else { ("bob", "long", 600) };
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
    let (log, goals) = (log(folder.path()), written(folder.path(), "goals.toml", goals));
    let simulate = ["simulate", "--workload", &log, "--processors", "1", "--goals", &goals];
    jsf(&[&simulate[..], options].concat())
}

/// A goal of the waits of some jobs.
fn goal(jobs: &str, statistic: &str, limit: &str) -> String {
    format!("[[goal]]\nname = \"soon\"\n{jobs}\nmeasure = \"wait\"\nstatistic = {statistic}\n{limit}\n")
}

fn goals_of(document: &Value, pointer: &str) -> Vec<Value> {
    document.pointer(pointer).and_then(Value::as_array).expect("goals").clone()
}

#[test]
fn a_goal_that_is_missed_is_in_the_headline_and_ends_with_1() {
    let promised = goal("jobs = \"walltime <= 60\"", "\"p95\"", "at_most = \"1h\"");
    let missed = judged(&promised, &["eligible_time"]);
    assert_eq!(missed.status.code(), Some(1), "{}", stderr(&missed));
    assert!(stdout(&missed).starts_with("1 of 1 goal missed: `soon`. "), "{}", stdout(&missed));
    let met = judged(&promised, &["-walltime"]);
    assert_eq!(met.status.code(), Some(0), "{}", stderr(&met));
    let row = "soon    20  p95 wait  17 min 24 s  at most 1 h  yes";
    assert!(stdout(&met).contains(row), "{}", stdout(&met));
    let markdown = judged(&promised, &["-walltime", "--format", "markdown"]);
    assert!(stdout(&markdown).contains("| soon | 20 | p95 wait | 17 min 24 s | at most 1 h | yes |"));
}

#[test]
fn json_has_the_value_and_the_limit_of_each_goal() {
    let two = goal("queue = \"short\"", "{ within = \"30m\" }", "at_least = 0.9")
        + "[[goal]]\nname = \"used\"\nmeasure = \"utilisation\"\nat_least = 0.5\n";
    let document = json(&judged(&two, &["-walltime", "--format", "json"]));
    let [soon, used] = &goals_of(&document, "/goals")[..] else { panic!("{document}") };
    let keys: Vec<&str> = soon.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["jobs", "limit", "measure", "met", "name", "value"]);
    assert_eq!((&soon["jobs"], &soon["value"], &soon["limit"]), (&20.into(), &1.0.into(), &0.9.into()), "{soon}");
    assert_eq!((&used["jobs"], &used["value"]), (&40.into(), &document["summary"]["utilisation"]), "{used}");
    assert_eq!((&soon["met"], &used["met"]), (&true.into(), &true.into()));
}

#[test]
fn a_limit_is_a_multiple_of_what_the_old_formula_does() {
    let promised = goal("entity = \"bob\"", "\"mean\"", "at_most = { old = 1.1 }");
    for (old, new, code) in [("-walltime", "eligible_time", 0), ("walltime", "-walltime", 1)] {
        let output = judged(&promised, &["--old", old, "--new", new, "--format", "json"]);
        assert_eq!(output.status.code(), Some(code), "{old} to {new}: {}", stderr(&output));
        let document = json(&output);
        let [before] = &goals_of(&document, "/old/goals")[..] else { panic!("{document}") };
        let [after] = &goals_of(&document, "/new/goals")[..] else { panic!("{document}") };
        let [value, limit] = [&before["value"], &after["limit"]].map(|number| number.as_f64().expect("a number"));
        assert!((limit - 1.1 * value).abs() < 1e-9 * limit, "{document}");
        // the old side has no limit of its own
        assert_eq!((&before["limit"], &before["met"]), (&Value::Null, &Value::Null));
    }
    let text = stdout(&judged(&promised, &["--old", "walltime", "--new", "-walltime"]));
    assert!(text.contains("soon    20  mean wait  1 h 36 min  1 h 55 min  at most 1 h 45 min  no"), "{text}");
    let alone = judged(&promised, &["walltime"]);
    let text = stdout(&alone);
    assert!(text.contains("1 of 1 goal not judged, which needs a comparison (--old F --new F): `soon`"), "{text}");
    assert!(alone.status.success() && text.contains("at most –  –"), "{text}");
}

#[test]
fn a_file_that_is_wrong_is_refused_with_its_line_and_what_is_expected() {
    let wait = |statistic: &str, limit: &str| goal("", statistic, limit);
    for (text, expected) in [
        (wait("\"p95\"", "at_most = \"soon\""), "line 6: `soon` is not a duration, expected"),
        (wait("\"p101\"", "at_most = 3"), "line 5: `p101` is not a statistic, expected mean, median, p1 to p100"),
        (wait("7", "at_most = 3"), "line 5: expected mean, median, p1 to p100, max or"),
        (wait("\"p95\"", "at_most = true"), "line 6: expected a number, a duration or { old = 1.1 }"),
        (wait("\"p95\"", "at_mst = 3"), "line 6: unknown field `at_mst`, expected one of `name`"),
        (wait("\"p95\"", ""), "line 1: goal `soon` needs one limit: `at_most` or `at_least`"),
        (goal("jobs = \"walltime <\"", "\"p95\"", "at_most = 3"), "line 3: the condition `walltime <` is not valid"),
        (goal("queue = \"a\"\nentity = \"b\"", "\"p95\"", "at_most = 3"), "line 1: goal `soon` has several of"),
        ("[[goal]\n".to_owned(), "line 1: unclosed array table"),
        (String::new(), "has no goal: expected at least one `[[goal]]`"),
    ] {
        let output = judged(&text, &["eligible_time"]);
        assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{text}");
        let message = stderr(&output);
        assert!(message.contains("goals.toml`") && message.contains(expected), "{text}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn goals_about_what_the_log_does_not_have_are_refused_or_named() {
    let of = |jobs: &str| goal(jobs, "\"mean\"", "at_most = \"1h\"");
    for (text, expected) in [
        (
            of("queue = \"shrt\""),
            "jsf: the goal `soon` is about no job: no job of the log has the queue `shrt`; did you mean `short`?\n",
        ),
        (of("entity = \"eve\""), "jsf: the goal `soon` is about no job: no job of the log has the entity `eve`\n"),
        (of("group = \"ida\""), "jsf: the goal `soon` is about no job: no job of the log has the group `ida`\n"),
        (
            of("jobs = \"ncpus > 5000\""),
            "jsf: the goal `soon` is about no job: `ncpus > 5000` holds for no job of the log\n",
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
        assert_eq!((output.status.code(), stderr(&output)), (Some(2), expected.to_owned()), "{text}");
    }
    // where others are there, one that is about no job is neither met nor missed
    let two = of("queue = \"shrt\"") + &of("queue = \"short\"");
    let output = judged(&two, &["-walltime"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let warning = "jsf: warning: the goal `soon` is about no job: no job of the log has the queue `shrt`; did you mean `short`?\n";
    assert_eq!(stderr(&output), warning);
    let text = stdout(&output);
    assert!(text.starts_with("1 of 2 goals about no job: `soon`. "), "{text}");
    assert!(text.contains("soon     0  mean wait           –  at most 1 h  –"), "{text}");
    let goals = goals_of(&json(&judged(&two, &["-walltime", "--format", "json"])), "/goals");
    assert_eq!((&goals[0]["met"], &goals[0]["jobs"]), (&Value::Null, &0.into()));
    // and does not hide that another one is missed
    let missed = of("queue = \"shrt\"") + &goal("queue = \"short\"", "\"mean\"", "at_least = \"100d\"");
    assert_eq!(judged(&missed, &["-walltime"]).status.code(), Some(1));
}

#[test]
fn a_machine_on_which_hardly_any_job_waits_is_told_with_where_its_size_is_from() {
    let folder = tempfile::tempdir().expect("a folder");
    // the seventh job asks for another number of processors
    let job = |job: i64, processors: u32| {
        format!("{job} {0} 0 60 {processors} -1 -1 {processors} 60 -1 1 1 1 -1 1 -1 -1 -1", job * 30)
    };
    let jobs: Vec<String> = (1..=40).map(|number| job(number, if number == 7 { 3 } else { 4 })).collect();
    let log = written(folder.path(), "log.swf", &format!("; MaxProcs: 1000\n{}\n", jobs.join("\n")));
    let idle = "hardly any job waits, so that no formula makes a difference: the machine has 1000 processors by the log; the jobs of \
                the log never used more than 8 at once; give the number that the machine of the log had, or a busier log";
    let simulate = ["simulate", "eligible_time", "--workload", &log];
    let text = stdout(&jsf(&simulate));
    assert!(text.contains("machine: 1000 processors by the log (--processors), backfill easy\n"), "{text}");
    assert!(text.contains(&format!("warning {idle}")), "{text}");
    for format in ["markdown", "json"] {
        let output = jsf(&[&simulate[..], &["--format", format]].concat());
        assert!(stdout(&output).contains(idle), "{}", stdout(&output));
    }
    let document = json(&jsf(&[&simulate[..], &["--format", "json"]].concat()));
    assert_eq!(document["processors"], serde_json::json!({"total": 1000, "from": "log"}));
    let swept = ["simulate", "{a}*eligible_time", "--param", "a=1,2", "--workload", &log];
    assert!(stdout(&jsf(&swept)).contains(idle));
    let template = "{a=1:0..9}*eligible_time + walltime";
    let goals = written(folder.path(), "goals.toml", &goal("", "\"p95\"", "at_most = \"1h\""));
    let fitted = ["fit", template, "--workload", &log, "--goals", &goals, "--force", "--evaluations", "5"];
    assert!(stdout(&jsf(&fitted)).contains(idle), "{}", stdout(&jsf(&fitted)));
    let document = json(&jsf(&[&fitted[..], &["--format", "json"]].concat()));
    assert_eq!(document["warnings"], serde_json::json!([idle]));
    assert_eq!(document["log"]["processors"], serde_json::json!({"total": 1000, "from": "log"}));
    // it is about the machine and the log: both formulas have it, it comes first, and goals prove nothing
    let change = ["simulate", "--old", "1/(ncpus-3)", "--new", "walltime", "--workload", &log, "--goals", &goals];
    let text = stdout(&jsf(&change));
    assert!(text.starts_with("The goals prove nothing here, as hardly any job waits. The goal is met. "), "{text}");
    assert!(text.find(idle) < text.find("divides by zero") && text.contains(idle), "{text}");
    let output = jsf(&[&change[..], &["--format", "json"]].concat());
    let document = json(&output);
    for warnings in [&document["warnings"], &document["old"]["warnings"], &document["new"]["warnings"]] {
        assert_eq!(*warnings, serde_json::json!([idle]));
    }
    assert_eq!(stderr(&output).matches(idle).count(), 1, "{}", stderr(&output));
    // on a machine that is full, jobs wait
    let full = json(&jsf(&[&simulate[..], &["--processors", "4", "--format", "json"]].concat()));
    assert_eq!((&full["warnings"], &full["processors"]["from"]), (&serde_json::json!([]), &"given".into()));
}

#[test]
fn goals_say_nothing_of_a_formula_that_is_refused_and_little_on_a_short_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let goals = written(folder.path(), "goals.toml", &goal("", "\"mean\"", "at_most = \"1s\""));
    let of_log = ["--workload", "tests/golden/simulate/w1.swf", "--processors", "64", "--goals", &goals];
    let headline = |arguments: &[&str]| {
        let output = jsf(&[&["simulate"], arguments, &of_log[..]].concat());
        (output.status.code(), stdout(&output).lines().next().unwrap_or_default().to_owned())
    };
    let (code, refused) = headline(&["--old", "ncpus", "--new", "elgible_time + 3"]);
    assert_eq!(code, Some(1));
    assert!(refused.starts_with("qmgr refuses the new formula: ") && !refused.contains("goal"), "{refused}");
    let (code, short) = headline(&["--old", "ncpus", "--new", "eligible_time"]);
    assert_eq!(code, Some(1));
    let expected = "The goals prove nothing here, as the log is too short. 1 of 1 goal missed: `soon`. ";
    assert!(short.starts_with(expected), "{short}");
}
