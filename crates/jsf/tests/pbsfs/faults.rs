//! `jsf pbsfs` with many writers at once, killed at every system call, and with system calls that fail: the usage file
//! and its backup are whole at every moment, and no change is lost.
//!
//! `JSF_KILLS` is the number of random kills. The kills and failures at system calls need `strace`; of these every
//! `JSF_FAULT_STEP`th is tried, 1 for all.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use jsf_testing::{setting, skipped};
use tempfile::TempDir;

use super::files::{pbsfs, records, sched_priv, usage};
use super::names_in;
use crate::command::{command, stderr};

/// Of how many faults at system calls one is tried.
fn step() -> usize {
    setting("JSF_FAULT_STEP", 9) as usize
}

const LEFT: [&str; 5] = ["resource_group", "sched_config", "usage", "usage.bak", "usage.touch"];

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = command();
    command.args(["pbsfs", "--sched-priv"]).arg(folder).args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("jsf starts")
}

/// Runs several calls at once, all of which succeed without a message.
fn run_at_once(folder: &Path, calls: impl Iterator<Item = Vec<String>>) {
    let started: Vec<Child> =
        calls.map(|call| start(folder, &call.iter().map(String::as_str).collect::<Vec<_>>())).collect();
    for child in started {
        let output = child.wait_with_output().expect("jsf ends");
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    }
    assert_eq!(names_in(folder), LEFT);
}

#[test]
fn forty_writers_at_once_lose_no_change() {
    let folder = sched_priv(Some(&usage(&[])));
    let lines: String = (0..40).map(|user| format!("user{user} {} root 1\n", 100 + user)).collect();
    fs::write(folder.path().join("resource_group"), lines).expect("a file");
    let set = |user: u32| ["-s".to_owned(), format!("user{user}"), (1000 + user).to_string()].to_vec();
    run_at_once(folder.path(), (0..40).map(set));
    let mut found = records(&folder.path().join("usage"));
    found.sort_by(|left, right| left.1.total_cmp(&right.1));
    let expected: Vec<_> = (0..40).map(|user| (format!("user{user}"), f64::from(1000 + user))).collect();
    assert_eq!(found, expected);
    println!("{} of 40 writers survive", found.len());
}

#[test]
fn twenty_decays_at_once_are_twenty_decays() {
    let bob = f64::from(1 << 30);
    let folder = sched_priv(Some(&usage(&[("Bob", bob)])));
    run_at_once(folder.path(), (0..20).map(|_| vec!["-d".to_owned()]));
    assert_eq!(records(&folder.path().join("usage")), [("Bob".to_owned(), bob / f64::from(1 << 20))]);
}

/// A folder with a usage file and a backup, and what they contain before and after `jsf pbsfs -s Bob 7`.
struct Case {
    folder: TempDir,
    old: Vec<u8>,
    new: Vec<u8>,
    backup: Vec<u8>,
}

impl Case {
    const CALL: [&str; 3] = ["-s", "Bob", "7"];

    fn new() -> Self {
        let [backup, old] = [1.0, 4.0].map(|bob| usage(&[("Bob", bob), ("Suzy", 8.0)]));
        let folder = sched_priv(Some(&old));
        assert_eq!(pbsfs(folder.path(), &Self::CALL).status.code(), Some(0));
        let new = fs::read(folder.path().join("usage")).expect("a file");
        fs::write(folder.path().join("usage.bak"), &backup).expect("a file");
        Self { folder, old, new, backup }
    }

    fn reset(&self) {
        // a writer that was killed leaves two names of one file
        for name in ["usage", "usage.bak", "usage.touch"] {
            let _ = fs::remove_file(self.folder.path().join(name));
        }
        fs::write(self.folder.path().join("usage"), &self.old).expect("a file");
        fs::write(self.folder.path().join("usage.bak"), &self.backup).expect("a file");
    }

    /// Checks that the files are whole; returns whether the usage file is the new one.
    fn check(&self, what: &str) -> bool {
        let read =
            |name: &str| fs::read(self.folder.path().join(name)).unwrap_or_else(|error| panic!("{what}: {error}"));
        let (usage, backup) = (read("usage"), read("usage.bak"));
        let is_new = usage == self.new;
        assert!(is_new || usage == self.old, "{what}: the usage file is neither the old one nor the new one");
        assert!(backup == self.old || (backup == self.backup && !is_new), "{what}: the backup is wrong");
        is_new
    }

    /// The next writer succeeds, and removes what a killed one has left.
    fn check_next(&self, what: &str) {
        let next = pbsfs(self.folder.path(), &Self::CALL);
        assert_eq!(next.status.code(), Some(0), "{what}: {}", stderr(&next));
        assert_eq!(fs::read(self.folder.path().join("usage")).expect("a file"), self.new, "{what}");
        assert_eq!(names_in(self.folder.path()), LEFT, "{what}");
    }

    /// Runs the call under `strace`, which writes a line for each system call to a file; `None` without `strace`.
    fn traced(&self, log: &Path, options: &[String]) -> Option<Output> {
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-o"]).arg(log).args(options).arg(env!("CARGO_BIN_EXE_jsf"));
        let output = traced.args(["pbsfs", "--sched-priv"]).arg(self.folder.path()).args(Self::CALL).output().ok()?;
        (!stderr(&output).contains("ptrace")).then_some(output)
    }

    /// How often each system call is made; `None` without `strace`.
    fn system_calls(&self, log: &Path) -> Option<BTreeMap<String, usize>> {
        self.traced(log, &[])?;
        let mut counts = BTreeMap::new();
        // `1234  openat(AT_FDCWD, …`; the first line is the call that starts the program
        for line in fs::read_to_string(log).expect("a file").lines().skip(1) {
            let name = line.split_once(' ').and_then(|(_, call)| call.trim_start().split_once('('));
            let Some((name, _)) =
                name.filter(|(name, _)| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
            else {
                continue;
            };
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
        Some(counts)
    }
}

#[test]
fn random_kills_leave_whole_files() {
    let kills = setting("JSF_KILLS", 40);
    let case = Case::new();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut killed, mut replaced) = (0, 0);
    let mut duration = Duration::from_millis(10);
    for number in 0..kills {
        case.reset();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = start(case.folder.path(), &Case::CALL);
        // at any time until a little after its end, however busy the machine is
        std::thread::sleep(duration.mul_f64((random >> 40) as f64 / f64::from(1 << 24) * 1.2));
        let _ = child.kill();
        let output = child.wait_with_output().expect("jsf ends");
        killed += u64::from(output.status.signal().is_some());
        replaced += u64::from(case.check(&format!("kill {number}")));
        let begin = Instant::now();
        case.check_next(&format!("after kill {number}"));
        duration = begin.elapsed();
    }
    assert!(killed > 0, "no writer was killed before its end");
    println!("{kills} random kills: {killed} before the end, {replaced} after the file was replaced");
}

#[test]
fn a_kill_at_any_system_call_leaves_whole_files() {
    let case = Case::new();
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let Some(calls) = case.system_calls(&log) else { return skipped::without_tool("strace") };
    let points = calls.iter().flat_map(|(name, &count)| (1..=count).map(move |number| (name, number)));
    let (mut kills, mut replaced) = (0, 0);
    for (name, number) in points.step_by(step()) {
        case.reset();
        let what = format!("kill at call {number} of {name}");
        let _ = case.traced(&log, &["-e".into(), format!("inject={name}:signal=SIGKILL:when={number}")]);
        replaced += usize::from(case.check(&what));
        kills += 1;
        if kills % 8 == 0 {
            case.check_next(&what);
        }
    }
    println!("{kills} kills at system calls, {replaced} after the file was replaced");
    // how many calls there are depends on where the loader looks for libraries
    assert!(kills > 10 && replaced < kills, "{replaced} of {kills}");
}

#[test]
fn a_signal_at_any_system_call_leaves_whole_files_and_nothing_else() {
    let case = Case::new();
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let Some(calls) = case.system_calls(&log) else { return skipped::without_tool("strace") };
    let points = calls.iter().flat_map(|(name, &count)| (1..=count).map(move |number| (name, number)));
    let points = calls.get_key_value("flock").map(|(name, _)| (name, 1)).into_iter().chain(points.step_by(step()));
    for (signal, (name, number)) in ["SIGTERM", "SIGINT", "SIGHUP"].into_iter().cycle().zip(points) {
        case.reset();
        let what = format!("{signal} at call {number} of {name}");
        let _ = case.traced(&log, &["-e".into(), format!("inject={name}:signal={signal}:when={number}")]);
        case.check(&what);
        let names = names_in(case.folder.path());
        assert!(names.iter().all(|name| LEFT.contains(&&**name)), "{what}: {names:?}");
    }
}

/// The system calls on files that this program makes; one of the C library that fails at the start ends any program.
const ON_FILES: [&str; 14] = [
    "openat",
    "read",
    "write",
    "fsync",
    "rename",
    "linkat",
    "unlink",
    "flock",
    "fchmod",
    "fchown",
    "statx",
    "readlink",
    "getdents64",
    "fsetxattr",
];

#[test]
fn a_system_call_that_fails_never_leaves_a_false_answer() {
    let case = Case::new();
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let Some(calls) = case.system_calls(&log) else { return skipped::without_tool("strace") };
    let calls = calls.iter().filter(|(name, _)| ON_FILES.contains(&&***name));
    let points = calls.flat_map(|(name, &count)| (1..=count).map(move |number| (name, number)));
    let points = points.flat_map(|point| ["EIO", "ENOSPC", "EMFILE", "EACCES"].map(|error| (point, error)));
    let (mut faults, mut codes) = (0, BTreeMap::new());
    for ((name, number), error) in points.step_by(step()) {
        case.reset();
        let what = format!("{error} at call {number} of {name}");
        let inject = format!("inject={name}:error={error}:when={number}");
        let Some(output) = case.traced(&log, &["-e".into(), inject]) else { continue };
        let (is_new, text) = (case.check(&what), stderr(&output));
        let code = output.status.code();
        assert!(!text.contains("internal error"), "{what}: {text}");
        assert!(!text.contains("cannot replace") || !is_new, "{what}: {text}");
        assert_eq!(code == Some(0), is_new, "{what}: {code:?}, {text}");
        faults += 1;
        *codes.entry(code).or_insert(0) += 1;
    }
    case.check_next("after the faults");
    println!("{faults} failing system calls; exit codes {codes:?}");
    assert!(faults > 10, "{faults}");
}
