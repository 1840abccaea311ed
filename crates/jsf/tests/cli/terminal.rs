//! What a command shows on a terminal while it works, and what Ctrl-C does.

use std::process::Command;

use jsf_testing::python;
use serde_json::Value;

/// Runs a command of which standard error is a terminal, presses Ctrl-C when it shows a bar, and
/// returns what the script says; `None` without Python, when the test counts as skipped.
#[track_caller]
fn interrupted(arguments: &[&str]) -> Option<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/terminal.py");
    let mut python = Command::new(python::any()?);
    let output = python
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_jsf"))
        .args(arguments)
        .output()
        .expect("Python runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// Far more jobs than the test waits for.
const ENDLESS: [&str; 8] = [
    "--generate",
    "100000",
    "--load",
    "3",
    "--processors",
    "64",
    "--format",
    "json",
];

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_simulation_with_the_jobs_that_have_started() {
    let Some(seen) = interrupted(&[&["simulate", "ncpus + eligible_time"], &ENDLESS[..]].concat())
    else {
        return;
    };
    let text = seen["terminal"].as_str().expect("a text");
    assert!(
        text.contains("jsf: simulating, ") && text.contains(" %"),
        "{text:?}"
    );
    assert!(
        text.contains("interrupted: the results are those of the "),
        "{text:?}"
    );
    // the line with the bar is erased before anything else is written
    assert!(
        text.contains("\r\u{1b}[Kjsf: warning: interrupted"),
        "{text:?}"
    );
    assert_eq!(seen["exit_code"], 0, "{text:?}");
    let document: Value =
        serde_json::from_str(seen["output"].as_str().expect("a text")).expect("JSON");
    let jobs = document["jobs"].as_array().expect("jobs").len();
    assert!(
        document["complete"] == false && jobs > 0 && jobs < 100_000,
        "{jobs}"
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_under_the_old_formula_ends_the_new_one_with_as_many_jobs() {
    let formulas = [
        "simulate",
        "--old",
        "ncpus + eligible_time",
        "--new",
        "eligible_time",
    ];
    let Some(seen) = interrupted(&[&formulas[..], &ENDLESS[..]].concat()) else {
        return;
    };
    let document: Value =
        serde_json::from_str(seen["output"].as_str().expect("a text")).expect("JSON");
    let [old, new, both] = ["old", "new", "difference"].map(|side| document[side]["jobs"].clone());
    let count = |jobs: &Value| jobs.as_array().expect("jobs").len();
    assert!(
        count(&old) > 0 && count(&new) >= count(&old),
        "{} {}",
        count(&old),
        count(&new)
    );
    assert!(both.as_u64().is_some_and(|jobs| jobs > 0), "{both}");
}
