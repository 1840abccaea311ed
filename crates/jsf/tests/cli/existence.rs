//! What every command answers where a job, an entity or a queue does not exist, and where a job is
//! held.

use crate::command::{jsf, stderr, stdout};

const SITE: [&str; 2] = ["--site", "examples/site"];

/// The exit code and the messages of a command at the example site.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = jsf(&[arguments, &SITE[..]].concat());
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn nothing_that_exists_is_exit_code_2_and_something_is_a_warning_for_the_rest() {
    // the command, the option, what exists, and what is said of what does not
    let compare = &["compare", "--new", "ncpus"][..];
    let no_job = "no job is called `nope`";
    let no_entity = "no job belongs to an entity or a group `nope`";
    for (command, option, known, message) in [
        (&["rank"][..], "--job", "184598", no_job),
        (&["rank"], "--entity", "ida", no_entity),
        (
            &["rank"],
            "--queue-name",
            "workq",
            "no job is in queue `nope`",
        ),
        (compare, "--job", "184598", no_job),
        (compare, "--entity", "nkapoor", no_entity),
        (
            compare,
            "--queue-name",
            "workq",
            "no job is in queue `nope`",
        ),
        (&["explain"], "--job", "184598", no_job),
        (&["explain"], "--entity", "ida", no_entity),
        (&["explain"], "--user", "nkapoor", no_entity),
        (&["cycle"], "--job", "184598", no_job),
        (&["cycle"], "--user", "ida", no_entity),
        (&["trajectory"], "--job", "184598", no_job),
        (&["shares"], "--entity", "ida", "the tree has no `nope`"),
    ] {
        let (code, answer, messages) = run(&[command, &[option, "nope"]].concat());
        assert_eq!(
            (code, &*answer),
            (Some(2), ""),
            "{command:?} {option}: {messages}"
        );
        assert!(
            messages.contains(&format!("jsf: {message}")),
            "{command:?} {option}: {messages}"
        );
        let both = format!("nope,{known}");
        let (code, answer, messages) = run(&[command, &[option, &both]].concat());
        assert_eq!(
            (code, answer.is_empty()),
            (Some(0), false),
            "{command:?} {option}: {messages}"
        );
        assert!(
            messages.contains(&format!("jsf: warning: {message}")),
            "{command:?} {option}: {messages}"
        );
    }
}

#[test]
fn what_exists_without_a_job_is_no_error() {
    // `bwallace` is in the tree; the queue is declared, without a job
    let queues = ["--queues", "tests/golden/openpbs/qstat/qstat_Qf.json"];
    let (code, _, messages) = run(&[
        "rank",
        "ncpus",
        "--queue-name",
        "alcf",
        queues[0],
        queues[1],
    ]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(
        messages.contains("warning: no job is in queue `alcf`"),
        "{messages}"
    );
    let (code, _, messages) = run(&["rank", "--entity", "guests", "--queue-name", "nope"]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(
        messages.contains("warning: no job is in queue `nope`"),
        "{messages}"
    );
}

#[test]
fn a_held_job_is_an_answer() {
    let held = "184247";
    for (command, format) in [
        (&["rank"][..], "human"),
        (&["rank"], "json"),
        (&["explain"], "human"),
        (&["explain"], "json"),
        (&["explain", "--to", "3"], "json"),
        (&["trajectory"], "human"),
        (&["trajectory"], "json"),
        (&["compare", "--new", "ncpus"], "json"),
    ] {
        let (code, _, messages) = run(&[command, &["--job", held, "--format", format]].concat());
        assert_eq!(code, Some(0), "{command:?} {format}: {messages}");
        assert!(
            !messages.contains("no job is called"),
            "{command:?}: {messages}"
        );
    }
}

#[test]
fn an_error_names_a_few_of_many_names() {
    let many: Vec<String> = (0..50).map(|number| format!("x{number}")).collect();
    let (code, _, messages) = run(&["rank", "--job", &many.join(",")]);
    assert_eq!(code, Some(2));
    assert!(
        messages.contains("`x9`; and 40 more names") && !messages.contains("`x10`"),
        "{messages}"
    );
}
