//! Every recorded call of `pbsfs` that prints: its output and its exit code, to the byte. Those
//! that change the usage file are refused.

use std::fs;
use std::path::Path;

use jsf_openpbs::pbsfs::{Request, SchedPriv, answer};
use jsf_openpbs::{ResourceGroup, SchedConfig, UsageFile};
use jsf_testing::golden::{self, field as text};
use serde_json::Value;

use super::names_in;
use crate::command::{command, stderr, stdout};

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cases() -> Vec<Value> {
    golden::lines("openpbs/pbsfs/cases.jsonl")
}

/// The bytes of a stream. The recording has one character for each of them.
fn stream(value: &Value, field: &str) -> Vec<u8> {
    text(value, field)
        .chars()
        .map(|char| u8::try_from(u32::from(char)).expect("a byte"))
        .collect()
}

fn arguments(step: &Value) -> Vec<&str> {
    step["args"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|argument| argument.as_str().expect("text"))
        .collect()
}

/// A call's outcome: standard output, standard error and exit code.
#[derive(PartialEq)]
struct Outcome {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    code: u8,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [stdout, stderr] =
            [&self.stdout, &self.stderr].map(|bytes| bytes.escape_ascii().to_string());
        write!(f, "code {}\nstdout {stdout}\nstderr {stderr}", self.code)
    }
}

fn changes_usage(arguments: &[&str]) -> bool {
    matches!(arguments[0], "-s" | "-d" | "-e")
}

/// Takes the steps of a case, each on the files that the previous step left; before the first `-d`
/// and before `-e`, the recording restored the usage file.
fn replay(case: &Value, mut check: impl FnMut(&[&str], &Value, &[u8], &Path)) {
    let folder = golden::path("openpbs/pbsfs").join(text(case, "case"));
    let initial = bytes(&folder.join("usage.initial"));
    let mut usage = initial.clone();
    let mut decayed = false;
    for step in case["steps"].as_array().expect("a list") {
        let arguments = arguments(step);
        let is_decay = arguments == ["-d"];
        if (is_decay && !decayed) || arguments == ["-e"] {
            usage.clone_from(&initial);
        }
        decayed |= is_decay;
        check(&arguments, step, &usage, &folder);
        if let Some(left) = step["usage_after"]["file"].as_str() {
            usage = bytes(&folder.join(left));
        }
    }
}

fn recorded(step: &Value) -> Outcome {
    Outcome {
        stdout: stream(step, "stdout"),
        stderr: stream(step, "stderr"),
        code: u8::try_from(step["rc"].as_u64().expect("a code")).expect("a small code"),
    }
}

#[test]
fn the_library_answers_every_recorded_call_to_the_byte() {
    let mut steps = 0;
    for case in cases() {
        replay(&case, |arguments, step, usage, folder| {
            if changes_usage(arguments) {
                return;
            }
            let files = SchedPriv {
                lines: ResourceGroup::parse(&bytes(&folder.join("resource_group"))),
                config: SchedConfig::parse(&bytes(&folder.join("sched_config"))),
                usage: Some(UsageFile::parse(usage)),
            };
            let words: Vec<&[u8]> = arguments
                .iter()
                .map(|argument| argument.as_bytes())
                .collect();
            let parsed = Request::parse(b"/opt/pbs/sbin/pbsfs", &words).expect("valid arguments");
            let mut stdout = Vec::new();
            let answer = answer(&parsed.request, &files, &mut stdout).expect("an answer");
            let ours = Outcome {
                stdout,
                stderr: [parsed.stderr, answer.stderr].concat(),
                code: answer.code,
            };
            assert_eq!(
                ours,
                recorded(step),
                "{}: pbsfs {}",
                text(&case, "case"),
                arguments.join(" ")
            );
            steps += 1;
        });
    }
    println!("{steps} steps");
    assert!(steps >= 509, "only {steps} steps");
}

/// The same through the command and files on disk, which it leaves as they are.
#[test]
fn the_command_answers_every_recorded_call_and_changes_no_file() {
    let mut refused = 0;
    for case in cases() {
        let place = tempfile::tempdir().expect("a folder");
        replay(&case, |arguments, step, usage, folder| {
            for name in ["resource_group", "sched_config"] {
                fs::copy(folder.join(name), place.path().join(name)).expect("a copy");
            }
            fs::write(place.path().join("usage"), usage).expect("a file");
            let output = command()
                .arg("pbsfs")
                .args(arguments)
                .arg("--sched-priv")
                .arg(place.path())
                .output()
                .expect("jsf runs");
            let call = format!("{}: pbsfs {}", text(&case, "case"), arguments.join(" "));
            assert_eq!(
                names_in(place.path()),
                ["resource_group", "sched_config", "usage"],
                "{call}"
            );
            assert_eq!(bytes(&place.path().join("usage")), usage, "{call}");
            if changes_usage(arguments) {
                let message = format!(
                    "jsf: jsf does not write a scheduler's files: `pbsfs {}` of OpenPBS changes the usage\n",
                    arguments[0]
                );
                let expected = (Some(2), "".into(), message);
                assert_eq!(
                    (output.status.code(), stdout(&output), stderr(&output)),
                    expected,
                    "{call}"
                );
                refused += 1;
                return;
            }
            let ours = Outcome {
                stdout: output.stdout,
                stderr: output.stderr,
                code: output
                    .status
                    .code()
                    .and_then(|code| u8::try_from(code).ok())
                    .expect("a code"),
            };
            let mut theirs = recorded(step);
            let stderr = String::from_utf8_lossy(&theirs.stderr).replace("/opt/pbs/sbin/", "");
            theirs.stderr = stderr.into_bytes();
            assert_eq!(ours, theirs, "{call}");
        });
    }
    assert!(refused >= 145, "{refused}");
}
