//! Whole questions of a program about a site are answered with the JSON of the command.

use std::path::Path;

use job_sort_formula::diagnostic::Need;
use jsf::answers::AnswerError;
use jsf::requests::run;
use serde_json::{Value, json};

use crate::command::{jsf, stdout};

const FORMULA: &str = "ncpus + eligible_time / 3600";
const JOB: &str = "184652";
const COMMANDS: [&str; 10] = [
    "rank",
    "check",
    "explain",
    "trajectory",
    "compare",
    "shares",
    "cycle",
    "replay",
    "simulate",
    "fit",
];

fn site() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("examples/site").display().to_string()
}

fn worded(need: Need) -> String {
    format!("{need:?}")
}

fn asked_of(command: &str, request: &str) -> Result<String, AnswerError> {
    run(command, request, worded, || false)
}

/// The answer to a request about the example site, to which `members` are added.
fn asked(command: &str, members: Value) -> Result<Value, AnswerError> {
    let mut request = json!({"site": site()});
    if let (Some(request), Value::Object(members)) = (request.as_object_mut(), members) {
        request.extend(members);
    }
    asked_of(command, &request.to_string())
        .map(|answer| serde_json::from_str(&answer).expect("an answer is JSON"))
}

#[track_caller]
fn refused(command: &str, members: Value) -> String {
    match asked(command, members) {
        Err(AnswerError::Question(message)) => message.worded(worded),
        other => panic!("expected a refusal of the request, not {other:?}"),
    }
}

#[test]
fn each_command_that_answers_programs_is_named_where_programs_are_told() {
    let bindings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings");
    for file in [
        "c/README.md",
        "c/src/site_questions.rs",
        "python/README.md",
        "python/python/job_sort_formula/__init__.pyi",
    ] {
        let text = std::fs::read_to_string(bindings.join(file)).expect("a file");
        for command in COMMANDS {
            let is_named = text.contains(&format!("`{command}`"))
                || text.contains(&format!("jsf_run(\"{command}\""));
            assert!(is_named, "{file}: {command}");
        }
    }
}

#[test]
fn each_command_answers_with_the_json_of_the_command_line() {
    let cases = [
        ("rank", json!({"formula": FORMULA}), vec![FORMULA]),
        ("check", json!({"formula": FORMULA}), vec![FORMULA]),
        (
            "explain",
            json!({"formula": FORMULA, "jobs": [JOB]}),
            vec![FORMULA, "--job", JOB],
        ),
        (
            "trajectory",
            json!({"formula": FORMULA, "jobs": [JOB], "hours": 2}),
            vec![FORMULA, "--job", JOB, "--hours", "2"],
        ),
        (
            "compare",
            json!({"old": "ncpus", "new": FORMULA}),
            vec!["--old", "ncpus", "--new", FORMULA],
        ),
        (
            "compare",
            json!({"old": "ncpus", "new": FORMULA, "top": 3, "entities": ["bwallace"]}),
            vec![
                "--old", "ncpus", "--new", FORMULA, "--top", "3", "--entity", "bwallace",
            ],
        ),
        ("shares", json!({}), vec![]),
        (
            "cycle",
            json!({"formula": FORMULA, "processors": 64}),
            vec![FORMULA, "--processors", "64"],
        ),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = |path: &str| root.join(path).display().to_string();
    let sched_log = file("examples/site/sched.log");
    let log = file("tests/golden/simulate/w1.swf");
    let goals = file("examples/goals.toml");
    let template = "{fs=9:0..99}*fairshare_factor + eligible_time/3600";
    let simulated = ["--workload", &log, "--processors", "64", "--goals", &goals];
    let cases = cases.into_iter().chain([
        ("replay", json!({"log": sched_log}), vec![&*sched_log]),
        (
            "simulate",
            json!({"formula": FORMULA, "workload": log, "processors": 64, "goals": goals, "warm_up": "1h", "overrun": "keep"}),
            [&simulated[..], &[FORMULA, "--warm-up", "1h", "--overrun", "keep"]].concat(),
        ),
        (
            "fit",
            json!({"template": template, "prefer": [["184208", "185046"]], "evaluations": 50}),
            vec![template, "--prefer", "184208", "185046", "--evaluations", "50"],
        ),
        (
            "fit",
            json!({"template": template, "workload": [log], "processors": 64, "goals": goals, "evaluations": 2, "force": true}),
            [&simulated[..], &[template, "--evaluations", "2", "--force"]].concat(),
        ),
    ]);
    for (command, members, arguments) in cases {
        let mut answer = asked(command, members).expect(command);
        let site = site();
        let line = [
            &[command],
            &arguments[..],
            &["--site", &site, "--format", "json"],
        ]
        .concat();
        let mut printed: Value = serde_json::from_str(&stdout(&jsf(&line))).expect(command);
        // an answer also has the warnings that the command writes to standard error
        for document in [&mut answer, &mut printed] {
            document.as_object_mut().map(|all| all.remove("warnings"));
        }
        assert_eq!(answer, printed, "{command}");
    }
}

#[test]
fn a_request_that_does_not_say_what_is_asked_is_refused() {
    for command in COMMANDS {
        let message = refused(
            command,
            json!({"formulae": FORMULA, "template": "1", "log": "x"}),
        );
        // one that lacks a member may be refused for that first
        let is_named =
            message.contains("unknown field `formulae`") || message.starts_with("missing field");
        assert!(is_named, "{message}");
    }
    let message = refused("ranks", json!({}));
    assert_eq!(message, "no command `ranks` answers a program");
    let message = refused("trajectory", json!({"jobs": [JOB], "hours": 0}));
    assert!(message.contains("`hours` is 0"), "{message}");
    assert!(refused("explain", json!({})).contains("give `jobs`"));
    assert!(refused("cycle", json!({"processors": 0})).contains("expected a nonzero u32"));
    assert!(refused("simulate", json!({})).contains("`workload` is missing"));
    let message = refused("simulate", json!({"workload": "x", "decay": "soon"}));
    assert!(message.contains("soon"), "{message}");
    let message = refused("fit", json!({"template": "{a=1:0..2}*ncpus"}));
    assert!(message.starts_with("give either `wishes`"), "{message}");
    assert!(refused("rank", json!({"formula": 1})).contains("expected a string"));
}

#[test]
fn damaged_json_is_refused() {
    for request in ["", "{", "[]", "1", r#"{"site":1}"#, r#"{"site":"x"} x"#] {
        let answer = asked_of("rank", request);
        assert!(
            matches!(answer, Err(AnswerError::Question(_))),
            "{request}: {answer:?}"
        );
    }
}

#[test]
fn without_a_site_a_formula_can_be_checked_and_a_log_simulated() {
    let answer = asked_of("check", r#"{"formula":"ncpus * walltme"}"#).expect("a check");
    assert!(answer.contains("JSF201"), "{answer}");
    let request = json!({"formula": "ncpus", "workload": format!("{}/accounting.gz", site()), "processors": 64});
    let answer = asked_of("simulate", &request.to_string()).expect("a simulation");
    assert!(answer.contains("\"makespan\""), "{answer}");
    let rank = asked_of("rank", r#"{"formula":"ncpus"}"#);
    assert!(matches!(rank, Err(AnswerError::Site(_))), "{rank:?}");
}

#[test]
fn a_caller_may_end_a_simulation() {
    let request = json!({"site": site(), "formula": "ncpus", "workload": format!("{}/accounting.gz", site()), "processors": 64});
    let ended = run("simulate", &request.to_string(), worded, || true);
    // it may end by itself before it is asked
    assert!(
        matches!(ended, Ok(_) | Err(AnswerError::Interrupted)),
        "{ended:?}"
    );
}

#[test]
fn a_site_or_a_formula_that_cannot_be_used_is_told_apart_from_a_wrong_request() {
    let absent = asked_of("rank", r#"{"site":"no/such/site"}"#);
    assert!(matches!(absent, Err(AnswerError::Site(_))), "{absent:?}");
    let syntax = asked("rank", json!({"formula": "ncpus +"}));
    assert!(matches!(syntax, Err(AnswerError::Syntax(..))), "{syntax:?}");
    let text = asked("rank", json!({"formula": "(lambda: ncpus)()"}));
    assert!(matches!(text, Err(AnswerError::Unusable(..))), "{text:?}");
}
