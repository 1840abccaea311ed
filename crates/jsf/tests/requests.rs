//! Whole questions of a program about a site are answered with the JSON of the command.

use std::path::Path;

use job_sort_formula::diagnostic::Need;
use jsf::requests::{RunError, run};
use serde_json::{Value, json};

use crate::command::{jsf, stdout};

const FORMULA: &str = "ncpus + eligible_time / 3600";
const JOB: &str = "184652";
const COMMANDS: [&str; 7] = [
    "rank",
    "check",
    "explain",
    "trajectory",
    "compare",
    "shares",
    "cycle",
];

fn site() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("examples/site").display().to_string()
}

fn worded(need: Need) -> String {
    format!("{need:?}")
}

/// The answer to a request about the example site, to which `members` are added.
fn asked(command: &str, members: Value) -> Result<Value, RunError> {
    let mut request = json!({"site": site()});
    if let (Some(request), Value::Object(members)) = (request.as_object_mut(), members) {
        request.extend(members);
    }
    run(command, &request.to_string(), worded)
        .map(|answer| serde_json::from_str(&answer).expect("an answer is JSON"))
}

#[track_caller]
fn refused(command: &str, members: Value) -> String {
    match asked(command, members) {
        Err(RunError::Request(message)) => message,
        other => panic!("expected a refusal of the request, not {other:?}"),
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
        ("shares", json!({}), vec![]),
        (
            "cycle",
            json!({"formula": FORMULA, "processors": 64}),
            vec![FORMULA, "--processors", "64"],
        ),
    ];
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
        let message = refused(command, json!({"formulae": FORMULA}));
        assert!(message.contains("unknown field `formulae`"), "{message}");
    }
    let message = refused("ranks", json!({}));
    assert!(message.starts_with("`ranks` is no command"), "{message}");
    let message = refused("trajectory", json!({"jobs": [JOB], "hours": 0}));
    assert!(message.contains("`hours` is 0"), "{message}");
    assert!(refused("explain", json!({})).contains("missing field `jobs`"));
    assert!(refused("rank", json!({"formula": 1})).contains("expected a string"));
}

#[test]
fn damaged_json_and_a_request_without_a_site_are_refused() {
    for request in [
        "",
        "{",
        "[]",
        "1",
        "{}",
        r#"{"site":1}"#,
        r#"{"site":"x"} x"#,
    ] {
        let answer = run("rank", request, worded);
        assert!(
            matches!(answer, Err(RunError::Request(_))),
            "{request}: {answer:?}"
        );
    }
}

#[test]
fn a_site_or_a_formula_that_cannot_be_used_is_told_apart_from_a_wrong_request() {
    let absent = run("rank", r#"{"site":"no/such/site"}"#, worded);
    assert!(matches!(absent, Err(RunError::Site(_))), "{absent:?}");
    let syntax = asked("rank", json!({"formula": "ncpus +"}));
    assert!(matches!(syntax, Err(RunError::Syntax(..))), "{syntax:?}");
    let text = asked("rank", json!({"formula": "(lambda: ncpus)()"}));
    assert!(matches!(text, Err(RunError::NotArithmetic(..))), "{text:?}");
}
