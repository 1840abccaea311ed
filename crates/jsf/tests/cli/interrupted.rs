//! `--report` where the file grows too large, and where the process is ended from outside: either the whole page is there or
//! none, and nothing else is left.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{command, stderr, success};

const CALL: [&str; 4] = ["shares", "--site", "examples/site", "--report"];
const FROM_OUTSIDE: [&str; 3] = ["SIGTERM", "SIGINT", "SIGHUP"];

fn names_in(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").file_name());
    entries.map(|name| name.into_string().expect("UTF-8")).collect()
}

/// Whether a page is there, which is whole.
fn is_written(page: &Path, what: &str) -> bool {
    let Ok(text) = fs::read_to_string(page) else { return false };
    assert!(text.trim_end().ends_with("</html>"), "{what}: {} bytes", text.len());
    true
}

/// Runs `jsf` with files of at most 1 KiB.
fn limited(arguments: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 1 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_jsf")]).args(arguments);
    shell.current_dir(jsf_testing::ROOT).output().expect("a shell")
}

#[test]
fn a_page_beyond_the_limit_of_file_size_is_an_error_that_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let name = page.to_str().expect("UTF-8");
    let is_refused = |output: &Output| {
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(output).contains(&format!("jsf: cannot write: `{name}`: File too large")), "{}", stderr(output));
    };
    is_refused(&limited(&[&CALL[..], &[name]].concat()));
    assert_eq!(names_in(folder.path()), [""; 0]);
    success(&command().args(CALL).arg(name).output().expect("jsf"));
    let before = fs::read(&page).expect("a page");
    is_refused(&limited(&["rank", "ncpus", "--site", "examples/site", "--report", name]));
    assert_eq!((names_in(folder.path()), fs::read(&page).expect("a page") == before), (vec!["page.html".into()], true));
}

#[test]
fn results_beyond_the_limit_of_file_size_are_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 1 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_jsf")]).args(&CALL[..3]);
    shell.args(["--format", "json"]).stdout(fs::File::create(folder.path().join("results")).expect("a file"));
    let output = shell.current_dir(jsf_testing::ROOT).output().expect("a shell");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("cannot write: File too large"), "{}", stderr(&output));
}

#[test]
fn a_usage_file_beyond_the_limit_of_file_size_is_an_error_that_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let group: String = (0..100).map(|user| format!("u{user} {} root 1\n", 10 + user)).collect();
    fs::write(folder.path().join("resource_group"), group).expect("a file");
    let sched_priv = folder.path().to_str().expect("UTF-8");
    for user in 0..100 {
        let set = ["pbsfs", "--sched-priv", sched_priv, "-s", &format!("u{user}"), "7"];
        success(&command().args(set).output().expect("jsf"));
        if fs::metadata(folder.path().join("usage")).expect("a file").len() > 900 {
            break;
        }
    }
    let (names, usage) = (names_in(folder.path()), fs::read(folder.path().join("usage")).expect("a file"));
    let output = limited(&["pbsfs", "--sched-priv", sched_priv, "-s", "u99", "7"]);
    let output = if output.status.success() {
        limited(&["pbsfs", "--sched-priv", sched_priv, "-s", "u98", "7"])
    } else {
        output
    };
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("File too large"), "{}", stderr(&output));
    let mut found = names_in(folder.path());
    found.sort_unstable();
    let mut names = names;
    names.sort_unstable();
    assert_eq!(found, names);
    assert!(fs::read(folder.path().join("usage")).expect("a file").len() <= usage.len() + 64);
}

#[test]
fn an_ended_process_leaves_a_whole_page_or_none() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut duration = Duration::from_millis(100);
    for (number, signal) in (0..40).zip(["TERM", "INT", "HUP", "KILL"].into_iter().cycle()) {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join("page.html");
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let begin = Instant::now();
        let mut child =
            command().args(CALL).arg(&page).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("jsf");
        // at any time until a little after its end, however busy the machine is
        thread::sleep(duration.mul_f64((random >> 40) as f64 / f64::from(1 << 24) * 1.2));
        let _ = Command::new("kill").args(["-s", signal, &child.id().to_string()]).stderr(Stdio::null()).status();
        child.wait().expect("jsf ends");
        let what = format!("{signal}, kill {number}");
        let names = names_in(folder.path());
        if is_written(&page, &what) {
            assert_eq!(names, ["page.html"], "{what}");
            duration = begin.elapsed();
        } else if signal != "KILL" {
            assert_eq!(names, [""; 0], "{what}");
        }
    }
}

/// Runs the call with a signal at a system call; `None` if `strace` cannot be used.
fn with_signal(page: &Path, call: &str, signal: &str) -> Option<Output> {
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("inject={call}:signal={signal}:when=1")]);
    traced.arg(env!("CARGO_BIN_EXE_jsf")).args(CALL).arg(page).current_dir(jsf_testing::ROOT);
    let output = traced.output().ok()?;
    (!stderr(&output).contains("ptrace")).then_some(output)
}

#[test]
fn a_signal_at_any_step_of_the_writing_leaves_nothing_but_the_page() {
    // the calls by which a page is flushed, named and put into its place
    for call in ["fsync", "linkat", "rename"] {
        let mut ended = 0;
        for signal in FROM_OUTSIDE {
            let folder = tempfile::tempdir().expect("a folder");
            let page = folder.path().join("page.html");
            let what = format!("{signal} at {call}");
            let Some(output) = with_signal(&page, call, signal) else { return println!("strace cannot be used") };
            let names = names_in(folder.path());
            let is_whole = is_written(&page, &what);
            assert_eq!(names, if is_whole { vec!["page.html"] } else { vec![] }, "{what}");
            // on a busy machine, the page may be in its place before the signal is handled
            assert!(!output.status.success() || is_whole, "{what}: {output:?}");
            ended += usize::from(!output.status.success());
        }
        // the file system may have no files without names, and then nothing is linked
        assert!(ended > 0 || call == "linkat", "no signal at {call} ended the command");
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join("page.html");
        let what = format!("SIGKILL at {call}");
        let Some(_) = with_signal(&page, call, "SIGKILL") else { return println!("strace cannot be used") };
        assert!(names_in(folder.path()).len() <= 1, "{what}");
        success(&command().args(CALL).arg(&page).output().expect("jsf"));
        assert_eq!(names_in(folder.path()), ["page.html"], "{what}");
    }
}

#[test]
fn what_a_killed_process_left_is_removed_and_what_it_did_not_leave_is_kept() {
    use jsf_report::document::GENERATOR;

    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    // no process has a number beyond 2^22
    file("page.html.new-2000000001", GENERATOR);
    file("page.html.new-2000000002-1", "");
    file("page.html.new-2000000003", "precious");
    file("page.html.new-1", GENERATOR);
    file("page.html.new-old", GENERATOR);
    success(&command().args(CALL).arg(folder.path().join("page.html")).output().expect("jsf"));
    let mut names = names_in(folder.path());
    names.sort_unstable();
    assert_eq!(names, ["page.html", "page.html.new-1", "page.html.new-2000000003", "page.html.new-old"]);
}
