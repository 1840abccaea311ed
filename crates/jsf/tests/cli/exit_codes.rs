//! The exit code when standard output or standard error cannot be written, and when a thread
//! panics.

use std::fs::OpenOptions;
use std::io;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::cli::calls::OF_EVERY_COMMAND;
use crate::command::{command, jsf, stderr, stdout, words};

fn full_device() -> Option<Stdio> {
    OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .ok()
        .map(Stdio::from)
}

/// The end of a pipe that nobody reads.
fn closed_pipe() -> Stdio {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn run(call: &[&str], stdout: Stdio, stderr: Stdio) -> Output {
    command()
        .args(call)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .output()
        .expect("jsf runs")
}

#[test]
fn output_that_cannot_be_written_is_exit_code_2() {
    for call in OF_EVERY_COMMAND {
        let call = &words(call)[..];
        let normal = jsf(call);
        let Some(full) = full_device() else {
            return jsf_testing::on_this_system("/dev/full");
        };
        let output = run(call, full, Stdio::piped());
        let (code, text) = (output.status.code(), stderr(&output));
        assert!(!text.contains("panicked"), "{call:?}: {text}");
        if normal.stdout.is_empty() {
            assert_eq!(code, normal.status.code(), "{call:?}: {text}");
        } else {
            assert_eq!(code, Some(2), "{call:?}: {text}");
            assert!(text.contains("jsf: cannot write: "), "{call:?}: {text}");
        }
    }
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    for call in OF_EVERY_COMMAND {
        let call = &words(call)[..];
        let normal = jsf(call);
        let output = run(call, closed_pipe(), Stdio::piped());
        let text = stderr(&output);
        assert!(!text.contains("panicked"), "{call:?}: {text}");
        let expected = if normal.stdout.is_empty() {
            normal.status.code()
        } else {
            Some(0)
        };
        assert_eq!(output.status.code(), expected, "{call:?}: {text}");
    }
}

#[test]
fn messages_that_cannot_be_written_change_nothing_else() {
    for call in OF_EVERY_COMMAND {
        let call = &words(call)[..];
        let normal = jsf(call);
        for stream in [full_device(), Some(closed_pipe())].into_iter().flatten() {
            let output = run(call, Stdio::piped(), stream);
            assert_eq!(output.status.code(), normal.status.code(), "{call:?}");
            assert_eq!(stdout(&output), stdout(&normal), "{call:?}");
        }
        for stream in [full_device, || Some(closed_pipe())] {
            let Some((first, second)) = stream().zip(stream()) else {
                continue;
            };
            let code = run(call, first, second).status.code();
            assert!(matches!(code, Some(0..=2)), "{call:?}: {code:?}");
        }
    }
}

/// The variable that makes the test below panic in another process.
const PANICS: &str = "JSF_TEST_PANICS_IN";

/// Runs only in the processes that the next tests start.
#[test]
fn panicking_process() {
    let Ok(thread) = std::env::var(PANICS) else {
        return;
    };
    jsf::process::exit_on_panic();
    jsf::process::exit_on_abort();
    let panicking = || -> u8 { panic!("a\nmessage\u{1b}[31m") };
    match &*thread {
        "own" => panicking(),
        "other" => std::thread::spawn(panicking)
            .join()
            .expect("no panic comes here"),
        "waiting" => {
            std::thread::spawn(panicking);
            std::thread::sleep(Duration::from_secs(600));
            0
        }
        // as the runtime does when an allocation fails
        "aborted" => std::process::abort(),
        other => unreachable!("{other}"),
    };
}

fn run_panicking_process(thread: &str) -> Output {
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    let child = child
        .args([
            "--exact",
            "cli::exit_codes::panicking_process",
            "--nocapture",
        ])
        .env(PANICS, thread);
    child.output().expect("the test runs")
}

#[test]
fn a_panic_in_any_thread_ends_with_exit_code_70_and_one_line() {
    for thread in ["own", "other", "waiting"] {
        let output = run_panicking_process(thread);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(70), "{thread}: {text}");
        assert_eq!(text.lines().count(), 1, "{thread}: {text}");
        assert!(
            text.starts_with("jsf: internal error at ") && text.contains("please report"),
            "{thread}: {text}"
        );
        assert!(text.contains(r"a\nmessage\u{1b}[31m"), "{thread}: {text}");
    }
}

#[test]
fn an_abort_ends_with_exit_code_2() {
    assert_eq!(run_panicking_process("aborted").status.code(), Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn without_memory_or_stack_a_command_ends_with_a_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let jobs: String = (0..40_000)
        .map(|id| format!("{{\"id\":\"{id}.vm\",\"entity\":\"u{id}\"}}\n"))
        .collect();
    std::fs::write(folder.path().join("jobs"), jobs).expect("a file");
    let limited = |limit: &str, arguments: &[&str]| {
        let script = format!("ulimit {limit}; exec \"$@\"");
        let mut shell = Command::new("sh");
        shell
            .current_dir(folder.path())
            .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_jsf")]);
        shell.args(arguments).output().expect("a shell")
    };
    let rank = ["rank", "ncpus", "--queue", "jobs", "--format", "json"];
    let mut failed = 0;
    for kilobytes in (26_000..90_000).step_by(3_000) {
        let limit = format!("-v {kilobytes}");
        if !limited(&limit, &["--version"]).status.success() {
            // the loader has too little memory for the program itself
            continue;
        }
        let output = limited(&limit, &rank);
        let (code, text) = (output.status.code(), stderr(&output));
        assert!(
            code == Some(0) || (code == Some(2) && !text.is_empty()),
            "{kilobytes}: {:?} {text}",
            output.status
        );
        failed += usize::from(code == Some(2));
    }
    assert!(failed > 2, "{failed}");
    let output = limited(
        "-s 128",
        &["check", &("(".repeat(190) + "1" + &")".repeat(190))],
    );
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(0), "")
    );
}

#[test]
fn without_threads_the_work_is_done_all_the_same() {
    let jobs: String = (0..20_000)
        .map(|id| format!("{{\"id\":\"{id}.vm\",\"inputs\":{{\"ncpus\":{id}}}}}\n"))
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let queue = folder.path().join("jobs.ndjson");
    std::fs::write(&queue, jobs).expect("a file");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=clone,clone3"]);
    traced.args([
        "-e",
        "inject=clone,clone3:error=EAGAIN",
        env!("CARGO_BIN_EXE_jsf"),
        "rank",
        "ncpus",
        "--queue",
    ]);
    let Ok(output) = traced.arg(&queue).output() else {
        return jsf_testing::without_tool("strace");
    };
    let (code, text) = (output.status.code(), stderr(&output));
    if text.contains("ptrace") {
        return jsf_testing::without_tool("strace");
    }
    assert_eq!((code, text.as_str()), (Some(0), ""));
    let normal = jsf(&["rank", "ncpus", "--queue", queue.to_str().expect("UTF-8")]);
    assert!(output.stdout == normal.stdout, "another result");
}
