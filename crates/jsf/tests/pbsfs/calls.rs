//! Every recorded call of `pbsfs`: its output, its exit code and the usage file that it left, to the byte.

use std::fs;
use std::path::Path;

use jsf_openpbs::files::resource_group::ResourceGroup;
use jsf_openpbs::files::sched_config::SchedConfig;
use jsf_openpbs::files::usage::UsageFile;
use jsf_openpbs::pbsfs::{Answer, InvalidArguments, Request, SchedPriv, UsageOnDisk, answer};
use jsf_testing::golden::{self, field as text};
use serde_json::Value;

use super::names_in;
use crate::command::command;

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cases() -> Vec<Value> {
    golden::lines("openpbs/pbsfs/cases.jsonl")
}

/// The bytes of a stream. The recording has one character for each of them.
fn stream(value: &Value, field: &str) -> Vec<u8> {
    text(value, field).chars().map(|char| u8::try_from(u32::from(char)).expect("a byte")).collect()
}

fn arguments(step: &Value) -> Vec<&str> {
    step["args"].as_array().expect("a list").iter().map(|argument| argument.as_str().expect("text")).collect()
}

/// A call's outcome: standard output, standard error, exit code and the usage file.
#[derive(PartialEq)]
struct Outcome {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    code: u8,
    usage: Vec<u8>,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { stdout, stderr, code, usage } = self;
        let [stdout, stderr, usage] = [stdout, stderr, usage].map(|bytes| bytes.escape_ascii().to_string());
        write!(f, "code {code}\nstdout {stdout}\nstderr {stderr}\nusage {usage}")
    }
}

fn call(arguments: &[&str], folder: &Path, usage: &[u8], now: i64) -> Outcome {
    let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
    let mut stdout = Vec::new();
    let (before, Answer { stderr, code, usage: written, .. }) = match Request::parse(b"/opt/pbs/sbin/pbsfs", &arguments)
    {
        Err(InvalidArguments { stderr, code }) => (stderr, Answer { code, ..Answer::default() }),
        Ok(parsed) => {
            let files = SchedPriv {
                lines: ResourceGroup::parse(&bytes(&folder.join("resource_group"))),
                config: SchedConfig::parse(&bytes(&folder.join("sched_config"))),
                usage: UsageOnDisk::Read(UsageFile::parse(usage).expect("small enough")),
            };
            let answer = answer(&parsed.request, &files, now, &mut stdout).expect("an answer");
            (parsed.stderr, answer)
        }
    };
    Outcome { stdout, stderr: [before, stderr].concat(), code, usage: written.unwrap_or_else(|| usage.to_vec()) }
}

/// Runs the steps of a case, each on the files that the previous step left; before the first `-d` and before `-e`, the
/// recording restored the usage file.
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

fn recorded(step: &Value, usage: &[u8], folder: &Path) -> Outcome {
    let left = step["usage_after"]["file"].as_str();
    Outcome {
        stdout: stream(step, "stdout"),
        stderr: stream(step, "stderr"),
        code: u8::try_from(step["rc"].as_u64().expect("a code")).expect("a small code"),
        usage: left.map_or_else(|| usage.to_vec(), |left| bytes(&folder.join(left))),
    }
}

/// The time of the call, which `-d` and `-e` write into the usage file.
fn time_of(step: &Value) -> i64 {
    step["usage_after"]["parsed"]["last_decay"].as_i64().unwrap_or(0)
}

#[test]
fn the_library_answers_every_recorded_call_to_the_byte() {
    let (mut steps, mut files) = (0, 0);
    for case in cases() {
        replay(&case, |arguments, step, usage, folder| {
            let ours = call(arguments, folder, usage, time_of(step));
            assert_eq!(ours, recorded(step, usage, folder), "{}: pbsfs {}", text(&case, "case"), arguments.join(" "));
            steps += 1;
            files += usize::from(!step["usage_after"].is_null());
        });
    }
    println!("{steps} steps, {files} usage files");
    assert!(steps >= 654 && files >= 145, "only {steps} steps and {files} files");
}

/// The same through the command and files on disk, except for the time of the last decay where it is the current time.
#[test]
fn the_command_answers_every_recorded_call_and_leaves_the_same_files() {
    for case in cases() {
        let place = tempfile::tempdir().expect("a folder");
        let mut lossy = 0;
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
            let of_pbsfs = |line: &&[u8]| !line.starts_with(b"jsf: ");
            let stderr = output.stderr.split_inclusive(|&byte| byte == b'\n').filter(of_pbsfs).collect::<Vec<_>>();
            let mut ours = Outcome {
                stdout: output.stdout,
                stderr: stderr.concat(),
                code: output.status.code().and_then(|code| u8::try_from(code).ok()).expect("a code"),
                usage: bytes(&place.path().join("usage")),
            };
            let mut theirs = recorded(step, usage, folder);
            let stderr = String::from_utf8_lossy(&theirs.stderr).replace("/opt/pbs/sbin/", "");
            theirs.stderr = stderr.into_bytes();
            if matches!(arguments, ["-d" | "-e"]) {
                ours.usage[24..32].fill(0);
                theirs.usage[24..32].fill(0);
            }
            let place_name = format!("{}: pbsfs {}", text(&case, "case"), arguments.join(" "));
            assert_eq!(ours, theirs, "{place_name}");
            let wrote = ours.code == 0 && matches!(arguments[0], "-s" | "-d" | "-e");
            if wrote {
                assert_eq!(bytes(&place.path().join("usage.bak")), usage, "{place_name}");
                let read = UsageFile::parse(usage).expect("small enough");
                lossy += usize::from(!read.faults.is_empty());
            }
            assert_eq!(place.path().join("usage.touch").exists(), wrote, "{place_name}");
            for left in ["usage.bak", "usage.touch"] {
                let _ = fs::remove_file(place.path().join(left));
            }
        });
        let names = names_in(place.path());
        let (unread, others): (Vec<_>, Vec<_>) = names.iter().partition(|name| name.starts_with("usage.unread-"));
        assert_eq!((unread.len(), others.len()), (lossy, 3), "{names:?}");
    }
}
