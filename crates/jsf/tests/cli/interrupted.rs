//! `--report` where the page cannot be written, and where the process is ended from outside: the
//! whole page is there, or what was there before. Only a process that is ended from outside may
//! leave its temporary file.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use jsf::view::document::page::GENERATOR;

use crate::command::{command, stderr, success};

const CALL: [&str; 4] = ["shares", "--site", "examples/site", "--report"];

fn names_in(folder: &Path) -> Vec<String> {
    let entries = folder
        .read_dir()
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name());
    entries
        .map(|name| name.into_string().expect("UTF-8"))
        .collect()
}

/// Whether a page is there, which is whole.
fn is_written(page: &Path, what: &str) -> bool {
    let Ok(text) = fs::read_to_string(page) else {
        return false;
    };
    assert!(
        text.trim_end().ends_with("</html>"),
        "{what}: {} bytes",
        text.len()
    );
    true
}

/// Runs `jsf` with files of at most 1 KiB.
fn limited(arguments: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    shell
        .args([
            "-c",
            "ulimit -f 1 && exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_jsf"),
        ])
        .args(arguments);
    shell
        .current_dir(jsf_testing::ROOT)
        .output()
        .expect("a shell")
}

#[test]
fn a_page_beyond_the_limit_of_file_size_is_an_error_that_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let name = page.to_str().expect("UTF-8");
    let is_refused = |output: &Output| {
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(
            stderr(output).contains(&format!("jsf: cannot write: `{name}`: File too large")),
            "{}",
            stderr(output)
        );
    };
    is_refused(&limited(&[&CALL[..], &[name]].concat()));
    assert_eq!(names_in(folder.path()), [""; 0]);
    success(&command().args(CALL).arg(name).output().expect("jsf"));
    let before = fs::read(&page).expect("a page");
    is_refused(&limited(&[
        "rank",
        "ncpus",
        "--site",
        "examples/site",
        "--report",
        name,
    ]));
    assert_eq!(
        (
            names_in(folder.path()),
            fs::read(&page).expect("a page") == before
        ),
        (vec!["page.html".into()], true)
    );
}

#[test]
fn results_beyond_the_limit_of_file_size_are_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut shell = Command::new("sh");
    shell
        .args([
            "-c",
            "ulimit -f 1 && exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_jsf"),
        ])
        .args(&CALL[..3]);
    shell
        .args(["--format", "json"])
        .stdout(fs::File::create(folder.path().join("results")).expect("a file"));
    let output = shell
        .current_dir(jsf_testing::ROOT)
        .output()
        .expect("a shell");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr(&output).contains("cannot write: File too large"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_ended_process_leaves_a_whole_page_or_none() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut duration = Duration::from_millis(100);
    for (number, signal) in (0..40).zip(["TERM", "INT", "HUP", "KILL"].into_iter().cycle()) {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join("page.html");
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let begin = Instant::now();
        let mut child = command()
            .args(CALL)
            .arg(&page)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("jsf");
        // at any time until a little after its end, however busy the machine is
        thread::sleep(duration.mul_f64((random >> 40) as f64 / f64::from(1 << 24) * 1.2));
        let _ = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .stderr(Stdio::null())
            .status();
        child.wait().expect("jsf ends");
        let what = format!("{signal}, kill {number}");
        if is_written(&page, &what) {
            duration = begin.elapsed();
        }
        assert!(
            names_in(folder.path()).len() <= 1,
            "{what}: {:?}",
            names_in(folder.path())
        );
    }
}

/// Runs `strace` with the default action of SIGINT, which a job in the background of a script
/// ignores, and so would all that it starts.
const STRACE: &str = "import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp('strace', ['strace', *sys.argv[1:]])";

/// Runs the call under `strace`, which injects a fault at a system call; `None` without `strace`.
fn with_fault(page: &Path, call: &str, fault: &str) -> Option<Output> {
    let mut traced = Command::new("python3");
    traced.args(["-c", STRACE, "-f", "-qq", "-o", "/dev/null", "-e"]);
    traced
        .arg(format!("inject={call}:{fault}:when=1"))
        .arg(env!("CARGO_BIN_EXE_jsf"))
        .args(CALL)
        .arg(page)
        .current_dir(jsf_testing::ROOT);
    let output = traced.output().ok()?;
    let errors = stderr(&output);
    let is_traced = !errors.contains("ptrace") && !errors.contains("FileNotFoundError");
    is_traced.then_some(output)
}

#[test]
fn a_page_is_replaced_whole_or_stays_wherever_its_writing_ends() {
    // the calls by which a page is flushed and put into its place
    for call in ["fsync", "/^rename"] {
        for fault in [
            "signal=SIGTERM",
            "signal=SIGINT",
            "signal=SIGKILL",
            "error=EIO",
            "error=ENOSPC",
        ] {
            let what = format!("{fault} at {call}");
            let folder = tempfile::tempdir().expect("a folder");
            let page = folder.path().join("page.html");
            fs::write(&page, GENERATOR).expect("a page");
            let Some(output) = with_fault(&page, call, fault) else {
                return jsf_testing::without_tool("strace");
            };
            let text = fs::read_to_string(&page).expect("a page");
            if fault.starts_with("error") {
                assert_eq!(
                    (output.status.code(), &*text),
                    (Some(2), GENERATOR),
                    "{what}: {output:?}"
                );
                assert!(
                    stderr(&output).contains("jsf: cannot write: `"),
                    "{what}: {}",
                    stderr(&output)
                );
                assert_eq!(names_in(folder.path()), ["page.html"], "{what}");
            } else {
                assert!(!output.status.success(), "{what}");
                assert!(
                    text == GENERATOR || text.trim_end().ends_with("</html>"),
                    "{what}: {} bytes",
                    text.len()
                );
            }
        }
    }
}
